//! Tokens that were changed after they were signed, or that no issuer signed.

use a2a_auth::{AuthOutcome, JwtBearer, Scheme};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::credentials::{AUDIENCE, ISSUER};
use crate::fixture::Credentials;
use crate::issuer::{SigningKey, claims, jwks};

/// A change of a signed token.
#[derive(Clone, Debug)]
enum Mutation {
    /// Replaces one byte.
    Byte(usize, u8),
    /// Removes some bytes.
    Cut(usize, usize),
    /// Inserts a byte.
    Insert(usize, u8),
    /// Exchanges a part for that of another valid token.
    Part(usize, usize),
    /// Changes a claim, or adds one.
    Claim(String, Value),
    /// Changes a member of the header, or adds one.
    Header(String, Value),
    /// Flips a bit of the signature.
    Signature(usize),
}

fn bytes() -> impl Strategy<Value = u8> {
    prop_oneof![
        9 => prop::sample::select(
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".to_vec()
        ),
        1 => 33..127_u8,
    ]
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-zA-Z0-9:/._-]{0,20}".prop_map(Value::from),
        prop::collection::vec("[a-z]{0,5}", 0..3).prop_map(Value::from),
    ]
}

fn mutations() -> impl Strategy<Value = Mutation> {
    let position = || 0..10_000_usize;
    let claim = prop::sample::select(vec![
        "iss", "aud", "sub", "exp", "nbf", "iat", "scope", "scp", "jti", "admin",
    ]);
    let header = prop::sample::select(vec![
        "alg", "kid", "typ", "crit", "jku", "jwk", "x5u", "x5c", "cty", "b64", "zip", "enc",
    ]);
    let algorithm = prop::sample::select(vec![
        "none", "None", "NONE", "", "HS256", "HS384", "HS512", "RS256", "PS256", "ES256", "ES384",
        "EdDSA",
    ]);
    prop_oneof![
        4 => (position(), bytes()).prop_map(|(at, byte)| Mutation::Byte(at, byte)),
        1 => (position(), 1..40_usize).prop_map(|(at, count)| Mutation::Cut(at, count)),
        1 => (position(), bytes()).prop_map(|(at, byte)| Mutation::Insert(at, byte)),
        1 => (0..3_usize, 0..3_usize).prop_map(|(part, other)| Mutation::Part(part, other)),
        2 => (claim, values()).prop_map(|(name, value)| Mutation::Claim(name.to_owned(), value)),
        1 => (header, values()).prop_map(|(name, value)| Mutation::Header(name.to_owned(), value)),
        1 => algorithm.prop_map(|name| Mutation::Header("alg".to_owned(), name.into())),
        1 => position().prop_map(Mutation::Signature),
    ]
}

fn decoded(part: &str) -> Value {
    let bytes = URL_SAFE_NO_PAD.decode(part).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

impl Mutation {
    fn apply(&self, token: &str, others: &[String]) -> String {
        let mut text = token.to_owned();
        let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
        let encode = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        match self {
            Self::Byte(at, byte) => {
                let at = at % text.len();
                text.replace_range(at..=at, char::from(*byte).encode_utf8(&mut [0; 4]));
                return text;
            }
            Self::Cut(at, count) => {
                let at = at % text.len();
                text.replace_range(at..(at + count).min(token.len()), "");
                return text;
            }
            Self::Insert(at, byte) => {
                text.insert(at % text.len(), char::from(*byte));
                return text;
            }
            Self::Part(part, other) => {
                let other = others[*other].split('.').nth(*part).unwrap();
                parts[*part] = other.to_owned();
            }
            Self::Claim(name, value) => {
                let mut claims = decoded(&parts[1]);
                claims[name] = value.clone();
                parts[1] = encode(claims);
            }
            Self::Header(name, value) => {
                let mut header = decoded(&parts[0]);
                header[name] = value.clone();
                parts[0] = encode(header);
            }
            Self::Signature(at) => {
                let mut signature = URL_SAFE_NO_PAD.decode(&parts[2]).unwrap();
                let bit = at % (8 * signature.len());
                signature[bit / 8] ^= 1 << (bit % 8);
                parts[2] = URL_SAFE_NO_PAD.encode(signature);
            }
        }
        parts.join(".")
    }
}

fn keys() -> [SigningKey; 3] {
    [
        SigningKey::ed25519("ed"),
        SigningKey::p256("ec"),
        SigningKey::rsa("rsa", Algorithm::RS256),
    ]
}

fn tokens(keys: &[SigningKey]) -> JwtBearer {
    let keys = jwks(keys).to_string();
    JwtBearer::keys_of(ISSUER, AUDIENCE, keys.as_bytes()).unwrap()
}

/// Number of changed tokens.
const CASES: u32 = 11_000;

#[test]
fn no_changed_token_is_accepted() {
    let keys = keys();
    let scheme = tokens(&keys);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let verdict = |token: &str| {
        let head = Credentials::bearer(token).head();
        runtime.block_on(scheme.check(&head))
    };
    let signed = keys.each_ref().map(|key| {
        let claims = claims(ISSUER, AUDIENCE, json!({"sub": key.kid}));
        let token = key.sign(&claims);
        assert!(
            matches!(verdict(&token), AuthOutcome::Valid(_)),
            "{}",
            key.kid
        );
        token
    });
    let changes = (0..3_usize, prop::collection::vec(mutations(), 1..3));
    let mut runner = TestRunner::new(Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    });
    let mut changed = 0;
    let changed = std::cell::RefCell::new(&mut changed);
    runner
        .run(&changes, |(which, mutations)| {
            let mut token = signed[which].clone();
            for mutation in &mutations {
                // Mutations stop once the text is not a token any more.
                let is_token = |text: &str| {
                    let mut parts = text.split('.').map(|part| URL_SAFE_NO_PAD.decode(part));
                    let is_json = |part: Option<Result<Vec<u8>, _>>| {
                        let bytes = part.and_then(Result::ok).unwrap_or_default();
                        serde_json::from_slice::<Value>(&bytes).is_ok_and(|value| value.is_object())
                    };
                    is_json(parts.next())
                        && is_json(parts.next())
                        && parts
                            .next()
                            .is_some_and(|part| part.is_ok_and(|part| !part.is_empty()))
                        && parts.next().is_none()
                };
                if is_token(&token) {
                    token = mutation.apply(&token, &signed);
                }
            }
            let is_same = signed.contains(&token) || token.trim().is_empty();
            if !is_same {
                **changed.borrow_mut() += 1;
                let verdict = verdict(&token);
                prop_assert_eq!(verdict, AuthOutcome::Invalid, "{}", token);
            }
            Ok(())
        })
        .unwrap();
    assert!(**changed.borrow() >= 10_000, "{}", changed.borrow());
}

#[tokio::test]
async fn no_token_of_a_shared_key_is_accepted() {
    let keys = keys();
    let scheme = tokens(&keys);
    let claims = claims(ISSUER, AUDIENCE, json!({}));
    let mut secrets: Vec<Vec<u8>> = vec![Vec::new(), b"secret".to_vec()];
    for key in &keys {
        // The public key in every form that a program may take for a secret.
        for member in ["x", "y", "n"] {
            let Some(text) = key.jwk[member].as_str() else {
                continue;
            };
            secrets.push(text.as_bytes().to_vec());
            secrets.push(URL_SAFE_NO_PAD.decode(text).unwrap());
        }
        secrets.push(key.jwk.to_string().into_bytes());
    }
    for key in &keys {
        for secret in &secrets {
            for algorithm in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
                let mut header = Header::new(algorithm);
                header.kid = Some(key.kid.clone());
                let token = encode(&header, &claims, &EncodingKey::from_secret(secret)).unwrap();
                let verdict = scheme.check(&Credentials::bearer(&token).head()).await;
                assert_eq!(verdict, AuthOutcome::Invalid, "{algorithm:?}");
            }
        }
        let header = json!({"alg": "none", "kid": key.kid, "typ": "JWT"}).to_string();
        let parts = [header, claims.to_string()].map(|part| URL_SAFE_NO_PAD.encode(part));
        for signature in ["", "AA"] {
            let token = format!("{}.{signature}", parts.join("."));
            let verdict = scheme.check(&Credentials::bearer(&token).head()).await;
            assert_eq!(verdict, AuthOutcome::Invalid, "{token}");
        }
    }
}
