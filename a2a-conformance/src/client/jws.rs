//! Signatures of cards, good and forged. Good ones are made by a2a-transport's `card_signature`, forged
//! ones only here.

use a2a_transport::card_signature::{self, SignatureForm, canonical};
use a2a_transport::webhook::SigningKey;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::case::SignatureKind;
use crate::case::merge_patch;
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
        merge_patch(&mut header, &more);
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
            let by_public_key = |signing_input: &str| {
                Ok(token::hmac_by_public_key(
                    key.public(),
                    signing_input.as_bytes(),
                ))
            };
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
        card["description"] = "Another agent's".into();
    }
    Ok(card)
}

/// Returns the text that is signed: the protected header, and the card without its signatures.
fn signing_input(card: &Value, protected: &str) -> Result<String, String> {
    let payload =
        canonical(card, SignatureForm::Specification).map_err(|error| error.to_string())?;
    Ok(format!("{protected}.{}", URL_SAFE_NO_PAD.encode(payload)))
}

#[cfg(test)]
mod tests {
    use a2a_transport::card_signature::CardVerifier;
    use a2a_transport::webhook::{Algorithm, Jwks};

    use super::*;

    #[test]
    fn good_signatures_verify_and_forged_ones_do_not() {
        let key = || SigningKey::generate(Algorithm::Es256).unwrap();
        let (own, stranger) = (key(), key());
        let trusted = CardVerifier::new(Jwks {
            keys: vec![own.public().clone()],
        });
        let card = json!({"name": "n", "capabilities": {}, "description": "d"});
        assert!(trusted.verify(&card).is_err());
        for (kind, is_good) in [
            (SignatureKind::Well, true),
            (SignatureKind::Twice, true),
            (SignatureKind::Tampered, false),
            (SignatureKind::None, false),
            (SignatureKind::Hmac, false),
            (SignatureKind::ElsewhereKey, false),
            (SignatureKind::Critical, false),
        ] {
            let signed = sign(card.clone(), kind, &own, &stranger, "http://h").unwrap();
            assert_eq!(trusted.verify(&signed).is_ok(), is_good, "{kind:?}");
        }
    }
}
