//! What a webhook was told.

use a2a_jsonrpc::{Id, Limits};
use a2a_transport::binding::EventReader;
use a2a_transport::{Binding, Envelope};
use a2a_types::reading::Mode;
use a2a_types::{Dialect, Operation};
use serde_json::{Value, json};

use super::lane::{Lane, Outcome};
use crate::lint::misfit;
use crate::run::{Evidence, Half};

impl Lane {
    /// What a webhook was told, and what that says in protocol 1.0.
    pub(crate) fn told(&self, mut delivery: Value) -> Value {
        let body = &delivery["body"];
        let event = match self.dialect {
            Dialect::V1_0 => {
                let operation = Operation::SendStreamingMessage;
                let envelope = Envelope::new(Dialect::V1_0, Binding::HttpJson, operation);
                let mut reader = EventReader::new(envelope, Mode::Lenient, Limits::default());
                let read = reader.read(body.to_string().as_bytes()).ok();
                read.and_then(|read| serde_json::to_value(read.value.event).ok())
            }
            dialect => {
                let envelope = Envelope {
                    id: Some(Id::number(1)),
                    ..Envelope::new(dialect, Binding::JsonRpc, Operation::GetTask)
                };
                let whole = json!({"jsonrpc": "2.0", "id": 1, "result": body}).to_string();
                match self.read(&envelope, 200, whole.as_bytes()) {
                    Outcome::Result(task) => Some(json!({ "task": task })),
                    _ => None,
                }
            }
        };
        delivery["event"] = event.unwrap_or_default();
        delivery
    }

    /// Holds what a webhook was told against what it has to be told.
    pub(super) fn judge_delivery(&self, step: usize, delivery: &Value) {
        let body = &delivery["body"];
        // That it is told by POST is a check of its own; 0.1 leaves open what it is told.
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
            request: Half {
                start: format!("POST {}", delivery["path"].as_str().unwrap_or_default()),
                body: body.to_string(),
                ..Half::default()
            },
            ..Evidence::default()
        };
        let misfit = misfit(self.dialect, definition, body);
        let found = misfit.map(|misfit| misfit.mismatch("the notification", definition));
        self.observed.see("push.body", found, &evidence);
        self.judge_content(body, &evidence);
    }
}
