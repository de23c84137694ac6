//! URLs of an agent behind a proxy, and the proxy's own for them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_client::Origin;
use a2a_types::{AgentInterface, Dialect};
use http::Uri;
use serde_json::Value;

use crate::problem::Problem;

/// The URLs that a proxy stands for: first that of the agent, to which the proxy's root leads; then the origins
/// that its cards name besides, which are found at [`OTHERS`] with their number.
#[derive(Debug)]
pub(crate) struct Upstream {
    /// Without a slash at its end.
    base: String,
    origin: Origin,
    others: Mutex<Vec<Origin>>,
}

/// Destination of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Destination {
    pub(crate) url: String,
    /// It goes to another origin than that of the agent, which its callers have not chosen.
    pub(crate) is_foreign: bool,
}

/// Path of the origins that cards name.
const OTHERS: &str = "/.upstream/";

/// Origins that cards may name.
const MAX_OTHERS: usize = 16;

impl Upstream {
    /// Reads the URL of an agent, or of its card. Errors: it is no URL of `http` or `https`.
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
        let mut paths = Dialect::CARD_PATHS.into_iter();
        let origin_of_card = paths.find_map(|path| base.strip_suffix(path));
        let base = origin_of_card.unwrap_or(base);
        Ok(Self {
            base: base.trim_end_matches('/').to_owned(),
            origin,
            others: Mutex::default(),
        })
    }

    pub(crate) fn url(&self) -> &str {
        &self.base
    }

    /// Returns where a request with this path and query goes; `None` if there is nothing at it.
    pub(crate) fn destination(&self, path_and_query: &str) -> Option<Destination> {
        let Some(rest) = path_and_query.strip_prefix(OTHERS) else {
            return Some(Destination {
                url: format!("{}{path_and_query}", self.base),
                is_foreign: false,
            });
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let number: usize = rest[..end].parse().ok()?;
        let others = self.others();
        let origin = others.get(number)?;
        Some(Destination {
            url: format!("{origin}{}", &rest[end..]),
            is_foreign: *origin != self.origin,
        })
    }

    /// Changes the URLs of a card so that its readers stay with the proxy, which they reach at `authority`. A card
    /// in an answer by JSON-RPC is changed, too. Its signatures, which are of the agent's own card, are removed.
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
        if !is_grpc(binding.as_ref()) {
            self.rewrite(card.get_mut("url"), authority);
        }
        for list in ["additionalInterfaces", "supportedInterfaces"] {
            let interfaces = card.get_mut(list).and_then(Value::as_array_mut);
            for interface in interfaces.into_iter().flatten() {
                let named = |name| interface.get(name);
                if !is_grpc(named("transport").or(named("protocolBinding"))) {
                    self.rewrite(interface.get_mut("url"), authority);
                }
            }
        }
    }

    /// Returns the proxy's URL of a redirect within the origin of the agent.
    pub(crate) fn redirect(&self, location: &str, authority: &str) -> Option<String> {
        let absolute = match location.starts_with('/') && !location.starts_with("//") {
            true => format!("{}{location}", self.origin),
            false => location.to_owned(),
        };
        let is_own = Origin::of(&absolute).ok().as_ref() == Some(&self.origin);
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

    /// Returns the path at which the proxy has a URL; `None` if it is no URL of HTTP, or too many origins are known.
    fn path_of(&self, url: &str) -> Option<String> {
        let origin = Origin::of(url).ok()?;
        if let Some(rest) = url.strip_prefix(&self.base) {
            // A request cannot tell the URL without a slash from that with one, unless both are the root.
            let is_root = self.base.ends_with(&self.origin.to_string());
            if is_root || rest.len() > 1 && rest.starts_with(['/', '?']) {
                return Some(rest.to_owned());
            }
        }
        let uri: Uri = url.parse().ok()?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let mut others = self.others();
        let known = others.iter().position(|other| *other == origin);
        let number = match known {
            Some(number) => number,
            None if others.len() < MAX_OTHERS => {
                others.push(origin);
                others.len() - 1
            }
            None => return None,
        };
        Some(format!("{OTHERS}{number}{path}"))
    }

    /// Locks the origins. No code under this lock panics half-way, so poisoning is ignored.
    fn others(&self) -> MutexGuard<'_, Vec<Origin>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_grpc(binding: Option<&Value>) -> bool {
    let name = binding.and_then(Value::as_str);
    name.is_some_and(|name| name != AgentInterface::JSON_RPC && name != AgentInterface::HTTP_JSON)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks the proxy's URL for one of an agent, and that it leads back.
    #[track_caller]
    fn check(upstream: &Upstream, url: &str, expected: &str, is_foreign: bool) {
        let mut card = json!({"url": url});
        upstream.rewrite_card(&mut card, "p:1");
        assert_eq!(card["url"], format!("http://p:1{expected}"));
        let path = if expected.is_empty() { "/" } else { expected };
        let back = upstream.destination(path).unwrap();
        let same = url.parse::<Uri>().unwrap() == back.url.parse::<Uri>().unwrap();
        assert!(same && back.is_foreign == is_foreign, "{back:?}");
    }

    #[test]
    fn urls_lead_to_the_proxy_and_back() {
        let root = Upstream::of("http://a.example:80/.well-known/agent-card.json").unwrap();
        assert_eq!(root.url(), "http://a.example:80");
        let root = Upstream::of("http://a.example").unwrap();
        check(&root, "http://a.example", "", false);
        check(&root, "http://a.example/", "/", false);
        check(&root, "http://a.example/rest?x=1", "/rest?x=1", false);
        check(&root, "https://a.example/rpc", "/.upstream/0/rpc", true);
        check(&root, "https://b.example", "/.upstream/1/", true);
        check(&root, "https://b.example/?x", "/.upstream/1/?x", true);
        let deep = Upstream::of("http://a.example/agents/a/").unwrap();
        check(&deep, "http://a.example/agents/a/rpc", "/rpc", false);
        check(
            &deep,
            "http://a.example/agents/a",
            "/.upstream/0/agents/a",
            false,
        );
        check(
            &deep,
            "http://a.example/agents/a/",
            "/.upstream/0/agents/a/",
            false,
        );
        check(
            &deep,
            "http://a.example/agents/ab",
            "/.upstream/0/agents/ab",
            false,
        );
        assert_eq!(deep.destination("/.upstream/7/x"), None);
        assert_eq!(deep.destination("/.upstream/x"), None);
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
            "additionalInterfaces": [old("http://p:1/r", "HTTP+JSON"), old("http://a.example/g", "GRPC")],
            "supportedInterfaces": [interface("http://p:1/r", "HTTP+JSON"), interface("http://a.example:9", "GRPC")],
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
        let beside = Some("http://p:1/.upstream/0/login".to_owned());
        assert_eq!(redirect("/login"), beside);
        for other in ["http://b.example/", "//b.example/", "rpc/", ""] {
            assert_eq!(redirect(other), None, "{other}");
        }
    }

    #[test]
    fn origins_are_bounded() {
        let upstream = Upstream::of("http://a.example").unwrap();
        for number in 0..2 * MAX_OTHERS {
            let mut card = json!({"url": format!("http://h{number}/")});
            upstream.rewrite_card(&mut card, "p:1");
        }
        assert_eq!(upstream.others().len(), MAX_OTHERS);
    }
}
