//! Shell command that repeats an exchange, with curl or grpcurl.

use a2a_client::curl::{CurlRequest, GrpcurlRequest, header, quoted};

use crate::record::{Evidence, HttpMessage};

/// Returns the command that sends the request of an exchange again. The user has to fill in redacted values. `None` if the
/// request has no URL, is not whole or is not text, or if the command is longer than a shell takes well.
pub fn curl(evidence: &Evidence) -> Option<String> {
    let HttpMessage {
        start,
        headers,
        body,
        left_out: 0,
        ..
    } = &evidence.request
    else {
        return None;
    };
    // Bytes that are not UTF-8 were replaced by this character.
    if body.contains('\u{fffd}') {
        return None;
    }
    let is_short = |command: &String| command.len() <= MAX_COMMAND;
    let (method, url) = start.split_once(' ')?;
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_grpc = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("content-type") && value.starts_with("application/grpc")
    };
    if headers.iter().any(is_grpc) {
        let headers = headers.iter().map(|(name, value)| {
            let word = quoted(&format!("{name}: {value}"));
            (name.as_str(), word)
        });
        let request = GrpcurlRequest {
            url,
            headers: headers.collect(),
            message: body,
            omitted: 0,
        };
        return Some(request.command()).filter(is_short);
    }
    let headers = headers
        .iter()
        .filter(|(name, value)| !name.eq_ignore_ascii_case("host") || value != authority);
    let streams = |half: &HttpMessage| !half.events.is_empty();
    let request = CurlRequest {
        method,
        url,
        headers: headers
            .map(|(name, value)| (name.as_str(), header(name, value)))
            .collect(),
        body,
        is_stream: evidence.response.as_ref().is_some_and(streams),
        ..CurlRequest::default()
    };
    Some(request.command()).filter(is_short)
}

/// Bytes of the longest command.
const MAX_COMMAND: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(start: &str, headers: &[(&str, &str)], expected: Option<&str>) {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let request = HttpMessage {
            start: start.to_owned(),
            headers: headers.iter().map(owned).collect(),
            ..HttpMessage::default()
        };
        let evidence = Evidence {
            request,
            ..Evidence::default()
        };
        assert_eq!(curl(&evidence).as_deref(), expected);
    }

    #[test]
    fn a_host_other_than_that_of_the_url_is_a_header() {
        let expected = Some("curl -sSi http://h:1/ -H 'Host: other'");
        check("GET http://h:1/", &[("Host", "other")], expected);
        let expected = Some("curl -sSi http://h:1/");
        check("GET http://h:1/", &[("Host", "h:1")], expected);
    }

    #[test]
    fn call_by_grpc_is_a_command_of_grpcurl() {
        let headers = [("content-type", "application/grpc"), ("a2a-version", "1.0")];
        let expected = "grpcurl -plaintext -H 'a2a-version: 1.0' h:1 s.S/M";
        check("POST http://h:1/s.S/M", &headers, Some(expected));
    }

    #[test]
    fn a_request_without_a_whole_url_has_no_command() {
        check("POST /relative", &[], None);
        check("", &[], None);
    }

    #[test]
    fn a_request_that_is_long_or_not_whole_has_no_command() {
        let command = |body: &str, left_out| {
            let request = HttpMessage {
                start: "POST http://h:1/".to_owned(),
                body: body.to_owned(),
                left_out,
                ..HttpMessage::default()
            };
            curl(&Evidence {
                request,
                ..Evidence::default()
            })
        };
        assert!(command("{}", 0).is_some());
        assert_eq!(command("{}", 1), None);
        assert_eq!(command("{\"\u{fffd}\"}", 0), None);
        assert_eq!(command(&"x".repeat(MAX_COMMAND), 0), None);
    }
}
