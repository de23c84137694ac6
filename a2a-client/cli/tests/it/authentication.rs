//! `a2a serve` for callers with credentials.

use serde_json::json;
use tempfile::TempDir;

use crate::scripted_agent::ScriptedAgent;
use crate::{Agent, check};

/// The hash of `correct horse`, by bcrypt of the least cost.
const HASH: &str = "$2y$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e";

#[test]
fn callers_with_a_key_or_a_password_are_served() {
    let directory = TempDir::new().unwrap();
    let file = |name: &str, content: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let keys = file("keys", "key-of-ada-0123456789 ada\n");
    let users = file("users", &format!("bob:{HASH}\n"));
    let options = ["--api-key-file", &keys, "--basic", &users];
    let options = [&["echo", "--address", "127.0.0.1:0"], &options[..]].concat();
    let agent = Agent::begin(&options);
    let url = &*agent.url;
    check(
        &["card", "get", url],
        0,
        &["Echo", "Required: apiKey, or basic"],
    );
    check(
        &["send", url, "hello"],
        4,
        &[
            "A2ACLI_ERR_CREDENTIALS_MISSING",
            "--api-key KEY or --basic NAME:PASSWORD",
        ],
    );
    check(
        &["send", url, "hello", "--api-key", "key-of-ada-0123456780"],
        4,
        &["A2ACLI_ERR_AUTH_FAILED"],
    );
    check(
        &["send", url, "hello", "--api-key", "key-of-ada-0123456789"],
        0,
        &["hello"],
    );
    check(
        &["send", url, "hello", "--basic", "bob:correct horse"],
        0,
        &["hello"],
    );
    check(
        &["send", "--stream", url, "hello", "--basic", "bob:wrong"],
        4,
        &[],
    );
}

#[test]
fn credentials_that_cannot_be_used_are_named() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let keys = keys.to_str().unwrap();
    check(
        &["serve", "echo", "--api-key-file", keys],
        1,
        &[keys, "cannot be read"],
    );
    std::fs::write(keys, "secret-key-0123456789").unwrap();
    let report = check(
        &["serve", "echo", "--api-key-file", keys],
        1,
        &[keys, "line 1"],
    );
    assert!(!report.contains("secret-key"), "{report}");
    check(&["serve", "echo", "--basic", keys], 1, &[keys, "a colon"]);
    let issuer = ["serve", "echo", "--jwt-issuer", "http://login.example"];
    check(&issuer, 2, &["--jwt-audience"]);
    let both = [&issuer[..], &["--jwt-audience", "a"]].concat();
    check(&both, 1, &["issuer", "https://"]);
}

#[test]
fn schemes_that_are_needed_together_are_shown_together() {
    let agent = ScriptedAgent::new(|url, _| {
        let key =
            |name: &str| json!({"apiKeySecurityScheme": {"location": "header", "name": name}});
        json!({"name": "n", "description": "d", "version": "1", "capabilities": {}, "skills": [],
            "defaultInputModes": [], "defaultOutputModes": [],
            "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "securitySchemes": {"a": key("X-A"), "b": key("X-B"), "c": key("X-C")},
            "securityRequirements": [{"schemes": {"a": {}, "b": {"list": ["read", "write"]}}}, {"schemes": {"c": {}}}]})
    });
    let expected = "Required: a and b (scopes read write), or c";
    check(&["card", "get", &agent.url], 0, &[expected]);
}
