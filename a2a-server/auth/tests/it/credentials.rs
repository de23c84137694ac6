//! Schemes with credentials of every quality.

use a2a_auth::{ApiKey, ApiKeys, BasicUsers, Introspection, JwtBearer, Requirement};
use serde_json::json;

use crate::fixture::Credentials;
use crate::issuer::{Issuer, SigningKey, claims, jwks, now};

pub(crate) const AUDIENCE: &str = "https://agent.example/";
pub(crate) const ISSUER: &str = "https://login.example";
/// The hash of `correct horse`, by bcrypt of the least cost.
pub(crate) const HASH: &str = "$2y$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e";
pub(crate) const PASSWORD: &str = "correct horse";
pub(crate) const KEY: &str = "key-of-ada-0123456789";
const EXPIRED_KEY: &str = "old-key-of-ada-0123456789";
const READER_KEY: &str = "key-of-a-reader-0123456789";
const BOTH: [&str; 2] = ["tasks:read", "tasks:write"];

/// A scheme, and credentials of it.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) requirement: Requirement,
    /// Beginning of its challenge.
    pub(crate) challenge: &'static str,
    pub(crate) right: Credentials,
    pub(crate) wrong: Vec<Credentials>,
    pub(crate) expired: Option<Credentials>,
    pub(crate) wrong_audience: Option<Credentials>,
    /// Credentials of a caller that may only read.
    pub(crate) reader: Credentials,
    /// Keeps the issuer alive.
    _issuer: Option<Issuer>,
}

/// Returns every scheme.
pub(crate) async fn cases() -> Vec<Case> {
    vec![
        key("header", ApiKeys::header("x-api-key").unwrap(), |key| {
            Credentials::header("x-api-key", key)
        }),
        key("query", ApiKeys::query("api_key"), |key| {
            Credentials::query(format!("api_key={key}"))
        }),
        key("cookie", ApiKeys::cookie("api_key"), |key| {
            Credentials::header("cookie", format!("a=b; api_key={key}"))
        }),
        basic(),
        jwt(),
        opaque().await,
    ]
}

fn key(name: &'static str, keys: ApiKeys, shown: fn(&str) -> Credentials) -> Case {
    let past = std::time::SystemTime::UNIX_EPOCH;
    let all = [
        ApiKey::new(KEY, "ada").unwrap().scopes(BOTH),
        ApiKey::new(EXPIRED_KEY, "ada")
            .unwrap()
            .scopes(BOTH)
            .expires(past),
        ApiKey::new(READER_KEY, "reader")
            .unwrap()
            .scopes(["tasks:read"]),
    ];
    let keys = all
        .into_iter()
        .fold(keys, |keys, key| keys.key(key).unwrap());
    Case {
        name,
        requirement: ("key", keys).into(),
        challenge: "ApiKey in=",
        right: shown(KEY),
        wrong: vec![shown("key-of-ada-0123456780"), shown(&KEY[1..]), shown("x")],
        expired: Some(shown(EXPIRED_KEY)),
        wrong_audience: None,
        reader: shown(READER_KEY),
        _issuer: None,
    }
}

fn basic() -> Case {
    let users = BasicUsers::of([("ada", HASH), ("reader", HASH)]).unwrap();
    let users = users.scopes(["tasks:read"]).scopes_of("ada", BOTH);
    Case {
        name: "basic",
        requirement: ("password", users).into(),
        challenge: "Basic realm=\"agent\", charset=\"UTF-8\"",
        right: Credentials::basic("ada", PASSWORD),
        wrong: vec![
            Credentials::basic("ada", "incorrect horse"),
            Credentials::basic("bob", PASSWORD),
            Credentials::header("authorization", "Basic !"),
            Credentials::header("authorization", "Basic"),
        ],
        expired: None,
        wrong_audience: None,
        reader: Credentials::basic("reader", PASSWORD),
        _issuer: None,
    }
}

fn jwt() -> Case {
    let key = SigningKey::p256("1");
    let published = jwks(std::slice::from_ref(&key)).to_string();
    let tokens = JwtBearer::keys_of(ISSUER, AUDIENCE, published.as_bytes()).unwrap();
    let token = |changed| Credentials::bearer(&key.sign(&claims(ISSUER, AUDIENCE, changed)));
    let other = SigningKey::p256("1");
    Case {
        name: "jwt",
        requirement: ("login", tokens).into(),
        challenge: "Bearer",
        right: token(json!({})),
        wrong: vec![
            Credentials::bearer(&other.sign(&claims(ISSUER, AUDIENCE, json!({})))),
            token(json!({"iss": "https://other.example"})),
            Credentials::bearer("x.y.z"),
            Credentials::header("authorization", "Bearer"),
        ],
        expired: Some(token(json!({"exp": now() - 61}))),
        wrong_audience: Some(token(json!({"aud": "https://other.example/"}))),
        reader: token(json!({"sub": "reader", "scope": "tasks:read"})),
        _issuer: None,
    }
}

async fn opaque() -> Case {
    let issuer = Issuer::start(&[]).await;
    let active = |changed| {
        let mut answer = claims(&issuer.url, AUDIENCE, changed);
        answer["active"] = json!(true);
        answer
    };
    issuer.issue("right", active(json!({})));
    issuer.issue("expired", active(json!({"exp": now() - 1})));
    issuer.issue("other", active(json!({"aud": ["https://other.example/"]})));
    issuer.issue(
        "reader",
        active(json!({"sub": "reader", "scope": "tasks:read"})),
    );
    let url = format!("{}/introspect", issuer.url);
    let tokens = Introspection::new(url, "client", "client secret").unwrap();
    let tokens = tokens.issuer(&issuer.url).audience(AUDIENCE);
    Case {
        name: "opaque",
        requirement: ("token", tokens).into(),
        challenge: "Bearer",
        right: Credentials::bearer("right"),
        wrong: vec![Credentials::bearer("unknown")],
        expired: Some(Credentials::bearer("expired")),
        wrong_audience: Some(Credentials::bearer("other")),
        reader: Credentials::bearer("reader"),
        _issuer: Some(issuer),
    }
}
