//! Detection of the kind and version of a document from its content.

use a2a_jsonrpc::Id;
use a2a_transport::{Binding, ResponseContext};
use a2a_types::v0_3::Flavour;
use a2a_types::{Operation, ProtocolVersion};
use serde_json::Value;

use super::kind::{DocumentKind, Form};
use super::marks::{is_proto_json, marked};
use super::subject::{LintSubject, SubjectKind};
use crate::card;

/// Returns the kinds of a document, or nothing if it is not an A2A document; `known` is its protocol version, if given.
/// A card may be of several versions.
pub(crate) fn detect(
    value: &Value,
    is_event: bool,
    known: Option<ProtocolVersion>,
) -> Vec<LintSubject> {
    let has = |member: &str| value.get(member).is_some();
    let is_enveloped = has("jsonrpc") || has("result") || is_json_rpc_error(value);
    if value["method"].is_string() || has("jsonrpc") && has("params") {
        return vec![request(value, known)];
    }
    if is_event {
        return vec![event(value, known)];
    }
    // HTTP+JSON has errors without an envelope: `{"error": {"code", "status", …}}`.
    if is_enveloped {
        return vec![response(value, known)];
    }
    let Some(name) = object(value, known) else {
        return Vec::new();
    };
    let Some(kind) = DocumentKind::named(name) else {
        return Vec::new();
    };
    let is_hybrid = kind.form == Form::Card && has("supportedInterfaces") && has("url");
    match known {
        None if is_hybrid => {
            let protocol_versions = card::protocol_versions(value).into_iter();
            protocol_versions
                .map(|protocol_version| LintSubject::new(SubjectKind::Card, protocol_version))
                .collect()
        }
        _ => vec![as_kind(kind, value, known)],
    }
}

/// The document as one of a kind.
pub(crate) fn as_kind(
    kind: &DocumentKind,
    value: &Value,
    known: Option<ProtocolVersion>,
) -> LintSubject {
    match kind.form {
        Form::Request => request(value, known),
        Form::Response => response(value, known),
        Form::Event => event(value, known),
        Form::Card => {
            let protocol_version = known.unwrap_or_else(|| protocol_version_of(value, kind));
            LintSubject::new(SubjectKind::Card, protocol_version)
        }
        Form::Object(_) => {
            let protocol_version = known.unwrap_or_else(|| protocol_version_of(value, kind));
            let flavour = flavour(value, protocol_version);
            let plain = || kind.form.definition(protocol_version, Flavour::Plain);
            let definition = kind.form.definition(protocol_version, flavour);
            let (flavour, definition) = match (definition, plain()) {
                (Some(name), _) => (flavour, Some(name)),
                (None, Some(name)) => (Flavour::Plain, Some(name)),
                (None, None) => (
                    Flavour::Proto,
                    kind.form.definition(protocol_version, Flavour::Proto),
                ),
            };
            let kind = SubjectKind::Object(definition.unwrap_or(kind.name));
            LintSubject::new(kind, protocol_version).in_flavour(flavour)
        }
    }
}

/// 0.3 has two forms of JSON where JSON-RPC is not around it.
fn flavour(value: &Value, protocol_version: ProtocolVersion) -> Flavour {
    match protocol_version {
        ProtocolVersion::V0_3 => Flavour::of(&value.to_string()).unwrap_or(Flavour::Plain),
        _ => Flavour::Plain,
    }
}

fn request(value: &Value, known: Option<ProtocolVersion>) -> LintSubject {
    let version = known.or_else(|| marked(value));
    let method = value["method"]
        .as_str()
        .and_then(ProtocolVersion::of_method);
    let is_known = |protocol_version: &ProtocolVersion| {
        let method = method.as_ref();
        method.is_some_and(|method| method.protocol_versions.contains(protocol_version))
    };
    match (&method, known) {
        (Some(method), None) => LintSubject::new(
            SubjectKind::Request(method.operation),
            method.protocol_version(version),
        ),
        (Some(method), Some(protocol_version)) if is_known(&protocol_version) => {
            LintSubject::new(SubjectKind::Request(method.operation), protocol_version)
        }
        _ => LintSubject::new(
            SubjectKind::UnknownRequest,
            version.unwrap_or(ProtocolVersion::V1_0),
        ),
    }
}

fn event(value: &Value, known: Option<ProtocolVersion>) -> LintSubject {
    let is_enveloped = ["jsonrpc", "result", "error"]
        .iter()
        .any(|member| value.get(member).is_some());
    let proto = || (!is_enveloped && is_proto_json(value)).then_some(ProtocolVersion::V0_3);
    let protocol_version = known.or_else(proto);
    let protocol_version = protocol_version.unwrap_or_else(|| answered_in(value));
    let is_bare = wraps(value)
        && !is_enveloped
        && matches!(
            protocol_version,
            ProtocolVersion::V1_0 | ProtocolVersion::V0_3
        );
    let binding = match is_bare {
        true => Binding::HttpJson,
        false => Binding::JsonRpc,
    };
    let operation = Operation::SendStreamingMessage;
    let subject = answer(
        SubjectKind::Event,
        value,
        protocol_version,
        binding,
        operation,
    );
    match is_bare {
        true => subject.in_flavour(flavour(value, protocol_version)),
        false => subject,
    }
}

fn response(value: &Value, known: Option<ProtocolVersion>) -> LintSubject {
    let protocol_version = known.unwrap_or_else(|| answered_in(value));
    let (kind, operation) = answered(&value["result"], protocol_version);
    answer(kind, value, protocol_version, Binding::JsonRpc, operation)
}

fn answer(
    kind: SubjectKind,
    value: &Value,
    protocol_version: ProtocolVersion,
    binding: Binding,
    operation: Operation,
) -> LintSubject {
    let id = serde_json::from_value(value["id"].clone()).unwrap_or(Id::Null);
    let mut envelope = ResponseContext::new(protocol_version, binding, operation);
    envelope.id = (binding == Binding::JsonRpc).then_some(id);
    LintSubject {
        envelope: Some(envelope),
        ..LintSubject::new(kind, protocol_version)
    }
}

/// Returns whether a value has one of the members that wrap an event in 1.0 and in 0.3's ProtoJSON.
const WRAPPERS: [&str; 6] = [
    "task",
    "message",
    "statusUpdate",
    "artifactUpdate",
    "taskStatusUpdate",
    "taskArtifactUpdate",
];

fn wraps(value: &Value) -> bool {
    WRAPPERS.iter().any(|wrapper| value[wrapper].is_object())
}

/// Returns whether it is a JSON-RPC error, whose envelope may be missing.
fn is_json_rpc_error(value: &Value) -> bool {
    value["error"]["code"].as_i64().is_some_and(|code| code < 0)
}

/// Infers the kind and the operation of an answer from its result.
fn answered(result: &Value, protocol_version: ProtocolVersion) -> (SubjectKind, Operation) {
    let has = |member: &str| result.get(member).is_some();
    let is_kind = |kind: &str| result["kind"] == kind;
    let is_update = is_kind("status-update")
        || is_kind("artifact-update")
        || has("statusUpdate")
        || has("artifactUpdate")
        || (protocol_version == ProtocolVersion::V0_1 && (has("artifact") || has("final")));
    let operation = match result {
        _ if is_update => return (SubjectKind::Event, Operation::SendStreamingMessage),
        Value::Array(_) => Operation::ListTaskPushNotificationConfigs,
        Value::Null => Operation::DeleteTaskPushNotificationConfig,
        Value::Object(members) if members.is_empty() => Operation::DeleteTaskPushNotificationConfig,
        _ if has("configs") => Operation::ListTaskPushNotificationConfigs,
        _ if has("tasks") => Operation::ListTasks,
        _ if has("pushNotificationConfig") || has("url") && !has("skills") => {
            Operation::CreateTaskPushNotificationConfig
        }
        _ if has("skills") || has("capabilities") => Operation::GetExtendedAgentCard,
        _ if has("status") && protocol_version == ProtocolVersion::V1_0 => Operation::GetTask,
        _ => Operation::SendMessage,
    };
    (SubjectKind::Response, operation)
}

/// Returns the name of the definition of an object that stands alone, or `None` if it is unknown.
fn object(value: &Value, known: Option<ProtocolVersion>) -> Option<&'static str> {
    let has = |member: &str| value.get(member).is_some();
    let is_text = |member: &str| value[member].is_string();
    Some(match value["kind"].as_str().unwrap_or_default() {
        "task" => "Task",
        "message" => "Message",
        "status-update" => "TaskStatusUpdateEvent",
        "artifact-update" => "TaskArtifactUpdateEvent",
        _ if value["error"].is_object() || is_problem(value) => "HttpError",
        _ if value["code"].is_i64() && is_text("message") => "HttpError",
        _ if has("skills") || has("supportedInterfaces") => "AgentCard",
        _ if has("capabilities") && CARD.iter().any(|member| has(member)) => "AgentCard",
        _ if is_text("protected") && has("signature") => "AgentCardSignature",
        _ if is_text("alg") && (has("kid") || has("typ")) => "SignatureHeader",
        _ if value["tasks"].is_array() => "ListTasksResponse",
        _ if value["configs"].is_array() => "ListTaskPushNotificationConfigsResponse",
        _ if value["message"].is_object() && is_asked(value) => "SendMessageRequest",
        _ if wraps(value) => "StreamResponse",
        _ if has("role") && (has("parts") || has("messageId") || has("data") || has("content")) => {
            "Message"
        }
        _ if has("artifact") => "TaskArtifactUpdateEvent",
        _ if has("status") && (has("final") || has("taskId")) => "TaskStatusUpdateEvent",
        _ if has("status") && has("id") => "Task",
        _ if has("state") => "TaskStatus",
        _ if has("parts") => "Artifact",
        _ if has("protocolBinding") || has("transport") => "AgentInterface",
        _ if has("pushNotificationConfig") => "TaskPushNotificationConfig",
        _ if has("url") && (has("token") || has("authentication") || has("taskId")) => {
            let is_older =
                known.is_some_and(|protocol_version| protocol_version < ProtocolVersion::V1_0);
            match is_older || value["authentication"]["schemes"].is_array() {
                true => "PushNotificationConfig",
                false => "TaskPushNotificationConfig",
            }
        }
        "text" | "file" | "data" => "Part",
        _ if ["text", "raw", "data", "file"]
            .iter()
            .any(|content| has(content)) =>
        {
            "Part"
        }
        _ if has("url") && (has("mediaType") || has("filename")) => "Part",
        _ if has("id") && has("name") && has("tags") => "AgentSkill",
        _ => return None,
    })
}

/// Members by which a piece of a card is known for one.
const CARD: [&str; 4] = [
    "name",
    "securitySchemes",
    "supportsExtendedAgentCard",
    "supportsAuthenticatedExtendedCard",
];

/// Returns whether a message belongs to a request, and not to an answer.
fn is_asked(value: &Value) -> bool {
    let message = &value["message"];
    let role = message["role"].as_str().unwrap_or_default();
    let is_answer = role == "ROLE_AGENT" || role == "agent";
    value.get("configuration").is_some() || !is_answer
}

/// Problem details (RFC 9457), which release candidates of 1.0 had.
fn is_problem(value: &Value) -> bool {
    let has_text = value["detail"].is_string() || value["title"].is_string();
    has_text && (value["status"].is_number() || value["type"].is_string())
}

/// The version of an answer that does not say it.
fn answered_in(value: &Value) -> ProtocolVersion {
    if let Some(protocol_version) = declared_version(value).or_else(|| marked(value)) {
        return protocol_version;
    }
    match (&value["error"], &value["result"]) {
        (Value::Null, Value::Null) => ProtocolVersion::V0_3,
        (Value::Null, Value::Object(members)) if members.is_empty() => ProtocolVersion::V1_0,
        (Value::Null, result) if result["tasks"].is_array() || result["configs"].is_array() => {
            ProtocolVersion::V1_0
        }
        (Value::Null, Value::Array(_)) => ProtocolVersion::V0_3,
        (Value::Null, _) => ProtocolVersion::V0_1,
        (error, _) => match error.get("data") {
            None | Some(Value::Array(_)) => ProtocolVersion::V1_0,
            Some(_) => ProtocolVersion::V0_3,
        },
    }
}

/// The version of a document of a kind that does not say it.
fn protocol_version_of(value: &Value, kind: &DocumentKind) -> ProtocolVersion {
    let is_flat_error = kind.name == "HttpError" && value["error"].is_null() && !is_problem(value);
    let proto = || (is_flat_error || is_proto_json(value)).then_some(ProtocolVersion::V0_3);
    let is_flat = kind.name == "TaskPushNotificationConfig" && value["url"].is_string();
    let flat = || is_flat.then_some(ProtocolVersion::V1_0);
    let found = declared_version(value).or_else(proto).or_else(flat);
    let found = found.or_else(|| marked(value));
    let default = match kind.form {
        Form::Card if value["url"].is_null() => ProtocolVersion::V1_0,
        Form::Object(_) if !kind.is_in(ProtocolVersion::V0_1) => ProtocolVersion::V1_0,
        _ => ProtocolVersion::V0_1,
    };
    let protocol_version = found.unwrap_or(default);
    match kind.is_in(protocol_version) {
        true => protocol_version,
        false => {
            let mut newer = ProtocolVersion::ALL.iter().copied();
            let newer = newer.find(|newer| *newer > protocol_version && kind.is_in(*newer));
            newer.unwrap_or(ProtocolVersion::V0_3)
        }
    }
}

/// The version that a card says.
fn declared_version(value: &Value) -> Option<ProtocolVersion> {
    let card = match &value["result"] {
        Value::Null => value,
        result => result,
    };
    let is_interface = card.get("protocolBinding").is_some();
    let version = card["protocolVersion"].as_str().filter(|_| !is_interface);
    version.and_then(ProtocolVersion::from_version)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: &Value, name: &str, protocol_version: ProtocolVersion) {
        let subjects = detect(value, false, None);
        let [subject] = &subjects[..] else {
            panic!("{value} is of {} kinds", subjects.len());
        };
        assert_eq!(
            (&*subject.name(), subject.protocol_version),
            (name, protocol_version),
            "{value}"
        );
    }

    #[test]
    fn document_kinds_are_detected() {
        let (old, middle, new) = (
            ProtocolVersion::V0_1,
            ProtocolVersion::V0_2,
            ProtocolVersion::V1_0,
        );
        let rpc = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = |result: Value| json!({"jsonrpc": "2.0", "id": 1, "result": result});
        check(&rpc("tasks/send", json!({})), "request of SendMessage", old);
        check(
            &rpc("SendMessage", json!({})),
            "request of SendMessage",
            new,
        );
        check(
            &rpc("message/send", json!({})),
            "request of SendMessage",
            ProtocolVersion::V0_3,
        );
        check(
            &rpc("tasks/get", json!({"id": "t", "sessionId": "s"})),
            "request of GetTask",
            old,
        );
        check(
            &answer(json!({"id": "t", "sessionId": "s", "status": {}})),
            "answer",
            old,
        );
        check(&answer(json!({"kind": "task"})), "answer", middle);
        check(
            &answer(json!({"id": "t", "status": {"state": "TASK_STATE_WORKING"}})),
            "answer",
            new,
        );
        check(
            &answer(json!({"statusUpdate": {}})),
            "event of a stream",
            new,
        );
        check(&json!({"statusUpdate": {}}), "StreamResponse", new);
        check(&json!({"id": "t", "status": {}}), "Task", old);
        check(&json!({"kind": "message"}), "Message", middle);
        check(
            &json!({"name": "n", "capabilities": {}, "supportedInterfaces": []}),
            "AgentCard",
            new,
        );
        check(
            &json!({"name": "n", "skills": [], "protocolVersion": "0.3.0"}),
            "AgentCard",
            ProtocolVersion::V0_3,
        );
        check(&json!({"name": "n", "skills": []}), "AgentCard", new);
        check(
            &json!({"name": "n", "skills": [], "url": "http://h"}),
            "AgentCard",
            old,
        );
        check(&json!({"artifactId": "a", "parts": []}), "Artifact", middle);
        assert!(detect(&json!({"capabilities": {}}), false, None).is_empty());
        assert!(detect(&json!([]), false, None).is_empty());
    }
}
