//! The public keys that an agent publishes, RFC 7517.

use serde::{Deserialize, Serialize};

use super::{Jwk, SigningKey};

/// A set of public keys, as `/.well-known/jwks.json` has it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Jwks {
    /// The keys. Members that are not keys of a supported kind are skipped when a key is looked
    /// up.
    pub keys: Vec<Jwk>,
}

impl Jwks {
    /// Returns the public halves of these keys.
    pub fn of<'a>(keys: impl IntoIterator<Item = &'a SigningKey>) -> Self {
        let keys = keys.into_iter().map(|key| key.public().clone());
        Self {
            keys: keys.collect(),
        }
    }

    /// Reads a set, of which the keys that cannot verify tokens are left out.
    pub fn read(json: &[u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct UntypedKeys {
            keys: Vec<serde_json::Value>,
        }
        let any: UntypedKeys = serde_json::from_slice(json)?;
        let keys = any.keys.into_iter().take(MAX_KEYS);
        let keys = keys.filter_map(|key| serde_json::from_value(key).ok());
        Ok(Self {
            keys: keys.filter(|key: &Jwk| key.verifier().is_some()).collect(),
        })
    }

    /// Returns the set as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        // Everything in it is our own type with string keys, so it always serialises.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Returns the key that a token names; if it names none, the only one.
    pub fn find(&self, kid: Option<&str>) -> Option<&Jwk> {
        match (kid, self.keys.as_slice()) {
            (Some(kid), keys) => keys.iter().find(|key| key.kid.as_deref() == Some(kid)),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }
}

/// Maximum number of keys that are read from a set.
const MAX_KEYS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::Algorithm;

    #[test]
    fn keys_are_published_and_found() {
        let keys = [Algorithm::Es256, Algorithm::EdDsa]
            .map(|algorithm| SigningKey::generate(algorithm).unwrap());
        let set = Jwks::read(&Jwks::of(&keys).to_json()).unwrap();
        assert_eq!(set, Jwks::of(&keys));
        for key in &keys {
            assert_eq!(set.find(Some(key.id())), Some(key.public()));
        }
        assert_eq!(set.find(None), None);
        assert_eq!(set.find(Some("other")), None);
        assert_eq!(
            Jwks::of(&keys[..1]).find(None),
            Some(keys[0].public()),
            "the only one"
        );
    }

    #[test]
    fn keys_that_verify_no_tokens_are_left_out() {
        let json = r#"{"keys": [
            {"kty": "oct", "k": "AAAA", "kid": "a"}, {"kty": 7}, "key", {"kty": "EC", "crv": "P-384", "x": "", "y": ""},
            {"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"},
            {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "use": "enc"},
            {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "alg": "HS256"}]}"#;
        assert_eq!(Jwks::read(json.as_bytes()).unwrap(), Jwks::default());
        assert!(Jwks::read(b"[]").is_err());
    }
}
