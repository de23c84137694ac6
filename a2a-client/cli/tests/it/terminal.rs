//! Escaping of an agent's text on a terminal.

use serde_json::{Value, json};

use crate::scripted_agent::ScriptedAgent;
use crate::{ask, text};

const EVIL: &str = "\u{1b}]0;mine\u{7} \u{9b}2J \u{7f} \u{202e}evil";

#[track_caller]
fn check_harmless(told: &str) {
    assert!(told.contains("evil"), "{told:?}");
    let harmless = |letter: char| {
        letter == '\n' || !letter.is_control() && !('\u{202a}'..='\u{202e}').contains(&letter)
    };
    assert!(told.chars().all(harmless), "{told:?}");
}

#[test]
fn errors_are_told_without_what_moves_the_cursor() {
    let peer = ScriptedAgent::new(|_, _| json!({"error": {"code": -32603, "message": EVIL}}));
    let get = ["get", &peer.url, "t", "--no-card", "--dialect", "1.0"];
    check_harmless(&text(&ask(&get, "").stderr));
    let told = ask(&[&get[..], &["--json"]].concat(), "").stderr;
    check_harmless(&text(&told));
    let told: Value = serde_json::from_slice(&told).unwrap();
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.ends_with(EVIL), "a program reads all of it: {told}");
}

#[test]
fn so_are_ids_and_data() {
    let peer = ScriptedAgent::new(|_, _| {
        let status = json!({"state": "TASK_STATE_INPUT_REQUIRED"});
        let artifact = json!({"artifactId": "a", "parts": [{"data": {EVIL: EVIL}}]});
        json!({"result": {"task": {"id": EVIL, "status": status, "artifacts": [artifact]}}})
    });
    let stream = ["stream", &peer.url, "hi", "--no-card", "--dialect", "1.0"];
    let told = ask(&stream, "");
    check_harmless(&text(&told.stdout));
    check_harmless(&text(&told.stderr));
    let told = ask(&[&stream[..], &["--json"]].concat(), "").stdout;
    check_harmless(&text(&told));
    let told: Value = serde_json::from_slice(&told).unwrap();
    assert_eq!(told["task"]["id"], EVIL);
}
