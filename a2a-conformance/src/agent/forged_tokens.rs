//! Forged tokens that a careless verifier of JSON Web Tokens accepts.

use a2a_transport::http::HttpClient;
use a2a_types::{AgentCard, SecurityScheme};
use http::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Value, json};

use crate::token::{decoded, hmac_signed, public_key_der, public_key_pem, unsigned};

/// Header and claims that forged tokens have.
#[derive(Debug)]
pub(super) struct TokenTemplate {
    header: Value,
    claims: Value,
    /// URLs of the issuer's metadata, as the card and the caller's token say.
    metadata: Vec<String>,
}

impl TokenTemplate {
    /// Takes the claims of the caller's token, so that nothing is wrong with a forged one but its signature; makes
    /// some up if the caller has no JSON Web Token. `None` if the card declares no bearer tokens.
    pub(super) fn of(card: &AgentCard, caller: &HeaderMap, audience: &str) -> Option<Self> {
        let mut metadata = Vec::new();
        let mut has_tokens = false;
        for scheme in card.security_schemes.values() {
            match scheme {
                SecurityScheme::HttpAuthSecurityScheme(scheme) => {
                    has_tokens |= scheme.scheme.eq_ignore_ascii_case("bearer");
                }
                SecurityScheme::OpenIdConnectSecurityScheme(scheme) => {
                    has_tokens = true;
                    metadata.push(scheme.open_id_connect_url.clone());
                }
                SecurityScheme::OAuth2SecurityScheme(scheme) => {
                    has_tokens = true;
                    metadata.extend(scheme.oauth2_metadata_url.clone());
                }
                _ => {}
            }
        }
        if !has_tokens {
            return None;
        }
        let token = caller
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let token = token.and_then(|text| text.split_once(' '));
        let of_caller = token.and_then(|(_, token)| decoded(token.trim()));
        let issuer = metadata.first().and_then(|url| url.split_once(WELL_KNOWN));
        let (header, claims) = of_caller.unwrap_or_else(|| {
            let now = jiff::Timestamp::now().as_second();
            let claims = json!({
                "iss": issuer.map_or("https://issuer.example", |(issuer, _)| issuer),
                "sub": "a2a-conformance", "aud": audience, "iat": now, "exp": now + 3600,
            });
            (json!({"alg": "RS256", "typ": "JWT"}), claims)
        });
        if let Some(issuer) = claims["iss"].as_str() {
            let issuer = issuer.trim_end_matches('/');
            for document in ["openid-configuration", "oauth-authorization-server"] {
                metadata.push(format!("{issuer}{WELL_KNOWN}{document}"));
            }
        }
        metadata.retain(|url| url.starts_with("http"));
        Some(Self {
            header,
            claims,
            metadata,
        })
    }

    /// Returns tokens without a signature: by `alg: none` in two spellings, and with the algorithm of a signed one.
    pub(super) fn unsigned(&self) -> Vec<String> {
        let usual = self.header["alg"].as_str().unwrap_or("RS256");
        let algorithms = ["none", "nOnE", usual];
        algorithms
            .map(|algorithm| unsigned(&self.claims, algorithm))
            .into()
    }

    /// Returns tokens signed by HMAC with the issuer's public key as the secret, in the forms in which verifiers have
    /// it: PEM, PEM without the last line break, and DER. Empty if the issuer publishes no keys.
    pub(super) async fn signed_by_public_key(&self, http: &HttpClient) -> Vec<String> {
        let Some(keys) = self.issuer_keys(http).await else {
            return Vec::new();
        };
        let key_id = self.header["kid"].as_str();
        let is_named = |key: &&Value| key_id.is_some() && key["kid"].as_str() == key_id;
        let named = keys.iter().find(is_named);
        let mut keys = named.into_iter().chain(&keys);
        let found = keys.find_map(|key| Some((key, public_key_der(key)?)));
        let Some((key, der)) = found else {
            return Vec::new();
        };
        let pem = public_key_pem(&der);
        let secrets = [pem.as_bytes(), pem.trim_end().as_bytes(), &der];
        let secrets = secrets.iter();
        secrets
            .map(|secret| hmac_signed(&self.claims, key["kid"].as_str(), secret))
            .collect()
    }

    /// Fetches the keys that the issuer's metadata names.
    async fn issuer_keys(&self, http: &HttpClient) -> Option<Vec<Value>> {
        for url in &self.metadata {
            let metadata = json_at(http, url).await.unwrap_or_default();
            let Some(url) = metadata["jwks_uri"].as_str() else {
                continue;
            };
            let keys = json_at(http, url).await.unwrap_or_default();
            if let Some(keys) = keys["keys"].as_array() {
                return Some(keys.clone());
            }
        }
        None
    }
}

async fn json_at(http: &HttpClient, url: &str) -> Option<Value> {
    let fetched = http.get(url, &HeaderMap::new()).await.ok()?;
    serde_json::from_slice(&fetched.body).ok()
}

const WELL_KNOWN: &str = "/.well-known/";

#[cfg(test)]
mod tests {
    use a2a_types::{HttpAuthSecurityScheme, OpenIdConnectSecurityScheme};

    use super::*;

    fn card(scheme: SecurityScheme) -> AgentCard {
        AgentCard {
            security_schemes: [("one".to_owned(), scheme)].into(),
            ..AgentCard::default()
        }
    }

    #[test]
    fn claims_are_those_of_the_caller_or_made_up() {
        let scheme = SecurityScheme::OpenIdConnectSecurityScheme(OpenIdConnectSecurityScheme {
            open_id_connect_url: "https://login.example/a/.well-known/openid-configuration".into(),
            ..OpenIdConnectSecurityScheme::default()
        });
        let card = card(scheme);
        let made = TokenTemplate::of(&card, &HeaderMap::new(), "https://agent.example").unwrap();
        assert_eq!(made.claims["iss"], "https://login.example/a");
        assert_eq!(made.claims["aud"], "https://agent.example");
        for token in made.unsigned() {
            assert!(token.ends_with('.') && decoded(&token).is_some(), "{token}");
        }

        let claims = json!({"iss": "https://other.example/", "sub": "me"});
        let token = format!("Bearer {}", hmac_signed(&claims, Some("k"), b"s"));
        let caller = HeaderMap::from_iter([(AUTHORIZATION, token.parse().unwrap())]);
        let taken = TokenTemplate::of(&card, &caller, "").unwrap();
        assert_eq!(
            (&taken.claims, &taken.header["kid"]),
            (&claims, &json!("k"))
        );
        let urls: Vec<_> = taken.metadata.iter().map(|url| &url[8..13]).collect();
        assert_eq!(urls, ["login", "other", "other"]);
    }

    #[test]
    fn nothing_is_forged_for_agents_without_tokens() {
        let scheme = |scheme: &str| {
            SecurityScheme::HttpAuthSecurityScheme(HttpAuthSecurityScheme {
                scheme: scheme.to_owned(),
                ..HttpAuthSecurityScheme::default()
            })
        };
        let forges = |name| TokenTemplate::of(&card(scheme(name)), &HeaderMap::new(), "").is_some();
        assert!(forges("Bearer") && !forges("Basic"));
    }
}
