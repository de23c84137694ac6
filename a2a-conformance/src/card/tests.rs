use crate::requirement::requirement;
use serde_json::json;

use super::*;

/// Returns a valid card of both 1.0 and 0.3.
fn card() -> Value {
    json!({
        "name": "n", "description": "d", "version": "1", "protocolVersion": "0.3.0",
        "url": "https://a.example/rpc", "preferredTransport": "JSONRPC",
        "additionalInterfaces": [{"url": "https://a.example/rpc", "transport": "JSONRPC"}, {"url": "https://a.example/rest", "transport": "HTTP+JSON"}],
        "supportedInterfaces": [
            {"url": "https://a.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": "wss://a.example", "protocolBinding": "https://b.example/ws/v1", "protocolVersion": "1.0"},
            {"url": "http://localhost:80/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}],
        "capabilities": {"streaming": true, "extensions": [{"uri": "https://a.example/x"}]},
        "securitySchemes": {"k": {"type": "http", "scheme": "bearer", "httpAuthSecurityScheme": {"scheme": "Bearer"}}},
        "security": [{"k": []}], "securityRequirements": [{"schemes": {"k": {"list": []}}}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/html; charset=utf-8"],
        "skills": [{"id": "s", "name": "s", "description": "s", "tags": ["t"]}],
    })
}

#[track_caller]
fn check(change: impl FnOnce(&mut Value), path: &str, requirement: &str) {
    let mut card = card();
    change(&mut card);
    let found = inspect(&card.to_string()).unwrap().problems;
    let found: Vec<_> = found
        .iter()
        .map(|one| (&*one.path, one.requirement))
        .collect();
    assert_eq!(found, [(path, requirement)]);
}

#[test]
fn a_card_without_a_fault_has_none() {
    let found = inspect(&card().to_string()).unwrap();
    assert_eq!(found.problems, []);
    assert_eq!(found.protocol_versions, ["1.0", "0.3"]);
    assert!(found.is_legal());
}

#[test]
fn every_fault_is_found_at_its_place() {
    check(
        |card| card["supportedInterfaces"][0]["url"] = json!("/rpc"),
        "$.supportedInterfaces[0].url",
        "A2A10-4.4.6-M1",
    );
    check(
        |card| card["supportedInterfaces"][0]["url"] = json!("http://a.example/rpc"),
        "$.supportedInterfaces[0].url",
        "A2A10-7.1-M1",
    );
    check(
        |card| card["supportedInterfaces"][0]["url"] = json!("ftp://a.example/rpc"),
        "$.supportedInterfaces[0].url",
        "A2A10-4.4.6-M1",
    );
    check(
        |card| card["supportedInterfaces"][0]["url"] = json!("https://u:p@a.example"),
        "$.supportedInterfaces[0].url",
        "A2A10-14.3-S1",
    );
    check(
        |card| card["supportedInterfaces"][0]["protocolBinding"] = json!("SOAP"),
        "$.supportedInterfaces[0].protocolBinding",
        "A2A10-5.8-S1",
    );
    check(
        |card| card["supportedInterfaces"][0]["protocolVersion"] = json!("1.0.1"),
        "$.supportedInterfaces[0].protocolVersion",
        "A2A10-3.6-S1",
    );
    check(
        |card| card["supportedInterfaces"][1]["protocolVersion"] = json!("v1"),
        "$.supportedInterfaces[1].protocolVersion",
        "A2A10-4.4.6-M1",
    );
    check(
        |card| card["supportedInterfaces"][0]["protocolVersion"] = json!("0.2"),
        "$.supportedInterfaces[2]",
        "A2A10-8.3.1-S1",
    );
    check(
        |card| {
            card.as_object_mut().unwrap().remove("preferredTransport");
        },
        "$.preferredTransport",
        "A2A03-5.6.4-M1",
    );
    check(
        |card| card["additionalInterfaces"][1]["url"] = json!("https://a.example/rpc"),
        "$.additionalInterfaces",
        "A2A03-5.6.2-S1",
    );
    check(
        |card| {
            card["additionalInterfaces"]
                .as_array_mut()
                .unwrap()
                .remove(0);
        },
        "$.additionalInterfaces",
        "A2A03-5.6.4-S1",
    );
    check(
        |card| card["skills"] = json!([card["skills"][0], card["skills"][0]]),
        "$.skills[1].id",
        "A2A10-4.4.5-M1",
    );
    check(
        |card| card["defaultInputModes"] = json!(["text"]),
        "$.defaultInputModes[0]",
        "A2A10-4.4.1-M1",
    );
    check(
        |card| card["iconUrl"] = json!("icon.png"),
        "$.iconUrl",
        "A2A10-4.4.1-M1",
    );
    check(
        |card| card["capabilities"]["extensions"][0]["uri"] = json!("x"),
        "$.capabilities.extensions[0].uri",
        "A2A10-4.6.1-M1",
    );
    check(
        |card| card["securityRequirements"][0]["schemes"]["z"] = json!({}),
        "$.securityRequirements[0]",
        "A2A10-4.5.1-M2",
    );
    check(
        |card| card["security"][0]["z"] = json!([]),
        "$.security[0]",
        "A2A03-5.5.3-M2",
    );
    check(
        |card| card["skills"][0]["security"] = json!([{"z": []}]),
        "$.skills[0].security[0]",
        "A2A03-5.5.3-M2",
    );
    check(
        |card| card["signatures"] = json!([{"protected": "e30", "signature": ""}]),
        "$.signatures[0].protected",
        "A2A10-4.4.7-M1",
    );
}

#[test]
fn schema_violations_are_found() {
    let mut card = card();
    card.as_object_mut().unwrap().remove("version");
    card["skills"][0]["tags"] = json!("t");
    let found = inspect(&card.to_string()).unwrap();
    let paths: Vec<_> = found.problems.iter().map(|one| &*one.path).collect();
    assert_eq!(paths, ["$", "$.skills[0].tags"], "{:#?}", found.problems);
    assert!(!found.is_legal());
}

#[test]
fn two_schemes_in_one_and_algorithm_none_are_problems() {
    let mut card = card();
    card["securitySchemes"]["k"]["mtlsSecurityScheme"] = json!({});
    // {"alg": "none", "kid": "k", "typ": "JOSE"}
    let protected = "eyJhbGciOiAibm9uZSIsICJraWQiOiAiayIsICJ0eXAiOiAiSk9TRSJ9";
    card["signatures"] = json!([{"protected": protected, "signature": ""}]);
    let found = inspect(&card.to_string()).unwrap();
    let problems: Vec<_> = found.problems.iter().map(|one| &*one.problem).collect();
    assert!(
        problems
            .iter()
            .any(|problems| problems.starts_with("`none` proves nothing")),
        "{problems:#?}"
    );
    assert!(
        problems
            .iter()
            .any(|problems| problems.ends_with("found 2")),
        "{problems:#?}"
    );
}

#[test]
fn versions_are_detected() {
    let protocol_versions = |card: Value| inspect(&card.to_string()).unwrap().protocol_versions;
    assert_eq!(
        protocol_versions(json!({"url": "https://a.example", "authentication": {"schemes": []}})),
        ["0.1"]
    );
    assert_eq!(
        protocol_versions(json!({"url": "u", "description": "", "defaultInputModes": []})),
        ["0.2"]
    );
    assert_eq!(
        protocol_versions(json!({"url": "u", "protocolVersion": "0.2.5"})),
        ["0.2"]
    );
    assert_eq!(protocol_versions(json!({})), ["1.0"]);
    assert!(inspect("[]").is_err());
    assert!(
        inspect(r#"{"name": "a", "name": "b"}"#).is_err(),
        "two readers would see two names"
    );
    let first = inspect(
        r#"{"url": "https://a.example", "authentication": {"schemes": [], "credentials": "sk-0123456789abcdef"}}"#,
    )
    .unwrap();
    assert!(
        first
            .problems
            .iter()
            .any(|one| one.requirement == "A2A01-5.5.3-M1")
    );
}

#[test]
fn settings_of_a_scheme_are_not_a_secret() {
    let settings = r#"{\"tokenUrl\": \"https://a.example/token\"}"#;
    let card = format!(
        r#"{{"url": "https://a.example", "authentication": {{"schemes": ["OAuth2"], "credentials": "{settings}"}}}}"#
    );
    let found = inspect(&card).unwrap();
    let rules = found.problems.iter().map(|one| one.requirement);
    assert!(
        !rules.into_iter().any(|rule| rule == "A2A01-5.5.3-M1"),
        "{found:#?}"
    );
}

/// The card that our own server serves to callers of every protocol version is legal.
#[test]
fn our_own_card_is_legal() {
    let card = a2a_server::demo::Reference::card().at("http://127.0.0.1:8080");
    let document = a2a_transport::http::card_document(&card);
    let found = inspect(&document.to_string()).unwrap();
    let rules: Vec<_> = found.problems.iter().map(|one| one.requirement).collect();
    assert_eq!(rules, [""; 0], "{:#?}", found.problems);
    assert!(found.is_legal());
    assert_eq!(found.protocol_versions.len(), 2);
}

/// Every rule is in the registry.
#[test]
fn problems_name_requirements() {
    for file in [
        include_str!("mod.rs"),
        include_str!("rules.rs"),
        include_str!("security.rs"),
    ] {
        let ids = file
            .split('"')
            .filter(|text| text.starts_with("A2A") && text.contains('-'));
        for id in ids {
            assert!(requirement(id).is_some(), "{id} is not a requirement");
        }
    }
}
