//! Push notifications that a webhook received.

use a2a_jsonrpc::{Id, Limits};
use a2a_transport::binding::EventReader;
use a2a_transport::{Binding, ResponseContext};
use a2a_types::reading::Mode;
use a2a_types::{Operation, ProtocolVersion};
use serde_json::{Value, json};

use super::invariants::Findings;
use super::{Judge, content, response};
use crate::lint::schema_violation;
use crate::record::{Evidence, HttpMessage};
use crate::wire::exchange::ResponseContent;

/// Adds to a delivery the `event` that its body is, in protocol 1.0; null if the body is not an event.
pub(crate) fn with_event(judge: &Judge, mut delivery: Value) -> Value {
    let body = &delivery["body"];
    // The form that its version requires is a check of its own: `push.body`.
    let (own, other) = match judge.protocol_version {
        ProtocolVersion::V1_0 => (event_in(judge, body), task_in(judge, body)),
        _ => (task_in(judge, body), event_in(judge, body)),
    };
    let event = own.or(other);
    delivery["event"] = event.unwrap_or_default();
    delivery
}

/// Reads a body as a stream event of the version.
fn event_in(judge: &Judge, body: &Value) -> Option<Value> {
    let operation = Operation::SendStreamingMessage;
    let (envelope, document) = match judge.protocol_version {
        ProtocolVersion::V1_0 => {
            let envelope =
                ResponseContext::new(ProtocolVersion::V1_0, Binding::HttpJson, operation);
            (envelope, body.to_string())
        }
        protocol_version => (in_json_rpc(protocol_version, operation), enveloped(body)),
    };
    let mut reader = EventReader::new(envelope, Mode::Lenient, Limits::default());
    let read = reader.read(document.as_bytes()).ok()?;
    serde_json::to_value(read.value.event).ok()
}

/// Reads a body as a task.
fn task_in(judge: &Judge, body: &Value) -> Option<Value> {
    let envelope = in_json_rpc(judge.protocol_version, Operation::GetTask);
    match response::read(judge, &envelope, 200, enveloped(body).as_bytes()) {
        ResponseContent::Result(task) if task["status"]["state"].is_string() => {
            Some(json!({ "task": task }))
        }
        _ => None,
    }
}

/// Checks the body of a push notification.
pub(crate) fn check(judge: &Judge, delivery: &Value) -> Findings {
    let body = &delivery["body"];
    // The method has a check of its own; 0.1 leaves the body open.
    let is_other = delivery["method"] != "POST";
    let is_open = judge.protocol_version == ProtocolVersion::V0_1 && body.get("status").is_none();
    if is_other || is_open {
        return Findings::new();
    }
    let definition = match judge.protocol_version {
        ProtocolVersion::V1_0 => "StreamResponse",
        _ => "Task",
    };
    let schema_violation = schema_violation(judge.protocol_version, definition, body);
    // The body of a notification is open: only one that has the form of an answer is judged as such.
    let is_answer = schema_violation.is_none();
    let found = schema_violation
        .map(|schema_violation| schema_violation.mismatch("the notification", definition));
    let mut findings = vec![("push.body", found)];
    if is_answer {
        findings.extend(content::check(judge, body));
    }
    findings
}

/// Returns the evidence that a push notification is.
pub(crate) fn evidence(step: usize, delivery: &Value) -> Evidence {
    Evidence {
        step,
        request: HttpMessage {
            start: format!("POST {}", delivery["path"].as_str().unwrap_or_default()),
            body: delivery["body"].to_string(),
            ..HttpMessage::default()
        },
        ..Evidence::default()
    }
}

fn in_json_rpc(protocol_version: ProtocolVersion, operation: Operation) -> ResponseContext {
    let mut envelope = ResponseContext::new(protocol_version, Binding::JsonRpc, operation);
    envelope.id = Some(Id::number(1));
    envelope
}

fn enveloped(body: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "result": body}).to_string()
}
