//! Push notifications that a webhook received.

use a2a_jsonrpc::{Id, Limits};
use a2a_transport::binding::EventReader;
use a2a_transport::{Binding, Envelope};
use a2a_types::reading::Mode;
use a2a_types::{Dialect, Operation};
use serde_json::{Value, json};

use super::Judge;
use crate::lint::schema_violation;
use crate::record::{Evidence, HttpMessage};
use crate::wire::exchange::ResponseContent;

impl Judge {
    /// Adds to a delivery the `event` that its body is, in protocol 1.0; null if the body is not an event.
    pub(crate) fn with_event(&self, mut delivery: Value) -> Value {
        let body = &delivery["body"];
        // The form that its version requires is a check of its own: `push.body`.
        let (own, other) = match self.dialect {
            Dialect::V1_0 => (self.event_in(body), self.task_in(body)),
            _ => (self.task_in(body), self.event_in(body)),
        };
        let event = own.or(other);
        delivery["event"] = event.unwrap_or_default();
        delivery
    }

    /// Reads a body as a stream event of the version.
    fn event_in(&self, body: &Value) -> Option<Value> {
        let operation = Operation::SendStreamingMessage;
        let (envelope, document) = match self.dialect {
            Dialect::V1_0 => {
                let envelope = Envelope::new(Dialect::V1_0, Binding::HttpJson, operation);
                (envelope, body.to_string())
            }
            dialect => (in_json_rpc(dialect, operation), enveloped(body)),
        };
        let mut reader = EventReader::new(envelope, Mode::Lenient, Limits::default());
        let read = reader.read(document.as_bytes()).ok()?;
        serde_json::to_value(read.value.event).ok()
    }

    /// Reads a body as a task.
    fn task_in(&self, body: &Value) -> Option<Value> {
        let envelope = in_json_rpc(self.dialect, Operation::GetTask);
        match self.read(&envelope, 200, enveloped(body).as_bytes()) {
            ResponseContent::Result(task) if task["status"]["state"].is_string() => {
                Some(json!({ "task": task }))
            }
            _ => None,
        }
    }

    /// Checks the body of a push notification.
    pub(crate) fn judge_delivery(&self, step: usize, delivery: &Value) {
        let body = &delivery["body"];
        // The method has a check of its own; 0.1 leaves the body open.
        let is_other = delivery["method"] != "POST";
        let is_open = self.dialect == Dialect::V0_1 && body.get("status").is_none();
        if is_other || is_open {
            return;
        }
        let definition = match self.dialect {
            Dialect::V1_0 => "StreamResponse",
            _ => "Task",
        };
        let evidence = Evidence {
            step,
            request: HttpMessage {
                start: format!("POST {}", delivery["path"].as_str().unwrap_or_default()),
                body: body.to_string(),
                ..HttpMessage::default()
            },
            ..Evidence::default()
        };
        let schema_violation = schema_violation(self.dialect, definition, body);
        // The body of a notification is open: only one that has the form of an answer is judged as such.
        let is_answer = schema_violation.is_none();
        let found = schema_violation
            .map(|schema_violation| schema_violation.mismatch("the notification", definition));
        self.observations.record("push.body", found, &evidence);
        if is_answer {
            self.judge_content(body, &evidence);
        }
    }
}

fn in_json_rpc(dialect: Dialect, operation: Operation) -> Envelope {
    let mut envelope = Envelope::new(dialect, Binding::JsonRpc, operation);
    envelope.id = Some(Id::number(1));
    envelope
}

fn enveloped(body: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "result": body}).to_string()
}
