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
        self.judge_media_type(answered);
        let Some(json) = &answered.json else { return };
        if self.binding == Binding::JsonRpc {
            let id = envelope.id.as_ref();
            let id = id.and_then(|id| serde_json::to_value(id).ok());
            let mut id = id.unwrap_or_default();
            // Who is not let in may be told so before the body is read.
            if [401, 403, 413, 429, 503].contains(&answered.status) && json["id"].is_null() {
                id = Value::Null;
            }
            self.judge_envelope(json, &id, evidence);
        }
        if let Outcome::Error { .. } = &answered.outcome {
            return self.judge_error(answered);
        }
        if self.binding == Binding::HttpJson {
            let is_ok = (200..300).contains(&answered.status);
            let found = unless(is_ok, "HTTP status", "200", answered.status);
            self.observed.see("error.status", found, evidence);
        }
        let found = self.against_schema(envelope.operation, json, "the answer");
        self.observed.see("task.shape", found, evidence);
        let result = match self.binding {
            Binding::JsonRpc => json.get("result").unwrap_or(&Value::Null),
            Binding::HttpJson => json,
        };
        self.judge_content(result, evidence);
    }

    /// What JSON-RPC puts around results and errors.
    fn judge_envelope(&self, json: &Value, id: &Value, evidence: &Evidence) {
        let has = |name: &str| match json.get(name) {
            Some(_) => format!("`{name}`"),
            None => format!("no `{name}`"),
        };
        let version = &json["jsonrpc"];
        let one = json.get("result").is_some() != json.get("error").is_some();
        let holds = version == "2.0" && one && json.get("id").is_some();
        let expected = "`jsonrpc: \"2.0\"`, `id`, and either `result` or `error`";
        let found = format!(
            "`jsonrpc: {version}`, {}, {}, {}",
            has("id"),
            has("result"),
            has("error")
        );
        let see = |check, found| self.observed.see(check, found, evidence);
        see("rpc.envelope", unless(holds, "$", expected, found));
        let found = json.get("id").unwrap_or(&Value::Null);
        let found = unless(found == id, "$.id", id.to_string(), found);
        see("rpc.id-echoed", found);
    }

    fn judge_media_type(&self, answered: &Answered) {
        let media_type = answered.headers["content-type"]
            .as_str()
            .unwrap_or("nothing");
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let has_body = answered.json.is_some();
        // What has no body has no type.
        if !has_body && matches!(answered.outcome, Outcome::Result(_)) {
            return;
        }
        let (check, is_json) = match (self.binding, self.dialect) {
            (Binding::JsonRpc, _) => ("rpc.content-type", essence == "application/json"),
            (Binding::HttpJson, Dialect::V1_0) => {
                let known = ["application/a2a+json", "application/json"];
                ("rest.content-type", known.contains(&essence))
            }
            (Binding::HttpJson, _) => ("rest.content-type", essence == "application/json"),
        };
        let told = match has_body {
            true => media_type.to_owned(),
            false => format!("{media_type}, and no JSON"),
        };
        let found = unless(
            is_json && has_body,
            "Content-Type",
            "application/json, and JSON",
            told,
        );
        self.observed.see(check, found, &answered.evidence);
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
        self.judge_extensions(result, evidence);
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
            self.observed.see("task.shape", found, evidence);
            if let Some(time) = task["status"].get("timestamp") {
                let text = time.as_str().unwrap_or_default();
                let zoned = text.rfind(['+', '-']).is_some_and(|at| at > 10);
                let is_1_0 = self.dialect == Dialect::V1_0;
                let read = text.parse::<jiff::Timestamp>().is_ok();
                let holds = read && (text.ends_with('Z') || zoned && !is_1_0);
                let place = format!("{place}.status.timestamp");
                let expected = match is_1_0 {
                    true => "ISO 8601 in UTC, with `Z`",
                    false => "ISO 8601 with a zone",
                };
                let found = unless(holds, &place, expected, time);
                self.observed.see("task.timestamps", found, evidence);
            }
        }
    }
}

impl Lane {
    fn judge_extensions(&self, result: &Value, evidence: &Evidence) {
        let mut lists = Vec::new();
        find_extensions(result, "$", &mut lists);
        for (place, list) in lists {
            let is_uri = |value: &Value| value.as_str().is_some_and(|text| text.contains(':'));
            let holds = list.as_array().is_some_and(|list| list.iter().all(is_uri));
            let found = unless(holds, &place, "URIs", list);
            self.observed.see("extension.in-metadata", found, evidence);
        }
    }
}

/// The lists of extensions of every message and artifact in a value, with their paths.
fn find_extensions<'a>(value: &'a Value, place: &str, lists: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Object(members) => {
            let has_parts = members.contains_key("parts");
            for (name, inner) in members {
                let place = format!("{place}.{name}");
                match name.as_str() {
                    "extensions" if has_parts => lists.push((place, inner)),
                    // What people put there is theirs.
                    "metadata" | "data" => {}
                    _ => find_extensions(inner, &place, lists),
                }
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                find_extensions(inner, &format!("{place}[{index}]"), lists);
            }
        }
        _ => {}
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
            for (name, inner) in members.iter().filter(|(name, _)| *name != "data") {
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

/// The kind of an error by its name.
pub(super) fn error_kind(name: &str) -> Option<ErrorKind> {
    let known = ErrorKind::ALL.iter();
    known.copied().find(|kind| format!("{kind:?}") == name)
}
