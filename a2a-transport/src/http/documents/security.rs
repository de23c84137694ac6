//! Security of an endpoint, as cards, challenges and metadata documents state it.

use std::collections::BTreeMap;

use a2a_types::{AgentCard, SecurityRequirement, SecurityScheme};
use http::request::Parts;
use http::{Response, StatusCode};
use serde_json::json;

use crate::http::message::answer::json;
use crate::http::message::body::Body;
use crate::http::message::challenge::AuthChallenge;

/// Schemes and requirements of an authenticator, as cards, challenges and metadata documents state them. Made with
/// [`Default`]; then its fields are set.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Security {
    /// The schemes, by the names that the card has for them.
    pub schemes: BTreeMap<String, SecurityScheme>,
    /// The requirements: satisfying any one suffices. One without schemes admits anonymous callers.
    pub requirements: Vec<SecurityRequirement>,
    /// The challenges for callers without credentials: one for each scheme that has one.
    pub challenges: Vec<AuthChallenge>,
    /// The authorization servers whose tokens are accepted; `None` if tokens are not, or not of any server.
    pub protected_resource: Option<ProtectedResource>,
}

impl Security {
    /// Returns whether a card states these schemes and requirements: the same ones, in any order of the
    /// requirements. Descriptions do not count.
    pub fn is_stated_by(&self, card: &AgentCard) -> bool {
        let same = |own: &[SecurityRequirement], other: &[SecurityRequirement]| {
            own.iter().all(|requirement| other.contains(requirement))
        };
        let (own, stated) = (&self.requirements, &card.security_requirements);
        let plain = |schemes: &BTreeMap<String, SecurityScheme>| -> BTreeMap<_, _> {
            let schemes = schemes.iter();
            schemes
                .map(|(name, scheme)| (name.clone(), undescribed(scheme)))
                .collect()
        };
        plain(&self.schemes) == plain(&card.security_schemes)
            && own.len() == stated.len()
            && same(own, stated)
            && same(stated, own)
    }
}

/// Returns a scheme without its description.
fn undescribed(scheme: &SecurityScheme) -> SecurityScheme {
    let mut scheme = scheme.clone();
    let description = match &mut scheme {
        SecurityScheme::ApiKeySecurityScheme(scheme) => &mut scheme.description,
        SecurityScheme::HttpAuthSecurityScheme(scheme) => &mut scheme.description,
        SecurityScheme::OAuth2SecurityScheme(scheme) => &mut scheme.description,
        SecurityScheme::OpenIdConnectSecurityScheme(scheme) => &mut scheme.description,
        SecurityScheme::MtlsSecurityScheme(scheme) => &mut scheme.description,
        _ => return scheme,
    };
    *description = None;
    scheme
}

/// Metadata of an endpoint that takes OAuth tokens, RFC 9728. Made with [`Default`]; then its fields are
/// set.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProtectedResource {
    /// Issuers of tokens that are accepted.
    pub authorization_servers: Vec<String>,
    /// The scopes that tokens may need.
    pub scopes: Vec<String>,
}

impl ProtectedResource {
    /// Path of the metadata, below an origin and above the path of the endpoint.
    pub(crate) const PATH: &'static str = "/.well-known/oauth-protected-resource";

    /// Returns the URL of the metadata of the endpoint at a URL: the well-known path goes between host and
    /// path. RFC 9728 §3.1.
    pub(crate) fn url(endpoint: &str) -> Option<String> {
        let (scheme, rest) = endpoint.split_once("://")?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = path.trim_end_matches('/');
        Some(format!("{scheme}://{host}{}{path}", Self::PATH))
    }

    /// Answers with the metadata of the endpoint at a URL.
    pub(crate) fn answer(&self, endpoint: &str, head: &Parts) -> Response<Body> {
        let mut document = json!({
            "resource": endpoint,
            "authorization_servers": self.authorization_servers,
            "bearer_methods_supported": ["header"],
        });
        if !self.scopes.is_empty() {
            document["scopes_supported"] = json!(self.scopes);
        }
        let body = match head.method {
            http::Method::HEAD => String::new(),
            _ => document.to_string(),
        };
        json(StatusCode::OK, body)
    }
}

#[cfg(test)]
mod tests {
    use a2a_types::{ApiKeySecurityScheme, StringList};

    use super::*;

    #[test]
    fn metadata_stands_between_host_and_path() {
        for (endpoint, expected) in [
            (
                "https://h/",
                "https://h/.well-known/oauth-protected-resource",
            ),
            (
                "https://h",
                "https://h/.well-known/oauth-protected-resource",
            ),
            (
                "https://h:1/a/b",
                "https://h:1/.well-known/oauth-protected-resource/a/b",
            ),
            (
                "http://[::1]/a/",
                "http://[::1]/.well-known/oauth-protected-resource/a",
            ),
        ] {
            assert_eq!(ProtectedResource::url(endpoint).as_deref(), Some(expected));
        }
        assert_eq!(ProtectedResource::url("h/a"), None);
    }

    #[test]
    fn a_card_states_the_security_or_another_one() {
        let key = |name: &str, description: Option<&str>| {
            SecurityScheme::ApiKeySecurityScheme(ApiKeySecurityScheme {
                description: description.map(str::to_owned),
                location: "header".to_owned(),
                name: name.to_owned(),
            })
        };
        let requirement = |name: &str, scopes: &[&str]| SecurityRequirement {
            schemes: [(
                name.to_owned(),
                StringList {
                    list: scopes.iter().map(|&scope| scope.to_owned()).collect(),
                },
            )]
            .into(),
        };
        let security = Security {
            schemes: [("a", key("A", None)), ("b", key("B", None))]
                .map(|(name, scheme)| (name.to_owned(), scheme))
                .into(),
            requirements: vec![requirement("a", &[]), requirement("b", &["s"])],
            ..Security::default()
        };
        let card = AgentCard {
            security_schemes: security.schemes.clone(),
            security_requirements: vec![requirement("b", &["s"]), requirement("a", &[])],
            ..AgentCard::new("n", "d")
        };
        let check = |change: fn(&mut AgentCard), expected: bool| {
            let mut card = card.clone();
            change(&mut card);
            assert_eq!(security.is_stated_by(&card), expected, "{card:?}");
        };
        check(|_| {}, true);
        check(
            |card| {
                let described = card.security_schemes.get_mut("a").unwrap();
                if let SecurityScheme::ApiKeySecurityScheme(scheme) = described {
                    scheme.description = Some("d".to_owned());
                }
            },
            true,
        );
        check(|card| card.security_requirements.truncate(1), false);
        check(
            |card| {
                card.security_requirements
                    .push(SecurityRequirement::default())
            },
            false,
        );
        check(
            |card| card.security_requirements[0] = card.security_requirements[1].clone(),
            false,
        );
        check(|card| drop(card.security_schemes.remove("a")), false);
        check(
            |card| {
                let scheme = card.security_schemes["a"].clone();
                card.security_schemes.insert("c".to_owned(), scheme);
            },
            false,
        );
    }
}
