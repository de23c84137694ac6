//! Origins that secrets may be sent to.

use super::sanitize::printable;
use crate::Origin;

/// Origins that the secrets of an OAuth client may be sent to: the agent's own, and the origins that
/// the caller names. Never without TLS, unless it is the local machine or the caller allows it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct OriginPolicy {
    pub(super) agent: Origin,
    /// Origins that the caller named.
    pub(super) named: Vec<Origin>,
    pub(super) cleartext: bool,
}

impl OriginPolicy {
    /// Checks an address that the caller named.
    pub(super) fn own(&self, url: &str) -> Result<(), String> {
        match origin(url)?.is_protected() || self.cleartext {
            true => Ok(()),
            false => Err(format!(
                "{} is not protected by TLS: expected https, or `allow_http`",
                printable(url)
            )),
        }
    }

    /// Checks an address that the agent's card, or a document it refers to, names.
    pub(super) fn foreign(&self, url: &str) -> Result<(), String> {
        let origin = origin(url)?;
        if origin != self.agent && !self.named.contains(&origin) {
            return Err(format!(
                "{} is not of the agent's origin: expected that, or to be named by `token_url` or \
                 `allow_issuer`",
                printable(url)
            ));
        }
        self.own(url)
    }

    /// Returns whether the caller named the origin of an address: its metadata is then trusted,
    /// too.
    pub(super) fn names(&self, url: &str) -> bool {
        Origin::of(url).is_ok_and(|origin| self.named.contains(&origin))
    }
}

/// Returns the origin of a URL. Errors are for people.
pub(super) fn origin(url: &str) -> Result<Origin, String> {
    // A user name before an `@` looks like a host to people.
    let origin = Origin::of(url).ok().filter(|_| !url.contains('@'));
    origin.ok_or_else(|| {
        let url = printable(url);
        format!("`{url}` is not an address: expected `https://host[:port][/path]`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, own: bool, foreign: bool) {
        let policy = OriginPolicy {
            agent: Origin::of("https://Agent.example/a2a").unwrap(),
            named: vec![
                Origin::of("https://id.example:8443").unwrap(),
                Origin::of("http://127.0.0.1:9").unwrap(),
            ],
            cleartext: false,
        };
        assert_eq!(policy.own(url).is_ok(), own, "{url}");
        assert_eq!(policy.foreign(url).is_ok(), foreign, "{url}");
    }

    #[test]
    fn secrets_go_to_trusted_origins_only() {
        check("https://agent.example/token", true, true);
        check("https://AGENT.example:443/token", true, true);
        check("https://id.example:8443/token", true, true);
        check("http://127.0.0.1:9/token", true, true);
        for elsewhere in [
            "https://id.example/token",
            "https://agent.example.evil/token",
            "https://agent.example./token",
            "https://agent.example:444/token",
            "http://localhost/token",
            "http://[::1]:80/token",
            "http://127.8.0.1/token",
        ] {
            check(elsewhere, true, false);
        }
        for never in [
            "http://agent.example/token",
            "http://127.0.0.1.evil/token",
            "http://localhost.evil/token",
            "https://agent.example@evil/token",
            "https://evil@agent.example/token",
            "ftp://agent.example/token",
            "agent.example/token",
            "/token",
            "",
        ] {
            check(never, false, false);
        }
        let cleartext = OriginPolicy {
            agent: Origin::of("http://agent.example").unwrap(),
            named: Vec::new(),
            cleartext: true,
        };
        assert_eq!(cleartext.foreign("http://agent.example/token"), Ok(()));
        assert!(cleartext.foreign("http://evil.example/token").is_err());
    }
}
