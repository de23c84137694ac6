//! A proxy between the client and all that it calls.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use percent_encoding::percent_decode_str;

use super::connector::Route;
use crate::Error;
use crate::http::message::address::bad_address;

/// A proxy through which every connection goes: by `CONNECT` (RFC 9110 §9.3.6) or by SOCKS 5. It sees which
/// hosts are called, and all traffic that is not encrypted with TLS. It looks up names, too.
#[derive(Clone)]
pub struct Proxy {
    address: Uri,
    is_socks: bool,
    login: Option<Login>,
}

#[derive(Clone)]
struct Login {
    user: String,
    password: String,
}

impl Proxy {
    /// Creates a proxy at `http://[user:password@]host[:port]` or `socks5://[user:password@]host[:port]`.
    /// Reserved characters in the user's name and password are percent-encoded.
    ///
    /// Errors: [`Error::Address`], which contains neither.
    pub fn at(url: &str) -> Result<Self, Error> {
        let bad = |problem: &str| {
            let redacted = match (url.find("://"), url.rfind('@')) {
                (Some(scheme), Some(at)) => format!("{}://…{}", &url[..scheme], &url[at..]),
                (None, Some(at)) => format!("…{}", &url[at..]),
                _ => url.to_owned(),
            };
            bad_address(&redacted, problem)
        };
        let expected = "expected `http://[user:password@]host[:port]` or `socks5://…` of a proxy";
        let (scheme, rest) = url.split_once("://").ok_or_else(|| bad(expected))?;
        let (is_socks, port) = match scheme {
            "http" => (false, 80),
            "socks5" | "socks5h" => (true, 1080),
            _ => return Err(bad(expected)),
        };
        let authority = rest.trim_end_matches('/');
        let (login, host) = match authority.rsplit_once('@') {
            Some((login, host)) => (Some(Login::read(login).ok_or_else(|| bad(expected))?), host),
            None => (None, authority),
        };
        let address: Uri = format!("http://{host}")
            .parse()
            .map_err(|_| bad(expected))?;
        let has_host = address.host().is_some_and(|host| !host.is_empty());
        if !has_host || address.path() != "/" || address.query().is_some() {
            return Err(bad(expected));
        }
        let address = match address.port() {
            Some(_) => address,
            None => format!("http://{host}:{port}")
                .parse()
                .map_err(|_| bad(expected))?,
        };
        Ok(Self {
            address,
            is_socks,
            login,
        })
    }

    pub(super) fn route(&self, connector: HttpConnector) -> Route {
        let address = self.address.clone();
        if self.is_socks {
            let mut socks = SocksV5::new(address, connector);
            if let Some(Login { user, password }) = self.login.clone() {
                socks = socks.with_auth(user, password);
            }
            return Route::Socks(socks);
        }
        let mut tunnel = Tunnel::new(address, connector);
        if let Some(value) = self.login.as_ref().and_then(Login::basic) {
            tunnel = tunnel.with_auth(value);
        }
        Route::Tunnel(tunnel)
    }
}

impl Login {
    fn read(text: &str) -> Option<Self> {
        let (user, password) = text.split_once(':').unwrap_or((text, ""));
        let decode = |text| percent_decode_str(text).decode_utf8().ok();
        Some(Self {
            user: decode(user)?.into_owned(),
            password: decode(password)?.into_owned(),
        })
    }

    fn basic(&self) -> Option<HeaderValue> {
        let Self { user, password } = self;
        let login = STANDARD.encode(format!("{user}:{password}"));
        HeaderValue::from_str(&format!("Basic {login}")).ok()
    }
}

impl fmt::Debug for Proxy {
    /// Formats the proxy without the login.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({})", self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxy_addresses_are_parsed_and_logins_are_not_printed() {
        for (url, expected) in [
            ("http://proxy", "http://proxy:80/"),
            ("http://proxy:3128/", "http://proxy:3128/"),
            ("http://ada:s3cret@[::1]:8", "http://[::1]:8/"),
            ("socks5://proxy", "http://proxy:1080/"),
        ] {
            let proxy = Proxy::at(url).unwrap();
            assert_eq!(proxy.address, expected, "{url}");
            assert_eq!(proxy.is_socks, url.starts_with("socks5"));
            assert!(!format!("{proxy:?}").contains("s3cret"));
        }
        for url in [
            "",
            "proxy",
            "proxy:80",
            "https://proxy",
            "ftp://ada:s3cret@proxy",
            "http://",
            "http://ada:s3cret@",
            "http://ada:s3cret@proxy/path",
            "http://ada:s3cret@proxy:port",
        ] {
            let error = Proxy::at(url).unwrap_err().to_string();
            assert!(error.contains("expected"), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn a_login_is_decoded() {
        let login = Proxy::at("http://a%40b:p%3Ass@proxy")
            .unwrap()
            .login
            .unwrap();
        assert_eq!((&*login.user, &*login.password), ("a@b", "p:ss"));
        assert_eq!(login.basic().unwrap(), "Basic YUBiOnA6c3M=");
    }
}
