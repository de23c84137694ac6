//! Media types that a request has and accepts.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};

use super::answer::{A2A_JSON, JSON};

/// Returns whether a media type is JSON of some kind, with any parameters.
pub(crate) fn is_json(given: &HeaderValue) -> bool {
    // Fast path: the usual spelling.
    given == JSON
        || given
            .to_str()
            .is_ok_and(|given| is_some_json(essence(given)))
}

/// Returns whether the caller accepts some JSON, or a stream of events.
pub(crate) fn takes_answers(headers: &HeaderMap) -> bool {
    let useful = |given: &str| {
        let others = ["*/*", "application/*", "text/*", "text/event-stream"];
        is_some_json(given) || others.iter().any(|other| is_same(given, other))
    };
    types(headers, ACCEPT).any(useful) || !headers.contains_key(ACCEPT)
}

/// Returns the media type of an answer by HTTP+JSON in 1.0: the specification's own for callers that name it,
/// JSON for the others. 1.0.1 §11.1 would have it for everyone, but 1.0.0 knew only JSON, and callers that
/// take anything often mean that.
pub(crate) fn of_answer(headers: &HeaderMap) -> &'static str {
    let named = |name| types(headers, name).any(|given| is_same(given, A2A_JSON));
    let indifferent = || !types(headers, ACCEPT).any(|given| is_same(given, JSON));
    match named(ACCEPT) || (named(CONTENT_TYPE) && indifferent()) {
        true => A2A_JSON,
        false => JSON,
    }
}

fn is_some_json(given: &str) -> bool {
    let is_of_json = |subtype: &str| {
        let suffix = subtype.rsplit_once('+');
        suffix.is_some_and(|(_, suffix)| is_same(suffix, "json"))
    };
    is_same(given, JSON)
        || given
            .split_once('/')
            .is_some_and(|(kind, subtype)| is_same(kind, "application") && is_of_json(subtype))
}

/// Returns whether two media types are equal, in any case of letters. RFC 9110 §8.3.1.
fn is_same(given: &str, known: &str) -> bool {
    given.eq_ignore_ascii_case(known)
}

/// Returns the media types that a header names, without their parameters.
fn types(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lists = headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(essence)
}

/// Returns a media type without its parameters.
fn essence(given: &str) -> &str {
    given.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(accept: &str, content_type: &str) -> HeaderMap {
        let given = [(ACCEPT, accept), (CONTENT_TYPE, content_type)];
        let given = given.into_iter().filter(|(_, value)| !value.is_empty());
        given
            .map(|(name, value)| (name, HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[track_caller]
    fn check(accept: &str, content_type: &str, takes: bool, brings: bool, answer: &str) {
        let headers = headers(accept, content_type);
        assert_eq!(takes_answers(&headers), takes);
        let given = headers.get(CONTENT_TYPE);
        assert_eq!(given.is_none_or(is_json), brings);
        assert_eq!(of_answer(&headers), answer);
    }

    #[test]
    fn media_types_are_negotiated() {
        check("", "", true, true, JSON);
        check("*/*", "application/json", true, true, JSON);
        check(
            "*/*",
            "application/a2a+json; charset=utf-8",
            true,
            true,
            A2A_JSON,
        );
        check(
            "application/a2a+json, application/json",
            "application/json",
            true,
            true,
            A2A_JSON,
        );
        check("application/json", "application/a2a+json", true, true, JSON);
        check("text/event-stream", "Application/JSON;x", true, true, JSON);
        check("text/html", "text/plain", false, false, JSON);
        check(
            "image/png, application/problem+json;q=0.5",
            "",
            true,
            true,
            JSON,
        );
    }
}
