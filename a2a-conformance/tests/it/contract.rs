//! The behaviour contract: the page and the reference agent agree.

use std::collections::BTreeSet;
use std::process::Command;

use a2a_client::Client;
use a2a_conformance::case::pattern::mismatches;
use a2a_server::Server;
use a2a_server::demo::Reference;
use a2a_types::{Message, Part, TaskState};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../docs/behaviour-contract.md");

fn client() -> Client {
    Client::new(
        Server::builder(Reference::card(), Reference)
            .build()
            .unwrap(),
    )
}

async fn answer(client: &Client, message: Message) -> Value {
    serde_json::to_value(client.send(message).await.unwrap()).unwrap()
}

/// Message, further message to its task if not empty, and the expected last answer.
const KEPT: &[(&str, &str, &str)] = &[
    (
        "echo a b",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"parts": [{"text": "a b"}]}]}}"#,
    ),
    (
        "good morning",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"parts": [{"text": "good morning"}]}]}}"#,
    ),
    (
        "reply a b",
        "",
        r#"{"message": {"role": "ROLE_AGENT", "parts": [{"text": "a b"}]}}"#,
    ),
    (
        "chunks 3 1",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"parts": [{"text": "1 "}, {"text": "2 "}, {"text": "3 "}]}]}}"#,
    ),
    (
        "artifacts 2",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"parts": [{"text": "1"}]}, {"parts": [{"text": "2"}]}]}}"#,
    ),
    (
        "data",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"parts": [{"data": {"answer": 42}}]}]}}"#,
    ),
    (
        "file",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"parts": [{"raw": "aGVsbG8=", "filename": "hello.txt", "mediaType": "text/plain"}]}]}}"#,
    ),
    (
        "link http://h/",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"parts": [{"url": "http://h/"}]}]}}"#,
    ),
    (
        "say a b",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_COMPLETED"}}}"#,
    ),
    (
        "ask a b",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"parts": [{"text": "a b"}]}}}}"#,
    ),
    (
        "ask a b",
        "fail c",
        r#"{"task": {"status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"parts": [{"text": "fail c"}]}]}}"#,
    ),
    (
        "auth a b",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_AUTH_REQUIRED", "message": {"parts": [{"text": "a b"}]}}}}"#,
    ),
    (
        "auth a b",
        "c",
        r#"{"task": {"status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"parts": [{"text": "c"}]}]}}"#,
    ),
    (
        "fail a b",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_FAILED", "message": {"parts": [{"text": "a b"}]}}}}"#,
    ),
    (
        "reject a b",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_REJECTED", "message": {"parts": [{"text": "a b"}]}}}}"#,
    ),
    (
        "crash",
        "",
        r#"{"task": {"status": {"state": "TASK_STATE_FAILED"}}}"#,
    ),
];

#[tokio::test]
async fn the_reference_agent_keeps_the_contract() {
    let client = client();
    for (order, then, expected) in KEPT {
        let mut found = answer(&client, Message::user(*order)).await;
        if !then.is_empty() {
            let task = found["task"]["id"].as_str().unwrap();
            let sending = client.send(*then).task(task);
            found = serde_json::to_value(sending.await.unwrap()).unwrap();
        }
        let expected: Value = serde_json::from_str(expected).unwrap();
        let differ = mismatches(&expected, Some(&found), "$");
        assert_eq!(differ, [], "{order}, {then}: {found}");
    }
}

#[tokio::test]
async fn parts_come_back_as_they_are() {
    let mut message = Message::user("parts");
    let data = Part::data(json!({"a": [1, null]}));
    let file = Part {
        filename: Some("a.bin".to_owned()),
        ..Part::bytes([0_u8, 255], "application/octet-stream")
    };
    message.parts.extend([data, file]);
    let sent = serde_json::to_value(&message.parts).unwrap();
    let found = answer(&client(), message).await;
    assert_eq!(found["task"]["artifacts"][0]["parts"], sent);
}

#[tokio::test]
async fn waiting_ends_when_it_is_canceled() {
    let client = client();
    let found = client.send("wait").return_immediately().await.unwrap();
    let found = serde_json::to_value(found).unwrap();
    let id = found["task"]["id"].as_str().unwrap();
    let canceled = client.cancel_task(id).await.unwrap();
    assert_eq!(canceled.status.state, TaskState::Canceled);
}

#[test]
fn the_page_has_every_order() {
    assert!(
        PAGE.contains(Reference::ORDERS),
        "the table is not a2a-server/src/demo/orders.md"
    );
    let rows = Reference::ORDERS.lines().skip(2);
    let orders = rows.filter_map(|row| row.strip_prefix("| `")?.split(['`', ' ']).next());
    let mut kept: BTreeSet<_> = KEPT
        .iter()
        .filter_map(|(order, ..)| order.split(' ').next())
        .collect();
    // `parts` and `wait` have tests of their own, and `good` is not an order.
    kept.extend(["parts", "wait"]);
    kept.remove("good");
    assert_eq!(orders.collect::<BTreeSet<_>>(), kept);
}

#[test]
fn the_program_prints_the_page() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_a2a-conformance"));
    let printed = program.args(["explain", "contract"]).output().unwrap();
    assert!(printed.status.success());
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), PAGE);
}
