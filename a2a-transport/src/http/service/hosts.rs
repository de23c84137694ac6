//! Hosts that a server answers as, and whose pages may call it: a guard against DNS rebinding.

use std::net::{IpAddr, SocketAddr};

use http::header::{HOST, HeaderValue, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{Response, StatusCode};

use crate::http::message::answer::plain;
use crate::http::message::body::Body;

/// The hosts that a server answers as, whatever the port; any host by default.
///
/// A web page can have its own name resolve to 127.0.0.1, and so reach a server that only listens
/// there; its browser then sends the page's name as `Host`. And a page may send simple requests to
/// an address; its browser then names it as `Origin`. A list refuses both.
///
/// ```
/// use a2a_transport::http::Hosts;
///
/// let hosts = Hosts::loopback().and(["agents.example", "*.internal.example"]);
/// assert!(hosts.has("localhost"));
/// assert!(hosts.has("agents.example:8443"));
/// assert!(!hosts.has("rebound.example"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Hosts(Option<List>);

#[derive(Clone, Debug, Default)]
struct List {
    /// 127.0.0.0/8, `[::1]`, `localhost` and what is below it.
    loopback: bool,
    names: Vec<String>,
}

impl Hosts {
    /// Accepts any host: for servers that others may reach anyway.
    pub fn any() -> Self {
        Self(None)
    }

    /// Accepts `localhost`, `*.localhost`, 127.0.0.0/8 and `[::1]`.
    pub fn loopback() -> Self {
        Self(Some(List {
            loopback: true,
            names: Vec::new(),
        }))
    }

    /// Returns the hosts for a server that listens at an address: the hosts of [`loopback`](Self::loopback) for a
    /// loopback address, which only its own machine reaches; any host for other addresses.
    pub fn of(address: SocketAddr) -> Self {
        match address.ip().to_canonical().is_loopback() {
            true => Self::loopback(),
            false => Self::any(),
        }
    }

    /// Returns an empty list, to be extended.
    pub fn none() -> Self {
        Self(Some(List::default()))
    }

    /// Adds hosts: names, addresses, `*.example.com` for every name below that, or URLs of which only the
    /// host counts. Any host stays any host.
    pub fn and(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        if let Some(list) = &mut self.0 {
            let hosts = hosts.into_iter().map(Into::into);
            list.names
                .extend(hosts.map(|host| normal(host_of(&host)).to_ascii_lowercase()));
        }
        self
    }

    /// Returns whether this is one of them, as `Host` writes it: with a port or without.
    pub fn has(&self, host: &str) -> bool {
        let Some(list) = &self.0 else { return true };
        if let Some(name) = plain_name(host) {
            return list.has(name);
        }
        // Some texts that programs take for a host are not one.
        match host.parse::<Authority>() {
            Ok(authority) if !host.contains('@') => list.has(authority.host()),
            _ => false,
        }
    }

    /// Refuses a request for another host, or from a page of another host whose origin is not allowed.
    pub(super) fn check(&self, head: &Parts, allows_origin: bool) -> Result<(), Response<Body>> {
        let Some(refusal) = self.refusal_of(head, allows_origin) else {
            return Ok(());
        };
        let text = match refusal {
            HostRefusal::NoHost => "expected a `Host` header",
            HostRefusal::OtherHost => WRONG_HOST,
            HostRefusal::OtherOrigin => WRONG_ORIGIN,
        };
        Err(plain(refusal.status(), text))
    }

    /// Returns the reason to refuse a request, by its target, `Host` and `Origin`.
    pub fn refusal(&self, head: &Parts) -> Option<HostRefusal> {
        self.refusal_of(head, false)
    }

    fn refusal_of(&self, head: &Parts, allows_origin: bool) -> Option<HostRefusal> {
        self.0.as_ref()?;
        let mut named = false;
        if let Some(authority) = head.uri.authority() {
            named = true;
            if !self.has(authority.as_str()) {
                return Some(HostRefusal::OtherHost.of(authority.as_str()));
            }
        }
        for (name, value) in &head.headers {
            if name == HOST {
                named = true;
                if !self.has(text(value)) {
                    return Some(HostRefusal::OtherHost.of(text(value)));
                }
            } else if name == ORIGIN && !allows_origin {
                // `null`, which sandboxed pages and pages from files send, is not an origin of ours.
                let (_, host) = text(value).split_once("://").unwrap_or_default();
                if !self.has(host) {
                    return Some(HostRefusal::OtherOrigin.of(text(value)));
                }
            }
        }
        (!named).then_some(HostRefusal::NoHost)
    }
}

/// Reason to refuse a request by its `Host` or `Origin`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HostRefusal {
    /// It names no host.
    NoHost,
    /// It is for another host.
    OtherHost,
    /// It is from a page of another host.
    OtherOrigin,
}

impl HostRefusal {
    /// Returns the status of the answer.
    pub fn status(self) -> StatusCode {
        match self {
            Self::NoHost => StatusCode::BAD_REQUEST,
            Self::OtherHost | Self::OtherOrigin => StatusCode::FORBIDDEN,
        }
    }

    /// Logs the name that is refused.
    fn of(self, name: &str) -> Self {
        tracing::debug!(name, reason = ?self, "refused a request");
        self
    }
}

impl List {
    fn has(&self, host: &str) -> bool {
        let host = normal(host);
        let is = |name: &str| host.eq_ignore_ascii_case(name);
        let is_below = |parent: &str| {
            let split = host.len().checked_sub(parent.len());
            let split = split.and_then(|length| host.split_at_checked(length));
            split.is_some_and(|(name, end)| !name.is_empty() && end.eq_ignore_ascii_case(parent))
        };
        let is_loopback = || match host.parse::<IpAddr>() {
            Ok(address) => address.to_canonical().is_loopback(),
            Err(_) => is("localhost") || is_below(".localhost"),
        };
        let is_named = |name: &String| match name.strip_prefix('*') {
            Some(parent) => is_below(parent),
            None => is(name),
        };
        self.loopback && is_loopback() || self.names.iter().any(is_named)
    }
}

/// Returns the host of a text that can only be a name or an address of IPv4, with a port or without: nearly
/// every request has one, and needs no parser.
fn plain_name(text: &str) -> Option<&str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    };
    let is_port = |port: &str| {
        (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit())
    };
    (!name.is_empty() && name.bytes().all(is_plain) && port.is_none_or(is_port)).then_some(name)
}

/// Returns the host without the brackets of an address, and without the dot that ends an absolute name.
fn normal(host: &str) -> &str {
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    address.unwrap_or(host.strip_suffix('.').unwrap_or(host))
}

/// Returns the host of a URL, of a host with a port, or of what is a host already.
fn host_of(text: &str) -> &str {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split(['/', '?', '#']).next().unwrap_or(text);
    match text.rsplit_once(':') {
        // An address of IPv6 has more colons than that before its port, and then brackets.
        Some((host, _)) if !host.contains(':') || host.ends_with(']') => host,
        _ => text,
    }
}

/// Returns the value of a header, or an empty text, which is not a host.
fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}

const WRONG_HOST: &str = "this server does not answer as that host: it would have to be allowed \
    with `HttpServer::allow_hosts`, or every host with `HttpServer::any_host`\n";
const WRONG_ORIGIN: &str = "this server does not answer pages of that origin: its host would have \
    to be allowed with `HttpServer::allow_origins` or `allow_hosts`, or every host with `any_host`\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(hosts: &Hosts, host: &str, expected: bool) {
        assert_eq!(hosts.has(host), expected, "{host}");
    }

    #[test]
    fn hosts_are_distinguished_from_similar_names() {
        let local = Hosts::loopback();
        for host in [
            "localhost",
            "LocalHost:8080",
            "localhost.",
            "a2a.localhost:1",
            "127.0.0.1",
            "127.1.2.3:80",
            "[::1]",
            "[::1]:8080",
            "[::ffff:127.0.0.1]",
        ] {
            check(&local, host, true);
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "evillocalhost",
            "127.0.0.1.evil.example",
            "127.0.0.1@evil.example",
            "evil.example@127.0.0.1",
            "10.0.0.1",
            "0.0.0.0",
            "128.0.0.1",
            "[::2]",
            "2130706433",
            "127.1",
            "localhost evil.example",
            "localhost/evil",
            "evil.example:localhost",
        ] {
            check(&local, host, false);
            check(&Hosts::any(), host, true);
        }
    }

    #[test]
    fn hosts_are_allowed_as_names_addresses_parents_and_urls() {
        let hosts = Hosts::none().and([
            "One.example",
            "*.two.example",
            "http://three.example:8080/path",
            "four.example:80",
            "10.0.0.1",
            "::2",
            "[::3]:80",
        ]);
        for host in [
            "one.example:1",
            "ONE.example.",
            "a.two.example",
            "a.b.two.example",
            "three.example",
            "four.example:81",
            "10.0.0.1:80",
            "[::2]",
            "[::3]",
        ] {
            check(&hosts, host, true);
        }
        for host in [
            "localhost",
            "two.example",
            "a.one.example",
            ".two.example",
            "[::4]",
        ] {
            check(&hosts, host, false);
        }
        check(&Hosts::any().and(["one.example"]), "two.example", true);
    }

    #[test]
    fn any_host_is_allowed_unless_address_is_loopback() {
        for (address, any) in [
            ("127.0.0.1:80", false),
            ("[::1]:80", false),
            ("[::ffff:127.0.0.1]:80", false),
            ("0.0.0.0:80", true),
            ("10.0.0.1:80", true),
        ] {
            check(&Hosts::of(address.parse().unwrap()), "evil.example", any);
        }
    }

    /// Checks the status of a request, by its target and its headers.
    #[track_caller]
    fn check_request(target: &str, headers: &[(&str, &str)], expected: Option<u16>) {
        let mut request = http::Request::get(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let refused = Hosts::loopback().check(&head, false).err();
        let found = refused.map(|response| response.status().as_u16());
        assert_eq!(found, expected, "{target} {headers:?}");
        assert!(Hosts::any().check(&head, false).is_ok());
    }

    #[test]
    fn requests_for_other_hosts_and_from_other_pages_are_refused() {
        let local = ("host", "localhost:8080");
        check_request("/", &[local], None);
        check_request("/", &[], Some(400));
        check_request("/", &[("host", "")], Some(403));
        check_request("/", &[("host", "evil.example")], Some(403));
        check_request("/", &[local, ("host", "evil.example")], Some(403));
        check_request("http://localhost/", &[], None);
        check_request("http://evil.example/", &[], Some(403));
        check_request("http://evil.example/", &[local], Some(403));
        check_request("http://localhost/", &[("host", "evil.example")], Some(403));
        check_request("/", &[local, ("origin", "http://localhost:3000")], None);
        check_request("/", &[local, ("origin", "https://[::1]")], None);
        for origin in [
            "https://evil.example",
            "null",
            "",
            "localhost",
            "file://",
            "\u{e9}",
        ] {
            check_request("/", &[local, ("origin", origin)], Some(403));
        }
        check_request(
            "/",
            &[
                local,
                ("origin", "http://localhost"),
                ("origin", "http://evil.example"),
            ],
            Some(403),
        );
    }
}
