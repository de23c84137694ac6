//! The keys of Standard Webhooks.

use std::fmt;

use aws_lc_rs::hmac;
use aws_lc_rs::rand::fill;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use base64::Engine;

use super::{EXACT, InvalidKey, TEXT, is_recent};

/// A key of Standard Webhooks: one that both sides share (`whsec_…`, HMAC-SHA256), or one side of a
/// pair (`whsk_…` signs, `whpk_…` verifies, Ed25519).
///
/// The signed text is `{id}.{timestamp}.{body}`.
///
/// ```
/// use a2a_transport::webhook::Secret;
///
/// let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
/// let signature = secret.sign("msg_1", 1_614_265_330, b"{}").unwrap();
/// assert!(secret.verify("msg_1", 1_614_265_330, b"{}", &signature, 1_614_265_330 + 300));
/// assert!(!secret.verify("msg_1", 1_614_265_330, b"{}", &signature, 1_614_265_330 + 301));
/// assert!(!secret.verify("msg_1", 1_614_265_330, b"{ }", &signature, 1_614_265_330));
/// # Ok::<_, a2a_transport::webhook::InvalidKey>(())
/// ```
#[derive(Clone)]
pub struct Secret(SecretKind);

#[derive(Clone)]
enum SecretKind {
    Shared(Vec<u8>),
    Private([u8; 32]),
    Public([u8; 32]),
}

impl Secret {
    /// Generates a key to share.
    pub fn shared() -> Result<Self, InvalidKey> {
        let mut bytes = [0; 32];
        fill(&mut bytes).map_err(|_| InvalidKey("the system has no random numbers"))?;
        Ok(Self(SecretKind::Shared(bytes.to_vec())))
    }

    /// Generates a key that signs; [`public`](Self::public) verifies.
    pub fn private() -> Result<Self, InvalidKey> {
        let mut seed = [0; 32];
        fill(&mut seed).map_err(|_| InvalidKey("the system has no random numbers"))?;
        Ok(Self(SecretKind::Private(seed)))
    }

    /// Reads `whsec_…`, `whsk_…` or `whpk_…`; base64 without a prefix is one to share.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let (prefix, encoded) = match text.split_once('_') {
            Some((prefix, encoded)) if prefix.starts_with("wh") => (prefix, encoded),
            _ => ("whsec", text),
        };
        let bytes = TEXT
            .decode(encoded)
            .map_err(|_| InvalidKey("it is not base64"))?;
        let seed = |bytes: &[u8]| {
            bytes
                .try_into()
                .map_err(|_| InvalidKey("an Ed25519 key has 32 bytes"))
        };
        Ok(Self(match prefix {
            "whsec" if bytes.len() >= 16 => SecretKind::Shared(bytes),
            "whsec" => return Err(InvalidKey("a secret has 16 bytes or more")),
            // Some write the public key behind the private one.
            "whsk" => SecretKind::Private(seed(bytes.get(..32).unwrap_or(&bytes))?),
            "whpk" => SecretKind::Public(seed(&bytes)?),
            _ => return Err(InvalidKey("it begins with none of whsec_, whsk_, whpk_")),
        }))
    }

    /// Returns the text that [`parse`](Self::parse) reads: a secret, unless it is a public key.
    pub fn expose(&self) -> String {
        match &self.0 {
            SecretKind::Shared(bytes) => format!("whsec_{}", TEXT.encode(bytes)),
            SecretKind::Private(seed) => format!("whsk_{}", TEXT.encode(seed)),
            SecretKind::Public(key) => format!("whpk_{}", TEXT.encode(key)),
        }
    }

    /// Returns the receiver's key: the public key of a pair; a shared key as it is.
    pub fn public(&self) -> Result<Self, InvalidKey> {
        match &self.0 {
            SecretKind::Private(seed) => {
                let pair = pair(seed)?;
                let mut key = [0; 32];
                key.copy_from_slice(pair.public_key().as_ref());
                Ok(Self(SecretKind::Public(key)))
            }
            _ => Ok(self.clone()),
        }
    }

    /// Returns one signature for `webhook-signature`, like `v1,…`; with several keys, as during a rotation, a
    /// space stands between their signatures. `None` for a public key.
    pub fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> Option<String> {
        let content = content(id, timestamp, body);
        match &self.0 {
            SecretKind::Shared(secret) => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
                let tag = hmac::sign(&key, &content);
                Some(format!("{SHARED},{}", EXACT.encode(tag)))
            }
            SecretKind::Private(seed) => {
                let signature = pair(seed).ok()?.sign(&content);
                Some(format!("{PAIR},{}", EXACT.encode(signature)))
            }
            SecretKind::Public(_) => None,
        }
    }

    /// Returns whether one of the signatures is by this key, and the timestamp within five minutes of `now`.
    /// The time it takes does not depend on which byte of a signature is wrong.
    pub fn verify(
        &self,
        id: &str,
        timestamp: u64,
        body: &[u8],
        signatures: &str,
        now: u64,
    ) -> bool {
        if !is_recent(timestamp, now) {
            return false;
        }
        let content = content(id, timestamp, body);
        let version = match &self.0 {
            SecretKind::Shared(_) => SHARED,
            SecretKind::Private(_) | SecretKind::Public(_) => PAIR,
        };
        let ours = signatures.split(' ').filter_map(|signature| {
            let (found, encoded) = signature.split_once(',')?;
            (found == version)
                .then(|| EXACT.decode(encoded).ok())
                .flatten()
        });
        ours.take(MAX_SIGNATURES)
            .any(|signature| self.made(&content, &signature))
    }

    fn made(&self, content: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.0 {
            SecretKind::Shared(secret) => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
                hmac::verify(&key, content, signature)
            }
            SecretKind::Private(seed) => match pair(seed) {
                Ok(pair) => {
                    UnparsedPublicKey::new(&ED25519, pair.public_key()).verify(content, signature)
                }
                Err(_) => return false,
            },
            SecretKind::Public(key) => {
                UnparsedPublicKey::new(&ED25519, key).verify(content, signature)
            }
        };
        verified.is_ok()
    }
}

fn pair(seed: &[u8; 32]) -> Result<Ed25519KeyPair, InvalidKey> {
    Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| InvalidKey("it is not an Ed25519 key"))
}

fn content(id: &str, timestamp: u64, body: &[u8]) -> Vec<u8> {
    let mut content = format!("{id}.{timestamp}.").into_bytes();
    content.extend_from_slice(body);
    content
}

/// The versions of signatures.
const SHARED: &str = "v1";
const PAIR: &str = "v1a";

/// Maximum number of signatures of one kind that are tried.
const MAX_SIGNATURES: usize = 8;

/// Shows the kind of key, never the key.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            SecretKind::Shared(_) => "Secret(whsec_…)",
            SecretKind::Private(_) => "Secret(whsk_…)",
            SecretKind::Public(_) => "Secret(whpk_…)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the Standard Webhooks libraries.
    #[test]
    fn signature_matches_standard_webhooks_example() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = br#"{"test": 2432232314}"#;
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(signature.as_deref(), Some(expected));
    }

    #[track_caller]
    fn check(signer: &Secret, verifier: &Secret) {
        let (id, time, body) = ("msg_1", 1_000_000, b"{\"a\":1}");
        let signature = signer.sign(id, time, body).unwrap();
        let verify = |signatures: &str, now| verifier.verify(id, time, body, signatures, now);
        assert!(verify(&signature, time));
        assert!(verify(&format!("v1,AAAA v9,x {signature}"), time));
        assert!(verify(&signature, time + 300) && verify(&signature, time - 300));
        assert!(!verify(&signature, time + 301) && !verify(&signature, time - 301));
        assert!(!verifier.verify("msg_2", time, body, &signature, time));
        assert!(!verifier.verify(id, time + 1, body, &signature, time));
        assert!(!verifier.verify(id, time, b"{\"a\":2}", &signature, time));
        for index in 0..signature.len() {
            let mut bytes = signature.clone().into_bytes();
            bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
            let tampered = String::from_utf8(bytes).unwrap();
            assert!(!verify(&tampered, time), "{tampered}");
        }
    }

    #[test]
    fn signature_is_verified_only_by_its_own_key() {
        let shared = Secret::shared().unwrap();
        let private = Secret::private().unwrap();
        let public = private.public().unwrap();
        check(&shared, &shared);
        check(&private, &private);
        check(&private, &public);
        let signature = private.sign("i", 1, b"").unwrap();
        assert!(
            !Secret::private()
                .unwrap()
                .verify("i", 1, b"", &signature, 1)
        );
        assert!(!shared.verify("i", 1, b"", &signature, 1));
        assert_eq!(public.sign("i", 1, b""), None);
    }

    #[test]
    fn keys_are_written_and_read() {
        for secret in [Secret::shared().unwrap(), Secret::private().unwrap()] {
            let text = secret.expose();
            assert_eq!(Secret::parse(&text).unwrap().expose(), text);
            let public = secret.public().unwrap().expose();
            assert_eq!(Secret::parse(&public).unwrap().expose(), public);
            assert!(!format!("{secret:?}").contains(&text[6..]));
        }
        for bad in [
            "whsec_AAAA",
            "whsk_AAAA",
            "whpk_AAAA",
            "whxx_AAAA",
            "whsec_?",
        ] {
            assert!(Secret::parse(bad).is_err(), "{bad}");
        }
    }
}
