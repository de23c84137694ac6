//! The card.

use std::collections::BTreeMap;

use a2a_server::{AllowAnonymous, ServerBuilder};
use a2a_types::{AgentCardSignature, SecurityRequirement, StringList};
use serde_json::json;

use crate::rules::scripted_agent::{card, serve, serve_card, serve_with};

/// The card names the transport at its URL; no URL has two; the client uses the URL of the transport. §5.6.1,
/// §5.6.3, §5.6.4.
#[tokio::test]
async fn the_card_names_the_transport_of_each_url() {
    let served = serve().await;
    let card = served.card_at("/.well-known/agent-card.json").await;
    assert_eq!(
        (&card["preferredTransport"], &card["url"]),
        (&json!("JSONRPC"), &json!(served.url()))
    );
    let mut declared = BTreeMap::from([(served.url(), "JSONRPC".to_owned())]);
    for interface in card["additionalInterfaces"].as_array().unwrap() {
        let text = |name: &str| interface[name].as_str().unwrap().to_owned();
        let transport = declared
            .entry(text("url"))
            .or_insert_with(|| text("transport"));
        assert_eq!(
            *transport,
            text("transport"),
            "one URL, one transport: {interface}"
        );
    }
    let (rest, _) = declared
        .iter()
        .find(|(_, transport)| *transport == "HTTP+JSON")
        .unwrap();
    let path = rest
        .strip_prefix(&format!("http://{}", served.address))
        .unwrap();
    assert_eq!(served.send("echo x").await["status"]["state"], "completed");
    assert_eq!(
        served.get(&format!("{path}/v1/tasks"), &[]).await.status,
        200,
        "{rest}"
    );
}

/// A card's signatures are the JSON fields of RFC 7515. Schema.
#[tokio::test]
async fn signatures_are_json_fields() {
    let mut signed = card().at("http://agent.example/");
    let header = json!({"kid": "k"}).as_object().cloned();
    signed.signatures = vec![AgentCardSignature {
        protected: "eyJhbGciOiJFUzI1NiJ9".to_owned(),
        signature: "c2lnbmF0dXJl".to_owned(),
        header,
    }];
    let served = serve_card(signed).await;
    let signatures = json!([{
        "protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "c2lnbmF0dXJl", "header": {"kid": "k"},
    }]);
    let served_card = served.card_at("/.well-known/agent-card.json").await;
    assert_eq!(served_card["signatures"], signatures);
    assert_eq!(
        serve()
            .await
            .card_at("/.well-known/agent-card.json")
            .await
            .get("signatures"),
        None
    );
}

/// Security requirements are sets of which any suffices, on the card and on skills. Schema.
#[tokio::test]
async fn security_is_any_of_several_sets() {
    let requirement = |schemes: &[(&str, &[&str])]| SecurityRequirement {
        schemes: schemes
            .iter()
            .map(|(name, scopes)| {
                let list = scopes.iter().map(|scope| (*scope).to_owned()).collect();
                ((*name).to_owned(), StringList { list })
            })
            .collect(),
    };
    let mut guarded = card();
    guarded.security_requirements = vec![
        requirement(&[("oauth", &["read"]), ("mtls", &[])]),
        requirement(&[("key", &[])]),
    ];
    guarded.skills[0].security_requirements = vec![requirement(&[("oauth", &["write"])])];
    let open = |builder: ServerBuilder| builder.authenticator(AllowAnonymous);
    let served = serve_with(guarded, open, |bound| bound).await;
    let card = served.card_at("/.well-known/agent-card.json").await;
    assert_eq!(
        card["security"],
        json!([{"oauth": ["read"], "mtls": []}, {"key": []}])
    );
    assert_eq!(card["skills"][0]["security"], json!([{"oauth": ["write"]}]));
}
