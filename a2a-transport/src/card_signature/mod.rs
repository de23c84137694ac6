//! Signatures of agent cards, both directions: detached JSON Web Signatures (RFC 7515) over the
//! canonical form of the card (1.0 §8.4).
//!
//! The key types come from [`webhook`](crate::webhook): a [`SigningKey`] signs, a
//! [`Jwks`](crate::webhook::Jwks) verifies. The algorithm is fixed by the kind of key, never by the
//! signature. No key is fetched here: a `jku` is an unproven claim until the card is verified, and only
//! a caller that has a list of trusted URLs can follow it.
//!
//! ```
//! use a2a_transport::card_signature::{CardVerifier, SignatureForm, sign};
//! use a2a_transport::webhook::{Algorithm, Jwks, SigningKey};
//!
//! let key = SigningKey::generate(Algorithm::Es256).unwrap();
//! let mut card = serde_json::json!({"name": "Joker", "skills": []});
//! card["signatures"] = serde_json::json!(sign(&card, &key, None).unwrap());
//!
//! let verifier = CardVerifier::new(Jwks::of([&key]));
//! let verified = verifier.verify(&card).unwrap();
//! assert_eq!((verified.key.as_str(), verified.form), (key.id(), SignatureForm::Specification));
//! card["name"] = "Jester".into();
//! assert!(verifier.verify(&card).is_err());
//! ```

mod canonical;
mod error;
mod form;
mod shape;
#[cfg(test)]
mod tests;
mod verifier;

use a2a_types::AgentCardSignature;
use base64::Engine;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::canonical::canonical;
pub use self::error::{Reason, SignError, VerifyError};
pub use self::form::SignatureForm;
pub use self::verifier::{CardVerifier, Verification};
use crate::webhook::{SigningKey, URL, choose_provider};

/// Signs a card, given as it stands on the wire, with or without other signatures: returns a signature for
/// each [form](SignatureForm) of the card, that of the specification first, so that every verifier finds one that
/// is valid. Forms that are the same have one signature. `keys_url` is where the public half of the key is
/// published, over HTTPS.
///
/// Errors: `card` is not an agent card, or the key does not sign.
pub fn sign(
    card: &Value,
    key: &SigningKey,
    keys_url: Option<&str>,
) -> Result<Vec<AgentCardSignature>, SignError> {
    let mut payloads = Vec::new();
    for form in SignatureForm::ALL {
        let payload = canonical(card, *form)?;
        if !payloads.contains(&payload) {
            payloads.push(payload);
        }
    }
    let signatures = payloads
        .iter()
        .map(|payload| sign_payload(payload, key, keys_url));
    signatures.collect()
}

fn sign_payload(
    payload: &[u8],
    key: &SigningKey,
    keys_url: Option<&str>,
) -> Result<AgentCardSignature, SignError> {
    choose_provider();
    let algorithm = key.algorithm();
    let header = Header {
        alg: algorithm.name().to_owned(),
        typ: Some("JOSE".to_owned()),
        kid: Some(key.id().to_owned()),
        jku: keys_url.map(str::to_owned),
        crit: None,
    };
    let header = serde_json::to_vec(&header).map_err(|_| SignError::Key)?;
    let protected = URL.encode(header);
    let input = signing_input(&protected, payload);
    let signature = jsonwebtoken::crypto::sign(&input, key.encoding_key(), algorithm.library())
        .map_err(|_| SignError::Key)?;
    Ok(AgentCardSignature {
        protected,
        signature,
        header: None,
    })
}

/// Reads the protected header of a signature, without verifying it.
///
/// Errors: the value is not a signature.
pub fn header(signature: &Value) -> Result<Header, Reason> {
    let protected = signature["protected"].as_str().ok_or(Reason::Malformed)?;
    let json = URL.decode(protected).map_err(|_| Reason::Malformed)?;
    // The same member twice would let two readers see two headers: serde refuses it.
    serde_json::from_slice(&json).map_err(|_| Reason::Malformed)
}

fn signing_input(protected: &str, payload: &[u8]) -> Vec<u8> {
    format!("{protected}.{}", URL.encode(payload)).into_bytes()
}

/// The protected header of a signature.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Header {
    /// The algorithm.
    pub alg: String,
    /// Media type of the signature: `JOSE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typ: Option<String>,
    /// Names the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    /// URL of the key according to the signer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jku: Option<String>,
    /// Extensions that a reader must understand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crit: Option<Vec<String>>,
}
