//! Checks that hold for every answer of an agent.

use a2a_jsonrpc::Limits;
use a2a_transport::binding::read_reply;
use a2a_transport::{Binding, Error, ResponseContext};
use a2a_types::reading::Mode;
use a2a_types::{Operation, ProtocolVersion, Response, schema};
use serde_json::{Value, json};

use super::answer::Answer;
use super::errors::GUARDS;
use super::invariants::{Finding, Findings, unless};
use super::{Judge, answer, content, errors, grpc, protojson};
use crate::lint::{schema_violation, without_nulls};
use crate::record::Mismatch;
use crate::wire::exchange::{AgentResponse, Problem, ResponseContent};

/// Checks an answer against everything that holds for all answers.
pub(crate) fn check(
    judge: &Judge,
    envelope: &ResponseContext,
    params: &Value,
    answered: &AgentResponse,
) -> Findings {
    let mut findings = Findings::from_iter(media_type(judge, answered));
    let Some(json) = &answered.json else {
        return findings;
    };
    if judge.binding == Binding::JsonRpc {
        findings.extend(frame(answered, json, &id_of(envelope)));
    }
    let is_ok = (200..300).contains(&answered.status);
    let status = unless(is_ok, "HTTP status", "200", answered.status);
    // A client that goes by the status would not see that it is a result.
    let is_result = json.get("result").is_some() && json.get("error").is_none();
    if judge.binding == Binding::JsonRpc && is_result {
        findings.push(("rpc.status", status.clone()));
    }
    findings.extend(errors::check(judge, answered));
    if let ResponseContent::Error { .. } = &answered.outcome {
        return findings;
    }
    if judge.binding == Binding::HttpJson {
        findings.push(("error.status", status));
    }
    findings.extend(result(judge, envelope.operation, json));
    if let ResponseContent::Result(canonical) = &answered.outcome {
        let answer = Answer {
            operation: envelope.operation,
            params,
            result: canonical,
            json: result_of(judge, json),
            date: answered.headers["date"].as_str(),
        };
        findings.extend(answer::check(judge, &answer));
    }
    findings
}

/// Checks the answer to a raw request against what holds for all answers, as far as the request is
/// understood. Errors are left to the case: the request may be broken, and a framework may answer it
/// before the agent does.
pub(crate) fn check_raw(
    judge: &Judge,
    envelope: &ResponseContext,
    raw: &RawRequest<'_>,
    answered: &AgentResponse,
) -> Findings {
    let mut findings = Findings::from_iter(errors::internals(answered));
    // An agent that accepts a request that the specification does not allow may give its message back as it came.
    let is_legal = match judge.binding {
        Binding::JsonRpc => schema::request_definition(judge.protocol_version, envelope.operation)
            .is_none_or(|request| {
                schema_violation(judge.protocol_version, request, raw.json).is_none()
            }),
        _ => raw.json.is_null(),
    };
    let is_proper = raw.is_of_interface && raw.is_known && is_legal;
    let (Some(json), ResponseContent::Result(_), true) =
        (&answered.json, &answered.outcome, is_proper)
    else {
        return findings;
    };
    if judge.binding == Binding::JsonRpc {
        findings.extend(media_type(judge, answered));
        let id = raw.json.get("id").unwrap_or(&Value::Null);
        findings.extend(frame(answered, json, id));
    }
    findings.extend(result(judge, envelope.operation, json));
    findings
}

/// Checks the form of an answer that is not an error, without the tasks of a list that the suite did not begin.
fn result(judge: &Judge, operation: Operation, json: &Value) -> Findings {
    let mut own = json.clone();
    if operation == Operation::ListTasks {
        judge.own.retain(match judge.binding {
            Binding::JsonRpc => &mut own["result"],
            _ => &mut own,
        });
    }
    form(judge, "task.shape", operation, own, "")
}

/// Checks an answer or event against the schema, which is the invariant `check`, and against what holds for the content
/// of all of them; `place` names the event, and is empty for an answer.
pub(super) fn form(
    judge: &Judge,
    check: &'static str,
    operation: Operation,
    mut json: Value,
    place: &str,
) -> Findings {
    // 0.1 allows null for every optional member.
    if judge.protocol_version == ProtocolVersion::V0_1
        && let Some(result) = json.get_mut("result")
    {
        *result = without_nulls(result);
    }
    let mut findings = vec![(check, against_schema(judge, operation, &json, place))];
    findings.extend(content::check(judge, result_of(judge, &json)));
    findings
}

/// Returns the JSON-RPC id of a request; null if it has none.
pub(super) fn id_of(envelope: &ResponseContext) -> Value {
    let id = envelope.id.as_ref();
    let id = id.and_then(|id| serde_json::to_value(id).ok());
    id.unwrap_or_default()
}

/// Returns the result inside the envelope of the binding.
fn result_of<'v>(judge: &Judge, json: &'v Value) -> &'v Value {
    match judge.binding {
        Binding::JsonRpc => json.get("result").unwrap_or(&Value::Null),
        _ => json,
    }
}

/// Checks the envelope that JSON-RPC puts around results and errors.
fn frame(answered: &AgentResponse, json: &Value, id: &Value) -> [Finding; 2] {
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
    let envelope = unless(holds, "$", expected, found);
    let found = json.get("id").unwrap_or(&Value::Null);
    // A caller may be refused before the body is read.
    let is_guarded = GUARDS.contains(&answered.status) && found.is_null();
    let holds = found == id || is_guarded || is_unread(json);
    let echo = unless(holds, "$.id", id.to_string(), found);
    [("rpc.envelope", envelope), ("rpc.id-echoed", echo)]
}

/// Checks the media type of an answer.
fn media_type(judge: &Judge, answered: &AgentResponse) -> Option<Finding> {
    let media_type = answered.headers["content-type"]
        .as_str()
        .unwrap_or("nothing");
    let essence = media_type.split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    let has_body = answered.json.is_some();
    // An answer without a body has no type, and a guard in front of the agent may send any.
    let guarded = GUARDS.contains(&answered.status);
    if !has_body && (guarded || matches!(answered.outcome, ResponseContent::Result(_))) {
        return None;
    }
    // A framework may have no route for an id with `/`, and answers before the agent does.
    let has_slash = answered.evidence.request.start.contains("%2F");
    if !has_body && has_slash && answered.status == 404 && judge.binding == Binding::HttpJson {
        return None;
    }
    let (check, is_json) = match (judge.binding, judge.protocol_version) {
        (Binding::JsonRpc, _) => ("rpc.content-type", essence == "application/json"),
        (_, ProtocolVersion::V1_0) => {
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
    Some((check, found))
}

/// Compares a result or an event with the schema; `place` names the event, and is empty for an answer.
fn against_schema(
    judge: &Judge,
    operation: Operation,
    json: &Value,
    place: &str,
) -> Option<Mismatch> {
    if judge.binding != Binding::JsonRpc && judge.protocol_version == ProtocolVersion::V0_3 {
        let (schema_violation, definition) = protojson::schema_violation(operation, json)?;
        return Some(schema_violation.mismatch(place, definition));
    }
    // The answer to a deletion is left to the implementation (1.0 §3.1.10).
    if operation == Operation::DeleteTaskPushNotificationConfig {
        return None;
    }
    let definition = schema::response_definition(judge.protocol_version, operation)?;
    let schema_violation = match judge.binding {
        Binding::JsonRpc => schema_violation(judge.protocol_version, definition, json)?,
        _ => {
            let mut json = json.clone();
            if judge.binding == Binding::Grpc {
                grpc::add_defaults(operation, &mut json);
            }
            let whole = json!({"jsonrpc": "2.0", "id": 1, "result": json});
            schema_violation(judge.protocol_version, definition, &whole)?.within("$.result", "$")
        }
    };
    Some(schema_violation.mismatch(place, definition))
}

/// Reads an answer leniently; its form is checked separately.
pub(crate) fn read(
    judge: &Judge,
    envelope: &ResponseContext,
    status: u16,
    body: &[u8],
) -> ResponseContent {
    let Ok(status) = http::StatusCode::from_u16(status) else {
        return ResponseContent::Unreadable(format!("HTTP status {status}").into());
    };
    let limits = Limits::default();
    let mut read = read_reply(envelope, status, body, Mode::Lenient, &limits);
    if read.is_err()
        && envelope.operation == Operation::ListTasks
        && let Some(own) = without_contents_of_others(judge, body)
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
fn without_contents_of_others(judge: &Judge, body: &[u8]) -> Option<String> {
    let mut json: Value = serde_json::from_slice(body).ok()?;
    let page = match judge.binding {
        Binding::JsonRpc => json.get_mut("result")?,
        _ => &mut json,
    };
    judge.own.strip_others(page);
    Some(json.to_string())
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
pub(super) fn is_unread(json: &Value) -> bool {
    let code = json["error"]["code"].as_i64();
    matches!(code, Some(-32700 | -32600)) && json["id"].is_null()
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use a2a_jsonrpc::Id;

    use super::super::invariants::broken;
    use super::*;
    use crate::record::Evidence;

    /// Judges the answer to a request for the task `t`, whose id is 1.
    #[track_caller]
    fn check_answer(body: Value, expected: &[&str]) {
        let judge = Judge::new(ProtocolVersion::V1_0, Binding::JsonRpc, Arc::default());
        let mut envelope =
            ResponseContext::new(judge.protocol_version, judge.binding, Operation::GetTask);
        envelope.id = Some(Id::number(1));
        let answered = AgentResponse {
            evidence: Evidence::default(),
            protocol_version: judge.protocol_version,
            binding: judge.binding,
            status: 200,
            headers: json!({"content-type": "application/json"}),
            outcome: read(&judge, &envelope, 200, body.to_string().as_bytes()),
            json: Some(body),
            late: false,
        };
        let findings = check(&judge, &envelope, &json!({"id": "t"}), &answered);
        assert_eq!(broken(findings), expected);
    }

    #[test]
    fn answer_is_judged_by_envelope_schema_and_request() {
        let result = |request: u8, task: &str, state: &str| {
            let task = json!({"id": task, "contextId": "c", "status": {"state": state}});
            json!({"jsonrpc": "2.0", "id": request, "result": task})
        };
        check_answer(result(1, "t", "TASK_STATE_WORKING"), &[]);
        check_answer(result(2, "t", "TASK_STATE_WORKING"), &["rpc.id-echoed"]);
        check_answer(result(1, "u", "TASK_STATE_WORKING"), &["task.asked-for"]);
        check_answer(result(1, "t", "working"), &["task.shape"]);
    }

    #[test]
    fn error_is_judged_by_code_message_and_details() {
        let error = |code: i64, message: &str, details: Value| {
            let error = json!({"code": code, "message": message, "data": details});
            json!({"jsonrpc": "2.0", "id": 1, "error": error})
        };
        let info = json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "TASK_NOT_FOUND",
            "domain": "a2a-protocol.org",
        });
        check_answer(error(-32001, "no such task", json!([info])), &[]);
        check_answer(error(-32001, "no such task", json!([])), &["error.info"]);
        check_answer(error(-32001, " ", json!([info])), &["error.message"]);
        check_answer(error(-32500, "no such task", json!([])), &["error.codes"]);
    }
}
