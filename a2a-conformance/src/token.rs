//! JSON Web Tokens: the suite's own, and forgeries of the kinds that careless verifiers accept.

use a2a_transport::webhook::{Jwk, SigningKey};
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// Returns a token that a P-256 key has signed. Errors: the key is of another kind.
pub fn signed(claims: &Value, key: &SigningKey) -> Result<String, String> {
    let input = signing_input(
        &json!({"alg": "ES256", "typ": "JWT", "kid": key.id()}),
        claims,
    );
    let signature = ecdsa(key, input.as_bytes())?;
    Ok(format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// Returns a token without a signature; `algorithm` is a spelling of `none`.
pub fn unsigned(claims: &Value, algorithm: &str) -> String {
    let input = signing_input(&json!({"alg": algorithm, "typ": "JWT"}), claims);
    format!("{input}.")
}

/// Returns a token whose signature is an HMAC with this secret.
pub fn hmac_signed(claims: &Value, key_id: Option<&str>, secret: &[u8]) -> String {
    let mut header = json!({"alg": "HS256", "typ": "JWT"});
    if let Some(key_id) = key_id {
        header["kid"] = key_id.into();
    }
    let input = signing_input(&header, claims);
    let signature = hmac_sha256(secret, input.as_bytes());
    format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Returns the header and the claims of a token; nothing is verified. `None` if it is not a JSON Web Token.
pub fn decoded(token: &str) -> Option<(Value, Value)> {
    let mut parts = token.split('.');
    let mut next = || {
        let bytes = URL_SAFE_NO_PAD.decode(parts.next()?).ok()?;
        let json: Value = serde_json::from_slice(&bytes).ok()?;
        json.is_object().then_some(json)
    };
    let (header, claims) = (next()?, next()?);
    (parts.count() == 1).then_some((header, claims))
}

/// Returns the ECDSA signature of a P-256 key. Errors: the key is of another kind.
pub fn ecdsa(key: &SigningKey, message: &[u8]) -> Result<Vec<u8>, String> {
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.expose_pkcs8());
    let pair = pair.map_err(|error| error.to_string())?;
    let signature = pair.sign(&SystemRandom::new(), message);
    let signature = signature.map_err(|error| error.to_string())?;
    Ok(signature.as_ref().to_vec())
}

/// Returns the HMAC with SHA-256.
pub fn hmac_sha256(secret: &[u8], message: &[u8]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    hmac::sign(&key, message).as_ref().to_vec()
}

/// Returns the HMAC with a public key, as it is published, as the secret.
pub fn hmac_by_public_key(key: &Jwk, message: &[u8]) -> Vec<u8> {
    hmac_sha256(&serde_json::to_vec(key).unwrap_or_default(), message)
}

/// Returns a public key, given as a JSON Web Key, in the form of X.509 (`SubjectPublicKeyInfo`); `None` for kinds of
/// keys that sign no tokens.
pub fn public_key_der(key: &Value) -> Option<Vec<u8>> {
    let member = |name: &str| URL_SAFE_NO_PAD.decode(key[name].as_str()?).ok();
    let after = |prefix: &[u8], rest: &[&[u8]]| [prefix, &rest.concat()].concat();
    match (key["kty"].as_str()?, key["crv"].as_str()) {
        ("EC", Some("P-256")) => Some(after(P256_PREFIX, &[&member("x")?, &member("y")?])),
        ("EC", Some("P-384")) => Some(after(P384_PREFIX, &[&member("x")?, &member("y")?])),
        ("OKP", Some("Ed25519")) => Some(after(ED25519_PREFIX, &[&member("x")?])),
        ("RSA", _) => {
            let numbers = [integer(&member("n")?), integer(&member("e")?)].concat();
            let key = element(
                BIT_STRING,
                &[&[0], &element(SEQUENCE, &numbers)[..]].concat(),
            );
            Some(element(SEQUENCE, &[RSA_ALGORITHM, &key].concat()))
        }
        _ => None,
    }
}

/// Returns a public key in the form of X.509 as PEM, with a line break at its end.
pub fn public_key_pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines = text.as_bytes().chunks(64).map(String::from_utf8_lossy);
    let lines = lines.collect::<Vec<_>>().join("\n");
    format!("-----BEGIN PUBLIC KEY-----\n{lines}\n-----END PUBLIC KEY-----\n")
}

fn signing_input(header: &Value, claims: &Value) -> String {
    let encoded = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    format!("{}.{}", encoded(header), encoded(claims))
}

/// Returns an element of DER.
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let bytes = length.to_be_bytes();
    let mut all = vec![tag];
    match length {
        0..=127 => all.push(bytes[bytes.len() - 1]),
        _ => {
            let digits: Vec<u8> = bytes.into_iter().skip_while(|byte| *byte == 0).collect();
            all.push(0x80 | digits.len() as u8);
            all.extend(digits);
        }
    }
    all.extend(content);
    all
}

/// Returns a positive integer of DER.
fn integer(bytes: &[u8]) -> Vec<u8> {
    let bytes: Vec<u8> = bytes
        .iter()
        .copied()
        .skip_while(|byte| *byte == 0)
        .collect();
    let sign = bytes.first().is_none_or(|first| *first >= 0x80);
    element(INTEGER, &[&[0][..usize::from(sign)], &bytes].concat())
}

const INTEGER: u8 = 2;
const BIT_STRING: u8 = 3;
const SEQUENCE: u8 = 0x30;

/// `rsaEncryption`, RFC 3279 §2.3.1.
const RSA_ALGORITHM: &[u8] = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
/// Prefix of a point of P-256 that is not compressed, RFC 5480.
const P256_PREFIX: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00\x04";
/// Prefix of a point of P-384.
const P384_PREFIX: &[u8] = b"\x30\x76\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22\x03\x62\x00\x04";
/// Prefix of a point of Ed25519, RFC 8410.
const ED25519_PREFIX: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

#[cfg(test)]
mod tests {
    use a2a_transport::webhook::Algorithm;
    use aws_lc_rs::encoding::AsDer;
    use aws_lc_rs::rsa::{KeyPair, KeySize};
    use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};

    use super::*;

    #[test]
    fn token_is_signed_by_its_key() {
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        let now = 1_790_000_000;
        let claims = json!({"iss": "i", "iat": now, "exp": now + 60});
        let token = signed(&claims, &key).unwrap();
        assert!(key.public().verify(&token, now).is_ok());
        let (header, read) = decoded(&token).unwrap();
        assert_eq!(
            (header["alg"].as_str(), read),
            (Some("ES256"), claims.clone())
        );
        assert_eq!(decoded(&unsigned(&claims, "none")).unwrap().1, claims);
        assert_eq!(decoded("first"), None);
    }

    #[test]
    fn public_keys_are_written_as_the_library_writes_them() {
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.expose_pkcs8());
        let expected = pair
            .unwrap()
            .public_key()
            .as_der()
            .unwrap()
            .as_ref()
            .to_vec();
        assert_eq!(public_key_der(&json!(key.public())), Some(expected));

        let key = SigningKey::generate(Algorithm::EdDsa).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(key.expose_pkcs8()).unwrap();
        let expected = pair.public_key().as_der().unwrap().as_ref().to_vec();
        assert_eq!(public_key_der(&json!(key.public())), Some(expected));

        let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let public = pair.public_key();
        let modulus = URL_SAFE_NO_PAD.encode(public.modulus().big_endian_without_leading_zero());
        let exponent = URL_SAFE_NO_PAD.encode(public.exponent().big_endian_without_leading_zero());
        let key = json!({"kty": "RSA", "n": modulus, "e": exponent});
        let expected = public.as_der().unwrap().as_ref().to_vec();
        assert_eq!(public_key_der(&key), Some(expected));
        assert_eq!(public_key_der(&json!({"kty": "oct", "k": "AA"})), None);
    }
}
