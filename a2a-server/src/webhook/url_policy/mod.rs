//! SSRF guard: the policy of the URLs that a server may call.

use std::cell::Cell;
use std::net::IpAddr;

use a2a_transport::http::Tls;
use url::{Host, ParseError, SyntaxViolation, Url};

use super::address_ranges;
use super::refusal::Refusal;

/// Policy of the webhooks that a server accepts. The default is for a server with which anyone may
/// register webhooks: `https` to a public host, at port 443 or 8443.
///
/// ```
/// use a2a_server::WebhookPolicy;
///
/// let in_production = WebhookPolicy::default();
/// let local = WebhookPolicy::default().allow_hosts(["localhost", "127.0.0.1", "*.test"]);
/// ```
#[derive(Clone, Debug)]
pub struct WebhookPolicy {
    ports: Vec<u16>,
    hosts: Vec<String>,
    max_length: usize,
    pub(super) tls: Tls,
}

impl Default for WebhookPolicy {
    fn default() -> Self {
        Self {
            ports: vec![443, 8443],
            hosts: Vec::new(),
            max_length: 4096,
            tls: Tls::default(),
        }
    }
}

impl WebhookPolicy {
    /// Trusts these hosts, too: names, addresses, or `*.example` for every name below that. They
    /// may be called by `http`, at any port, and at whatever address they have, private ones
    /// included.
    pub fn allow_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let hosts = hosts.into_iter().map(Into::into);
        self.hosts.extend(hosts.map(|host| normal(&host)));
        self
    }

    /// Accepts these ports, too, of any host.
    pub fn allow_ports(mut self, ports: impl IntoIterator<Item = u16>) -> Self {
        self.ports.extend(ports);
        self
    }

    /// Trusts receivers whose certificate was issued by this one, too, which is given as DER: for
    /// authorities that the machine does not know.
    pub fn trust_issuer(mut self, certificate: impl Into<Vec<u8>>) -> Self {
        self.tls = self.tls.trust_der(certificate);
        self
    }

    /// Parses a URL and refuses one that must not be called. A name may still resolve to a
    /// forbidden address, which is checked when connecting.
    pub(crate) fn check(&self, text: &str) -> Result<Target, Refusal> {
        if text.len() > self.max_length {
            return Err(Refusal::TooLong(self.max_length));
        }
        let url = parse(text)?;
        let encrypted = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(Refusal::Scheme),
        };
        let host = url.host().ok_or(Refusal::Host)?.to_owned();
        let allowed = self.allows(&host);
        judge_host(&host, written_host(text), allowed)?;
        if !encrypted && !allowed {
            return Err(Refusal::Scheme);
        }
        let port = url.port_or_known_default().ok_or(Refusal::Scheme)?;
        if !allowed && !self.ports.contains(&port) {
            return Err(Refusal::Port(port));
        }
        let target = Target {
            url,
            host,
            port,
            encrypted,
            allowed,
        };
        target.path()?;
        Ok(target)
    }

    fn allows(&self, host: &Host) -> bool {
        let text = match host {
            Host::Domain(name) => name.clone(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        let is_name = matches!(host, Host::Domain(_));
        self.hosts
            .iter()
            .any(|known| match known.strip_prefix('*') {
                Some(parent) => is_name && text.len() > parent.len() && text.ends_with(parent),
                None => text == *known,
            })
    }
}

/// A URL that may be called.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Target {
    pub(super) url: Url,
    pub(super) host: Host,
    pub(super) port: u16,
    /// It is called by `https`.
    pub(super) encrypted: bool,
    /// Its host is on the list: any address will do.
    pub(super) allowed: bool,
}

/// Parses a URL, and refuses one that the URL standard would repair.
fn parse(text: &str) -> Result<Url, Refusal> {
    let (mended, credentials) = (Cell::new(false), Cell::new(false));
    let notice = |violation| match violation {
        SyntaxViolation::EmbeddedCredentials | SyntaxViolation::UnencodedAtSign => {
            credentials.set(true);
        }
        // A violation after the host, where the URL is sent encoded.
        SyntaxViolation::NonUrlCodePoint | SyntaxViolation::PercentDecode => {}
        _ => mended.set(true),
    };
    let parsed = Url::options()
        .syntax_violation_callback(Some(&notice))
        .parse(text);
    if credentials.get() {
        return Err(Refusal::Credentials);
    }
    let url = parsed.map_err(|error| match error {
        ParseError::EmptyHost
        | ParseError::IdnaError
        | ParseError::InvalidIpv4Address
        | ParseError::InvalidIpv6Address
        | ParseError::InvalidDomainCharacter => Refusal::Host,
        _ => Refusal::Malformed,
    })?;
    match mended.get() {
        true => Err(Refusal::Malformed),
        false => Ok(url),
    }
}

/// The host as it was written, of a URL without user information in which nothing was mended.
fn written_host(text: &str) -> &str {
    let (_, rest) = text.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => host,
        _ => authority,
    }
}

fn judge_host(host: &Host, written: &str, allowed: bool) -> Result<(), Refusal> {
    let address: IpAddr = match host {
        Host::Domain(name) => return judge_name(name, written, allowed),
        Host::Ipv4(address) => (*address).into(),
        Host::Ipv6(address) => (*address).into(),
    };
    if let Some(kind) = address_ranges::forbidden(address)
        && !allowed
    {
        return Err(Refusal::Address(kind));
    }
    // Programs may read this as another address, or the URL is meant to mislead.
    match address.is_ipv4() && written != address.to_string() {
        true => Err(Refusal::Disguised),
        false => Ok(()),
    }
}

fn judge_name(name: &str, written: &str, allowed: bool) -> Result<(), Refusal> {
    if name.ends_with('.') {
        return Err(Refusal::TrailingDot);
    }
    let bad = |label: &str| label.is_empty() || label.len() > 63;
    if name.len() > 253 || name.split('.').any(bad) {
        return Err(Refusal::Host);
    }
    if written.contains('%') {
        return Err(Refusal::Disguised);
    }
    let is_local = !name.contains('.')
        || LOCAL_NAMES.iter().any(|local| {
            let parent = name.strip_suffix(local);
            parent.is_some_and(|parent| parent.is_empty() || parent.ends_with('.'))
        });
    match is_local && !allowed {
        true => Err(Refusal::LocalName),
        false => Ok(()),
    }
}

/// Suffixes of names that mean another host on every network, besides names of one word.
const LOCAL_NAMES: &[&str] = &[
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "lan",
    "home.arpa",
    "in-addr.arpa",
    "ip6.arpa",
    "onion",
    "invalid",
];

/// A host of the list as a parsed URL would write it.
fn normal(host: &str) -> String {
    let (wildcard, name) = match host.strip_prefix("*.") {
        Some(name) => ("*.", name),
        None => ("", host),
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    match (bare.parse::<IpAddr>(), Host::parse(name)) {
        (Ok(address), _) => address.to_string(),
        (Err(_), Ok(host)) => format!("{wildcard}{host}"),
        (Err(_), Err(_)) => format!("{wildcard}{}", name.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests;
