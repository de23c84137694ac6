//! What a document is, from the document itself.

use a2a_jsonrpc::Id;
use a2a_transport::{Binding, Envelope};
use a2a_types::{Dialect, Operation};
use serde_json::Value;

use super::subject::{Kind, Subject};

/// What a document is, if it is one of A2A; `known` is the generation, if that is told.
pub(crate) fn detect(value: &Value, is_event: bool, known: Option<Dialect>) -> Option<Subject> {
    if let Some(method) = value["method"].as_str() {
        let method = Dialect::of_method(method)?;
        let marked = known.or_else(|| marked(value));
        let kind = Kind::Request(method.operation);
        return Some(Subject::new(kind, method.dialect(marked)));
    }
    let dialect = known.unwrap_or_else(|| dialect_of(value));
    let has = |member: &str| value.get(member).is_some();
    let wraps = WRAPPERS.iter().any(|wrapper| value[wrapper].is_object());
    if is_event {
        let is_bare = wraps && !has("jsonrpc") && matches!(dialect, Dialect::V1_0 | Dialect::V0_3);
        let binding = match is_bare {
            true => Binding::HttpJson,
            false => Binding::JsonRpc,
        };
        let operation = Operation::SendStreamingMessage;
        return Some(answer(Kind::Event, value, dialect, binding, operation));
    }
    // HTTP+JSON has errors without an envelope: `{"error": {"code", "status", …}}`.
    if has("jsonrpc") || has("result") {
        let (kind, operation) = answered(&value["result"], dialect);
        return Some(answer(kind, value, dialect, Binding::JsonRpc, operation));
    }
    Some(Subject::new(object(value, dialect)?, dialect))
}

fn answer(
    kind: Kind,
    value: &Value,
    dialect: Dialect,
    binding: Binding,
    operation: Operation,
) -> Subject {
    let id = serde_json::from_value(value["id"].clone()).unwrap_or(Id::Null);
    let id = (binding == Binding::JsonRpc).then_some(id);
    Subject {
        envelope: Some(Envelope {
            id,
            ..Envelope::new(dialect, binding, operation)
        }),
        ..Subject::new(kind, dialect)
    }
}

/// The members of which 1.0 and 0.3's ProtoJSON have one, around what a stream tells.
const WRAPPERS: [&str; 4] = ["task", "message", "statusUpdate", "artifactUpdate"];

/// What was asked, from what is answered.
fn answered(result: &Value, dialect: Dialect) -> (Kind, Operation) {
    let has = |member: &str| result.get(member).is_some();
    let is_kind = |kind: &str| result["kind"] == kind;
    let is_update = is_kind("status-update")
        || is_kind("artifact-update")
        || has("statusUpdate")
        || has("artifactUpdate")
        || (dialect == Dialect::V0_1 && (has("artifact") || has("final")));
    let operation = match result {
        _ if is_update => return (Kind::Event, Operation::SendStreamingMessage),
        Value::Array(_) => Operation::ListTaskPushNotificationConfigs,
        Value::Null => Operation::DeleteTaskPushNotificationConfig,
        Value::Object(members) if members.is_empty() => Operation::DeleteTaskPushNotificationConfig,
        _ if has("configs") => Operation::ListTaskPushNotificationConfigs,
        _ if has("tasks") => Operation::ListTasks,
        _ if has("pushNotificationConfig") || has("url") && !has("skills") => {
            Operation::CreateTaskPushNotificationConfig
        }
        _ if has("skills") || has("capabilities") => Operation::GetExtendedAgentCard,
        _ if has("status") && dialect == Dialect::V1_0 => Operation::GetTask,
        _ => Operation::SendMessage,
    };
    (Kind::Response, operation)
}

/// What an object is that stands alone.
fn object(value: &Value, dialect: Dialect) -> Option<Kind> {
    let has = |member: &str| value.get(member).is_some();
    let name = match value["kind"].as_str().unwrap_or_default() {
        "task" => "Task",
        "message" => "Message",
        "status-update" => "TaskStatusUpdateEvent",
        "artifact-update" => "TaskArtifactUpdateEvent",
        _ if has("skills") || has("supportedInterfaces") => return Some(Kind::Card),
        _ if has("name") && has("capabilities") => return Some(Kind::Card),
        _ if dialect == Dialect::V1_0
            && WRAPPERS.iter().any(|wrapper| value[wrapper].is_object()) =>
        {
            "StreamResponse"
        }
        _ if has("role") && (has("parts") || has("messageId") || has("data")) => "Message",
        _ if has("artifact") => "TaskArtifactUpdateEvent",
        _ if has("status") && (has("final") || has("taskId")) => "TaskStatusUpdateEvent",
        _ if has("status") && has("id") => "Task",
        _ if has("state") => "TaskStatus",
        _ if has("parts") => "Artifact",
        _ if has("pushNotificationConfig") => "TaskPushNotificationConfig",
        _ if has("url") && (has("token") || has("authentication")) => match dialect {
            Dialect::V1_0 => "TaskPushNotificationConfig",
            _ => "PushNotificationConfig",
        },
        "text" | "file" | "data" => "Part",
        _ if ["text", "raw", "data"].iter().any(|content| has(content)) => "Part",
        _ => return None,
    };
    Some(Kind::Object(name))
}

/// The generation of a document that does not say it.
fn dialect_of(value: &Value) -> Dialect {
    let card = match &value["result"] {
        Value::Null => value,
        result => result,
    };
    let version = card["protocolVersion"].as_str();
    let says = version.and_then(Dialect::from_version);
    says.or_else(|| marked(value)).unwrap_or(Dialect::V0_1)
}

/// The generation that the members and the spelling of values are of.
fn marked(value: &Value) -> Option<Dialect> {
    let mut marks = Marks::default();
    marks.look(value);
    let Marks {
        of_1_0,
        of_0_3,
        of_0_2,
        of_0_1,
    } = marks;
    match () {
        () if of_1_0 => Some(Dialect::V1_0),
        () if of_0_3 => Some(Dialect::V0_3),
        () if of_0_1 && !of_0_2 => Some(Dialect::V0_1),
        () if of_0_2 => Some(Dialect::V0_2),
        () => None,
    }
}

#[derive(Default)]
struct Marks {
    of_1_0: bool,
    of_0_3: bool,
    of_0_2: bool,
    of_0_1: bool,
}

impl Marks {
    fn look(&mut self, value: &Value) {
        match value {
            Value::Object(object) => {
                for (name, member) in object {
                    let text = member.as_str().unwrap_or_default();
                    match name.as_str() {
                        "supportedInterfaces"
                        | "securityRequirements"
                        | "statusUpdate"
                        | "artifactUpdate"
                        | "returnImmediately" => self.of_1_0 = true,
                        "state" if text.starts_with("TASK_STATE_") => self.of_1_0 = true,
                        "role" if text.starts_with("ROLE_") => self.of_1_0 = true,
                        "signatures" => self.of_0_3 = true,
                        "kind"
                        | "contextId"
                        | "messageId"
                        | "artifactId"
                        | "taskId"
                        | "securitySchemes"
                        | "preferredTransport"
                        | "blocking"
                        | "acceptedOutputModes" => self.of_0_2 = true,
                        "sessionId" | "pushNotification" => self.of_0_1 = true,
                        "type" if ["text", "file", "data"].contains(&text) => self.of_0_1 = true,
                        _ => {}
                    }
                    // What users put there says nothing of the protocol.
                    if name != "metadata" && name != "data" {
                        self.look(member);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.look(item)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: &Value, name: &str, dialect: Dialect) {
        let subject = detect(value, false, None).expect("it is known");
        assert_eq!((&*subject.name(), subject.dialect), (name, dialect));
    }

    #[test]
    fn documents_are_told_apart() {
        let (old, middle, new) = (Dialect::V0_1, Dialect::V0_2, Dialect::V1_0);
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
            Dialect::V0_3,
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
            Dialect::V0_3,
        );
        check(&json!({"name": "n", "skills": []}), "AgentCard", old);
        check(&json!({"artifactId": "a", "parts": []}), "Artifact", middle);
        assert!(detect(&json!({"capabilities": {}}), false, None).is_none());
        assert!(detect(&json!([]), false, None).is_none());
    }
}
