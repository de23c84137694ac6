//! URLs of issuers and their documents.

use http::Uri;

use crate::error::ConfigError;

/// Returns whether keys or answers from a URL can be trusted: it is `https`, or on this machine.
pub(crate) fn is_trustworthy(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else {
        return false;
    };
    let local = ["localhost", "127.0.0.1", "[::1]"];
    match uri.scheme_str() {
        Some("https") => uri.host().is_some_and(|host| !host.is_empty()),
        Some("http") => uri.host().is_some_and(|host| local.contains(&host)),
        _ => false,
    }
}

/// Checks a URL of the settings.
pub(crate) fn check(what: &str, url: &str) -> Result<(), ConfigError> {
    match is_trustworthy(url) {
        true => Ok(()),
        false => Err(ConfigError::value(
            what,
            "expected a URL that begins with `https://`, or `http://` and a loopback address",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_this_machine() {
        for (url, expected) in [
            ("https://login.example", true),
            ("https://login.example/a?b", true),
            ("http://127.0.0.1:8080", true),
            ("http://localhost/", true),
            ("http://[::1]:1/", true),
            ("http://login.example", false),
            ("http://localhost.example", false),
            ("file:///etc/passwd", false),
            ("login.example", false),
            ("https://", false),
            ("", false),
        ] {
            assert_eq!(is_trustworthy(url), expected, "{url}");
        }
    }
}
