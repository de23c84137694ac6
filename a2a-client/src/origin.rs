//! Origin of a URL.

use std::fmt;
use std::net::IpAddr;

use a2a_transport::Error;
use http::Uri;

/// Scheme, host and port of a URL: URLs that share them are one party, and its credentials go nowhere
/// else (RFC 6454 §4).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    /// Returns the origin of an `http` or `https` URL.
    ///
    /// Errors: [`Error::Address`].
    pub fn of(url: &str) -> Result<Self, Error> {
        let bad = |problem: String| Error::Address {
            url: url.to_owned(),
            problem,
        };
        let uri: Uri = url.parse().map_err(|error| bad(format!("{error}")))?;
        let scheme = uri.scheme_str().unwrap_or_default().to_owned();
        let usual = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => {
                return Err(bad(
                    "expected `https://host[:port]`, or `http://…`".to_owned()
                ));
            }
        };
        let host = uri.host().unwrap_or_default().to_ascii_lowercase();
        if host.is_empty() {
            return Err(bad("it names no host".to_owned()));
        }
        let authority = uri.authority();
        if authority.is_some_and(|it| it.port().is_none() && !it.as_str().ends_with(it.host())) {
            return Err(bad("expected a port from 0 to 65535".to_owned()));
        }
        Ok(Self {
            scheme,
            host,
            port: uri.port_u16().unwrap_or(usual),
        })
    }

    /// Returns whether traffic cannot be read or replaced in transit: by `https`, or on this machine.
    pub fn is_protected(&self) -> bool {
        let address = self.host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = |address: IpAddr| address.is_loopback();
        self.scheme == "https" || self.host == "localhost" || address.parse().is_ok_and(is_loopback)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scheme, host, port } = self;
        match (scheme.as_str(), port) {
            ("http", 80) | ("https", 443) => write!(f, "{scheme}://{host}"),
            _ => write!(f, "{scheme}://{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_equal_if_scheme_host_and_port_are() {
        let same = |one, other| Origin::of(one).unwrap() == Origin::of(other).unwrap();
        assert!(same("https://a.example/x?y", "https://A.EXAMPLE:443"));
        assert!(same("http://a.example", "http://a.example:80/x"));
        for other in [
            "http://a.example",
            "https://a.example:8443",
            "https://b.a.example",
            "https://a.example.",
            "https://a.example@b.example",
            "https://[::1]",
        ] {
            assert!(!same("https://a.example", other), "{other}");
        }
        for bad in [
            "",
            "a.example",
            "ftp://a.example",
            "https://",
            "/x",
            "http://h:99999",
        ] {
            assert!(Origin::of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_origin_is_displayed_without_path_and_default_port() {
        for (url, expected) in [
            ("https://A.example:443/x", "https://a.example"),
            ("http://a.example:8080", "http://a.example:8080"),
        ] {
            assert_eq!(Origin::of(url).unwrap().to_string(), expected);
        }
    }
}
