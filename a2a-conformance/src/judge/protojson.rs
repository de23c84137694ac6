//! Answers of agents by HTTP+JSON in 0.3, whose JSON is that of JSON-RPC (0.3 §3.2.3) or ProtoJSON
//! (0.3 §3.2.2), and by gRPC.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use a2a_types::v0_3::Flavour;
use a2a_types::{Operation, ProtocolVersion, schema};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::lint::{self, SchemaViolation, validate};

/// Returns what is wrong with an answer or an event, and by which definition; `None` if it fits one of
/// the two.
pub(crate) fn schema_violation(
    operation: Operation,
    json: &Value,
) -> Option<(SchemaViolation, &'static str)> {
    let proto = against_proto(operation, json)?;
    let name = schema::response_definition(ProtocolVersion::V0_3, operation)?;
    let plain = against_plain(operation, name, json)?;
    Some(match Flavour::of(&json.to_string()) {
        Some(Flavour::Plain) => (plain, name),
        _ => (proto, definition(operation)),
    })
}

fn against_proto(operation: Operation, json: &Value) -> Option<SchemaViolation> {
    // A test checks that every definition has a validator.
    let validator = VALIDATORS.get(definition(operation))?;
    validate(validator, json).into_iter().next()
}

fn against_plain(
    operation: Operation,
    name: &'static str,
    json: &Value,
) -> Option<SchemaViolation> {
    let members = [
        "task",
        "message",
        "statusUpdate",
        "artifactUpdate",
        "configs",
    ];
    // Objects that JSON-RPC distinguishes by `kind` may be wrapped here.
    let wrapped = |member: &&&str| json.get(**member).is_some();
    let member = members.iter().find(wrapped);
    let inner = member.and_then(|member| json.get(member));
    let result = match (operation, json) {
        (Operation::DeleteTaskPushNotificationConfig, Value::Object(_)) => &Value::Null,
        _ => inner.unwrap_or(json),
    };
    let whole = json!({"jsonrpc": "2.0", "id": 1, "result": result});
    let schema_violation = lint::schema_violation(ProtocolVersion::V0_3, name, &whole)?;
    let outer = member.map_or("$".to_owned(), |member| format!("$.{member}"));
    Some(schema_violation.within("$.result", &outer))
}

fn definition(operation: Operation) -> &'static str {
    match operation {
        Operation::SendMessage => "SendMessageResponse",
        Operation::SendStreamingMessage | Operation::SubscribeToTask => "StreamResponse",
        Operation::GetTask | Operation::CancelTask => "Task",
        Operation::ListTasks => "ListTasksResponse",
        Operation::CreateTaskPushNotificationConfig | Operation::GetTaskPushNotificationConfig => {
            "TaskPushNotificationConfig"
        }
        Operation::ListTaskPushNotificationConfigs => "ListTaskPushNotificationConfigResponse",
        Operation::GetExtendedAgentCard => "AgentCard",
        _ => "Empty",
    }
}

/// Validators by the names of their definitions.
static VALIDATORS: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let bundle: Value = serde_json::from_str(SCHEMA).unwrap_or_default();
    let definitions = bundle["$defs"].as_object().into_iter().flatten();
    let validators = definitions.filter_map(|(name, _)| {
        let mut whole = bundle.clone();
        whole["$ref"] = json!(format!("#/$defs/{name}"));
        Some((name.clone(), jsonschema::validator_for(&whole).ok()?))
    });
    validators.collect()
});

const SCHEMA: &str = include_str!("../../schemas/0.3-http-json.json");

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(operation: Operation, json: &Value, wrong: Option<&str>) {
        let found = schema_violation(operation, json);
        let text = found.map(|(schema_violation, _)| {
            format!("{}: {}", schema_violation.path, schema_violation.problem)
        });
        match (text, wrong) {
            (None, None) => {}
            (Some(text), Some(place)) if text.contains(place) => {}
            (text, _) => panic!("{json}: {text:?}"),
        }
    }

    #[test]
    fn every_operation_has_a_schema() {
        for operation in Operation::ALL {
            let name = definition(*operation);
            assert!(VALIDATORS.contains_key(name), "{operation:?}: {name}");
        }
    }

    #[test]
    fn both_kinds_of_json_are_right() {
        let proto = json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_CANCELLED"}}});
        check(Operation::SendMessage, &proto, None);
        let plain = json!({"task": {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "canceled"}}});
        check(Operation::SendMessage, &plain, None);
        check(Operation::SendMessage, &plain["task"], None);
        check(
            Operation::DeleteTaskPushNotificationConfig,
            &json!({}),
            None,
        );
    }

    #[test]
    fn a_mixture_is_wrong() {
        let status = |state: &str| json!({"id": "t", "contextId": "c", "status": {"state": state}});
        check(Operation::GetTask, &status("canceled"), Some("kind"));
        check(
            Operation::GetTask,
            &status("TASK_STATE_CANCELED"),
            Some("$.status.state"),
        );
        let without = json!({"contextId": "c", "status": {"state": "TASK_STATE_WORKING"}});
        check(Operation::GetTask, &without, Some("\"id\""));
        let event = json!({"statusUpdate": {"taskId": 7, "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}});
        check(
            Operation::SubscribeToTask,
            &event,
            Some("$.statusUpdate.taskId"),
        );
    }
}
