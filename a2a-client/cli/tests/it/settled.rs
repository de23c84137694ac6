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
                Some("GetTask") => json!({"result": task("TASK_STATE_COMPLETED")}),
                other => panic!("{other:?}"),
            })
        };
        let options = [
            "--no-card",
            "--a2a-version",
            "1.0",
            "hello",
            "--poll-interval",
            "50ms",
        ];
        let name = state.trim_start_matches("TASK_STATE_");
        let waits = format!("task t is {name}");
        let expected = ["Task: t\nContext: c\nState: COMPLETED\n", &waits];
        check(
            &[&["send", &agent().url][..], &options].concat(),
            0,
            &expected,
        );
        let line = format!("State: {name}\n");
        check(
            &[&["send", "--async", &agent().url][..], &options].concat(),
            0,
            &[&line],
        );
    }
}

/// A state that is unknown is neither an end nor a question.
#[test]
fn a_wait_ends_with_its_time() {
    let agent = ScriptedAgent::new(move |_, call| match call["method"].as_str() {
        Some("SendMessage") => json!({"result": {"task": task("TASK_STATE_UNSPECIFIED")}}),
        _ => json!({"result": task("TASK_STATE_UNSPECIFIED")}),
    });
    let send = [
        "send",
        &agent.url,
        "--no-card",
        "--a2a-version",
        "1.0",
        "hello",
    ];
    let wait = ["--poll-interval", "300ms", "--timeout", "1s"];
    let expected = [
        "A2ACLI_ERR_TIMEOUT",
        "task t is UNSPECIFIED",
        "task get --agent-card",
    ];
    check(&[&send[..], &wait].concat(), 5, &expected);
    let looks = agent.requests().len();
    assert!(
        (2..=4).contains(&looks),
        "{looks} requests in a second, 300 ms and more apart"
    );
}
