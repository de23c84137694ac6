//! Trust decisions of our client: signatures of cards, and where a card sends credentials.

use a2a_client::credentials::Keyring;
use a2a_client::{Cards, ClientBuilder, Error, Origin};
use a2a_conformance::token::hmac_by_public_key;
use a2a_transport::card_signature::{CardVerifier, SignatureForm, canonical, header};
use a2a_transport::webhook::{Jwk, Jwks};
use a2a_types::{AgentCard, SecurityScheme};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::instruction::{InstructionLine, Keys};
use super::performer::Performer;
use crate::client::Bug;

/// Checks that one of the trusted keys has signed the card.
pub(super) async fn verified(
    performer: &Performer,
    line: &InstructionLine,
) -> Result<Result<(), String>, Error> {
    let url = format!(
        "{}{}",
        line.url.trim_end_matches('/'),
        line.protocol_version().card_path()
    );
    let http = performer.http(line).build();
    let fetched = http.get(&url, &HeaderMap::new()).await?;
    let mut card: Value = serde_json::from_slice(&fetched.body).unwrap_or_default();
    if performer.has(Bug::FirstSignature)
        && let Some(signatures) = card["signatures"].as_array_mut()
    {
        signatures.truncate(1);
    }
    let mut keys = line.keys.keys.clone();
    if performer.has(Bug::AnyKeyUrl)
        && let Some(url) = key_url(&card)
    {
        let fetched = http.get(&url, &HeaderMap::new()).await?;
        let found: Keys = serde_json::from_slice(&fetched.body).unwrap_or_default();
        keys.extend(found.keys);
    }
    let rules = AcceptedForgeries {
        any_algorithm: performer.has(Bug::AnyAlgorithm),
        any_signature: performer.has(Bug::BadSignature),
        any_extension: performer.has(Bug::AnyExtension),
    };
    Ok(verify(&card, &keys, rules))
}

/// Follows the card on where to send credentials, and in which header, as the bugs here do.
pub(super) async fn credulous(
    performer: &Performer,
    line: &InstructionLine,
    mut builder: ClientBuilder,
) -> Result<ClientBuilder, Error> {
    let card = Cards::new(performer.http(line).build())
        .find(&line.url)
        .await?;
    let is_plain = line.url.starts_with("http://");
    let bug = if is_plain {
        Bug::ForeignOrigin
    } else {
        Bug::Downgrade
    };
    if performer.has(bug) {
        for interface in &card.supported_interfaces {
            let url = interface.http_url(Some(&line.url));
            if Origin::of(&url).is_ok() {
                builder = builder.trust_origin(&url);
            }
        }
    }
    if performer.has(Bug::AnyHeader)
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

/// Returns the name under which a card wants an API key.
fn key_header(card: &AgentCard) -> Option<String> {
    card.security_schemes
        .values()
        .find_map(|scheme| match scheme {
            SecurityScheme::ApiKeySecurityScheme(scheme) => Some(scheme.name.clone()),
            _ => None,
        })
}

/// Checks that one of the keys has signed the card; `rules` may accept bad signatures as well.
///
/// Errors: no signature is good, for this reason.
fn verify(card: &Value, keys: &[Jwk], rules: AcceptedForgeries) -> Result<(), String> {
    let keys = Jwks {
        keys: keys.to_vec(),
    };
    let signatures = card["signatures"].as_array().map_or(&[][..], Vec::as_slice);
    match CardVerifier::new(keys.clone()).verify(card) {
        Ok(_) => Ok(()),
        Err(_) if signatures.iter().any(|one| rules.allow(card, one, &keys)) => Ok(()),
        Err(problem) => Err(problem.to_string()),
    }
}

/// Bad signatures that are accepted as if they were good.
#[derive(Clone, Copy, Debug, Default)]
struct AcceptedForgeries {
    /// `alg: none`, and HS256 with the public key as the secret.
    any_algorithm: bool,
    /// Any ES256 signature, valid or not.
    any_signature: bool,
    /// ES256 with an extension that must be understood.
    any_extension: bool,
}

impl AcceptedForgeries {
    fn allow(self, card: &Value, signature: &Value, keys: &Jwks) -> bool {
        let Ok(header) = header(signature) else {
            return false;
        };
        let Some(key) = keys.find(header.kid.as_deref()) else {
            return false;
        };
        match header.alg.as_str() {
            "ES256" if header.crit.is_some() => self.any_extension,
            "ES256" => self.any_signature,
            "none" => self.any_algorithm,
            "HS256" => {
                let protected = signature["protected"].as_str().unwrap_or_default();
                let expected = signing_input(card, protected)
                    .map(|signing_input| hmac_by_public_key(key, signing_input.as_bytes()));
                let expected = expected.map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
                self.any_algorithm && expected.as_deref().ok() == signature["signature"].as_str()
            }
            _ => false,
        }
    }
}

/// Returns the URL at which the first signature says that its key is.
fn key_url(card: &Value) -> Option<String> {
    header(&card["signatures"][0]).ok()?.jku
}

/// Returns the text that is signed: the protected header, and the card without its signatures.
fn signing_input(card: &Value, protected: &str) -> Result<String, String> {
    let payload =
        canonical(card, SignatureForm::Specification).map_err(|error| error.to_string())?;
    Ok(format!("{protected}.{}", URL_SAFE_NO_PAD.encode(payload)))
}
