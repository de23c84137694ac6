//! Signatures of agent cards, both directions: detached JSON Web Signatures (RFC 7515) over the
//! canonical form of the card (1.0 §8.4).
//!
//! The keys are those of [`webhook`](crate::webhook): a [`SigningKey`] signs, a [`Jwks`] verifies. The
//! algorithm is fixed by the kind of key, never by the signature. No key is fetched here: a `jku` is an
//! unproven claim until the card is verified, and only a caller that has a list of trusted URLs can follow
//! it.
//!
//! ```
//! use a2a_transport::card_signature::{sign, verify};
//! use a2a_transport::webhook::{Algorithm, Jwks, SigningKey};
//!
//! let key = SigningKey::generate(Algorithm::Es256).unwrap();
//! let mut card = serde_json::json!({"name": "Joker", "skills": []});
//! card["signatures"] = serde_json::json!([sign(&card, &key, None).unwrap()]);
//!
//! let keys = Jwks::of([&key]);
//! assert_eq!(verify(&card, &keys).unwrap().key.as_deref(), Some(key.id()));
//! card["name"] = "Jester".into();
//! assert!(verify(&card, &keys).is_err());
//! ```

mod canonical;
mod error;
#[cfg(test)]
mod tests;

use a2a_types::{AgentCard, AgentCardSignature};
use base64::Engine;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::canonical::canonical;
pub use self::error::{Reason, SignError, VerifyError};
use crate::webhook::{Jwks, SigningKey, URL, choose_provider};

/// Signs a card, given as it stands on the wire, with or without other signatures. `keys_url` is where the
/// public half of the key is published, over HTTPS.
///
/// Errors: it is no card, or the key does not sign.
pub fn sign(
    card: &Value,
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
    let header = serde_json::to_vec(&header).map_err(|_| SignError::NoCard)?;
    let protected = URL.encode(header);
    let input = signing_input(&protected, &canonical(card)?);
    let signature = jsonwebtoken::crypto::sign(&input, key.encoding_key(), algorithm.library())
        .map_err(|_| SignError::Key)?;
    Ok(AgentCardSignature {
        protected,
        signature,
        header: None,
    })
}

/// Verifies that one of a card's signatures was made by one of these keys over the card's contents.
///
/// A card may have lost members that 1.0 does not know, where it went through a parser of 1.0, or have
/// gained some, where it serves several versions: if no signature is over the card as it stands, those over its
/// members of 1.0 alone count, and [`Verification::coverage`] reports that.
///
/// Errors: the reason for each signature.
pub fn verify(card: &Value, keys: &Jwks) -> Result<Verification, VerifyError> {
    choose_provider();
    let signatures = card["signatures"].as_array().map_or(&[][..], Vec::as_slice);
    let mut forms = Vec::new();
    forms.extend(canonical(card).ok().map(|bytes| (Coverage::Whole, bytes)));
    let known = AgentCard::deserialize(card).ok();
    let known = known.and_then(|card| serde_json::to_value(card).ok());
    let known = known.and_then(|card| canonical(&card).ok());
    forms.extend(known.map(|bytes| (Coverage::KnownMembers, bytes)));
    let mut reasons = Vec::new();
    for signature in signatures.iter().take(MAX_SIGNATURES) {
        match verify_one(signature, &forms, keys) {
            Ok(verified) => return Ok(verified),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(VerifyError { reasons })
}

/// Reads the protected header of a signature, without verifying it.
///
/// Errors: it is no signature.
pub fn header(signature: &Value) -> Result<Header, Reason> {
    let protected = signature["protected"].as_str().ok_or(Reason::Malformed)?;
    let json = URL.decode(protected).map_err(|_| Reason::Malformed)?;
    // The same member twice would let two readers see two headers: serde refuses it.
    serde_json::from_slice(&json).map_err(|_| Reason::Malformed)
}

fn verify_one(
    signature: &Value,
    forms: &[(Coverage, Vec<u8>)],
    keys: &Jwks,
) -> Result<Verification, Reason> {
    let Header { alg, kid, crit, .. } = header(signature)?;
    // RFC 7515 §4.1.11: what must be understood, and is not.
    if crit.is_some() {
        return Err(Reason::Critical);
    }
    let key = keys.find(kid.as_deref()).ok_or(Reason::UnknownKey)?;
    let (algorithm, key) = key.verifier().ok_or(Reason::UnknownKey)?;
    if format!("{algorithm:?}") != alg {
        return Err(Reason::Algorithm);
    }
    let protected = signature["protected"].as_str().ok_or(Reason::Malformed)?;
    let bytes = signature["signature"].as_str().ok_or(Reason::Malformed)?;
    let fits = |payload: &[u8]| {
        let input = signing_input(protected, payload);
        jsonwebtoken::crypto::verify(bytes, &input, &key, algorithm).unwrap_or(false)
    };
    let found = forms.iter().find(|(_, payload)| fits(payload));
    let (coverage, _) = found.ok_or(Reason::Signature)?;
    Ok(Verification {
        key: kid,
        algorithm: alg,
        coverage: *coverage,
    })
}

fn signing_input(protected: &str, payload: &[u8]) -> Vec<u8> {
    format!("{protected}.{}", URL.encode(payload)).into_bytes()
}

/// More signatures than this are not tried.
const MAX_SIGNATURES: usize = 16;

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

/// A card that is as its signer made it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verification {
    /// The key, by name.
    pub key: Option<String>,
    /// The algorithm.
    pub algorithm: String,
    /// Part of the card that was signed.
    pub coverage: Coverage,
}

/// Part of a card that was signed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Coverage {
    /// All of it.
    Whole,
    /// The members that 1.0 has; others may have been changed on the way.
    KnownMembers,
}
