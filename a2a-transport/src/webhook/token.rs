//! JSON Web Token that authenticates the sender and the body of a notification.

use std::fmt;
use std::sync::Once;

use jsonwebtoken::{Header, Validation, decode, decode_header, encode};
use serde::{Deserialize, Serialize};

use super::key::InvalidKey;
use super::{Jwk, MAX_CLOCK_DIFFERENCE, SigningKey, hex_digest, is_recent};

/// Claims of a token. Times are seconds since the Unix epoch.
#[derive(Clone, Default, Eq, PartialEq, Serialize)]
pub struct Claims {
    /// Time of signing.
    pub iat: u64,
    /// Time of expiry; the reference of 0.1 sends none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp: Option<u64>,
    /// Issuer: the agent that signed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iss: Option<String>,
    /// Audience; we write the URL of the webhook.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aud: Vec<String>,
    /// The notification, as `webhook-id` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jti: Option<String>,
    /// The hexadecimal SHA-256 of the body. The name is that of 0.1's reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_body_sha256: Option<String>,
}

impl Claims {
    /// Returns the claims of a token for `body`, sent now as notification `id` to `audience`.
    pub fn of(body: &[u8], id: &str, audience: &str, now: u64) -> Self {
        Self {
            iat: now,
            exp: Some(now + MAX_CLOCK_DIFFERENCE),
            iss: None,
            aud: vec![audience.to_owned()],
            jti: Some(id.to_owned()),
            request_body_sha256: Some(hex_digest(body)),
        }
    }
}

/// Leaves out the audience: the URL of a webhook often has a secret.
impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claims")
            .field("iat", &self.iat)
            .field("exp", &self.exp)
            .field("iss", &self.iss)
            .field("jti", &self.jti)
            .field("request_body_sha256", &self.request_body_sha256)
            .finish_non_exhaustive()
    }
}

impl SigningKey {
    /// Returns a token with these claims: what follows `Bearer` in `Authorization`.
    pub fn sign(&self, claims: &Claims) -> Result<String, InvalidKey> {
        choose_provider();
        let mut header = Header::new(self.algorithm.library());
        header.kid = Some(self.id().to_owned());
        encode(&header, claims, &self.key).map_err(|_| InvalidKey("it does not sign"))
    }
}

/// Returns the `kid` that a token names; nothing is verified.
pub fn key_id(token: &str) -> Result<Option<String>, TokenError> {
    let header = decode_header(token).map_err(|_| TokenError::Malformed)?;
    Ok(header.kid)
}

impl Jwk {
    /// Verifies the signature and the times of a token, of which `exp` is required; returns its claims.
    /// The caller compares the audience and the body.
    pub fn verify(&self, token: &str, now: u64) -> Result<Claims, TokenError> {
        let claims = self.verify_without_expiry(token, now)?;
        match claims.exp {
            Some(_) => Ok(claims),
            None => Err(TokenError::Claims),
        }
    }

    /// Verifies like [`verify`](Self::verify), but `exp` may be missing, as in tokens of 0.1's reference: such a token
    /// ends five minutes after `iat`.
    pub fn verify_without_expiry(&self, token: &str, now: u64) -> Result<Claims, TokenError> {
        /// Claims as other implementations write them: times may have fractions, but must be
        /// numbers.
        #[derive(Deserialize)]
        struct TokenClaims {
            iat: f64,
            exp: Option<f64>,
            nbf: Option<f64>,
            iss: Option<String>,
            aud: Option<AudienceClaim>,
            jti: Option<String>,
            request_body_sha256: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum AudienceClaim {
            One(String),
            Many(Vec<String>),
        }
        choose_provider();
        let header = decode_header(token).map_err(|_| TokenError::Malformed)?;
        // RFC 7515 §4.1.11: no `crit` extension is supported.
        if header.crit.is_some() {
            return Err(TokenError::Malformed);
        }
        let (algorithm, key) = self.verifier().ok_or(TokenError::Key)?;
        if header.alg != algorithm {
            return Err(TokenError::Algorithm);
        }
        let mut validation = Validation::new(algorithm);
        // The library's own checks of time read the system's clock.
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        let read = decode::<TokenClaims>(token, &key, &validation).map_err(|error| match error
            .kind()
        {
            jsonwebtoken::errors::ErrorKind::Json(_) => TokenError::Claims,
            _ => TokenError::Signature,
        })?;
        let TokenClaims {
            iat,
            exp,
            nbf,
            iss,
            aud,
            jti,
            request_body_sha256,
        } = read.claims;
        // `as` converts a value that is not a whole number of seconds in range to the nearest one, NaN to 0.
        let (iat, exp, nbf) = (
            iat as u64,
            exp.map(|exp| exp as u64),
            nbf.map(|nbf| nbf as u64),
        );
        let ended = exp.is_some_and(|exp| exp <= now);
        let early = nbf.is_some_and(|nbf| nbf > now.saturating_add(MAX_CLOCK_DIFFERENCE));
        if !is_recent(iat, now) || ended || early {
            return Err(TokenError::Time);
        }
        Ok(Claims {
            iat,
            exp,
            iss,
            aud: match aud {
                None => Vec::new(),
                Some(AudienceClaim::One(one)) => vec![one],
                Some(AudienceClaim::Many(many)) => many,
            },
            jti,
            request_body_sha256,
        })
    }
}

/// Reason why a token is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The text is not a token, or the token is of a kind that is not signed, or has an unknown critical header.
    #[error("the token is malformed")]
    Malformed,
    /// No such key is published.
    #[error("the token's key is not known")]
    Key,
    /// The key is not used with this algorithm.
    #[error("the token's algorithm is not that of its key")]
    Algorithm,
    /// Another key signed it, or it was changed.
    #[error("the token's signature is wrong")]
    Signature,
    /// A claim is missing or of another type.
    #[error("the token's claims are malformed")]
    Claims,
    /// The token has expired, or is not valid yet.
    #[error("the token is expired or not yet valid")]
    Time,
}

/// Installs a provider for jsonwebtoken, unless the program has chosen one. Without it jsonwebtoken panics in
/// a program where other crates switch on its other provider, too.
pub(crate) fn choose_provider() {
    static CHOSEN: Once = Once::new();
    CHOSEN.call_once(|| {
        let _ = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::{Algorithm, URL};
    use base64::Engine;

    const NOW: u64 = 1_800_000_000;

    fn key() -> SigningKey {
        SigningKey::generate(Algorithm::EdDsa).unwrap()
    }

    fn claims() -> Claims {
        Claims::of(b"{}", "msg_1", "https://h/hook", NOW)
    }

    #[test]
    fn signed_token_is_verified_until_it_expires() {
        for algorithm in [Algorithm::Es256, Algorithm::EdDsa] {
            let key = SigningKey::generate(algorithm).unwrap();
            let token = key.sign(&claims()).unwrap();
            assert_eq!(key_id(&token).unwrap().as_deref(), Some(key.id()));
            assert_eq!(key.public().verify(&token, NOW), Ok(claims()));
            assert_eq!(key.public().verify(&token, NOW + 299), Ok(claims()));
            for other in [NOW + 300, NOW + 301, NOW - 301] {
                assert_eq!(key.public().verify(&token, other), Err(TokenError::Time));
            }
            let other = SigningKey::generate(algorithm).unwrap();
            let refused = other.public().verify(&token, NOW);
            assert_eq!(refused, Err(TokenError::Signature));
        }
    }

    #[test]
    fn no_byte_can_be_changed() {
        for algorithm in [Algorithm::Es256, Algorithm::EdDsa] {
            let key = SigningKey::generate(algorithm).unwrap();
            let token = key.sign(&claims()).unwrap();
            for index in 0..token.len() {
                for with in *b"AB.=-" {
                    let mut bytes = token.clone().into_bytes();
                    if bytes[index] == with {
                        continue;
                    }
                    bytes[index] = with;
                    let tampered = String::from_utf8(bytes).unwrap();
                    assert!(key.public().verify(&tampered, NOW).is_err(), "{tampered}");
                }
            }
        }
    }

    /// Returns a token whose header and claims are these, signed by `key`.
    fn forged(header: &str, claims: &str, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
        let message = format!("{}.{}", URL.encode(header), URL.encode(claims));
        let signature = URL.encode(sign(message.as_bytes()));
        format!("{message}.{signature}")
    }

    #[test]
    fn tokens_not_signed_by_a_key_pair_are_refused() {
        let key = key();
        let claims = serde_json::to_string(&claims()).unwrap();
        let check = |header: &str, sign: &dyn Fn(&[u8]) -> Vec<u8>, expected| {
            let token = forged(header, &claims, sign);
            assert_eq!(key.public().verify(&token, NOW), Err(expected), "{header}");
        };
        for none in ["none", "None", "NONE", "nOnE", ""] {
            let header = format!(r#"{{"alg":"{none}"}}"#);
            check(&header, &|_| Vec::new(), TokenError::Malformed);
        }
        let public = URL.decode(key.public().x.as_deref().unwrap()).unwrap();
        let jwk = serde_json::to_vec(key.public()).unwrap();
        for secret in [public, jwk] {
            let hmac = |message: &[u8]| {
                let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, &secret);
                aws_lc_rs::hmac::sign(&key, message).as_ref().to_vec()
            };
            check(r#"{"alg":"HS256"}"#, &hmac, TokenError::Algorithm);
            check(r#"{"alg":"EdDSA"}"#, &hmac, TokenError::Signature);
            check(r#"{"alg":"ES256"}"#, &hmac, TokenError::Algorithm);
        }
        let crit = r#"{"alg":"EdDSA","crit":["exp"]}"#;
        check(
            crit,
            &|message| signature(&key, message),
            TokenError::Malformed,
        );
    }

    fn signature(key: &SigningKey, message: &[u8]) -> Vec<u8> {
        let pair = aws_lc_rs::signature::Ed25519KeyPair::from_pkcs8(key.expose_pkcs8()).unwrap();
        pair.sign(message).as_ref().to_vec()
    }

    #[track_caller]
    fn check_claims(claims: &str, expected: Result<(), TokenError>) {
        let key = key();
        let token = forged(r#"{"alg":"EdDSA"}"#, claims, |message| {
            signature(&key, message)
        });
        assert_eq!(
            key.public().verify(&token, NOW).map(drop),
            expected,
            "{claims}"
        );
    }

    #[test]
    fn times_are_numbers() {
        check_claims(r#"{"iat":1800000000,"exp":1800000060}"#, Ok(()));
        check_claims(r#"{"iat":1800000000.5,"exp":1800000060.5}"#, Ok(()));
        check_claims(r#"{"iat":1800000000,"exp":1e300,"aud":["a"]}"#, Ok(()));
        check_claims(r#"{"iat":1800000000,"exp":1800000060,"aud":"a"}"#, Ok(()));
        for claims in [
            r#"{"exp":1800000060}"#,
            r#"{"iat":1800000000}"#,
            r#"{"iat":1800000000,"exp":null}"#,
            r#"{"iat":"1800000000","exp":1800000060}"#,
            r#"{"iat":1800000000,"exp":"1800000060"}"#,
            r#"{"iat":1800000000,"exp":[1800000060]}"#,
            r#"{"iat":1800000000,"exp":true}"#,
            r#"{"iat":1800000000,"exp":1800000060,"exp":1900000000}"#,
            r#"{"iat":1800000000,"exp":1800000060,"nbf":"x"}"#,
            r#"{"iat":1800000000,"exp":1800000060,"aud":7}"#,
            r#"{"iat":null}"#,
            "[]",
            "",
        ] {
            check_claims(claims, Err(TokenError::Claims));
        }
        for claims in [
            r#"{"iat":1800000000,"exp":1800000000}"#,
            r#"{"iat":1800000000,"exp":-1}"#,
            r#"{"iat":1799999699,"exp":1900000000}"#,
            r#"{"iat":1800000301,"exp":1900000000}"#,
            r#"{"iat":1800000000,"exp":1800000060,"nbf":1800000900}"#,
        ] {
            check_claims(claims, Err(TokenError::Time));
        }
    }
}
