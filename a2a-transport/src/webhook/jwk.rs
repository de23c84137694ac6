//! One public key, RFC 7517.

use base64::Engine;
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::{Deserialize, Serialize};

use super::{URL, digest};

/// One public key.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Jwk {
    /// The kind: `EC`, `OKP`, `RSA`.
    pub kty: String,
    /// Names the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    /// Purpose of the key: `sig`.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The one algorithm it is used with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// The curve: `P-256`, `Ed25519`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    /// The point, or its first coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Its second coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// The modulus of an RSA key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    /// The exponent of an RSA key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
}

impl Jwk {
    pub(super) fn p256(x: String, y: String) -> Self {
        let members = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
        Self {
            crv: Some("P-256".to_owned()),
            x: Some(x),
            y: Some(y),
            ..Self::ours("EC", "ES256", &members)
        }
    }

    pub(super) fn ed25519(x: String) -> Self {
        let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
        Self {
            crv: Some("Ed25519".to_owned()),
            x: Some(x),
            ..Self::ours("OKP", "EdDSA", &members)
        }
    }

    /// Reads a public key of P-256 or Ed25519 in DER: a `SubjectPublicKeyInfo` (RFC 5280 §4.1). It has no `kid`. `None` for
    /// keys of any other kind.
    pub fn from_spki(der: &[u8]) -> Option<Self> {
        let mut key = if let Some(point) = der.strip_prefix(P256_PREFIX)
            && point.len() == 64
        {
            let (x, y) = point.split_at(32);
            Self::p256(URL.encode(x), URL.encode(y))
        } else if let Some(point) = der.strip_prefix(ED25519_PREFIX)
            && point.len() == 32
        {
            Self::ed25519(URL.encode(point))
        } else {
            return None;
        };
        key.kid = None;
        Some(key)
    }

    /// Creates a key named by its thumbprint: the digest of its required members in order, RFC 7638 §3.
    fn ours(kty: &str, alg: &str, members: &str) -> Self {
        Self {
            kty: kty.to_owned(),
            alg: Some(alg.to_owned()),
            purpose: Some("sig".to_owned()),
            kid: Some(URL.encode(digest(members.as_bytes()))),
            ..Self::default()
        }
    }

    /// Returns the algorithm and the key. The algorithm is fixed by the kind of key, never by the token.
    /// `None` for keys that are shared (`oct`), for encryption, or of a kind not known here.
    pub(crate) fn verifier(&self) -> Option<(Algorithm, DecodingKey)> {
        if self.purpose.as_deref().is_some_and(|use_| use_ != "sig") {
            return None;
        }
        let (name, algorithm, key) = match (self.kty.as_str(), self.crv.as_deref()) {
            ("EC", Some("P-256")) => {
                let (x, y) = (self.x.as_deref()?, self.y.as_deref()?);
                let is_whole = |part: &str| URL.decode(part).is_ok_and(|part| part.len() == 32);
                if !is_whole(x) || !is_whole(y) {
                    return None;
                }
                let key = DecodingKey::from_ec_components(x, y);
                ("ES256", Algorithm::ES256, key)
            }
            ("OKP", Some("Ed25519")) => {
                let key = DecodingKey::from_ed_components(self.x.as_deref()?);
                ("EdDSA", Algorithm::EdDSA, key)
            }
            // The reference of 0.1 signs by RSA; we verify that, and never sign so.
            ("RSA", _) => {
                let key = DecodingKey::from_rsa_components(self.n.as_deref()?, self.e.as_deref()?);
                ("RS256", Algorithm::RS256, key)
            }
            _ => return None,
        };
        let agrees = self.alg.as_deref().is_none_or(|alg| alg == name);
        key.ok().filter(|_| agrees).map(|key| (algorithm, key))
    }
}

/// Prefix of `x` and `y` in a `SubjectPublicKeyInfo` of P-256 (RFC 5480).
const P256_PREFIX: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
];
/// Prefix of the point in a `SubjectPublicKeyInfo` of Ed25519 (RFC 8410).
const ED25519_PREFIX: &[u8] = &[
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed25519_public_key_in_der_is_read() {
        // RFC 8410, section 10.1.
        let der = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE";
        let der = base64::engine::general_purpose::STANDARD_NO_PAD.decode(der);
        let key = Jwk::from_spki(&der.unwrap()).unwrap();
        let x = "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE";
        assert_eq!((key.x.as_deref(), key.kid), (Some(x), None));
    }

    #[test]
    fn key_id_is_rfc_8037_thumbprint() {
        // RFC 8037, appendix A.3.
        let key = Jwk::ed25519("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo".to_owned());
        let kid = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
        assert_eq!(key.kid.as_deref(), Some(kid));
    }
}
