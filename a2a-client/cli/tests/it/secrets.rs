//! Redaction of secrets in output and recordings.

use serde_json::json;
use tempfile::TempDir;

use crate::scripted_agent::ScriptedAgent;
use crate::{Agent, a2a, text};

#[test]
fn secrets_are_not_shown() {
    let agent = Agent::named("echo");
    let directory = TempDir::new().unwrap();
    let record = directory.path().join("record");
    let arguments = [
        "send",
        &agent.url,
        "hi",
        "-v",
        "--record",
        record.to_str().unwrap(),
    ];
    let output = a2a()
        .args(arguments)
        .args(["--header", "X-Key: s3cret-key"])
        .env("A2A_BEARER", "s3cret-token")
        .output()
        .unwrap();
    let output = text(&output.stdout) + &text(&output.stderr);
    assert!(output.contains("> x-key: ***"), "{output}");
    assert!(output.contains("> authorization: ***"), "{output}");
    assert!(!output.contains("s3cret"), "{output}");
    let recorded = std::fs::read_dir(&record).unwrap();
    let recorded: Vec<_> = recorded
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert_eq!(recorded.len(), 2, "the card and the message");
    assert!(
        recorded
            .iter()
            .all(|text| text.contains("***") && !text.contains("s3cret"))
    );
}

#[test]
fn nor_is_a_key_in_the_query() {
    let peer = ScriptedAgent::new(|url, call| match call["method"].as_str() {
        Some(_) => json!({"result": {"message": {"messageId": "m", "role": "ROLE_AGENT",
            "parts": [{"text": "hello"}]}}}),
        None => {
            let interface = json!({"url": format!("{url}?of=1"), "protocolBinding": "JSONRPC",
                "protocolVersion": "1.0"});
            let key = json!({"location": "query", "name": "a key"});
            json!({"name": "n", "description": "d", "version": "1", "capabilities": {},
                "skills": [], "defaultInputModes": [], "defaultOutputModes": [],
                "supportedInterfaces": [interface],
                "securitySchemes": {"k": {"apiKeySecurityScheme": key}},
                "securityRequirements": [{"schemes": {"k": {}}}]})
        }
    });
    let directory = TempDir::new().unwrap();
    let record = directory.path().join("record");
    let output = a2a()
        .args(["send", &peer.url, "hi", "-v", "--api-key", "s3cret/key"])
        .args(["--record", record.to_str().unwrap()])
        .output()
        .unwrap();
    let output = text(&output.stdout) + &text(&output.stderr);
    let requests = peer.requests();
    let call = &requests.last().unwrap().head;
    assert!(
        call.starts_with("POST /?of=1&a%20key=s3cret%2Fkey "),
        "{call}"
    );
    let shown = format!("{}?of=1&a%20key=***", peer.url);
    assert!(output.contains(&format!("> POST {shown}\n")), "{output}");
    assert!(!output.contains("s3cret"), "{output}");
    let recorded = std::fs::read_to_string(record.join("0002.json")).unwrap();
    assert!(recorded.contains(&shown), "{recorded}");
    assert!(!recorded.contains("s3cret"), "{recorded}");
}
