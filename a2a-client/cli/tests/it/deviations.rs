//! Agents that nearly speak A2A: their answers are shown, and so are the deviations in them.

use serde_json::{Value, json};

use crate::ask;
use crate::scripted_agent::ScriptedAgent;

/// A card of 0.3 at a URL, with some members replaced; `null` removes one.
fn card_0_3(url: &str, changes: &Value) -> Value {
    changed(
        json!({
            "protocolVersion": "0.3.0", "name": "Agent", "description": "d", "version": "1",
            "url": url, "preferredTransport": "JSONRPC", "capabilities": {"streaming": true},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}],
        }),
        changes,
    )
}

/// A card of 1.0, like it.
fn card_1_0(url: &str, changes: &Value) -> Value {
    let interface = json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    changed(
        json!({
            "name": "Agent", "description": "d", "version": "1",
            "supportedInterfaces": [interface], "capabilities": {"streaming": true},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}],
        }),
        changes,
    )
}

fn changed(mut card: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().into_iter().flatten() {
        match value {
            Value::Null => drop(card.as_object_mut().unwrap().remove(name)),
            value => card[name] = value.clone(),
        }
    }
    card
}

type Card = fn(&str, &Value) -> Value;

/// An agent with this card, which answers every call so.
fn agent(card: Card, changes: Value, answer: Value) -> ScriptedAgent {
    ScriptedAgent::new(move |url, call| match call["method"].as_str() {
        None => card(url, &changes),
        Some("tasks/get" | "GetTask") if answer["task"].is_object() => {
            json!({ "result": answer["task"] })
        }
        Some(_) => answer.clone(),
    })
}

/// Expects a command to print all of this, with these words in its notes, and `--strict` to refuse it.
#[track_caller]
fn check(
    command: &str,
    agent: impl Fn() -> ScriptedAgent,
    texts: &[&str],
    remarks: &[&str],
    code: i32,
) {
    let options: &[&str] = match command {
        "stream" => &["--a2a-version", "auto", "--stream"],
        _ => &["--a2a-version", "auto"],
    };
    let run = |agent: &ScriptedAgent, more: &[&str]| {
        ask(&[&["send", &agent.url, "hi"], options, more].concat(), "")
    };
    let output = run(&agent(), &[]);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, notes) = (text(&output.stdout), text(&output.stderr));
    for text in texts {
        assert!(out.contains(text), "{text}: {out}\n{notes}");
    }
    assert!(out.matches("The answer").count() <= 1, "{out}");
    for remark in remarks {
        assert!(notes.contains(remark), "{remark}: {out}\n{notes}");
    }
    assert_eq!(output.status.code().unwrap(), code, "{out}\n{notes}");
    if remarks.is_empty() {
        return;
    }
    let output = run(&agent(), &["--strict"]);
    assert_eq!(output.status.code().unwrap(), 1, "{}", text(&output.stdout));
    // The document has only what the protocol defines: deviations are shown on standard error.
    let json = run(&agent(), &["-o", "json"]);
    assert!(!text(&json.stdout).contains("deviations"), "{json:?}");
    assert!(text(&json.stderr).contains(remarks[0]), "{json:?}");
}

fn message_0_3(text: &str) -> Value {
    json!({"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": text}]})
}

fn message_1_0(text: &str) -> Value {
    json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]})
}

fn task_0_3(state: &str) -> Value {
    json!({"kind": "task", "id": "t", "contextId": "c", "status": {"state": state}})
}

fn task_1_0(state: &str) -> Value {
    json!({"id": "t", "contextId": "c", "status": {"state": state}})
}

fn status_0_3(state: &str, last: bool) -> Value {
    json!({"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": state}, "final": last})
}

fn answer_0_3() -> Value {
    json!([{"artifactId": "a", "parts": [{"kind": "text", "text": "The answer"}]}])
}

fn answer_1_0() -> Value {
    json!([{"artifactId": "a", "parts": [{"text": "The answer"}]}])
}

fn with(mut value: Value, name: &str, member: Value) -> Value {
    value[name] = member;
    value
}

#[test]
fn a_card_with_a_slip_can_be_used() {
    let slips = [
        (
            json!({"provider": {"name": "Acme"}}),
            "$.provider.organization",
        ),
        (
            json!({"skills": [{"name": "S", "description": "d"}]}),
            "$.skills[0].id",
        ),
        (json!({"version": null}), "$.version"),
        (json!({"version": 1.0}), "$.version"),
        (json!({"security": {"b": []}}), "$.security"),
        (json!({"capabilities": ["streaming"]}), "$.capabilities"),
        (json!({"skills": ["a"]}), "$.skills[0]"),
        (json!({"protocolVersion": 0.3}), "$.protocolVersion"),
        (json!({"description": null}), "$.description"),
        (
            json!({"defaultInputModes": "text/plain"}),
            "$.defaultInputModes",
        ),
    ];
    for (slip, place) in slips {
        let answer = json!({"result": message_0_3("hello")});
        let agent = || agent(card_0_3, slip.clone(), answer.clone());
        check("send", agent, &["hello"], &[place], 0);
    }
}

#[test]
fn interface_behind_one_of_another_protocol_is_used() {
    for (interfaces, place) in [
        (
            json!([{"url": "http://x.example/sse", "transport": "sse"}]),
            "$.supportedInterfaces[0].protocolBinding",
        ),
        (json!([]), "$.supportedInterfaces[0].protocolVersion"),
    ] {
        let agent = || {
            let interfaces = interfaces.clone();
            ScriptedAgent::new(move |url, call| match call["method"].as_str() {
                None => {
                    let mut all = interfaces.as_array().unwrap().clone();
                    let version = (!all.is_empty()).then_some("1.0");
                    let good = json!({"url": url, "protocolBinding": "jsonrpc", "protocolVersion": version});
                    all.push(changed(
                        good.clone(),
                        &json!({"protocolVersion": good["protocolVersion"]}),
                    ));
                    card_1_0(
                        url,
                        &json!({"supportedInterfaces": all, "protocolVersion": "1.0"}),
                    )
                }
                Some(_) => json!({"result": {"message": message_1_0("hello")}}),
            })
        };
        check(
            "send",
            agent,
            &["hello"],
            &[place, "`jsonrpc`, read as `JSONRPC`"],
            0,
        );
    }
}

#[test]
fn readable_parts_of_a_malformed_answer_are_shown() {
    let task = || with(task_0_3("completed"), "artifacts", answer_0_3());
    let status = |name: &str, value: Value| {
        let mut task = task();
        task["status"][name] = value;
        task
    };
    let without_context = changed(task(), &json!({"contextId": null}));
    let parts = |parts: Value| {
        with(
            task(),
            "artifacts",
            json!([{"artifactId": "a", "parts": parts}]),
        )
    };
    let text = json!({"kind": "text", "text": "The answer"});
    for (task, place) in [
        (without_context, "$.result.contextId"),
        (with(task(), "contextId", Value::Null), "$.result.contextId"),
        (
            status("timestamp", json!({"seconds": 1})),
            "$.result.status.timestamp",
        ),
        (
            status("timestamp", json!(1_767_323_045)),
            "$.result.status.timestamp",
        ),
        (status("message", json!("done")), "$.result.status.message"),
        (
            parts(json!([{"kind": "image", "url": "http://x"}, text])),
            "an object of the kind `image`",
        ),
        (
            parts(json!([{"root": text}])),
            "$.result.artifacts[0].parts[0]",
        ),
        (json!({ "task": task() }), "$.result.task"),
    ] {
        let agent = || agent(card_0_3, json!({}), json!({ "result": task }));
        check("send", agent, &["The answer"], &[place], 0);
    }
    let state = with(task_1_0("COMPLETED"), "artifacts", answer_1_0());
    for (result, place) in [
        (json!({ "task": state }), "found `COMPLETED`"),
        (
            with(task_1_0("TASK_STATE_COMPLETED"), "artifacts", answer_1_0()),
            "$.result",
        ),
        (
            json!({"message": with(message_1_0("The answer"), "role", json!("assistant"))}),
            "found `assistant`",
        ),
    ] {
        let agent = || agent(card_1_0, json!({}), json!({ "result": result }));
        check("send", agent, &["The answer"], &[place], 0);
    }
}

#[test]
fn every_message_and_every_later_task_of_a_stream_is_told() {
    let events = json!([message_0_3("The "), message_0_3("answer")]);
    check(
        "stream",
        || agent(card_0_3, json!({}), json!({ "events": events })),
        &["The ", "answer"],
        &[],
        0,
    );
    let task = with(task_0_3("completed"), "artifacts", answer_0_3());
    let events = json!([task_0_3("working"), status_0_3("completed", false), task]);
    let texts = ["State: WORKING", "State: COMPLETED", "The answer"];
    check(
        "stream",
        || agent(card_0_3, json!({}), json!({ "events": events })),
        &texts,
        &[],
        0,
    );
    let task = with(task_1_0("TASK_STATE_COMPLETED"), "artifacts", answer_1_0());
    let status =
        json!({"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}});
    let events =
        json!([{"task": task_1_0("TASK_STATE_WORKING")}, {"statusUpdate": status}, {"task": task}]);
    check(
        "stream",
        || agent(card_1_0, json!({}), json!({ "events": events })),
        &texts,
        &[],
        0,
    );
}

#[test]
fn an_answer_in_the_history_alone_is_told() {
    let user = with(message_0_3("hi"), "role", json!("user"));
    let task = with(
        task_0_3("completed"),
        "history",
        json!([user, message_0_3("The answer")]),
    );
    check(
        "send",
        || agent(card_0_3, json!({}), json!({ "result": task })),
        &["The answer"],
        &[],
        0,
    );
    let events = json!([task]);
    check(
        "stream",
        || agent(card_0_3, json!({}), json!({ "events": events })),
        &["The answer"],
        &[],
        0,
    );
}

#[test]
fn a_stream_of_states_is_completed_by_the_task() {
    let task = with(task_0_3("completed"), "artifacts", answer_0_3());
    let events = json!([task_0_3("working"), status_0_3("completed", true)]);
    let agent = || {
        agent(
            card_0_3,
            json!({}),
            json!({ "events": events, "task": task }),
        )
    };
    check("stream", agent, &["State: COMPLETED", "The answer"], &[], 0);
}

#[test]
fn events_that_cannot_be_read_are_left_out() {
    let task = with(task_0_3("completed"), "artifacts", answer_0_3());
    for odd in [
        json!("null"),
        json!("[DONE]"),
        json!("{oops"),
        json!({"kind": "ping"}),
        Value::Null,
    ] {
        let events = json!([task_0_3("working"), odd, task]);
        let agent = || agent(card_0_3, json!({}), json!({ "events": events }));
        check("stream", agent, &["The answer"], &["read as nothing"], 0);
    }
}

/// Some agents keep the stream open while they wait.
#[test]
fn a_question_ends_an_open_stream() {
    let question = with(
        status_0_3("input-required", false),
        "status",
        json!({
            "state": "input-required", "message": message_0_3("Which city?"),
        }),
    );
    let events = json!([task_0_3("working"), question]);
    let agent = || {
        agent(
            card_0_3,
            json!({}),
            json!({ "events": events, "open": true }),
        )
    };
    check("stream", agent, &["Which city?", "Next: a2a send"], &[], 0);
}

#[test]
fn an_unknown_state_is_told_and_waited_on() {
    let task = with(task_0_3("done"), "artifacts", answer_0_3());
    let agent = agent(card_0_3, json!({}), json!({ "result": task }));
    let send = ["send", &agent.url, "hi", "--a2a-version", "0.3"];
    let wait = ["--timeout", "1s", "--poll-interval", "100ms"];
    let output = ask(&[&send[..], &wait].concat(), "");
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{notes}");
    for told in [
        "found `done`",
        "task t is UNSPECIFIED",
        "timed out after 1s",
    ] {
        assert!(notes.contains(told), "{told}: {notes}");
    }
    // With `--async`, the answer received so far is shown.
    let output = ask(&[&send[..], &["--async"]].concat(), "");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        shown.contains("State: UNSPECIFIED") && shown.contains("  The answer"),
        "{shown}"
    );
}

#[test]
fn an_error_is_told_with_its_data() {
    for (error, expected) in [
        (
            json!({"code": -32603, "message": "Internal error", "data": "model x not found"}),
            "model x not found",
        ),
        (json!({"code": "-32603", "message": "boom"}), "boom"),
        (json!("boom"), "boom"),
    ] {
        let agent = agent(card_0_3, json!({}), json!({ "error": error }));
        let output = ask(&["send", &agent.url, "hi", "--a2a-version", "0.3"], "");
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(notes.contains(expected), "{notes}");
        assert_eq!(output.status.code().unwrap(), 1, "{notes}");
    }
}
