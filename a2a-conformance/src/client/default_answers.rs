//! Answers of a plain agent in protocol 1.0, with which every case begins.

use a2a_jsonrpc::{Id, Limits};
use a2a_transport::binding::read_reply;
use a2a_transport::{Binding, ResponseContext};
use a2a_types::reading::Mode;
use a2a_types::{Operation, ProtocolVersion, Response};
use http::StatusCode;
use serde_json::{Value, json};

/// Returns the result of an operation that is answered once.
pub(super) fn reply(operation: Operation) -> Value {
    match operation {
        Operation::SendMessage => json!({"task": task("TASK_STATE_COMPLETED")}),
        Operation::CancelTask => task("TASK_STATE_CANCELED"),
        Operation::ListTasks => json!({
            "tasks": [task("TASK_STATE_COMPLETED")],
            "nextPageToken": "", "pageSize": 50, "totalSize": 1,
        }),
        Operation::CreateTaskPushNotificationConfig | Operation::GetTaskPushNotificationConfig => {
            config()
        }
        Operation::ListTaskPushNotificationConfigs => json!({"configs": [config()]}),
        Operation::DeleteTaskPushNotificationConfig => json!({}),
        Operation::GetExtendedAgentCard => json!("{{card}}"),
        _ => task("TASK_STATE_COMPLETED"),
    }
}

/// Returns the events of a stream.
pub(super) fn events(operation: Operation) -> Vec<Value> {
    let ids = json!({"taskId": "{{task}}", "contextId": "{{context}}"});
    let with = |mut more: Value| {
        crate::case::merge_patch(&mut more, &ids);
        more
    };
    let chunk = |text: &str, append: bool, last: bool| {
        let artifact = json!({"artifactId": "0", "parts": [{"text": text}]});
        let update = json!({"artifact": artifact, "append": append, "lastChunk": last});
        json!({"artifactUpdate": with(update)})
    };
    let first = match operation {
        Operation::SubscribeToTask => task("TASK_STATE_WORKING"),
        _ => task("TASK_STATE_SUBMITTED"),
    };
    let status = |state: &str| json!({"statusUpdate": with(json!({"status": {"state": state}}))});
    let mut first = json!({"task": first});
    first["task"]["artifacts"] = json!([]);
    vec![
        first,
        status("TASK_STATE_WORKING"),
        chunk("one ", false, false),
        chunk("two ", true, false),
        chunk("three", true, true),
        status("TASK_STATE_COMPLETED"),
    ]
}

fn task(state: &str) -> Value {
    json!({
        "id": "{{task}}",
        "contextId": "{{context}}",
        "status": {"state": state, "timestamp": "2026-01-01T00:00:00.000Z"},
        "artifacts": [{"artifactId": "0", "parts": [{"text": "one two three"}]}],
    })
}

fn config() -> Value {
    json!({"id": "config-1", "taskId": "{{task}}", "url": "https://client.example/hook"})
}

/// Reads a result in protocol 1.0 as a response.
pub(super) fn response(operation: Operation, result: &Value) -> Result<Response, String> {
    let mut envelope = ResponseContext::new(ProtocolVersion::V1_0, Binding::JsonRpc, operation);
    envelope.id = Some(Id::number(1));
    let body = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
    let read = read_reply(
        &envelope,
        StatusCode::OK,
        body.as_bytes(),
        Mode::Strict,
        &Limits::default(),
    );
    read.map(|read| read.value)
        .map_err(|error| format!("the reply to {}: {error}", operation.name()))
}
