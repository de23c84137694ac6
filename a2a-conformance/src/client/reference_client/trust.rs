//! Trust decisions of our client: signatures of cards, and where a card sends credentials.

use a2a_client::credentials::Keyring;
use a2a_client::{Cards, ClientBuilder, Error, Origin};
use a2a_types::{AgentCard, SecurityScheme};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::performer::Performer;
use super::{InstructionLine, Keys};
use crate::client::jws::{self, AcceptedForgeries};
use crate::mutant::client::Bug;

impl Performer {
    /// Checks that one of the trusted keys has signed the card.
    pub(super) async fn verified(
        &self,
        line: &InstructionLine,
    ) -> Result<Result<(), String>, Error> {
        let url = format!(
            "{}{}",
            line.url.trim_end_matches('/'),
            line.dialect().card_path()
        );
        let http = self.http(line).build();
        let fetched = http.get(&url, &HeaderMap::new()).await?;
        let mut card: Value = serde_json::from_slice(&fetched.body).unwrap_or_default();
        if self.has(Bug::FirstSignature)
            && let Some(signatures) = card["signatures"].as_array_mut()
        {
            signatures.truncate(1);
        }
        let mut keys = line.keys.keys.clone();
        if self.has(Bug::AnyKeyUrl)
            && let Some(url) = jws::key_url(&card)
        {
            let fetched = http.get(&url, &HeaderMap::new()).await?;
            let found: Keys = serde_json::from_slice(&fetched.body).unwrap_or_default();
            keys.extend(found.keys);
        }
        let rules = AcceptedForgeries {
            any_algorithm: self.has(Bug::AnyAlgorithm),
            any_signature: self.has(Bug::BadSignature),
            any_extension: self.has(Bug::AnyExtension),
        };
        Ok(jws::verify(&card, &keys, rules))
    }

    /// Follows the card on where to send credentials, and in which header, as the bugs here do.
    pub(super) async fn credulous(
        &self,
        line: &InstructionLine,
        mut builder: ClientBuilder,
    ) -> Result<ClientBuilder, Error> {
        let card = Cards::new(self.http(line).build()).find(&line.url).await?;
        let is_plain = line.url.starts_with("http://");
        let bug = if is_plain {
            Bug::ForeignOrigin
        } else {
            Bug::Downgrade
        };
        if self.has(bug) {
            for interface in &card.supported_interfaces {
                if Origin::of(&interface.url).is_ok() {
                    builder = builder.trust_origin(&interface.url);
                }
            }
        }
        if self.has(Bug::AnyHeader)
            && let (Some(key), Some(name)) = (&line.credentials.api_key, key_header(&card))
            && let (Ok(name), Ok(value)) = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_str(key),
            )
        {
            builder = builder.keyring(Keyring::default()).header(name, value);
        }
        Ok(builder)
    }
}

/// Returns the name under which a card wants an API key.
fn key_header(card: &AgentCard) -> Option<String> {
    card.security_schemes
        .values()
        .find_map(|scheme| match scheme {
            SecurityScheme::ApiKeySecurityScheme(scheme) => Some(scheme.name.clone()),
            _ => None,
        })
}
