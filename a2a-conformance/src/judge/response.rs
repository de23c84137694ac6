//! Checks that hold for every answer of an agent.

use a2a_jsonrpc::Limits;
use a2a_transport::binding::read_reply;
use a2a_transport::{Binding, Envelope, Error};
use a2a_types::reading::Mode;
use a2a_types::{Dialect, ErrorKind, Operation, Response, schema};
use serde_json::{Value, json};

use super::Judge;
use super::answer::Answer;
use super::invariants::unless;
use super::protojson;
use crate::lint::{schema_violation, without_nulls};
use crate::record::Mismatch;
use crate::wire::exchange::{AgentResponse, Problem, ResponseContent};

impl Judge {
    /// Checks an answer against everything that holds for all answers.
    pub(crate) fn judge_response(
        &self,
        envelope: &Envelope,
        params: &Value,
        answered: &AgentResponse,
    ) {
        let evidence = &answered.evidence;
        self.judge_media_type(answered);
        let Some(json) = &answered.json else { return };
        if self.binding == Binding::JsonRpc {
            let id = envelope.id.as_ref();
            let id = id.and_then(|id| serde_json::to_value(id).ok());
            self.judge_envelope(answered, json, &id.unwrap_or_default());
        }
        let is_ok = (200..300).contains(&answered.status);
        let status = unless(is_ok, "HTTP status", "200", answered.status);
        // A client that goes by the status would not see that it is a result.
        let is_result = json.get("result").is_some() && json.get("error").is_none();
        if self.binding == Binding::JsonRpc && is_result {
            self.observations
                .record("rpc.status", status.clone(), evidence);
        }
        self.judge_error(answered);
        if let ResponseContent::Error { .. } = &answered.outcome {
            return;
        }
        if self.binding == Binding::HttpJson {
            self.observations.record("error.status", status, evidence);
        }
        let own = self.readable(self.without_others(envelope.operation, json));
        let found = self.against_schema(envelope.operation, &own, "");
        self.observations.record("task.shape", found, evidence);
        self.judge_content(self.result_of(&own), evidence);
        let result = self.result_of(json);
        if let ResponseContent::Result(canonical) = &answered.outcome {
            let answer = Answer {
                operation: envelope.operation,
                params,
                result: canonical,
                json: result,
                date: answered.headers["date"].as_str(),
            };
            self.judge_answer(&answer, evidence);
        }
    }

    /// Returns an answer without the tasks that the suite did not begin, if it is a list.
    fn without_others(&self, operation: Operation, json: &Value) -> Value {
        let mut own = json.clone();
        if operation == Operation::ListTasks {
            self.own.retain(match self.binding {
                Binding::JsonRpc => &mut own["result"],
                _ => &mut own,
            });
        }
        own
    }

    /// Returns an answer or event without the members that are null, where the version allows null for every optional
    /// member (0.1).
    pub(crate) fn readable(&self, mut json: Value) -> Value {
        if self.dialect == Dialect::V0_1
            && let Some(result) = json.get_mut("result")
        {
            *result = without_nulls(result);
        }
        json
    }

    /// Returns the result inside the envelope of the binding.
    fn result_of<'v>(&self, json: &'v Value) -> &'v Value {
        match self.binding {
            Binding::JsonRpc => json.get("result").unwrap_or(&Value::Null),
            _ => json,
        }
    }

    /// Checks the answer to a raw request against what holds for all answers, as far as the request is
    /// understood. Errors are left to the case: the request may be broken, and a framework may answer it
    /// before the agent does.
    pub(crate) fn judge_raw(
        &self,
        envelope: &Envelope,
        raw: &RawRequest<'_>,
        answered: &AgentResponse,
    ) {
        self.judge_internals(answered);
        // An agent that accepts a request that the specification does not allow may give its message back as it came.
        let is_legal = match self.binding {
            Binding::JsonRpc => schema::request_definition(self.dialect, envelope.operation)
                .is_none_or(|request| schema_violation(self.dialect, request, raw.json).is_none()),
            _ => raw.json.is_null(),
        };
        let is_proper = raw.is_of_interface && raw.is_known && is_legal;
        let (Some(json), ResponseContent::Result(_), true) =
            (&answered.json, &answered.outcome, is_proper)
        else {
            return;
        };
        if self.binding == Binding::JsonRpc {
            self.judge_media_type(answered);
            let id = raw.json.get("id").unwrap_or(&Value::Null);
            self.judge_envelope(answered, json, id);
        }
        let own = self.readable(self.without_others(envelope.operation, json));
        let found = self.against_schema(envelope.operation, &own, "");
        self.observations
            .record("task.shape", found, &answered.evidence);
        self.judge_content(self.result_of(&own), &answered.evidence);
    }

    /// Checks the envelope that JSON-RPC puts around results and errors.
    fn judge_envelope(&self, answered: &AgentResponse, json: &Value, id: &Value) {
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
        let observe = |check, found| self.observations.record(check, found, &answered.evidence);
        observe("rpc.envelope", unless(holds, "$", expected, found));
        let found = json.get("id").unwrap_or(&Value::Null);
        // A caller may be refused before the body is read.
        let is_guarded = GUARDS.contains(&answered.status) && found.is_null();
        let holds = found == id || is_guarded || is_unread(json);
        let found = unless(holds, "$.id", id.to_string(), found);
        observe("rpc.id-echoed", found);
    }

    fn judge_media_type(&self, answered: &AgentResponse) {
        let media_type = answered.headers["content-type"]
            .as_str()
            .unwrap_or("nothing");
        let essence = media_type.split(';').next().unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        let has_body = answered.json.is_some();
        // An answer without a body has no type, and a guard in front of the agent may send any.
        let guarded = GUARDS.contains(&answered.status);
        if !has_body && (guarded || matches!(answered.outcome, ResponseContent::Result(_))) {
            return;
        }
        // A framework may have no route for an id with `/`, and answers before the agent does.
        let has_slash = answered.evidence.request.start.contains("%2F");
        if !has_body && has_slash && answered.status == 404 && self.binding == Binding::HttpJson {
            return;
        }
        let (check, is_json) = match (self.binding, self.dialect) {
            (Binding::JsonRpc, _) => ("rpc.content-type", essence == "application/json"),
            (_, Dialect::V1_0) => {
                let known = ["application/a2a+json", "application/json"];
                ("rest.content-type", known.contains(&essence.as_str()))
            }
            _ => ("rest.content-type", essence == "application/json"),
        };
        let found_type = match has_body {
            true => media_type.to_owned(),
            false => format!("{media_type}, and no JSON"),
        };
        let found = unless(
            is_json && has_body,
            "Content-Type",
            "application/json, and JSON",
            found_type,
        );
        self.observations.record(check, found, &answered.evidence);
    }

    /// Compares a result or an event with the schema; `place` names the event, and is empty for an answer.
    pub(crate) fn against_schema(
        &self,
        operation: Operation,
        json: &Value,
        place: &str,
    ) -> Option<Mismatch> {
        if (self.binding, self.dialect) == (Binding::HttpJson, Dialect::V0_3) {
            let (schema_violation, definition) = protojson::schema_violation(operation, json)?;
            return Some(schema_violation.mismatch(place, definition));
        }
        // The answer to a deletion is left to the implementation (1.0 §3.1.10).
        if operation == Operation::DeleteTaskPushNotificationConfig {
            return None;
        }
        let definition = schema::response_definition(self.dialect, operation)?;
        let schema_violation = match self.binding {
            Binding::JsonRpc => schema_violation(self.dialect, definition, json)?,
            _ => {
                let whole = json!({"jsonrpc": "2.0", "id": 1, "result": json});
                schema_violation(self.dialect, definition, &whole)?.within("$.result", "$")
            }
        };
        Some(schema_violation.mismatch(place, definition))
    }
}

impl Judge {
    /// Reads an answer leniently; its form is checked separately.
    pub(crate) fn read(&self, envelope: &Envelope, status: u16, body: &[u8]) -> ResponseContent {
        let Ok(status) = http::StatusCode::from_u16(status) else {
            return ResponseContent::Unreadable(format!("HTTP status {status}").into());
        };
        let limits = Limits::default();
        let mut read = read_reply(envelope, status, body, Mode::Lenient, &limits);
        if read.is_err()
            && envelope.operation == Operation::ListTasks
            && let Some(own) = self.without_contents_of_others(body)
        {
            read = read_reply(envelope, status, own.as_bytes(), Mode::Lenient, &limits);
        }
        match read {
            Ok(read) => ResponseContent::Result(canonical(&read.value)),
            Err(Error::Agent(error)) => ResponseContent::Error {
                kind: error.kind,
                message: error.message,
            },
            Err(error) => ResponseContent::Unreadable(Problem {
                text: error.to_string(),
                ..Problem::from(&error)
            }),
        }
    }

    /// Returns the page of a list without what tasks of others have in them.
    fn without_contents_of_others(&self, body: &[u8]) -> Option<String> {
        let mut json: Value = serde_json::from_slice(body).ok()?;
        let page = match self.binding {
            Binding::JsonRpc => json.get_mut("result")?,
            _ => &mut json,
        };
        self.own.strip_others(page);
        Some(json.to_string())
    }
}

/// A raw request, as a case writes it.
pub(crate) struct RawRequest<'r> {
    /// `true` if it went to the interface, and not to another URL of the agent.
    pub(crate) is_of_interface: bool,
    /// `true` if it asks for an operation of the protocol version.
    pub(crate) is_known: bool,
    /// The body; null if it is not JSON.
    pub(crate) json: &'r Value,
}

/// Returns whether an answer says that the request could not be read, and so may lack its id (0.3 §6.11.2).
pub(crate) fn is_unread(json: &Value) -> bool {
    let code = json["error"]["code"].as_i64();
    matches!(code, Some(-32700 | -32600)) && json["id"].is_null()
}

/// HTTP statuses by which a guard in front of an agent may answer in its place.
pub(crate) const GUARDS: [u16; 5] = [401, 403, 413, 429, 503];

/// Returns the kind of an error by its name, like `TaskNotFound`.
pub(crate) fn error_kind(name: &str) -> Option<ErrorKind> {
    let known = ErrorKind::ALL.iter();
    known.copied().find(|kind| format!("{kind:?}") == name)
}

/// Returns a response in protocol 1.0.
fn canonical(response: &Response) -> Value {
    let value = match response {
        Response::SendMessage(response) => serde_json::to_value(response),
        Response::GetTask(task) | Response::CancelTask(task) => serde_json::to_value(task),
        Response::ListTasks(list) => serde_json::to_value(list),
        Response::CreateTaskPushNotificationConfig(config)
        | Response::GetTaskPushNotificationConfig(config) => serde_json::to_value(config),
        Response::ListTaskPushNotificationConfigs(list) => serde_json::to_value(list),
        Response::DeleteTaskPushNotificationConfig(()) => Ok(json!({})),
        Response::GetExtendedAgentCard(card) => serde_json::to_value(card),
    };
    value.unwrap_or_default()
}
