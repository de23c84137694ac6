//! Shell command that sends a request again.

use a2a_client::credentials::shown_header;
use a2a_client::curl::{self, CurlRequest, quoted};
use http::header::HOST;
use http::{HeaderName, HeaderValue};

use super::exchange::{Exchange, MASK, Response, is_secret};

/// Returns the command for a POSIX shell that sends the request of an exchange again. Secrets stand in variables
/// of the shell: `$A2A_AUTHORIZATION` for the credentials of `Authorization`.
pub(crate) fn curl(exchange: &Exchange) -> String {
    let request = &exchange.request;
    let headers = request.headers.iter().filter(|(name, _)| *name != HOST);
    let request = CurlRequest {
        method: request.method.as_str(),
        url: &request.shown_url,
        url_word: Some(shell_url(&request.shown_url)),
        headers: headers
            .map(|(name, value)| (name.as_str(), header(name, value)))
            .collect(),
        body: &request.body.shown_text(),
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
    use super::*;

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
