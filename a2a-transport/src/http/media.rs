//! What media types a request brings and takes.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName};

use super::answer::{A2A_JSON, JSON};

/// Whether the body claims to be JSON of some kind; a request that claims nothing may be.
pub(super) fn brings_json(headers: &HeaderMap) -> bool {
    match headers.get(CONTENT_TYPE) {
        // As nearly everyone writes it.
        Some(given) if given == JSON => true,
        Some(_) => types(headers, CONTENT_TYPE).next().is_some_and(is_json),
        None => true,
    }
}

/// Whether an answer can be of use to the caller: some JSON, or a stream of events.
pub(super) fn takes_answers(headers: &HeaderMap) -> bool {
    let useful = |given: &str| {
        let others = ["*/*", "application/*", "text/*", "text/event-stream"];
        is_json(given) || others.iter().any(|other| is_same(given, other))
    };
    types(headers, ACCEPT).any(useful) || !headers.contains_key(ACCEPT)
}

/// The media type of an answer by HTTP+JSON in 1.0: the specification's own for callers who name it,
/// JSON for the others. 1.0.1 §11.1 would have it for everyone, but 1.0.0 knew only JSON, and
/// callers who take anything often mean that.
pub(super) fn of_answer(headers: &HeaderMap) -> &'static str {
    let named = |name| types(headers, name).any(|given| is_same(given, A2A_JSON));
    let indifferent = || !types(headers, ACCEPT).any(|given| is_same(given, JSON));
    match named(ACCEPT) || (named(CONTENT_TYPE) && indifferent()) {
        true => A2A_JSON,
        false => JSON,
    }
}

fn is_json(given: &str) -> bool {
    let is_of_json = |subtype: &str| {
        let suffix = subtype.rsplit_once('+');
        suffix.is_some_and(|(_, suffix)| is_same(suffix, "json"))
    };
    is_same(given, JSON)
        || given
            .split_once('/')
            .is_some_and(|(kind, subtype)| is_same(kind, "application") && is_of_json(subtype))
}

/// Media types are written in any case. RFC 9110 §8.3.1.
fn is_same(given: &str, known: &str) -> bool {
    given.eq_ignore_ascii_case(known)
}

/// The media types that a header names, without their parameters.
fn types(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lists = headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(|item| {
        let essence = item.split(';').next().unwrap_or_default();
        essence.trim()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

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
        assert_eq!(brings_json(&headers), brings);
        assert_eq!(of_answer(&headers), answer);
    }

    #[test]
    fn media_types() {
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
