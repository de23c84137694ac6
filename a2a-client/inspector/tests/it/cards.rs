//! Cards: their violations and their signers.

use a2a_auth::{AnyOf, ApiKey, ApiKeys};
use a2a_server::demo::Echo;
use a2a_server::{Algorithm, CardKeys, Server, SigningKey};
use a2a_transport::card_signature::sign;
use a2a_transport::webhook::Jwks;
use a2a_types::AgentCard;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::harness::{Page, builder, document, reference, started};

#[cfg(feature = "conformance")]
pub(crate) const OLD_CARD: &str = r#"{"name": "Old", "description": "d", "url": "{url}", "version": "1",
    "capabilities": {"streaming": true}, "skills": [{"id": "s", "name": "s", "description": "d"}], "defaultInputModes": ["text"], "defaultOutputModes": []}"#;

#[tokio::test]
async fn a_card_is_shown_as_it_came_and_as_it_is_read() {
    let page = Page::open().await;
    let agent = page.path_of(&reference().await).await;
    let shown = page.get(&format!("{agent}/card")).await;
    let raw: Value = serde_json::from_str(shown["raw"].as_str().unwrap()).unwrap();
    assert_eq!(raw["name"], "Reference");
    assert_eq!(
        shown["card"]["supportedInterfaces"],
        raw["supportedInterfaces"]
    );
    assert_eq!(shown["problems"], json!([]));
    assert_eq!(shown["signatures"], json!([]));
    for version in ["0.1", "0.2", "0.3", "1.0"] {
        assert_eq!(
            shown["views"][version]["card"]["name"], "Reference",
            "{version}"
        );
    }
}

#[cfg(feature = "conformance")]
#[tokio::test]
async fn problems_of_a_card_cite_the_specification() {
    let page = Page::open().await;
    let agent = page.path_of(&document(OLD_CARD).await).await;
    let shown = page.get(&format!("{agent}/card")).await;
    assert!(
        shown["raw"]
            .as_str()
            .unwrap()
            .contains(r#""skills": [{"id": "s", "name": "s", "description": "d"}]"#)
    );
    let problems = shown["problems"].as_array().unwrap();
    let of_skill = |problem: &&Value| problem["path"].as_str().unwrap().starts_with("$.skills[0]");
    let problem = problems
        .iter()
        .find(of_skill)
        .unwrap_or_else(|| panic!("{problems:?}"));
    assert_eq!(problem["level"], "must");
    assert!(
        problem["text"].is_string() && problem["source"].is_string(),
        "{problem}"
    );
    let views = &shown["views"];
    assert!(
        views["0.2"]["card"].is_object() && views["1.0"]["error"].is_string(),
        "{views}"
    );
}

#[cfg(feature = "conformance")]
#[tokio::test]
async fn a_card_that_cannot_be_read_is_judged_all_the_same() {
    let page = Page::open().await;
    let broken = OLD_CARD.replace("true", "yes");
    let settings = json!({"url": document(&broken).await});
    let problem = page
        .call("POST", "/api/agents", Some(settings))
        .await
        .problem();
    assert_eq!(problem["kind"], "malformed");
    let raw = &problem["card"];
    assert!(raw.as_str().unwrap().contains(r#""streaming": yes"#));
    let shown = page.post("/api/cards", json!({"text": raw})).await;
    assert_eq!(shown["card"], Value::Null);
    assert_ne!(shown["problems"], json!([]));
    for text in ["", "[]", "{", "\u{feff}{}"] {
        let shown = page.post("/api/cards", json!({"text": text})).await;
        assert_eq!(shown["problems"][0]["level"], "must", "{text}");
    }
}

#[cfg(feature = "conformance")]
#[tokio::test]
async fn a_card_with_a_slip_is_used_and_shown_with_it() {
    let page = Page::open().await;
    let slip = OLD_CARD.replace("true", "\"yes\"");
    let agent = page.path_of(&document(&slip).await).await;
    let shown = page.get(&format!("{agent}/card")).await;
    assert_eq!(shown["card"]["name"], "Old");
    let is_at_slip = |found: &&Value| found["path"] == "$.capabilities.streaming";
    for found in ["problems", "deviations"] {
        let found = shown[found].as_array().unwrap();
        assert!(found.iter().any(|it| is_at_slip(&it)), "{found:?}");
    }
}

/// Starts an agent whose card is signed by a key that it publishes itself, and returns its URL.
pub(crate) async fn signed_by(key: &SigningKey) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let keys_url = format!("{url}/.well-known/jwks.json");
    let server = Server::builder(Echo::card().at(&*url), Echo)
        .sign_card(CardKeys::new(key.clone()).url(&keys_url))
        .build()
        .unwrap();
    tokio::spawn(
        server
            .http()
            .listen(listener)
            .unwrap()
            .run(std::future::pending()),
    );
    url
}

#[tokio::test]
async fn signatures_are_verified_by_keys_of_the_agent_or_of_the_user() {
    let page = Page::open().await;
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let url = signed_by(&key).await;
    let agent = page.path_of(&url).await;
    let shown = page.get(&format!("{agent}/card")).await;
    let verdict = &shown["signatures"][0];
    assert_eq!(verdict["verdict"], "valid");
    assert!(verdict["form"].is_string());
    assert_eq!(
        (&verdict["keyId"], &verdict["algorithm"]),
        (&json!(key.id()), &json!("ES256"))
    );
    assert!(
        verdict["message"]
            .as_str()
            .unwrap()
            .contains("the agent itself publishes")
    );

    let trusted = document(json!(Jwks::of([&key])).to_string()).await;
    let shown = page
        .get(&format!("{agent}/card?keys={trusted}/keys.json"))
        .await;
    let message = shown["signatures"][0]["message"].as_str().unwrap();
    assert!(message.contains("that you trust"), "{message}");

    let other = SigningKey::generate(Algorithm::Es256).unwrap();
    let other = document(json!(Jwks::of([&other])).to_string()).await;
    let shown = page
        .get(&format!("{agent}/card?keys={other}/keys.json"))
        .await;
    assert_eq!(shown["signatures"][0]["verdict"], "invalid");
}

#[tokio::test]
async fn keys_elsewhere_are_not_fetched_unasked_and_a_changed_card_is_invalid() {
    let page = Page::open().await;
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let mut card = json!(AgentCard::new("Signed", "d").at("{url}"));
    let elsewhere = "https://keys.example/jwks.json";
    card["signatures"] = json!(sign(&card, &key, Some(elsewhere)).unwrap());
    card["signatures"]
        .as_array_mut()
        .unwrap()
        .push(json!({"protected": "?", "signature": "?"}));
    // The URL in it is written after the signature was made.
    let agent = page.path_of(&document(card.to_string()).await).await;
    let shown = page.get(&format!("{agent}/card")).await;
    let verdicts: Vec<_> = shown["signatures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["verdict"])
        .collect();
    let (malformed, signed) = verdicts.split_last().unwrap();
    assert_eq!(*malformed, "invalid");
    assert!(signed.iter().all(|it| *it == "unchecked"), "{verdicts:?}");
    assert_eq!(shown["signatures"][0]["keysUrl"], elsewhere);
    let trusted = document(json!(Jwks::of([&key])).to_string()).await;
    let shown = page
        .get(&format!("{agent}/card?keys={trusted}/keys.json"))
        .await;
    assert_eq!(shown["signatures"][0]["verdict"], "invalid");
    let nothing = "http://127.0.0.1:1/keys.json";
    let shown = page.get(&format!("{agent}/card?keys={nothing}")).await;
    assert_eq!(shown["signatures"][0]["verdict"], "unchecked");
}

/// Starts an agent with a longer card for callers with this key, and returns its URL.
pub(crate) async fn with_extended_card(key: &str) -> String {
    let mut card = Echo::card();
    card.capabilities.extended_agent_card = Some(true);
    let mut longer = Echo::card();
    longer.name = "Longer".to_owned();
    let key = ApiKey::new(key, "me").unwrap();
    let keys = ApiKeys::header("x-api-key").unwrap().key(key).unwrap();
    let keys = AnyOf::new(("key", keys));
    started(
        builder(card, Echo)
            .extended_card(longer)
            .authenticator(keys),
    )
    .await
}

#[tokio::test]
async fn the_extended_card_is_shown_as_it_came() {
    let page = Page::open().await;
    let url = with_extended_card("CANARY-of-the-test").await;
    for binding in ["JSONRPC", "HTTP+JSON"] {
        let settings = json!({"apiKey": "CANARY-of-the-test", "binding": binding});
        let agent = page.connect(&url, settings).await;
        assert_eq!(agent["capabilities"]["extendedCard"], true);
        let path = format!(
            "/api/agents/{}/extended-card",
            agent["id"].as_str().unwrap()
        );
        let shown = page.get(&path).await;
        assert_eq!(shown["card"]["name"], "Longer");
        let raw: Value = serde_json::from_str(shown["raw"].as_str().unwrap()).unwrap();
        assert_eq!(raw["name"], "Longer", "{binding}");
    }
    let agent = page.path_of(&url).await;
    let refused = page
        .call("GET", &format!("{agent}/extended-card"), None)
        .await;
    assert_eq!(refused.status, StatusCode::BAD_GATEWAY);
    assert!(
        refused.problem()["hint"]
            .as_str()
            .unwrap()
            .contains("credentials")
    );
}
