//! A proxy between the client and all that it calls.

use std::fmt;
use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use percent_encoding::percent_decode_str;

use crate::Error;
use crate::http::message::address::bad_address;

/// A proxy through which every connection goes: by `CONNECT` (RFC 9110 §9.3.6) or by SOCKS 5. It sees which
/// hosts are called, and all traffic that is not encrypted with TLS. It looks up names, too.
#[derive(Clone)]
pub struct Proxy {
    pub(super) address: Uri,
    pub(super) is_socks: bool,
    pub(super) login: Option<Login>,
}

#[derive(Clone)]
pub(super) struct Login {
    pub(super) user: String,
    pub(super) password: String,
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

    /// Returns the proxy that the environment names for a URL.
    pub(super) fn of_environment(matcher: &Matcher, to: &Uri) -> Result<Option<Self>, Error> {
        let host = to.host().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse();
        let is_local = |address: IpAddr| address.is_loopback() || address.is_unspecified();
        let is_local = address.is_ok_and(is_local);
        if is_local || host == "localhost" || host.ends_with(".localhost") {
            return Ok(None);
        }
        let Some(intercept) = matcher.intercept(to) else {
            return Ok(None);
        };
        let mut proxy = Self::at(&intercept.uri().to_string())?;
        let raw = intercept.raw_auth();
        let basic = intercept.basic_auth().and_then(Login::of_basic);
        proxy.login = raw
            .map(|(user, password)| Login {
                user: user.to_owned(),
                password: password.to_owned(),
            })
            .or(basic);
        Ok(Some(proxy))
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

    /// Reads the value of `Proxy-Authorization`.
    fn of_basic(value: &HeaderValue) -> Option<Self> {
        let encoded = value.to_str().ok()?.strip_prefix("Basic ")?;
        let login = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
        let (user, password) = login.split_once(':')?;
        Some(Self {
            user: user.to_owned(),
            password: password.to_owned(),
        })
    }

    /// Returns the value of `Proxy-Authorization`.
    pub(super) fn basic(&self) -> Option<HeaderValue> {
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
