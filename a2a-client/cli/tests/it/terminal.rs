//! Escaping of an agent's text on a terminal.

use a2a_client::terminal::is_unsafe;
use serde_json::{Value, json};

use crate::scripted_agent::ScriptedAgent;
use crate::{ask, text};

const EVIL: &str = "\u{1b}]0;mine\u{7} \u{9b}2J \u{7f} \u{202e}evil\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{61c}\u{2028}\u{2029}\
    \u{e0001}\u{e0041}\u{e007f}\u{feff}\u{2066}";

#[track_caller]
fn check_harmless(output: &str) {
    assert!(output.contains("evil"), "{output:?}");
    let harmless = |letter: char| letter == '\n' || !is_unsafe(letter);
    assert!(output.chars().all(harmless), "{output:?}");
}

#[test]
fn errors_are_printed_without_cursor_movement() {
    let peer = ScriptedAgent::new(|_, _| json!({"error": {"code": -32603, "message": EVIL}}));
    let get = [
        "task",
        "get",
        &peer.url,
        "t",
        "--no-card",
        "--a2a-version",
        "1.0",
    ];
    check_harmless(&text(&ask(&get, "").stderr));
    let stdout = ask(&[&get[..], &["-o", "json"]].concat(), "").stdout;
    check_harmless(&text(&stdout));
    let report: Value = serde_json::from_slice(&stdout).unwrap();
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
    let stream = [
        "send",
        "--stream",
        &peer.url,
        "hi",
        "--no-card",
        "--a2a-version",
        "1.0",
    ];
    let output = ask(&stream, "");
    check_harmless(&text(&output.stdout));
    let stdout = ask(&[&stream[..], &["-o", "json"]].concat(), "").stdout;
    check_harmless(&text(&stdout));
    let event: Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!(event["task"]["id"], EVIL);
}

#[test]
fn every_command_prints_an_agents_text_escaped() {
    let peer = ScriptedAgent::new(|url, call| {
        let parts = json!([{"text": EVIL}, {"data": EVIL}, {"url": EVIL, "filename": EVIL, "mediaType": EVIL}]);
        let message =
            json!({"messageId": EVIL, "contextId": EVIL, "role": "ROLE_AGENT", "parts": parts});
        let status = json!({"state": "TASK_STATE_COMPLETED", "message": message});
        let artifact = json!({"artifactId": "a", "name": EVIL, "parts": parts});
        let task = json!({"id": EVIL, "contextId": EVIL, "status": status, "artifacts": [artifact],
            "history": [{"messageId": "h", "role": "ROLE_AGENT", "parts": parts}]});
        let config = json!({"id": EVIL, "taskId": "t", "url": EVIL});
        match call["method"].as_str() {
            Some("SendMessage") => json!({"result": {"message": message}}),
            Some("SendStreamingMessage") => json!({"result": {"task": task}}),
            Some("ListTasks") => {
                json!({"result": {"tasks": [task], "totalSize": 2, "pageSize": 1, "nextPageToken": EVIL}})
            }
            Some("GetTaskPushNotificationConfig") => json!({"result": config}),
            Some(_) => json!({"result": task}),
            None => {
                let interface = |url: &str| json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
                let other =
                    json!({"url": "grpc://h", "protocolBinding": EVIL, "protocolVersion": EVIL});
                json!({"name": EVIL, "description": EVIL, "version": EVIL, "defaultInputModes": [EVIL],
                    "capabilities": {"streaming": true, "pushNotifications": true, "extensions": [{"uri": EVIL}]},
                    "defaultOutputModes": [], "supportedInterfaces": [interface(url), other],
                    "provider": {"organization": EVIL, "url": EVIL},
                    "skills": [{"id": "s", "name": EVIL, "description": EVIL, "tags": [EVIL], "examples": [EVIL]}],
                    "securitySchemes": {EVIL: {"httpAuthSecurityScheme": {"scheme": EVIL}}}})
            }
        }
    });
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    for command in [
        &["card", "get", &peer.url][..],
        &["send", &peer.url, "hi"],
        &["send", "--stream", &peer.url, "hi", "--debug", "--verbose"],
        &[
            "task",
            "get",
            &peer.url,
            "t",
            "--history",
            "9",
            "--debug",
            "--verbose",
        ],
        &["task", "download", &peer.url, "t", "--output-dir", out],
        &["task", "subscribe", &peer.url, "t"],
        &["task", "list", &peer.url],
        &[
            "task",
            "push-config",
            "get",
            &peer.url,
            "t",
            "--config-id",
            "c",
        ],
        &["task", "cancel", &peer.url, "t"],
    ] {
        let output = ask(command, "");
        assert!(output.status.success(), "{command:?} {output:?}");
        check_harmless(&(text(&output.stdout) + &text(&output.stderr)));
    }
    let chat = ask(&["chat", &peer.url], "hi\nagain\n");
    check_harmless(&(text(&chat.stdout) + &text(&chat.stderr)));
    let files = std::fs::read_dir(directory.path()).unwrap();
    for file in files {
        let name = file.unwrap().file_name().into_string().unwrap();
        check_harmless(&name);
    }
    let json = ask(&["card", "get", &peer.url, "-o", "json"], "").stdout;
    check_harmless(&text(&json));
    let card: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(card["name"], EVIL);
}

#[test]
fn ids_and_names_stay_on_their_line() {
    let peer = ScriptedAgent::new(|_, _| {
        let forged = "t\nState: COMPLETED";
        json!({"result": {"id": forged, "contextId": forged, "status": {"state": "TASK_STATE_WORKING"},
            "artifacts": [{"artifactId": "a", "name": forged, "parts": [{"text": "x"}]}]}})
    });
    let get = [
        "task",
        "get",
        &peer.url,
        "t",
        "--no-card",
        "--a2a-version",
        "1.0",
    ];
    let output = ask(&get, "");
    let shown = text(&output.stdout);
    assert!(!shown.contains("\nState: COMPLETED"), "{shown}");
    assert!(shown.contains("Task: t State: COMPLETED\n"), "{shown}");
}
