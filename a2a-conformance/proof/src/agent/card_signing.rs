//! Signature of the card (1.0 §8.4).

use a2a_transport::card_signature::sign;
use a2a_transport::webhook::SigningKey;
use a2a_types::{AgentCard, AgentCardSignature};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::bug::Bug;
use a2a_conformance::token::ecdsa;

/// The card with signatures over it.
///
/// Errors: why it cannot be signed.
pub(super) fn signed(
    mut card: AgentCard,
    key: &SigningKey,
    bug: Option<Bug>,
) -> Result<AgentCard, String> {
    card.signatures = sign(&json!(card), key, None).map_err(|error| error.to_string())?;
    if bug == Some(Bug::SignsSignatures) {
        card.signatures = vec![over_signatures(&card, key)?];
    }
    Ok(card)
}

/// A signature over the card with the signatures that it has. The card has no numbers and no keys
/// outside ASCII, so that sorted compact JSON is canonical (RFC 8785).
fn over_signatures(card: &AgentCard, key: &SigningKey) -> Result<AgentCardSignature, String> {
    let header = json!({"alg": "ES256", "typ": "JOSE", "kid": key.id()});
    let protected = URL_SAFE_NO_PAD.encode(header.to_string());
    let payload = URL_SAFE_NO_PAD.encode(json!(card).to_string());
    let signing_input = format!("{protected}.{payload}");
    let signature = ecdsa(key, signing_input.as_bytes())?;
    Ok(AgentCardSignature {
        protected,
        signature: URL_SAFE_NO_PAD.encode(signature),
        header: None,
    })
}
