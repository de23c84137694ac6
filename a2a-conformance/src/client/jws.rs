//! Signatures of cards: JWS (RFC 7515) over the card without its signatures, its members sorted
//! (RFC 8785). Specification 1.0 §8.4.
//!
//! Cards of the suite have no numbers and no keys outside ASCII, so sorted compact JSON is canonical.

use a2a_transport::webhook::{Jwk, SigningKey};
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, UnparsedPublicKey,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::case::Signed;

/// The card with a signature.
pub(super) fn sign(
    mut card: Value,
    how: Signed,
    key: &SigningKey,
    stranger: &SigningKey,
    elsewhere: &str,
) -> Result<Value, String> {
    let (algorithm, key, jku) = match how {
        Signed::Well | Signed::Tampered => ("ES256", key, None),
        Signed::None => ("none", key, None),
        Signed::Hmac => ("HS256", key, None),
        Signed::ElsewhereKey => ("ES256", stranger, Some(format!("{elsewhere}/jwks.json"))),
    };
    let mut header = json!({"alg": algorithm, "typ": "JOSE", "kid": key.id()});
    if let Some(jku) = jku {
        header["jku"] = jku.into();
    }
    let protected = URL_SAFE_NO_PAD.encode(header.to_string());
    let said = said(&card, &protected);
    let signature = match how {
        Signed::None => Vec::new(),
        Signed::Hmac => hmac(key.public(), said.as_bytes()),
        _ => {
            let pair =
                EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.expose_pkcs8());
            let pair = pair.map_err(|error| error.to_string())?;
            let signature = pair.sign(&SystemRandom::new(), said.as_bytes());
            signature
                .map_err(|error| error.to_string())?
                .as_ref()
                .to_vec()
        }
    };
    let signature = URL_SAFE_NO_PAD.encode(signature);
    card["signatures"] = json!([{"protected": protected, "signature": signature}]);
    if how == Signed::Tampered {
        card["description"] = "Somebody else's".into();
    }
    Ok(card)
}

/// Whether one of these keys has signed the card; who asks for other rules gets what they say.
///
/// Errors: why none of its signatures is good.
pub(super) fn verify(card: &Value, keys: &[Jwk], rules: Rules) -> Result<(), String> {
    let signatures = card["signatures"].as_array().map_or(&[][..], Vec::as_slice);
    let mut problem = "the card is not signed".to_owned();
    for signature in signatures {
        match is_good(card, signature, keys, rules) {
            Ok(()) => return Ok(()),
            Err(found) => problem = found,
        }
    }
    Err(problem)
}

/// What is taken for a good signature.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    /// Also what is not signed by a key pair.
    pub(super) any_algorithm: bool,
    /// Also what is signed, whatever by.
    pub(super) any_signature: bool,
}

/// Where the first signature says that its key is.
pub(super) fn key_url(card: &Value) -> Option<String> {
    let protected = card["signatures"][0]["protected"].as_str()?;
    let header = URL_SAFE_NO_PAD.decode(protected).ok()?;
    let header: Value = serde_json::from_slice(&header).ok()?;
    header["jku"].as_str().map(str::to_owned)
}

fn is_good(card: &Value, signature: &Value, keys: &[Jwk], rules: Rules) -> Result<(), String> {
    let text = |name: &str| signature[name].as_str().unwrap_or_default().to_owned();
    let decode = |text: &str| {
        let bytes = URL_SAFE_NO_PAD.decode(text);
        bytes.map_err(|_| "the signature is no base64url".to_owned())
    };
    let protected = text("protected");
    let header: Value = serde_json::from_slice(&decode(&protected)?)
        .map_err(|_| "the protected header is no JSON".to_owned())?;
    let bytes = decode(&text("signature"))?;
    let kid = header["kid"].as_str();
    let key = keys.iter().find(|key| key.kid.as_deref() == kid);
    let key = key.ok_or("the signature is of no key that is trusted")?;
    let said = said(card, &protected);
    match header["alg"].as_str() {
        Some("ES256") if rules.any_signature => Ok(()),
        Some("ES256") => {
            let point = public_point(key).ok_or("the key is none of P-256")?;
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                .verify(said.as_bytes(), &bytes)
                .map_err(|_| "the signature is wrong".to_owned())
        }
        Some("none") if rules.any_algorithm => Ok(()),
        Some("HS256") if rules.any_algorithm && bytes == hmac(key, said.as_bytes()) => Ok(()),
        other => Err(format!("the algorithm {other:?} is not that of the key")),
    }
}

/// What is signed: the protected header, and the card without its signatures.
fn said(card: &Value, protected: &str) -> String {
    let mut card = card.clone();
    if let Some(members) = card.as_object_mut() {
        members.remove("signatures");
    }
    format!("{protected}.{}", URL_SAFE_NO_PAD.encode(card.to_string()))
}

/// The uncompressed point: 4, x, y.
fn public_point(key: &Jwk) -> Option<Vec<u8>> {
    let part = |part: &Option<String>| URL_SAFE_NO_PAD.decode(part.as_deref()?).ok();
    let mut point = vec![4];
    point.extend(part(&key.x)?);
    point.extend(part(&key.y)?);
    (point.len() == 65).then_some(point)
}

/// The HMAC of whoever takes a public key, as it is published, for a secret.
pub(super) fn hmac(key: &Jwk, said: &[u8]) -> Vec<u8> {
    let secret = serde_json::to_vec(key).unwrap_or_default();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
    hmac::sign(&key, said).as_ref().to_vec()
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
        for how in [
            Signed::Well,
            Signed::Tampered,
            Signed::None,
            Signed::Hmac,
            Signed::ElsewhereKey,
        ] {
            let signed = sign(card.clone(), how, &own, &stranger, "http://h").unwrap();
            let good = verify(&signed, &trusted, Rules::default()).is_ok();
            assert_eq!(good, how == Signed::Well, "{how:?}");
            let any_algorithm = Rules {
                any_algorithm: true,
                ..Rules::default()
            };
            let lax = verify(&signed, &trusted, any_algorithm).is_ok();
            let expected = matches!(how, Signed::Well | Signed::None | Signed::Hmac);
            assert_eq!(lax, expected, "{how:?}");
        }
        assert!(verify(&card, &trusted, Rules::default()).is_err());
    }
}
