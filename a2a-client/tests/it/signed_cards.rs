//! Cards that are accepted only with a trusted signature.

use a2a_client::{CardVerifier, Client, Error, SignatureForm};
use a2a_transport::card_signature::sign;
use a2a_transport::http::{Body, ServeOptions, serve};
use a2a_transport::webhook::{Algorithm, Jwks, SigningKey};
use a2a_types::AgentCard;
use hyper::service::service_fn;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::future::{pending, ready};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

fn key() -> SigningKey {
    SigningKey::generate(Algorithm::Es256).unwrap()
}

/// Serves the card that `write` makes of a plain one, and connects by it, with this verifier. Returns the
/// outcome and the requested paths.
async fn connected(
    trusted: impl Into<Option<CardVerifier>>,
    write: impl FnOnce(Value) -> String,
) -> (Result<Client, Error>, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let plain = AgentCard::new("Signed", "d").at(format!("{url}/rpc"));
    let card = write(json!(plain));
    let paths = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&paths);
    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        asked.lock().unwrap().push(request.uri().path().to_owned());
        ready(Ok::<_, Infallible>(http::Response::new(Body::full(
            card.clone(),
        ))))
    });
    tokio::spawn(serve(listener, service, ServeOptions::default(), pending()));
    let mut builder = Client::builder(&url);
    if let Some(verifier) = trusted.into() {
        builder = builder.verify_card(verifier);
    }
    let client = builder.connect().await;
    let paths = paths.lock().unwrap().clone();
    (client, paths)
}

fn trusting(key: &SigningKey) -> CardVerifier {
    Jwks::of([key]).into()
}

fn signed(mut card: Value, key: &SigningKey) -> Value {
    card["signatures"] = json!(sign(&card, key, None).unwrap());
    card
}

#[tokio::test]
async fn a_card_that_a_trusted_key_signed_is_used() {
    let own = key();
    let (client, _) = connected(trusting(&own), |card| signed(card, &own).to_string()).await;
    let client = client.unwrap();
    assert_eq!(client.card().unwrap().name, "Signed");
    let verification = client.card_verification().unwrap();
    assert_eq!(verification.form, SignatureForm::Specification);
    assert_eq!(verification.key, own.id());
}

#[tokio::test]
async fn a_card_without_a_trusted_signature_is_refused_before_any_call() {
    #[track_caller]
    fn check(outcome: (Result<Client, Error>, Vec<String>), says: &str) {
        let (client, paths) = outcome;
        match client {
            Err(Error::Unverified(problem)) => assert!(problem.contains(says), "{problem}"),
            Err(error) => panic!("{error:?}"),
            Ok(_) => panic!("it was used"),
        }
        let elsewhere = |path: &&String| !path.starts_with("/.well-known/");
        assert_eq!(paths.iter().find(elsewhere), None);
    }
    let (own, other) = (key(), key());
    let unsigned = connected(trusting(&own), |card| card.to_string()).await;
    check(unsigned, "no signature");
    let stranger = connected(trusting(&own), |card| signed(card, &other).to_string()).await;
    check(stranger, "not trusted");
    let changed = connected(trusting(&own), |card| {
        let mut card = signed(card, &own);
        card["name"] = "Forged".into();
        card.to_string()
    });
    check(changed.await, "does not match this card");
    // Two readers could see two cards.
    let twice = connected(trusting(&own), |card| {
        let card = signed(card, &own).to_string();
        card.replacen('{', r#"{"name":"Forged","#, 1)
    });
    let (client, _) = twice.await;
    let name = client
        .ok()
        .and_then(|client| Some(client.card()?.name.clone()));
    assert_ne!(name.as_deref(), Some("Forged"));
}

#[tokio::test]
async fn members_that_were_not_signed_are_ignored() {
    let own = key();
    // The signer knew only 1.0, and members that 0.3 reads were added later.
    let (client, _) = connected(trusting(&own), |card| {
        let mut card = signed(card, &own);
        card["url"] = "http://elsewhere.example/".into();
        card["preferredTransport"] = "JSONRPC".into();
        card["protocolVersion"] = "0.3.0".into();
        card.to_string()
    })
    .await;
    let client = client.unwrap();
    let interfaces = &client.card().unwrap().supported_interfaces;
    let foreign = interfaces
        .iter()
        .find(|interface| interface.url.contains("elsewhere"));
    assert_eq!(foreign, None);
}

#[tokio::test]
async fn security_that_a_signature_does_not_cover_is_not_read() {
    let own = key();
    // An SDK signs the same bytes for this card: it covers no requirement without scopes.
    let forged = |card: Value| {
        let mut card = signed(card, &own);
        card["securitySchemes"] = json!({"m": {"mtlsSecurityScheme": {}}});
        card["securityRequirements"] = json!([{"schemes": {"m": {}}}]);
        card.to_string()
    };
    let (client, _) = connected(trusting(&own), forged).await;
    let client = client.unwrap();
    let card = client.card().unwrap();
    assert_eq!(card.security_requirements, []);
    assert!(card.security_schemes.is_empty());
    assert_eq!(client.card_verification().unwrap().form, SignatureForm::Sdk);

    let strict = trusting(&own).refuse(SignatureForm::Sdk);
    let (refused, _) = connected(strict, forged).await;
    match refused {
        Err(Error::Unverified(problem)) => {
            assert!(problem.contains("not accepted here"), "{problem}")
        }
        other => panic!("{:?}", other.err()),
    }
}

#[tokio::test]
async fn by_default_signatures_are_not_looked_at() {
    let (client, _) = connected(None, |card| card.to_string()).await;
    let client = client.unwrap();
    assert_eq!(client.card().unwrap().name, "Signed");
    assert_eq!(client.card_verification(), None);
}
