//! `a2a chat` with an agent that answers by messages.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::check_with;
use crate::scripted_agent::ScriptedAgent;

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
