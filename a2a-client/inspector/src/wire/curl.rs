//! Shell command that sends a request again.

use a2a_client::credentials::shown_header;
use a2a_client::curl::{self, CurlRequest, GrpcurlRequest, quoted};
use http::header::HOST;
use http::{HeaderName, HeaderValue};

use super::exchange::{Exchange, MASK, Request, Response, is_secret};
use super::grpc::Messages;

/// Returns the command for a POSIX shell that sends the request of an exchange again, by curl or grpcurl. Secrets stand
/// in variables of the shell: `$A2A_AUTHORIZATION` for the credentials of `Authorization`.
pub(crate) fn command(exchange: &Exchange) -> String {
    match exchange.request.messages() {
        Some(messages) => grpcurl(&exchange.request, &messages),
        None => curl(exchange),
    }
}

fn grpcurl(request: &Request, messages: &Messages) -> String {
    let headers = request.headers.iter().map(|(name, value)| {
        let word = match value.is_empty() {
            true => quoted(&format!("{name}:")),
            false => header(name, value),
        };
        (name.as_str(), word)
    });
    let undecoded: usize = messages.undecoded().map(|(place, _)| place.len()).sum();
    let request = GrpcurlRequest {
        url: &request.shown_url,
        headers: headers.collect(),
        message: &request.shown_text(),
        omitted: request.body.omitted() + undecoded as u64,
    };
    request.command()
}

fn curl(exchange: &Exchange) -> String {
    let request = &exchange.request;
    let headers = request.headers.iter().filter(|(name, _)| *name != HOST);
    let request = CurlRequest {
        method: request.method.as_str(),
        url: &request.shown_url,
        url_word: Some(shell_url(&request.shown_url)),
        headers: headers
            .map(|(name, value)| (name.as_str(), header(name, value)))
            .collect(),
        body: &request.shown_text(),
        omitted: request.body.omitted(),
        is_stream: exchange.response.as_ref().is_some_and(Response::is_stream),
    };
    request.command()
}

/// Schemes of `Authorization`, which are shown.
const SCHEMES: [&str; 4] = ["Basic", "Bearer", "Digest", "DPoP"];

fn header(name: &HeaderName, value: &HeaderValue) -> String {
    if !is_secret(name, value) {
        return curl::header(name.as_str(), &shown_header(name.as_str(), value));
    }
    let text = String::from_utf8_lossy(value.as_bytes());
    let scheme = text.split_once(' ').map(|(scheme, _)| scheme);
    let scheme = SCHEMES
        .into_iter()
        .find(|known| scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(known)));
    let prefix = match scheme {
        Some(scheme) => format!("{name}: {scheme} "),
        None => format!("{name}: "),
    };
    format!("{}{}", quoted(&prefix), variable(name.as_str()))
}

/// Returns a URL as a word; its masked parameters as variables.
fn shell_url(url: &str) -> String {
    let mut parts = url.split(MASK);
    let mut word = String::new();
    let mut before = parts.next().unwrap_or_default();
    for after in parts {
        let name = before.rsplit(['?', '&']).next().unwrap_or_default();
        word += &quoted(before);
        word += &variable(name.trim_end_matches('='));
        before = after;
    }
    if !before.is_empty() {
        word += &quoted(before);
    }
    word
}

/// Returns the expansion of the variable that holds a secret.
fn variable(name: &str) -> String {
    let upper = name.chars().map(|character| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => character.to_ascii_uppercase(),
        _ => '_',
    });
    format!("\"$A2A_{}\"", upper.collect::<String>())
}

#[cfg(test)]
mod tests {
    use a2a_transport::http::grpc::frame_request;
    use http::{HeaderMap, Method};

    use super::super::exchange::Body;
    use super::*;

    #[test]
    fn a_call_by_grpc_is_a_command_of_grpcurl() {
        let path = "/lf.a2a.v1.A2AService/GetTask";
        let body = frame_request(path, br#"{"id":"it's"}"#).unwrap();
        let header = |name, value| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        let headers = [
            header("content-type", "application/grpc+proto"),
            header("te", "trailers"),
            header("a2a-version", "1.0"),
            header("authorization", "Bearer abc"),
            header("x-empty", ""),
        ];
        let request = |origin: &str, body: &[u8]| Request {
            method: Method::POST,
            url: format!("{origin}{path}"),
            shown_url: format!("{origin}{path}"),
            http_version: None,
            headers: headers.clone().into_iter().collect::<HeaderMap>(),
            body: Body::of(body),
        };
        let command = |request: Request| grpcurl(&request, &request.messages().unwrap());
        let shown =
            r#"-H 'a2a-version: 1.0' -H 'authorization: Bearer '"$A2A_AUTHORIZATION" -H x-empty:"#;
        let method = "lf.a2a.v1.A2AService/GetTask";
        assert_eq!(
            command(request("http://h:1", &body)),
            format!(r#"grpcurl -plaintext {shown} -d '{{"id":"it'\''s"}}' h:1 {method}"#)
        );
        assert_eq!(
            command(request("https://h", &body[..4])),
            format!("grpcurl {shown} h:443 {method}  # 4 bytes of the body are left out")
        );
    }

    #[test]
    fn secrets_are_variables() {
        let bearer = HeaderValue::from_static("bearer abc");
        let name = HeaderName::from_static("authorization");
        assert_eq!(
            header(&name, &bearer),
            r#"'authorization: Bearer '"$A2A_AUTHORIZATION""#
        );
        let name = HeaderName::from_static("x-api-key");
        let key = HeaderValue::from_static("abc");
        assert_eq!(header(&name, &key), r#"'x-api-key: '"$A2A_X_API_KEY""#);
        assert_eq!(
            shell_url("http://h/?a=1&api-key=***&b=2"),
            r#"'http://h/?a=1&api-key='"$A2A_API_KEY"'&b=2'"#
        );
        assert_eq!(shell_url("http://h/?k=***"), r#"'http://h/?k='"$A2A_K""#);
        assert_eq!(shell_url("http://h/"), "http://h/");
    }
}
