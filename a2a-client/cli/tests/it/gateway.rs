//! `a2a gateway`.

use std::fs;

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
fn credentials_are_the_callers_or_those_of_the_gateway() {
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
    let elsewhere = ["--address", "0.0.0.0:0"];
    for (arguments, expected) in [
        (&["gateway", &open.url][..], "asks for no credentials"),
        (
            &["gateway", &closed.url, "--api-key", KEY],
            "with the gateway's credentials",
        ),
    ] {
        check(&[arguments, &elsewhere].concat(), 2, &[expected, "--open"]);
    }
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
fn credentials_go_where_the_operator_says() {
    let agent = agent_with_key();
    let card = lines(&["card", "get", &agent.url, "-o", "json"], "").remove(0);
    let elsewhere = ScriptedAgent::new(move |_, _| card.clone());
    let origin = agent.url.trim_end_matches('/');
    let arguments = ["gateway", &elsewhere.url, "--api-key", KEY];
    check(&arguments, 2, &[origin, "--trust"]);
    let trusting = gateway(&elsewhere.url, &["--api-key", KEY, "--trust", origin]);
    check(&["send", &trusting.url, "hello"], 0, &["hello"]);
}
