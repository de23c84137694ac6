//! Configuration file with named agents.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::exit::Failure;
use crate::files::expand;

/// Content of the configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default)]
    agents: BTreeMap<String, NamedAgent>,
}

/// A named agent. Options on the command line take precedence.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct NamedAgent {
    /// Its origin, base or card.
    pub(crate) url: String,
    pub(crate) protocol_version: Option<String>,
    pub(crate) binding: Option<String>,
    pub(crate) tenant: Option<String>,
    pub(crate) bearer: Option<String>,
    pub(crate) basic: Option<String>,
    pub(crate) api_key: Option<String>,
    pub(crate) oauth_client: Option<String>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) trust: Vec<String>,
    pub(crate) proxy: Option<String>,
    pub(crate) ca: Option<String>,
    pub(crate) cert: Option<String>,
    pub(crate) key: Option<String>,
}

impl Config {
    /// Reads the file, if there is one.
    pub(crate) fn read() -> Result<Self, Failure> {
        let Some((path, must_be)) = place() else {
            return Ok(Self::default());
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_be => {
                return Ok(Self::default());
            }
            Err(error) => return Err(Failure::machine(path.display().to_string())(error)),
        };
        toml::from_str(&text)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
    }

    /// Returns the agent of this name or URL.
    pub(crate) fn agent(&self, name: &str) -> Result<NamedAgent, Failure> {
        if let Some(known) = self.agents.get(name) {
            let url = with_scheme(&known.url).unwrap_or_else(|| known.url.clone());
            return Ok(NamedAgent {
                url,
                ..known.clone()
            });
        }
        if let Some(url) = with_scheme(name) {
            return Ok(NamedAgent {
                url,
                ..NamedAgent::default()
            });
        }
        let names: Vec<_> = self.agents.keys().map(String::as_str).collect();
        let known = match names.is_empty() {
            true => "the configuration file names no agents (`a2a --help` shows how)".to_owned(),
            false => format!("the configuration file names {}", names.join(", ")),
        };
        Err(Failure::usage(format!(
            "`{name}` is not a URL (`https://…`), `host:port` or name of an agent: {known}"
        )))
    }
}

/// Returns a URL unchanged, or a URL for `host:port`: `http` on this machine, `https` elsewhere.
fn with_scheme(name: &str) -> Option<String> {
    if name.contains("://") {
        return Some(name.to_owned());
    }
    let authority = name.split(['/', '?']).next()?;
    let authority: http::uri::Authority = authority.parse().ok()?;
    authority.port_u16()?;
    let host = authority.host();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse();
    let is_local = match address {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_unspecified(),
        Ok(IpAddr::V6(address)) => address.is_loopback() || address.is_unspecified(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    };
    let scheme = if is_local { "http" } else { "https" };
    Some(format!("{scheme}://{name}"))
}

/// Returns the path of the file, and whether the file must exist.
fn place() -> Option<(PathBuf, bool)> {
    if let Some(path) = std::env::var_os("A2A_CONFIG") {
        return Some((PathBuf::from(path), true));
    }
    let home = match std::env::var_os("XDG_CONFIG_HOME") {
        Some(home) if !home.is_empty() => PathBuf::from(home),
        _ if std::env::home_dir().is_none() => return None,
        _ => expand("~/.config"),
    };
    Some((home.join("a2a/config.toml"), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_and_a_port_are_a_url() {
        for (name, expected) in [
            ("localhost:8080", Some("http://localhost:8080")),
            ("127.0.0.1:80/base", Some("http://127.0.0.1:80/base")),
            ("[::1]:8080", Some("http://[::1]:8080")),
            ("agent.example:443", Some("https://agent.example:443")),
            ("10.0.0.1:8080/a?b=c", Some("https://10.0.0.1:8080/a?b=c")),
            ("http://agent.example", Some("http://agent.example")),
            ("agent.example", None),
            ("travel", None),
            ("travel:x", None),
        ] {
            assert_eq!(with_scheme(name).as_deref(), expected, "{name}");
        }
    }
}
