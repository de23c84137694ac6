//! Every known quirk: refused strictly, with the path; normalized leniently, by name and path.

use std::fmt::Debug;

use a2a_types::reading::{Hints, Mode, Violation, WithRepairs};
use a2a_types::{Operation, TaskId, v0_3};
use serde_json::{Value, json};

use crate::proto_0_3::hints;
use crate::proto_0_3::webhooks::create;

/// Checks both readers. `strict`: the path of the strict reader's error; `repairs`: the lenient reader's repairs.
#[track_caller]
fn check_mended<T: Debug>(
    read: impl Fn(Mode, &Hints<'_>) -> Result<WithRepairs<T>, Violation>,
    strict: &str,
    repairs: &[(&str, &str)],
) {
    let task = TaskId::from("asked");
    let hints = hints(Some(&task));
    let refused = read(Mode::Strict, &hints).map(|_| ()).unwrap_err();
    assert_eq!(refused.path, strict, "{refused}");
    let read = read(Mode::Lenient, &hints).unwrap();
    let found: Vec<_> = read
        .repairs
        .iter()
        .map(|repair| (repair.quirk.code(), repair.path.as_str()))
        .collect();
    assert_eq!(found, repairs);
}

#[track_caller]
fn check_mended_send(body: &Value, strict: &str, repairs: &[(&str, &str)]) {
    let body = body.to_string();
    let read =
        |mode, hints: &Hints<'_>| v0_3::read_request(Operation::SendMessage, &body, mode, hints);
    check_mended(read, strict, repairs);
}

#[track_caller]
fn check_mended_answer(operation: Operation, body: &Value, strict: &str, repairs: &[(&str, &str)]) {
    let body = body.to_string();
    let read = |mode, hints: &Hints<'_>| v0_3::read_response(operation, &body, mode, hints);
    check_mended(read, strict, repairs);
}

#[track_caller]
fn check_mended_event(body: &Value, strict: &str, repairs: &[(&str, &str)]) {
    let body = body.to_string();
    check_mended(
        |mode, hints| v0_3::read_event(&body, mode, hints),
        strict,
        repairs,
    );
}

#[test]
fn requests_are_repaired() {
    let parts = json!([{"text": "x"}]);
    // A sent message must have an id and a role.
    for unnamed in [
        json!({"message": {"role": "ROLE_USER", "content": parts}}),
        json!({"message": {"role": "ROLE_USER", "messageId": "", "content": parts}}),
        json!({"message": {"messageId": "m", "content": parts}}),
    ] {
        let body = unnamed.to_string();
        let read = v0_3::read_request(Operation::SendMessage, &body, Mode::Lenient, &hints(None));
        assert_eq!(read.unwrap_err().path, "$.message", "{body}");
    }
    check_mended_send(
        &json!({"messageId": "m", "message": {"role": "narrator", "data": parts}}),
        "$.message.role",
        &[
            ("MSGIDOUT", "$.messageId"),
            ("UNKNOWN", "$.message.role"),
            ("DATA4PARTS", "$.message.data"),
        ],
    );
    check_mended_send(
        &json!({"message": {"messageId": "m", "role": "user", "parts": [
            {"kind": "file", "file": {"bytes": "aGk="}}, {"file": {"uri": "u"}}]}}),
        "$.message.parts[0].file",
        &[
            ("FLAVOUR", "$.message.parts[0].file.bytes"),
            ("FLAVOUR", "$.message.parts[1].file.uri"),
        ],
    );
    check_mended_send(
        &json!({"message": {"messageId": "m", "role": "ROLE_USER", "content": [
            {"data": {"x": 1}}, {"kind": "data", "data": {"data": 1}}, {"data": {"data": 1}}, {"data": [1]}]}}),
        "$.message.content[0].data",
        &[
            ("FLAVOUR", "$.message.content[0].data"),
            ("FLAVOUR", "$.message.content[1].data"),
            ("DATA", "$.message.content[2].data"),
            ("DATA", "$.message.content[3].data"),
        ],
    );
    check_mended_send(
        &json!({"message": {"messageId": "m", "role": "ROLE_USER", "content": parts},
            "configuration": {"pushNotification": {"url": "u", "authentication": {"schemes": "Bearer"}}}}),
        "$.configuration.pushNotification.authentication.schemes",
        &[(
            "SCHEMES",
            "$.configuration.pushNotification.authentication.schemes",
        )],
    );
    let task = TaskId::from("7");
    let body = json!({"taskId": 7, "url": "u", "authentication": {"schemes": "Bearer"}});
    let read = create(&body, Mode::Lenient, Some(&task)).unwrap();
    let codes: Vec<_> = read.repairs.iter().map(|r| r.quirk.code()).collect();
    assert_eq!(codes, ["NUMID", "SCHEMES"]);
}

#[test]
fn answers_are_repaired() {
    check_mended_answer(
        Operation::GetTask,
        &json!({"id": 1, "status": {"state": "working", "timestamp": "2025-04-02T16:59:25.331844",
            "message": {"role": "agent", "content": [{"text": "x"}]}}, "artifacts": [{"parts": null}]}),
        "$.artifacts[0]",
        &[
            ("NUMID", "$.id"),
            ("EMPTYID", "$.contextId"),
            ("NOTZ", "$.status.timestamp"),
            ("UNKNOWN", "$.status.state"),
            ("NOMSGID", "$.status.message.messageId"),
            ("NOARTID", "$.artifacts[0].artifactId"),
            ("NULLLIST", "$.artifacts[0].parts"),
        ],
    );
    for (state, path) in [
        (json!("input-required"), "$.task.status.state"),
        (json!("pending"), "$.task.status.state"),
        (json!(77), "$.task.status.state"),
    ] {
        check_mended_answer(
            Operation::SendMessage,
            &json!({"task": {"id": "t", "contextId": "c", "status": {"state": state}}}),
            path,
            &[("UNKNOWN", path)],
        );
    }
    check_mended_answer(
        Operation::GetTaskPushNotificationConfig,
        &json!({"taskId": "t", "pushNotificationConfig": {"url": "u"}}),
        "$.name",
        &[("FLAVOUR", "$.taskId")],
    );
    check_mended_answer(
        Operation::ListTaskPushNotificationConfigs,
        &json!({"configs": [{"pushNotificationConfig": {"url": "u"}}]}),
        "$.configs[0].name",
        &[("FLAVOUR", "$.configs[0].name")],
    );
    check_mended_answer(
        Operation::ListTaskPushNotificationConfigs,
        &json!([{"name": "", "pushNotificationConfig": {"url": "u"}}]),
        "$[0].name",
        &[("EMPTYID", "$[0].name"), ("FLAVOUR", "$[0].name")],
    );
    check_mended_event(
        &json!({"artifactUpdate": {"taskId": 3, "contextId": "c", "artifact": {"parts": [{"text": "x"}]}}}),
        "$.artifactUpdate.artifact",
        &[
            ("NUMID", "$.artifactUpdate.taskId"),
            ("NOARTID", "$.artifactUpdate.artifact.artifactId"),
        ],
    );
    check_mended_event(
        &json!({"status_update": {"task_id": "t", "context_id": "", "status": {"state": "completed"}}}),
        "$.status_update.status.state",
        &[
            ("EMPTYID", "$.status_update.context_id"),
            ("UNKNOWN", "$.status_update.status.state"),
        ],
    );
}
