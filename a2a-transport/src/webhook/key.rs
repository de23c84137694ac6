//! The keys that an agent signs its tokens with.

use std::fmt;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
};
use base64::Engine;
use jsonwebtoken::EncodingKey;

use super::{Jwk, URL};

/// Signature algorithm of a token.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Algorithm {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// Returns its name in JSON Web Signatures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    pub(crate) fn library(self) -> jsonwebtoken::Algorithm {
        match self {
            Self::Es256 => jsonwebtoken::Algorithm::ES256,
            Self::EdDsa => jsonwebtoken::Algorithm::EdDSA,
        }
    }
}

/// The private half of a key pair, in PKCS#8.
#[derive(Clone)]
pub struct SigningKey {
    pub(super) algorithm: Algorithm,
    pub(super) key: EncodingKey,
    public: Jwk,
}

impl SigningKey {
    /// Generates a key.
    pub fn generate(algorithm: Algorithm) -> Result<Self, InvalidKey> {
        let failed = |_| InvalidKey("the system has no random numbers");
        let pkcs8 = match algorithm {
            Algorithm::Es256 => EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING)
                .and_then(|pair| pair.to_pkcs8v1()),
            Algorithm::EdDsa => Ed25519KeyPair::generate().and_then(|pair| pair.to_pkcs8v1()),
        };
        Self::from_pkcs8(algorithm, pkcs8.map_err(failed)?.as_ref())
    }

    /// Reads a stored key.
    pub fn from_pkcs8(algorithm: Algorithm, pkcs8: &[u8]) -> Result<Self, InvalidKey> {
        let refused = |_| InvalidKey("it is not a PKCS#8 key of this algorithm");
        let (key, public) = match algorithm {
            Algorithm::Es256 => {
                let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8)
                    .map_err(refused)?;
                // An uncompressed point: 4, x, y.
                let point = pair.public_key().as_ref();
                let (x, y) = point[1..].split_at(32);
                let public = Jwk::p256(URL.encode(x), URL.encode(y));
                (EncodingKey::from_ec_der(pkcs8), public)
            }
            Algorithm::EdDsa => {
                let pair = Ed25519KeyPair::from_pkcs8(pkcs8).map_err(refused)?;
                let public = Jwk::ed25519(URL.encode(pair.public_key()));
                (EncodingKey::from_ed_der(pkcs8), public)
            }
        };
        Ok(Self {
            algorithm,
            key,
            public,
        })
    }

    /// Reads a private key of any algorithm that signs here, in DER: PKCS#8, or SEC 1 for P-256.
    pub fn from_der(der: &[u8]) -> Result<Self, InvalidKey> {
        let sec1 = EcdsaKeyPair::from_private_key_der(&ECDSA_P256_SHA256_FIXED_SIGNING, der);
        if let Ok(pkcs8) = sec1.and_then(|pair| Ok(pair.to_pkcs8v1()?)) {
            return Self::from_pkcs8(Algorithm::Es256, pkcs8.as_ref());
        }
        let read = Self::from_pkcs8(Algorithm::EdDsa, der);
        read.map_err(|_| InvalidKey("expected a private key of P-256 or Ed25519"))
    }

    /// Names the key, in place of its thumbprint.
    pub fn named(mut self, id: impl Into<String>) -> Self {
        self.public.kid = Some(id.into());
        self
    }

    /// Returns the private key for storage: a secret.
    pub fn expose_pkcs8(&self) -> &[u8] {
        self.key.as_bytes()
    }

    #[cfg(feature = "card-signature")]
    pub(crate) fn encoding_key(&self) -> &EncodingKey {
        &self.key
    }

    /// Returns its signature algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Its `kid`: unless it is [named](Self::named), the thumbprint of the public key (RFC 7638), so that it is the
    /// same whenever the key is read.
    pub fn id(&self) -> &str {
        self.public.kid.as_deref().unwrap_or_default()
    }

    /// Returns the public key to publish.
    pub fn public(&self) -> &Jwk {
        &self.public
    }
}

/// Shows the id of the key, never the key.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("algorithm", &self.algorithm)
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

/// A key that cannot be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a key: {0}")]
pub struct InvalidKey(pub(super) &'static str);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_was_kept_is_the_same() {
        for algorithm in [Algorithm::Es256, Algorithm::EdDsa] {
            let key = SigningKey::generate(algorithm).unwrap();
            let again = SigningKey::from_pkcs8(algorithm, key.expose_pkcs8()).unwrap();
            assert_eq!(again.public(), key.public());
            assert_eq!(key.id().len(), 43);
            assert_ne!(key.id(), SigningKey::generate(algorithm).unwrap().id());
        }
        for algorithm in [Algorithm::Es256, Algorithm::EdDsa] {
            let key = SigningKey::generate(algorithm).unwrap();
            let again = SigningKey::from_der(key.expose_pkcs8()).unwrap();
            assert_eq!(again.public(), key.public());
            assert_eq!(again.named("own").public().kid.as_deref(), Some("own"));
        }
        let other = SigningKey::generate(Algorithm::EdDsa).unwrap();
        assert!(SigningKey::from_pkcs8(Algorithm::Es256, other.expose_pkcs8()).is_err());
        assert!(SigningKey::from_der(b"key").is_err());
    }

    #[test]
    fn keys_of_openssl_are_read() {
        // `openssl ecparam -name prime256v1 -genkey -noout`, and its `-pubout`.
        let sec1 = "MHcCAQEEIK2EleYictjlO2vrBgazg2Rq6mJYBPcKuVRJCNiZ5fFioAoGCCqGSM49AwEHoUQDQgAEzwlfHo3zrPkqp8zomI_SzxpsZU3kJuYt5IaRavBrrN7liolzvZCDDhvl-0cceIF4kVeH30NKfAnHgibEl23LFg";
        let spki = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEzwlfHo3zrPkqp8zomI_SzxpsZU3kJuYt5IaRavBrrN7liolzvZCDDhvl-0cceIF4kVeH30NKfAnHgibEl23LFg";
        let key = SigningKey::from_der(&URL.decode(sec1).unwrap()).unwrap();
        let public = Jwk::from_spki(&URL.decode(spki).unwrap()).unwrap();
        let nameless = Jwk {
            kid: None,
            ..key.public().clone()
        };
        assert_eq!(public, nameless);
        assert_eq!(Jwk::from_spki(&URL.decode(sec1).unwrap()), None);
    }
}
