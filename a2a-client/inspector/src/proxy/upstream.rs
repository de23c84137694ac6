//! URLs of an agent behind a proxy, and the proxy's own for them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_client::Origin;
use a2a_types::{AgentInterface, ProtocolVersion};
use http::Uri;
use serde_json::Value;

use crate::problem::Problem;

/// The URLs that a proxy stands for: first that of the agent, to which the proxy's root leads; then the rest of its
/// origin, and other origins that the user has confirmed, which are found at [`ORIGINS`] with their number. That a
/// card names an origin does not add it: the card is the agent's, and the agent may be hostile.
#[derive(Debug)]
pub(crate) struct Upstream {
    /// Without a slash at its end.
    base: String,
    origins: Mutex<Origins>,
}

#[derive(Debug)]
struct Origins {
    /// The agent's own first.
    confirmed: Vec<Origin>,
    /// Origins that cards have named, and that are not confirmed.
    named: Vec<Origin>,
}

/// Path of the origins.
const ORIGINS: &str = "/.upstream/";

/// Origins that are confirmed, and origins that are named.
const MAX_ORIGINS: usize = 16;

impl Upstream {
    /// Reads the URL of an agent, or of its card. Errors: it is not a URL of `http` or `https`.
    pub(crate) fn of(url: &str) -> Result<Self, Problem> {
        let origin = Origin::of(url)
            .map_err(|error| Problem::bad_request(format!("`upstream`: {error}")))?;
        if url
            .parse::<Uri>()
            .is_ok_and(|uri| uri.authority().is_some_and(|it| it.as_str().contains('@')))
        {
            let problem =
                "`upstream`: the URL has a name or password: the proxy's callers send their own";
            return Err(Problem::bad_request(problem));
        }
        let base = url.split(['?', '#']).next().unwrap_or_default();
        let mut paths = ProtocolVersion::CARD_PATHS.into_iter();
        let origin_of_card = paths.find_map(|path| base.strip_suffix(path));
        let base = origin_of_card.unwrap_or(base);
        Ok(Self {
            base: base.trim_end_matches('/').to_owned(),
            origins: Mutex::new(Origins {
                confirmed: vec![origin],
                named: Vec::new(),
            }),
        })
    }

    pub(crate) fn url(&self) -> &str {
        &self.base
    }

    /// Passes requests on to this origin, too. Errors: it is not an origin of `http` or `https`, or there are too many origins.
    pub(crate) fn confirm(&self, origin: &str) -> Result<(), Problem> {
        let origin = Origin::of(origin)
            .map_err(|error| Problem::bad_request(format!("`origins`: {error}")))?;
        let mut origins = self.origins();
        if origins.confirmed.contains(&origin) {
            return Ok(());
        }
        if origins.confirmed.len() == MAX_ORIGINS {
            return Err(Problem::conflict(format!(
                "the proxy passes requests on to {MAX_ORIGINS} origins already"
            )));
        }
        origins.named.retain(|named| *named != origin);
        origins.confirmed.push(origin);
        Ok(())
    }

    /// Returns the other origins that are confirmed.
    pub(crate) fn confirmed(&self) -> Vec<String> {
        let origins = self.origins();
        let others = origins.confirmed.iter().skip(1);
        others.map(ToString::to_string).collect()
    }

    /// Returns the origins that cards have named, and that are not confirmed.
    pub(crate) fn named(&self) -> Vec<String> {
        let origins = self.origins();
        origins.named.iter().map(ToString::to_string).collect()
    }

    /// Returns the URL to which a request with this path and query goes; `None` if there is nothing at it.
    pub(crate) fn destination(&self, path_and_query: &str) -> Option<String> {
        // Without a slash, it would continue the name of the host.
        if !path_and_query.starts_with('/') {
            return None;
        }
        let Some(rest) = path_and_query.strip_prefix(ORIGINS) else {
            return Some(format!("{}{path_and_query}", self.base));
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let number: usize = rest[..end].parse().ok()?;
        let origins = self.origins();
        let origin = origins.confirmed.get(number)?;
        Some(format!("{origin}{}", &rest[end..]))
    }

    /// Changes the URLs of a card so that its readers stay with the proxy, which they reach at `authority`. A card
    /// in an answer by JSON-RPC is changed, too. Its signatures, which are of the agent's own card, are removed, and so
    /// are interfaces by gRPC beside others: the proxy does not forward gRPC, and callers would go past it.
    pub(crate) fn rewrite_card(&self, document: &mut Value, authority: &str) {
        let card = match document.get("jsonrpc") {
            Some(_) => document.get_mut("result"),
            None => Some(document),
        };
        let Some(Value::Object(card)) = card else {
            return;
        };
        card.remove("signatures");
        let binding = card.get("preferredTransport").cloned();
        if is_forwarded(binding.as_ref()) {
            self.rewrite(card.get_mut("url"), authority);
        }
        for list in ["additionalInterfaces", "supportedInterfaces"] {
            let Some(interfaces) = card.get_mut(list).and_then(Value::as_array_mut) else {
                continue;
            };
            let binding = |it: &Value| it.get("transport").or(it.get("protocolBinding")).cloned();
            if interfaces
                .iter()
                .any(|it| is_forwarded(binding(it).as_ref()))
            {
                interfaces.retain(|it| binding(it).is_none_or(|name| name != AgentInterface::GRPC));
            }
            for interface in interfaces {
                if is_forwarded(binding(interface).as_ref()) {
                    self.rewrite(interface.get_mut("url"), authority);
                }
            }
        }
    }

    /// Returns the proxy's URL of a redirect within the origin of the agent.
    pub(crate) fn redirect(&self, location: &str, authority: &str) -> Option<String> {
        let own = self.origins().confirmed.first()?.clone();
        let absolute = match location.starts_with('/') && !location.starts_with("//") {
            true => format!("{own}{location}"),
            false => location.to_owned(),
        };
        let is_own = Origin::of(&absolute).ok() == Some(own);
        let path = is_own.then(|| self.path_of(&absolute)).flatten()?;
        Some(format!("http://{authority}{path}"))
    }

    fn rewrite(&self, url: Option<&mut Value>, authority: &str) {
        if let Some(Value::String(url)) = url
            && let Some(path) = self.path_of(url)
        {
            *url = format!("http://{authority}{path}");
        }
    }

    /// Returns the path at which the proxy has a URL; `None` if it is not an HTTP URL, or of an origin that is not
    /// confirmed.
    fn path_of(&self, url: &str) -> Option<String> {
        let origin = Origin::of(url).ok()?;
        let mut origins = self.origins();
        let Some(number) = origins.confirmed.iter().position(|known| *known == origin) else {
            if !origins.named.contains(&origin) && origins.named.len() < MAX_ORIGINS {
                origins.named.push(origin);
            }
            return None;
        };
        if let Some(rest) = url.strip_prefix(&self.base) {
            // A request cannot tell the URL without a slash from that with one, unless both are the root.
            let is_root = origins
                .confirmed
                .first()
                .is_some_and(|own| self.base.ends_with(&own.to_string()));
            let is_below = rest.starts_with(['/', '?']);
            if is_below && (is_root || rest.len() > 1) || is_root && rest.is_empty() {
                return Some(rest.to_owned());
            }
        }
        let uri: Uri = url.parse().ok()?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Some(format!("{ORIGINS}{number}{path}"))
    }

    /// Locks the origins. No code under this lock panics half-way, so poisoning is ignored.
    fn origins(&self) -> MutexGuard<'_, Origins> {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether calls by a binding can be forwarded. An interface without a binding can.
fn is_forwarded(binding: Option<&Value>) -> bool {
    let name = binding.and_then(Value::as_str);
    name.is_none_or(|name| [AgentInterface::JSON_RPC, AgentInterface::HTTP_JSON].contains(&name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks the proxy's URL for one of an agent, and that it leads back.
    #[track_caller]
    fn check(upstream: &Upstream, url: &str, expected: &str) {
        let mut card = json!({"url": url});
        upstream.rewrite_card(&mut card, "p:1");
        assert_eq!(card["url"], format!("http://p:1{expected}"));
        let path = if expected.is_empty() { "/" } else { expected };
        let back = upstream.destination(path).unwrap();
        let same = url.parse::<Uri>().unwrap() == back.parse::<Uri>().unwrap();
        assert!(same, "{back:?}");
    }

    #[test]
    fn urls_lead_to_the_proxy_and_back() {
        let root = Upstream::of("http://a.example:80/.well-known/agent-card.json").unwrap();
        assert_eq!(root.url(), "http://a.example:80");
        let root = Upstream::of("http://a.example").unwrap();
        check(&root, "http://a.example", "");
        check(&root, "http://a.example/", "/");
        check(&root, "http://a.example/rest?x=1", "/rest?x=1");
        root.confirm("https://a.example/ignored").unwrap();
        root.confirm("https://b.example").unwrap();
        root.confirm("https://b.example:443").unwrap();
        assert_eq!(root.confirmed(), ["https://a.example", "https://b.example"]);
        check(&root, "https://a.example/rpc", "/.upstream/1/rpc");
        check(&root, "https://b.example", "/.upstream/2/");
        check(&root, "https://b.example/?x", "/.upstream/2/?x");
        let deep = Upstream::of("http://a.example/agents/a/").unwrap();
        check(&deep, "http://a.example/agents/a/rpc", "/rpc");
        check(&deep, "http://a.example/agents/a", "/.upstream/0/agents/a");
        check(
            &deep,
            "http://a.example/agents/a/",
            "/.upstream/0/agents/a/",
        );
        check(
            &deep,
            "http://a.example/agents/ab",
            "/.upstream/0/agents/ab",
        );
    }

    #[test]
    fn origins_that_only_a_card_names_stay_out_of_reach() {
        let upstream = Upstream::of("http://a.example").unwrap();
        let urls = [
            "http://169.254.169.254/latest/",
            "https://a.example/",
            "http://a.example:8080/",
            "http://a.example@b.example/",
            "http://a.example.evil.example/",
        ];
        for url in urls {
            let mut card = json!({"url": url});
            upstream.rewrite_card(&mut card, "p:1");
            assert_eq!(
                card["url"], url,
                "its readers go there themselves, if they will"
            );
            for number in 1..=urls.len() {
                assert_eq!(
                    upstream.destination(&format!("/.upstream/{number}/x")),
                    None
                );
            }
        }
        assert_eq!(upstream.named().len(), urls.len());
        upstream.confirm("http://b.example").unwrap();
        assert_eq!(upstream.named().len(), urls.len() - 1);
        let to_b = Some("http://b.example/x".to_owned());
        assert_eq!(upstream.destination("/.upstream/1/x"), to_b);
    }

    #[test]
    fn a_path_never_continues_the_name_of_the_host() {
        let upstream = Upstream::of("http://a.example").unwrap();
        for path in [
            "*",
            "",
            ".evil.example/",
            "@evil.example/",
            ":80@evil.example/",
        ] {
            assert_eq!(upstream.destination(path), None, "{path}");
        }
        for path in [
            "/.upstream/7/x",
            "/.upstream/x",
            "/.upstream/",
            "/.upstream/-1/",
            "/.upstream/0@evil.example/",
        ] {
            assert_eq!(upstream.destination(path), None, "{path}");
        }
        let own = upstream.destination("/.upstream/0?x").unwrap();
        assert_eq!(own, "http://a.example?x");
    }

    #[test]
    fn every_interface_of_http_is_rewritten() {
        let upstream = Upstream::of("http://a.example").unwrap();
        let interface = |url: &str, binding: &str| json!({"url": url, "protocolBinding": binding});
        let old = |url: &str, binding: &str| json!({"url": url, "transport": binding});
        let mut card = json!({"jsonrpc": "2.0", "id": 1, "result": {
            "url": "http://a.example/", "preferredTransport": "JSONRPC",
            "additionalInterfaces": [old("http://a.example/r", "HTTP+JSON"), old("http://a.example/g", "GRPC")],
            "supportedInterfaces": [interface("http://a.example/r", "HTTP+JSON"), interface("http://a.example:9", "GRPC")],
            "signatures": [{}], "documentationUrl": "http://a.example/docs",
        }});
        upstream.rewrite_card(&mut card, "p:1");
        let expected = json!({
            "url": "http://p:1/", "preferredTransport": "JSONRPC",
            "additionalInterfaces": [old("http://p:1/r", "HTTP+JSON")],
            "supportedInterfaces": [interface("http://p:1/r", "HTTP+JSON")],
            "documentationUrl": "http://a.example/docs",
        });
        assert_eq!(card["result"], expected);
    }

    #[test]
    fn redirects_within_the_agent_lead_to_the_proxy() {
        let deep = Upstream::of("http://a.example/agents/a").unwrap();
        let redirect = |location| deep.redirect(location, "p:1");
        let own = Some("http://p:1/rpc/".to_owned());
        assert_eq!(redirect("http://a.example/agents/a/rpc/"), own);
        assert_eq!(redirect("/agents/a/rpc/"), own);
        let sibling = Some("http://p:1/.upstream/0/login".to_owned());
        assert_eq!(redirect("/login"), sibling);
        for other in ["http://b.example/", "//b.example/", "rpc/", ""] {
            assert_eq!(redirect(other), None, "{other}");
        }
    }

    #[test]
    fn origins_are_bounded() {
        let upstream = Upstream::of("http://a.example").unwrap();
        for number in 0..2 * MAX_ORIGINS {
            let mut card = json!({"url": format!("http://h{number}/")});
            upstream.rewrite_card(&mut card, "p:1");
            let confirmed = upstream.confirm(&format!("http://c{number}/"));
            assert_eq!(confirmed.is_ok(), number + 1 < MAX_ORIGINS);
        }
        assert_eq!(upstream.named().len(), MAX_ORIGINS);
        assert!(upstream.confirm("ftp://h").is_err());
    }
}
