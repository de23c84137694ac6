//! Whether an answer is what answers have to be.

use a2a_transport::{Binding, Envelope};
use a2a_types::{Dialect, ErrorKind, Operation, schema};
use serde_json::{Value, json};

use super::lane::{Answered, Lane, Outcome};
use super::observed::unless;
use crate::documents::validate;
use crate::run::{Evidence, Mismatch};

impl Lane {
    /// Holds an answer against everything that holds for all answers.
    pub(super) fn judge(&self, envelope: &Envelope, answered: &Answered) {
        let evidence = &answered.evidence;
        let see = |id, found| self.observed.see(id, found, evidence);
        let Some(json) = &answered.json else {
            let empty = matches!(answered.outcome, Outcome::Result(_));
            let body = evidence
                .response
                .as_ref()
                .map_or("", |half| half.body.as_str());
            return see("json.readable", unless(empty, "the body", "JSON", body));
        };
        see("json.readable", None);
        self.judge_media_type(answered);
        match self.binding {
            Binding::JsonRpc => {
                let id = envelope
                    .id
                    .as_ref()
                    .and_then(|id| serde_json::to_value(id).ok());
                self.judge_envelope(json, &id.unwrap_or_default(), evidence);
                let refused = [401, 403, 429, 503].contains(&answered.status);
                let is_ok = answered.status == 200 || refused;
                see(
                    "rpc.http-status",
                    unless(is_ok, "HTTP status", "200", answered.status),
                );
            }
            Binding::HttpJson => self.judge_status(answered, json),
        }
        match &answered.outcome {
            Outcome::Error { message, .. } => {
                see("error.no-internals", internals(message, json));
            }
            _ => {
                let found = self.against_schema(envelope.operation, json, "the answer");
                see("result.schema", found);
                let result = match self.binding {
                    Binding::JsonRpc => json.get("result").unwrap_or(&Value::Null),
                    Binding::HttpJson => json,
                };
                self.judge_content(result, evidence);
            }
        }
    }

    /// What JSON-RPC puts around results and errors.
    pub(super) fn judge_envelope(&self, json: &Value, id: &Value, evidence: &Evidence) {
        let see = |check, found| self.observed.see(check, found, evidence);
        let version = json.get("jsonrpc").unwrap_or(&Value::Null);
        see(
            "rpc.version",
            unless(version == "2.0", "$.jsonrpc", "\"2.0\"", version),
        );
        let found = json.get("id").unwrap_or(&Value::Null);
        see(
            "rpc.id-echoed",
            unless(found == id, "$.id", id.to_string(), found),
        );
        let (result, error) = (json.get("result"), json.get("error"));
        let both = format!(
            "{} and {}",
            if result.is_some() {
                "a result"
            } else {
                "no result"
            },
            if error.is_some() {
                "an error"
            } else {
                "no error"
            },
        );
        let one = result.is_some() != error.is_some();
        see(
            "rpc.result-or-error",
            unless(one, "$", "either `result` or `error`", both),
        );
        if let Some(error) = error {
            let shaped = error["code"].is_i64() && error["message"].is_string();
            let expected = "an integer `code` and a text `message`";
            see(
                "rpc.error-shape",
                unless(shaped, "$.error", expected, error),
            );
        }
    }

    fn judge_media_type(&self, answered: &Answered) {
        let media_type = answered.headers["content-type"]
            .as_str()
            .unwrap_or("nothing");
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let is_json = essence == "application/json" || essence.ends_with("+json");
        let found = unless(is_json, "Content-Type", "application/json", media_type);
        self.observed
            .see("http.content-type", found, &answered.evidence);
    }

    /// HTTP+JSON tells by the status whether it went well; errors say by a name which it was.
    fn judge_status(&self, answered: &Answered, json: &Value) {
        let see = |check, found| self.observed.see(check, found, &answered.evidence);
        let status = answered.status;
        match &answered.outcome {
            Outcome::Error { kind, .. } => {
                let expected = kind.http_status_in(self.dialect);
                let named = match self.dialect {
                    Dialect::V1_0 => json["error"]["status"].is_string(),
                    _ => true,
                };
                let same = status == expected && named;
                let found = format!("status {status}, {}", json["error"]);
                let expected = format!("status {expected}, and `error.status` (1.0)");
                see(
                    "rest.error-shape",
                    unless(same, "HTTP status", expected, found),
                );
            }
            _ => {
                let is_ok = (200..300).contains(&status);
                see(
                    "rest.http-status",
                    unless(is_ok, "HTTP status", "200", status),
                );
            }
        }
    }

    /// What a result or an event is by the schema.
    pub(super) fn against_schema(
        &self,
        operation: Operation,
        json: &Value,
        place: &str,
    ) -> Option<Mismatch> {
        // 0.3 has another JSON by HTTP, which has no schema of its own.
        if (self.binding, self.dialect) == (Binding::HttpJson, Dialect::V0_3) {
            return None;
        }
        let definition = schema::response_definition(self.dialect, operation)?;
        let whole = match self.binding {
            Binding::JsonRpc => json.clone(),
            Binding::HttpJson => json!({"jsonrpc": "2.0", "id": 1, "result": json}),
        };
        let problem = validate(self.dialect, definition, &whole).err()?;
        unless(false, place, format!("what `{definition}` says"), problem)
    }

    /// What is the same in every result and event: ids and times.
    pub(super) fn judge_content(&self, result: &Value, evidence: &Evidence) {
        let mut tasks = Vec::new();
        find_tasks(result, "$", &mut tasks);
        for (place, task) in tasks {
            let context = match self.dialect {
                Dialect::V0_1 => Some("sessionId"),
                _ => Some("contextId"),
            };
            let has = |name: &str| task[name].as_str().is_some_and(|id| !id.is_empty());
            let optional = self.dialect == Dialect::V0_1 || self.binding == Binding::HttpJson;
            let holds = has("id") && (optional || context.is_none_or(has));
            let expected = format!("`id` and `{}`", context.unwrap_or_default());
            let shown = json!({"id": task["id"], "contextId": task["contextId"]});
            let found = unless(holds, &place, expected, shown);
            self.observed.see("task.has-ids", found, evidence);
            if let Some(time) = task["status"].get("timestamp") {
                let text = time.as_str().unwrap_or_default();
                let zoned = text.ends_with('Z') || text.rfind(['+', '-']).is_some_and(|at| at > 10);
                let place = format!("{place}.status.timestamp");
                let found = unless(zoned, &place, "ISO 8601 with a zone", time);
                self.observed.see("task.timestamps", found, evidence);
            }
        }
    }
}

/// Every task in a value, with its path.
fn find_tasks<'a>(value: &'a Value, place: &str, tasks: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Object(members) => {
            let is_task = members
                .get("status")
                .is_some_and(|status| status["state"].is_string())
                && !members.contains_key("taskId")
                && (members.contains_key("id") || members.contains_key("contextId"))
                && !members.contains_key("final");
            if is_task {
                tasks.push((place.to_owned(), value));
            }
            for (name, inner) in members {
                find_tasks(inner, &format!("{place}.{name}"), tasks);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                find_tasks(inner, &format!("{place}[{index}]"), tasks);
            }
        }
        _ => {}
    }
}

/// Whether an error tells of the inside of the agent: files, code, a stack.
fn internals(message: &str, json: &Value) -> Option<Mismatch> {
    let all = format!("{message}\n{json}");
    let signs = [
        "Traceback (most recent call last)",
        "panicked at",
        ".py\", line ",
        "node_modules/",
        "\tat ",
        "\\n    at ",
        "/usr/lib/",
        "/home/",
        "goroutine ",
        ".rs:",
        ".java:",
        ".go:",
        "SELECT ",
    ];
    let sign = signs.iter().find(|sign| all.contains(**sign));
    unless(
        sign.is_none(),
        "the error",
        "nothing of the agent's inside",
        all.trim(),
    )
}

/// The kind of an error by its name.
pub(super) fn error_kind(name: &str) -> Option<ErrorKind> {
    let known = ErrorKind::ALL.iter();
    known.copied().find(|kind| format!("{kind:?}") == name)
}
