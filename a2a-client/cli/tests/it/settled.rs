//! Agents that answer before they are done.

use serde_json::{Value, json};

use crate::check;
use crate::scripted_agent::ScriptedAgent;

fn task(state: &str) -> Value {
    json!({"id": "t", "contextId": "c", "status": {"state": state}})
}

#[test]
fn an_answer_that_is_not_the_last_is_waited_on() {
    for state in ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"] {
        let agent = || {
            ScriptedAgent::new(move |_, call| match call["method"].as_str() {
                Some("SendMessage") => json!({"result": {"task": task(state)}}),
                Some("SubscribeToTask") => {
                    json!({"error": {"code": -32603, "message": "there is no stream of it"}})
                }
                Some("GetTask") => json!({"result": task("TASK_STATE_COMPLETED")}),
                other => panic!("{other:?}"),
            })
        };
        let options = ["--no-card", "--protocol-version", "1.0", "hello"];
        let expected = ["task t  context c", "● completed"];
        check(
            &[&["send", &agent().url][..], &options].concat(),
            0,
            &expected,
        );
        let name = state.trim_start_matches("TASK_STATE_").to_ascii_lowercase();
        let line = format!("● {name}");
        check(
            &[&["send", "--no-wait", &agent().url][..], &options].concat(),
            0,
            &[&line],
        );
    }
}
