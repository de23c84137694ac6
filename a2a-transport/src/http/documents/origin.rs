//! The origin that a request was sent to.

use http::header::HOST;
use http::request::Parts;
use http::uri::{Authority, Scheme};

/// Returns the origin that a request was sent to, as its caller named it: the authority of its target or of
/// `Host`. `None` if it names no host, or no plausible one.
///
/// The scheme is `http` unless the target says `https`, as targets of HTTP/2 behind TLS do, or the request
/// was marked by what ended TLS: targets of HTTP/1.1 do not show it.
pub(crate) fn origin(head: &Parts) -> Option<String> {
    let of_header = || head.headers.get(HOST)?.to_str().ok()?.parse().ok();
    let authority: Authority = head.uri.authority().cloned().or_else(of_header)?;
    let text = authority.as_str();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_[]:".contains(&byte);
    let is_plausible =
        !authority.host().is_empty() && text.len() <= MAX_AUTHORITY && text.bytes().all(is_plain);
    let schemes = [head.uri.scheme(), head.extensions.get::<Scheme>()];
    let scheme = match schemes.contains(&Some(&Scheme::HTTPS)) {
        true => "https",
        false => "http",
    };
    is_plausible.then(|| format!("{scheme}://{}", text.to_ascii_lowercase()))
}

/// The longest name of the DNS, and a port.
const MAX_AUTHORITY: usize = 253 + 6;

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    #[track_caller]
    fn check(target: &str, host: Option<&str>, expected: Option<&str>) {
        let mut request = Request::get(target);
        if let Some(host) = host {
            request = request.header(HOST, host);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        assert_eq!(origin(&head).as_deref(), expected);
    }

    #[test]
    fn an_origin_is_what_the_caller_named() {
        check("/", Some("LocalHost:8080"), Some("http://localhost:8080"));
        check("/", Some("[::1]:80"), Some("http://[::1]:80"));
        check(
            "http://a.example/",
            Some("b.example"),
            Some("http://a.example"),
        );
        check("https://a.example:1/", None, Some("https://a.example:1"));
        let long = "a".repeat(260);
        for host in [
            None,
            Some(""),
            Some("a b"),
            Some("u@h"),
            Some("h/p"),
            Some(&long),
        ] {
            check("/", host, None);
        }
    }
}
