//! Public keys of an issuer, RFC 7517.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

/// Keys that verify tokens.
pub(crate) struct KeySet {
    keys: Vec<VerifyingKey>,
}

/// A key and the one algorithm that it is used with.
pub(super) struct VerifyingKey {
    kid: Option<String>,
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

impl KeySet {
    /// Reads a set, of which keys of another use or kind are left out. Errors: none is left.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Untyped {
            keys: Vec<Value>,
        }
        let set: Untyped = serde_json::from_slice(json)
            .map_err(|_| "expected a JSON Web Key Set: an object with `keys`".to_owned())?;
        let keys = set.keys.into_iter().take(MAX_KEYS);
        let keys: Vec<_> = keys
            .filter_map(|key| serde_json::from_value::<Jwk>(key).ok()?.verifier())
            .collect();
        match keys.is_empty() {
            true => Err("expected a public key that verifies signatures".to_owned()),
            false => Ok(Self { keys }),
        }
    }

    /// Returns the key that a token names; if it names none, the only one.
    pub(super) fn find(&self, kid: Option<&str>) -> Option<&VerifyingKey> {
        match (kid, self.keys.as_slice()) {
            (Some(kid), keys) => keys.iter().find(|key| key.kid.as_deref() == Some(kid)),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }
}

/// A key as published.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

impl Jwk {
    /// Returns the key and its algorithm: the algorithm that the key names, if its kind allows it. Shared keys are
    /// not supported.
    fn verifier(self) -> Option<VerifyingKey> {
        let is_for_signatures = self
            .purpose
            .as_deref()
            .is_none_or(|purpose| purpose == "sig");
        let verifies = |operations: &Vec<String>| operations.iter().any(|one| one == "verify");
        if !is_for_signatures || !self.key_ops.as_ref().is_none_or(verifies) {
            return None;
        }
        let length = |part: &Option<String>| {
            let bytes = URL_SAFE_NO_PAD.decode(part.as_deref()?).ok()?;
            Some(bytes.len())
        };
        let point = |bytes| length(&self.x) == Some(bytes) && length(&self.y) == Some(bytes);
        let allowed: &[(&str, Algorithm)] = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) if (MIN_RSA..=MAX_RSA).contains(&length(&self.n)?) => RSA,
            ("EC", Some("P-256")) if point(32) => &[("ES256", Algorithm::ES256)],
            ("EC", Some("P-384")) if point(48) => &[("ES384", Algorithm::ES384)],
            ("OKP", Some("Ed25519")) if length(&self.x) == Some(32) => {
                &[("EdDSA", Algorithm::EdDSA), ("Ed25519", Algorithm::EdDSA)]
            }
            _ => return None,
        };
        let algorithm = match &self.alg {
            None => allowed.first()?.1,
            Some(alg) => allowed.iter().find(|(name, _)| name == alg)?.1,
        };
        let key = match self.kty.as_str() {
            "RSA" => DecodingKey::from_rsa_components(&self.n?, &self.e?),
            "EC" => DecodingKey::from_ec_components(&self.x?, &self.y?),
            _ => DecodingKey::from_ed_components(&self.x?),
        };
        Some(VerifyingKey {
            kid: self.kid,
            algorithm,
            key: key.ok()?,
        })
    }
}

/// Algorithms of RSA keys, the one of a key that names none first.
const RSA: &[(&str, Algorithm)] = &[
    ("RS256", Algorithm::RS256),
    ("RS384", Algorithm::RS384),
    ("RS512", Algorithm::RS512),
    ("PS256", Algorithm::PS256),
    ("PS384", Algorithm::PS384),
    ("PS512", Algorithm::PS512),
];

/// Minimum length of an RSA modulus in bytes: shorter ones can be broken.
const MIN_RSA: usize = 256;

/// Maximum length of an RSA modulus in bytes: longer ones take long.
const MAX_RSA: usize = 1024;

/// Maximum number of keys that are read from a set.
const MAX_KEYS: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    #[track_caller]
    fn check(key: Value, expected: Option<Algorithm>) {
        let text = json!({ "keys": [key] }).to_string();
        let set = KeySet::parse(text.as_bytes()).ok();
        let algorithm = set.and_then(|set| Some(set.find(None)?.algorithm));
        assert_eq!(algorithm, expected, "{text}");
    }

    #[test]
    fn the_key_names_the_algorithm() {
        let n = URL_SAFE_NO_PAD.encode([0xC5; 256]);
        check(
            json!({"kty": "RSA", "n": n, "e": "AQAB"}),
            Some(Algorithm::RS256),
        );
        for (name, algorithm) in RSA {
            let key = json!({"kty": "RSA", "n": n, "e": "AQAB", "alg": name, "use": "sig"});
            check(key, Some(*algorithm));
        }
        check(
            json!({"kty": "RSA", "n": n, "e": "AQAB", "alg": "ES256"}),
            None,
        );
        check(
            json!({"kty": "RSA", "n": n, "e": "AQAB", "alg": "HS256"}),
            None,
        );
        check(
            json!({"kty": "RSA", "n": n, "e": "AQAB", "alg": "none"}),
            None,
        );
        let short = URL_SAFE_NO_PAD.encode([0xC5; 128]);
        check(json!({"kty": "RSA", "n": short, "e": "AQAB"}), None);
        let long = URL_SAFE_NO_PAD.encode([0xC5; 2048]);
        check(json!({"kty": "RSA", "n": long, "e": "AQAB"}), None);
        check(
            json!({"kty": "OKP", "crv": "Ed25519", "x": X}),
            Some(Algorithm::EdDSA),
        );
        check(
            json!({"kty": "OKP", "crv": "Ed25519", "x": X, "use": "enc"}),
            None,
        );
        check(
            json!({"kty": "OKP", "crv": "Ed25519", "x": X, "key_ops": ["sign"]}),
            None,
        );
        check(
            json!({"kty": "OKP", "crv": "Ed25519", "x": X, "alg": "HS256"}),
            None,
        );
        check(
            json!({"kty": "EC", "crv": "P-256", "x": X, "y": X}),
            Some(Algorithm::ES256),
        );
        check(
            json!({"kty": "EC", "crv": "P-256", "x": X, "y": "AAAA"}),
            None,
        );
        check(
            json!({"kty": "EC", "crv": "secp256k1", "x": X, "y": X}),
            None,
        );
        check(json!({"kty": "oct", "k": "AAAA", "alg": "HS256"}), None);
        check(json!("key"), None);
    }

    #[test]
    fn a_token_without_kid_needs_the_only_key() {
        let key = |kid: &str| json!({"kty": "OKP", "crv": "Ed25519", "x": X, "kid": kid});
        let text = json!({"keys": [key("a"), key("b"), 7]}).to_string();
        let set = KeySet::parse(text.as_bytes()).unwrap();
        assert!(set.find(Some("b")).is_some());
        assert!(set.find(Some("c")).is_none());
        assert!(set.find(None).is_none());
        assert!(KeySet::parse(b"[]").is_err());
        assert!(KeySet::parse(br#"{"keys": []}"#).is_err());
    }
}
