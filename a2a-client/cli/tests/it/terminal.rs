//! Escaping of an agent's text on a terminal.

use serde_json::{Value, json};

use crate::scripted_agent::ScriptedAgent;
use crate::{ask, text};

const EVIL: &str = "\u{1b}]0;mine\u{7} \u{9b}2J \u{7f} \u{202e}evil";

#[track_caller]
fn check_harmless(output: &str) {
    assert!(output.contains("evil"), "{output:?}");
    let harmless = |letter: char| {
        letter == '\n' || !letter.is_control() && !('\u{202a}'..='\u{202e}').contains(&letter)
    };
    assert!(output.chars().all(harmless), "{output:?}");
}

#[test]
fn errors_are_printed_without_cursor_movement() {
    let peer = ScriptedAgent::new(|_, _| json!({"error": {"code": -32603, "message": EVIL}}));
    let get = ["get", &peer.url, "t", "--no-card", "--dialect", "1.0"];
    check_harmless(&text(&ask(&get, "").stderr));
    let stderr = ask(&[&get[..], &["--json"]].concat(), "").stderr;
    check_harmless(&text(&stderr));
    let report: Value = serde_json::from_slice(&stderr).unwrap();
    let message = report["error"]["message"].as_str().unwrap();
    assert!(
        message.ends_with(EVIL),
        "a program reads all of it: {report}"
    );
}

#[test]
fn ids_and_data_are_printed_without_cursor_movement() {
    let peer = ScriptedAgent::new(|_, _| {
        let status = json!({"state": "TASK_STATE_INPUT_REQUIRED"});
        let artifact = json!({"artifactId": "a", "parts": [{"data": {EVIL: EVIL}}]});
        json!({"result": {"task": {"id": EVIL, "status": status, "artifacts": [artifact]}}})
    });
    let stream = ["stream", &peer.url, "hi", "--no-card", "--dialect", "1.0"];
    let output = ask(&stream, "");
    check_harmless(&text(&output.stdout));
    check_harmless(&text(&output.stderr));
    let stdout = ask(&[&stream[..], &["--json"]].concat(), "").stdout;
    check_harmless(&text(&stdout));
    let event: Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!(event["task"]["id"], EVIL);
}
