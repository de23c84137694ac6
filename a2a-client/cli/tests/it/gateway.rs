//! `a2a gateway`.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::scripted_agent::ScriptedAgent;
use crate::{Agent, check, lines};

const KEY: &str = "a-key-of-the-test-0123456789";

/// Starts a gateway to an agent.
fn gateway(agent: &str, arguments: &[&str]) -> Agent {
    let begin = ["gateway", agent, "--address", "127.0.0.1:0", "-o", "json"];
    Agent::run(&[&begin, arguments].concat())
}

/// Starts an agent for callers with the key.
fn agent_with_key() -> Agent {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("keys");
    fs::write(&file, format!("{KEY} ann\n")).unwrap();
    let file = file.to_str().unwrap();
    Agent::begin(&["echo", "--address", "127.0.0.1:0", "--api-key-file", file])
}

#[test]
fn callers_of_every_version_reach_an_agent_of_one() {
    let agent = Agent::named("echo");
    let old = gateway(&agent.url, &["--no-card", "--a2a-version", "0.2"]);
    let new = gateway(&agent.url, &["--relay-webhooks", "--local-webhooks"]);
    for gateway in [&old, &new] {
        for version in ["0.1", "0.2", "0.3", "1.0"] {
            let arguments = ["send", &gateway.url, "hello", "--a2a-version", version];
            check(&arguments, 0, &["hello"]);
        }
    }
    // Its webhooks are relayed to callers of another version than the agent's.
    for (gateway, promised) in [(&new, "true"), (&old, "false")] {
        let card = check(&["card", "get", &gateway.url, "-o", "json"], 0, &[]);
        let promise = format!(r#""pushNotifications":{promised}"#);
        assert!(card.contains(&promise), "no {promise} in {card}");
    }
}

#[test]
fn gateway_passes_callers_credentials_or_sends_its_own() {
    let agent = agent_with_key();
    let passing = gateway(&agent.url, &[]);
    let missing = ["send", &passing.url, "hello"];
    check(&missing, 4, &["A2ACLI_ERR_CREDENTIALS_MISSING"]);
    let with_key = [&missing[..], &["--api-key", KEY]].concat();
    check(&with_key, 0, &["hello"]);
    let wrong = [&missing[..], &["--api-key", "another-key-0123456789"]].concat();
    check(&wrong, 4, &["A2ACLI_ERR_AUTH_FAILED"]);

    let own = gateway(&agent.url, &["--api-key", KEY]);
    check(&["send", &own.url, "hello"], 0, &["hello"]);
    let card = check(&["card", "get", &own.url, "-o", "json"], 0, &[]);
    assert!(!card.contains("apiKey"), "{card}");
}

#[test]
fn a_gateway_that_would_let_others_in_is_refused() {
    let open = Agent::named("echo");
    let closed = agent_with_key();
    let mut card = lines(&["card", "get", &closed.url, "-o", "json"], "").remove(0);
    card["securityRequirements"] = json!([{"schemes": {}}]);
    let optional = ScriptedAgent::new(move |_, _| card.clone());
    let parameter = format!("X-API-Key: {KEY}");
    let trust = ["--trust", closed.url.trim_end_matches('/')];
    let elsewhere = ["--address", "0.0.0.0:0"];
    for (arguments, expected) in [
        (&["gateway", &open.url][..], "asks for no credentials"),
        (
            &["gateway", &optional.url, trust[0], trust[1]],
            "asks for no credentials",
        ),
        (
            &["gateway", &closed.url, "--api-key", KEY],
            "with the gateway's credentials",
        ),
        (
            &["gateway", &closed.url, "--svc-param", &parameter],
            "with the gateway's credentials",
        ),
    ] {
        check(&[arguments, &elsewhere].concat(), 2, &[expected, "--open"]);
    }
}

#[test]
fn options_that_cannot_be_used_are_named() {
    let agent = Agent::named("echo");
    for (option, value, expected) in [
        ("--public-url", "agent.example", "expected a URL like"),
        ("--public-url", "https://x.example/?a=b", "without a query"),
        ("--extension", "urn:x", "callers of a gateway"),
    ] {
        check(&["gateway", &agent.url, option, value], 2, &[expected]);
    }
    let relay = ["gateway", &agent.url, "--relay-webhooks", "--open"];
    let everywhere = ["--address", "0.0.0.0:0"];
    check(&[&relay[..], &everywhere].concat(), 2, &["--public-url"]);
}

#[test]
fn an_agent_that_cannot_be_called_is_named() {
    check(
        &["gateway", "http://127.0.0.1:1", "--address", "127.0.0.1:0"],
        3,
        &["127.0.0.1:1", "A2ACLI_ERR_UNREACHABLE"],
    );
}

#[test]
fn callers_learn_that_the_agent_is_away() {
    let agent = Agent::named("echo");
    let gateway = gateway(&agent.url, &[]);
    drop(agent);
    let expected = [
        "cannot be reached: try again later",
        "A2ACLI_ERR_UNREACHABLE",
    ];
    check(&["send", &gateway.url, "hello"], 3, &expected);
}

#[test]
fn credentials_go_where_the_operator_says() {
    let agent = agent_with_key();
    let card = lines(&["card", "get", &agent.url, "-o", "json"], "").remove(0);
    let elsewhere = ScriptedAgent::new(move |_, _| card.clone());
    let origin = agent.url.trim_end_matches('/');
    for command in ["gateway", "conformance"] {
        let arguments = [command, &elsewhere.url, "--api-key", KEY];
        check(&arguments, 2, &[origin, "--trust"]);
    }
    // Callers' credentials would be refused there, too.
    check(&["gateway", &elsewhere.url], 2, &[origin, "--trust"]);
    let trusting = gateway(&elsewhere.url, &["--api-key", KEY, "--trust", origin]);
    check(&["send", &trusting.url, "hello"], 0, &["hello"]);
}
