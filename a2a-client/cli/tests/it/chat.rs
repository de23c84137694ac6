//! `a2a chat` with an agent that answers by messages.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::scripted_agent::ScriptedAgent;
use crate::{Agent, check_with};

#[test]
fn a_conversation_goes_on_after_messages() {
    let turn = AtomicU32::new(0);
    let peer = ScriptedAgent::new(move |_, _| {
        let parts = json!([{"text": "well"}]);
        let message = |context: &str| {
            json!({"result": {"message": {"messageId": "m",
            "contextId": context, "role": "ROLE_AGENT", "parts": parts}}})
        };
        match turn.fetch_add(1, Ordering::Relaxed) {
            0 => message("first"),
            1 => json!({"result": {"task": {"id": "t", "contextId": "second",
                "status": {"state": "TASK_STATE_FAILED"}}}}),
            _ => message("third"),
        }
    });
    let chat = ["chat", &peer.url, "--no-card", "--a2a-version", "1.0"];
    check_with(&chat, "one\ntwo\nthree\n", 0, &["  well", "State: FAILED"]);
    let requests = peer.requests();
    let contexts: Vec<_> = requests
        .iter()
        .map(|requests| &requests.body["params"]["message"]["contextId"])
        .collect();
    assert_eq!(contexts, [&Value::Null, &json!("first"), &json!("second")]);
}

/// A chat in a terminal: the arrow keys bring back earlier lines, and Ctrl-C leaves the task that runs.
#[cfg(target_os = "linux")]
#[test]
fn lines_are_edited_in_a_terminal() {
    let agent = Agent::named("reference");
    // Without `exec`, some shells keep running, and the Ctrl-C that the chat handles ends them.
    let chat = format!("exec {} chat {}", env!("CARGO_BIN_EXE_a2a"), agent.url);
    let mut terminal = Command::new("script");
    let own = std::env::vars_os().map(|(name, _)| name);
    for name in own.filter(|name| name.to_string_lossy().starts_with("A2ACLI_")) {
        terminal.env_remove(name);
    }
    let mut terminal = terminal
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .args(["--quiet", "--return", "--command", &chat, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program `script` of util-linux");
    let mut keys = terminal.stdin.take().unwrap();
    let mut screen = terminal.stdout.take().unwrap();
    let mut shown = String::new();
    // Waits until the screen has shown a text, and forgets what was shown up to it.
    let mut wait_for = |text: &str| {
        while !shown.contains(text) {
            let mut buffer = [0; 4096];
            let count = screen.read(&mut buffer).unwrap();
            assert!(count > 0, "no {text:?} in {shown:?}");
            shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        let end = shown.find(text).unwrap() + text.len();
        shown.drain(..end);
    };
    let mut press = |text: &str| keys.write_all(text.as_bytes()).unwrap();
    wait_for("> ");
    press("echo one\r");
    wait_for("Text:\r\n  one");
    wait_for("> ");
    // Up, and three characters back.
    press("\u{1b}[A\u{8}\u{8}\u{8}two\r");
    wait_for("Text:\r\n  two");
    wait_for("> ");
    press("wait\r");
    wait_for("WORKING");
    press("\u{3}");
    wait_for("the task continues: follow it with a2a task subscribe");
    wait_for("> ");
    press("echo three\r");
    wait_for("Text:\r\n  three");
    wait_for("> ");
    press("\u{4}");
    assert!(terminal.wait().unwrap().success());
}
