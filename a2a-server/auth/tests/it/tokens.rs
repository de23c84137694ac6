//! JSON Web Tokens: claims, keys of an issuer over HTTP, rotation, outages; introspection.

use std::sync::Arc;
use std::time::Duration;

use a2a_auth::{AnyOf, AuthOutcome, ConfigError, Introspection, JwtBearer, Scheme};
use a2a_transport::Principal;
use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use crate::credentials::{AUDIENCE, ISSUER};
use crate::fixture::{Credentials, Service};
use crate::issuer::{Issuer, SigningKey, claims, jwks, now};

fn fixed(keys: &[SigningKey]) -> JwtBearer {
    let keys = jwks(keys).to_string();
    JwtBearer::keys_of(ISSUER, AUDIENCE, keys.as_bytes()).unwrap()
}

async fn verdict(tokens: &JwtBearer, token: &str) -> AuthOutcome {
    tokens.check(&Credentials::bearer(token).head()).await
}

async fn is_valid(tokens: &JwtBearer, token: &str) -> bool {
    matches!(verdict(tokens, token).await, AuthOutcome::Valid(_))
}

#[tokio::test]
async fn claims_decide_whether_a_token_is_valid() {
    let key = SigningKey::ed25519("1");
    let tokens = fixed(std::slice::from_ref(&key));
    for (changed, expected) in [
        (json!({}), true),
        (json!({"aud": ["https://other.example/", AUDIENCE]}), true),
        (json!({"aud": []}), false),
        (json!({"aud": null}), false),
        (json!({"aud": 7}), false),
        (json!({"aud": "https://agent.example"}), false),
        (json!({"iss": null}), false),
        (json!({"iss": "https://login.example/"}), false),
        (json!({"iss": [ISSUER]}), false),
        (json!({"sub": null}), false),
        (json!({"sub": ""}), false),
        (json!({"sub": 7}), false),
        (json!({"exp": null}), false),
        (json!({"exp": (now() + 300).to_string()}), false),
        (json!({"exp": now() - 50}), true),
        (json!({"exp": now() - 61}), false),
        (json!({"exp": now() as f64 + 0.5}), true),
        (json!({"exp": -1}), false),
        (json!({"exp": 1e300}), true),
        (json!({"nbf": now() + 50}), true),
        (json!({"nbf": now() + 70}), false),
        (json!({"nbf": "now"}), false),
        (json!({"scope": null}), true),
        (json!({"scope": ["a", "b"]}), true),
        (json!({"scope": 7}), false),
    ] {
        let token = key.sign(&claims(ISSUER, AUDIENCE, changed.clone()));
        assert_eq!(is_valid(&tokens, &token).await, expected, "{changed}");
    }
}

#[tokio::test]
async fn headers_decide_whether_a_token_is_valid() {
    let key = SigningKey::ed25519("1");
    let tokens = fixed(std::slice::from_ref(&key));
    let claims = claims(ISSUER, AUDIENCE, json!({}));
    for (typ, expected) in [
        (None, true),
        (Some("JWT"), true),
        (Some("at+jwt"), true),
        (Some("application/at+JWT"), true),
        (Some("dpop+jwt"), false),
        (Some("logout+jwt"), false),
    ] {
        let token = key.sign_with(|header| header.typ = typ.map(str::to_owned), &claims);
        assert_eq!(is_valid(&tokens, &token).await, expected, "{typ:?}");
    }
    let critical = |header: &mut jsonwebtoken::Header| header.crit = Some(vec!["b64".to_owned()]);
    assert!(!is_valid(&tokens, &key.sign_with(critical, &claims)).await);
    assert!(is_valid(&tokens, &key.sign_with(|header| header.kid = None, &claims)).await);
    let other = |header: &mut jsonwebtoken::Header| header.kid = Some("../1".to_owned());
    assert!(!is_valid(&tokens, &key.sign_with(other, &claims)).await);
}

#[tokio::test]
async fn every_kind_of_key_verifies_by_its_own_algorithm() {
    let keys = [
        SigningKey::ed25519("ed"),
        SigningKey::p256("ec"),
        SigningKey::rsa("rs256", Algorithm::RS256),
        SigningKey::rsa("ps384", Algorithm::PS384),
    ];
    let tokens = fixed(&keys);
    let claims = claims(ISSUER, AUDIENCE, json!({}));
    for key in &keys {
        assert!(is_valid(&tokens, &key.sign(&claims)).await, "{}", key.kid);
        for other in keys.iter().filter(|other| other.kid != key.kid) {
            let token = key.sign_with(|header| header.kid = Some(other.kid.clone()), &claims);
            assert!(
                !is_valid(&tokens, &token).await,
                "{} as {}",
                key.kid,
                other.kid
            );
        }
    }
    let rsa = SigningKey {
        algorithm: Algorithm::RS512,
        ..keys[2].clone()
    };
    assert!(
        !is_valid(&tokens, &rsa.sign(&claims)).await,
        "another algorithm of the key"
    );
}

#[tokio::test]
async fn a_principal_is_of_its_issuer_unless_the_program_says_otherwise() {
    let key = SigningKey::ed25519("1");
    let token = key.sign(&claims(ISSUER, AUDIENCE, json!({"scp": ["a b", "c"]})));
    let tokens = fixed(std::slice::from_ref(&key));
    let AuthOutcome::Valid(principal) = verdict(&tokens, &token).await else {
        panic!("refused");
    };
    assert_eq!(principal.name(), Some("https://login.example#ada"));
    let scopes: Vec<_> = principal.scopes().collect();
    assert_eq!(scopes, ["tasks:read", "tasks:write", "a", "b", "c"]);
    let by_client = fixed(std::slice::from_ref(&key)).principal(|claims| {
        let client = claims.get("client_id").and_then(Value::as_str)?;
        Some(Principal::named(format!("client {client}")))
    });
    assert_eq!(verdict(&by_client, &token).await, AuthOutcome::Invalid);
    let token = key.sign(&claims(ISSUER, AUDIENCE, json!({"client_id": "c"})));
    let client = AuthOutcome::Valid(Principal::named("client c"));
    assert_eq!(verdict(&by_client, &token).await, client);
}

/// Advances the clock while no network request is pending.
async fn pass(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn keys_rotate_and_outages_refuse_no_good_caller() {
    let (old, new) = (SigningKey::p256("old"), SigningKey::ed25519("new"));
    let mut issuer = Issuer::start(std::slice::from_ref(&old)).await;
    let tokens = JwtBearer::discover(&issuer.url, AUDIENCE).unwrap();
    let service = Service::of(AnyOf::new(("login", tokens)));
    let url = issuer.url.clone();
    let signed = |key: &SigningKey, number: u32| {
        let claims = claims(&url, AUDIENCE, json!({"jti": number}));
        Credentials::bearer(&key.sign(&claims))
    };
    let status = async |credentials: &Credentials| service.send(credentials).await.status.as_u16();
    assert_eq!(status(&signed(&old, 1)).await, 200);
    assert_eq!(status(&signed(&old, 2)).await, 200);
    assert_eq!(issuer.key_requests(), 1);

    // A key that is not published yet causes at most one fetch a minute.
    for number in 3..20 {
        assert_eq!(status(&signed(&new, number)).await, 401);
    }
    assert_eq!(issuer.key_requests(), 1);
    issuer.publish(&[old.clone(), new.clone()]);
    pass(61).await;
    assert_eq!(status(&signed(&new, 20)).await, 200);
    assert_eq!(status(&signed(&old, 21)).await, 200);
    assert_eq!(issuer.key_requests(), 2);

    // An outage, of either kind: the keys in force stay, others get 503.
    let other = SigningKey::ed25519("other");
    issuer.set_broken(true);
    pass(61).await;
    assert_eq!(status(&signed(&other, 22)).await, 503);
    assert_eq!(status(&signed(&new, 23)).await, 200);
    pass(700).await;
    assert_eq!(status(&signed(&old, 24)).await, 200);
    issuer.stop().await;
    pass(700).await;
    assert_eq!(status(&signed(&new, 25)).await, 200);
    assert_eq!(status(&signed(&other, 26)).await, 503);

    // A key that was withdrawn is refused soon after, also for tokens that were accepted before.
    let accepted = signed(&old, 27);
    assert_eq!(status(&accepted).await, 200);
    issuer.set_broken(false);
    issuer.publish(std::slice::from_ref(&new));
    issuer.restart().await;
    pass(61).await;
    assert_eq!(status(&signed(&other, 28)).await, 401);
    assert_eq!(status(&accepted).await, 401);
    assert_eq!(status(&signed(&new, 29)).await, 200);
}

#[tokio::test]
async fn an_issuer_that_begins_later_is_found() {
    let key = SigningKey::p256("1");
    let mut issuer = Issuer::start(std::slice::from_ref(&key)).await;
    let url = issuer.url.clone();
    issuer.stop().await;
    let tokens = JwtBearer::keys_at(&url, AUDIENCE, format!("{url}/keys")).unwrap();
    let token = key.sign(&claims(&url, AUDIENCE, json!({})));
    assert_eq!(verdict(&tokens, &token).await, AuthOutcome::Unavailable);
    issuer.restart().await;
    assert_eq!(
        verdict(&tokens, &token).await,
        AuthOutcome::Unavailable,
        "asked too soon"
    );
    pass(6).await;
    assert!(is_valid(&tokens, &token).await);
}

#[tokio::test]
async fn ten_thousand_unknown_keys_are_one_request() {
    let key = SigningKey::ed25519("1");
    let issuer = Issuer::start(std::slice::from_ref(&key)).await;
    let tokens = JwtBearer::discover(&issuer.url, AUDIENCE).unwrap();
    let claims = claims(&issuer.url, AUDIENCE, json!({}));
    assert!(is_valid(&tokens, &key.sign(&claims)).await);
    for number in 0..10_000 {
        let token = key.sign_with(|header| header.kid = Some(format!("k{number}")), &claims);
        assert_eq!(verdict(&tokens, &token).await, AuthOutcome::Invalid);
    }
    assert_eq!(issuer.key_requests(), 1);
    pass(61).await;
    // All at once: one asks, and the others wait for it.
    let tokens = Arc::new(tokens);
    let checks: Vec<_> = (0..100)
        .map(|number| {
            let token = key.sign_with(|header| header.kid = Some(format!("k{number}")), &claims);
            let tokens = Arc::clone(&tokens);
            tokio::spawn(async move { verdict(&tokens, &token).await })
        })
        .collect();
    for check in checks {
        assert_eq!(check.await.unwrap(), AuthOutcome::Invalid);
    }
    assert_eq!(issuer.key_requests(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_file_of_keys_is_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("jwks.json");
    let (one, two) = (SigningKey::ed25519("1"), SigningKey::ed25519("2"));
    std::fs::write(&path, jwks(std::slice::from_ref(&one)).to_string()).unwrap();
    let tokens = JwtBearer::keys_in(ISSUER, AUDIENCE, &path).unwrap();
    let claims = claims(ISSUER, AUDIENCE, json!({}));
    let [by_one, by_two] = [&one, &two].map(|key| key.sign(&claims));
    assert!(is_valid(&tokens, &by_one).await);
    assert!(!is_valid(&tokens, &by_two).await);
    std::fs::write(&path, jwks(std::slice::from_ref(&two)).to_string()).unwrap();
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(!is_valid(&tokens, &by_one).await);
    assert!(is_valid(&tokens, &by_two).await);
}

#[test]
fn settings_that_cannot_be_trusted_are_refused() {
    let is_refused = |built: Result<JwtBearer, ConfigError>| built.is_err();
    assert!(is_refused(JwtBearer::discover(
        "http://login.example",
        AUDIENCE
    )));
    assert!(is_refused(JwtBearer::keys_at(
        ISSUER,
        AUDIENCE,
        "ftp://login.example/keys"
    )));
    assert!(is_refused(JwtBearer::keys_of(
        ISSUER,
        AUDIENCE,
        br#"{"keys": []}"#
    )));
    let introspection = Introspection::new("http://login.example/i", "a", "b");
    assert!(introspection.is_err());
}

#[tokio::test]
async fn introspection_asks_once_a_minute_and_not_at_all_in_an_outage() {
    let issuer = Issuer::start(&[]).await;
    issuer.issue("t", json!({"active": true, "sub": "ada", "scope": "a b"}));
    let url = format!("{}/introspect", issuer.url);
    let tokens = Introspection::new(url, "client", "client secret").unwrap();
    let verdict = async |token: &str| tokens.check(&Credentials::bearer(token).head()).await;
    let ada = AuthOutcome::Valid(Principal::named("ada"));
    for _ in 0..3 {
        assert_eq!(verdict("t").await, ada);
        assert_eq!(verdict("u").await, AuthOutcome::Invalid);
    }
    assert_eq!(issuer.introspections(), 2);
    issuer.set_broken(true);
    assert_eq!(verdict("t").await, ada);
    assert_eq!(verdict("v").await, AuthOutcome::Unavailable);
    pass(61).await;
    assert_eq!(verdict("t").await, AuthOutcome::Unavailable);
    issuer.set_broken(false);
    issuer.issue("t", json!({"active": false}));
    assert_eq!(verdict("t").await, AuthOutcome::Invalid);
    issuer.issue("w", json!({"active": "true", "sub": "ada"}));
    assert_eq!(
        verdict("w").await,
        AuthOutcome::Unavailable,
        "a malformed answer"
    );
    issuer.issue("x", json!({"active": true}));
    assert_eq!(verdict("x").await, AuthOutcome::Invalid, "no subject");
}
