//! Signatures of cards, good and forged. Good ones are made by a2a-transport's `card_signature`, forged
//! ones only here.

use a2a_transport::card_signature::{self, CardVerifier, SignatureForm, canonical, header};
use a2a_transport::webhook::{Jwk, Jwks, SigningKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::case::SignatureKind;
use crate::token;

/// Returns the card with signatures.
pub(super) fn sign(
    mut card: Value,
    kind: SignatureKind,
    key: &SigningKey,
    stranger: &SigningKey,
    elsewhere: &str,
) -> Result<Value, String> {
    let good = |key: &SigningKey, jku: Option<&str>| {
        let signatures =
            card_signature::sign(&card, key, jku).map_err(|error| error.to_string())?;
        // The form of the specification comes first, and a client has to know no other.
        Ok::<_, String>(json!(signatures[0]))
    };
    let forged = |algorithm: &str, more: Value, sign: &dyn Fn(&str) -> Result<Vec<u8>, String>| {
        let mut header = json!({"alg": algorithm, "typ": "JOSE", "kid": key.id()});
        super::wire_answer::merge(&mut header, &more);
        let protected = URL_SAFE_NO_PAD.encode(header.to_string());
        let signature = sign(&signing_input(&card, &protected)?)?;
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Ok::<_, String>(json!({"protected": protected, "signature": signature}))
    };
    let signatures = match kind {
        SignatureKind::Well | SignatureKind::Tampered => json!([good(key, None)?]),
        SignatureKind::ElsewhereKey => {
            json!([good(stranger, Some(&format!("{elsewhere}/jwks.json")))?])
        }
        SignatureKind::Twice => json!([good(stranger, None)?, good(key, None)?]),
        SignatureKind::None => json!([forged("none", json!({}), &|_| Ok(Vec::new()))?]),
        SignatureKind::Hmac => {
            let by_public_key =
                |signing_input: &str| Ok(hmac(key.public(), signing_input.as_bytes()));
            json!([forged("HS256", json!({}), &by_public_key)?])
        }
        SignatureKind::Critical => {
            let more = json!({"crit": ["https://example.com/valid-on"], "https://example.com/valid-on": "Mondays"});
            json!([forged("ES256", more, &|signing_input| token::ecdsa(
                key,
                signing_input.as_bytes()
            ))?])
        }
    };
    card["signatures"] = signatures;
    if kind == SignatureKind::Tampered {
        card["description"] = "Somebody else's".into();
    }
    Ok(card)
}

/// Checks that one of the keys has signed the card; `rules` may accept bad signatures as well.
///
/// Errors: no signature is good, for this reason.
pub(super) fn verify(card: &Value, keys: &[Jwk], rules: AcceptedForgeries) -> Result<(), String> {
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
pub(super) struct AcceptedForgeries {
    /// `alg: none`, and HS256 with the public key as the secret.
    pub(super) any_algorithm: bool,
    /// Any ES256 signature, valid or not.
    pub(super) any_signature: bool,
    /// ES256 with an extension that must be understood.
    pub(super) any_extension: bool,
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
                    .map(|signing_input| hmac(key, signing_input.as_bytes()));
                let expected = expected.map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
                self.any_algorithm && expected.as_deref().ok() == signature["signature"].as_str()
            }
            _ => false,
        }
    }
}

/// Returns the URL at which the first signature says that its key is.
pub(super) fn key_url(card: &Value) -> Option<String> {
    header(&card["signatures"][0]).ok()?.jku
}

/// Returns the text that is signed: the protected header, and the card without its signatures.
fn signing_input(card: &Value, protected: &str) -> Result<String, String> {
    let payload =
        canonical(card, SignatureForm::Specification).map_err(|error| error.to_string())?;
    Ok(format!("{protected}.{}", URL_SAFE_NO_PAD.encode(payload)))
}

/// Returns the HMAC with a public key, as it is published, as the secret.
pub(super) fn hmac(key: &Jwk, signing_input: &[u8]) -> Vec<u8> {
    token::hmac_sha256(&serde_json::to_vec(key).unwrap_or_default(), signing_input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a_transport::webhook::Algorithm;

    #[test]
    fn only_a_good_signature_is_taken() {
        let key = || SigningKey::generate(Algorithm::Es256).unwrap();
        let (own, stranger) = (key(), key());
        let trusted = [own.public().clone()];
        let card = json!({"name": "n", "capabilities": {}, "description": "d"});
        for kind in [
            SignatureKind::Well,
            SignatureKind::Tampered,
            SignatureKind::None,
            SignatureKind::Hmac,
            SignatureKind::ElsewhereKey,
            SignatureKind::Critical,
            SignatureKind::Twice,
        ] {
            let signed = sign(card.clone(), kind, &own, &stranger, "http://h").unwrap();
            let takes = |rules| verify(&signed, &trusted, rules).is_ok();
            let good = matches!(kind, SignatureKind::Well | SignatureKind::Twice);
            assert_eq!(takes(AcceptedForgeries::default()), good, "{kind:?}");
            let any_algorithm = AcceptedForgeries {
                any_algorithm: true,
                ..AcceptedForgeries::default()
            };
            let expected = good || matches!(kind, SignatureKind::None | SignatureKind::Hmac);
            assert_eq!(takes(any_algorithm), expected, "{kind:?}");
            let any_extension = AcceptedForgeries {
                any_extension: true,
                ..AcceptedForgeries::default()
            };
            let expected = good || kind == SignatureKind::Critical;
            assert_eq!(takes(any_extension), expected, "{kind:?}");
            let any_signature = AcceptedForgeries {
                any_signature: true,
                ..AcceptedForgeries::default()
            };
            let expected = good || kind == SignatureKind::Tampered;
            assert_eq!(takes(any_signature), expected, "{kind:?}");
        }
        assert!(verify(&card, &trusted, AcceptedForgeries::default()).is_err());
    }
}
