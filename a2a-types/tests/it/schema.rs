//! Validation of what the types write by the schema of its version, JSON-RPC around it included.

use a2a_types::{
    AgentCard, Event, ListTaskPushNotificationConfigsResponse, ListTasksResponse, Operation,
    ProtocolVersion, Request, Response, SendMessageResponse, Task, TaskPushNotificationConfig,
    schema, v0_1, v0_2,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::everything::{card, everything};

/// Returns the first document of the message called `name`.
fn document(name: &str) -> Value {
    let mut all = everything().into_iter();
    all.find(|(found, ..)| *found == name).unwrap().2
}

fn read<T: DeserializeOwned>(document: Value) -> T {
    serde_json::from_value(document).unwrap()
}

fn validate(
    protocol_version: ProtocolVersion,
    definition: &str,
    value: &Value,
) -> Result<(), String> {
    let schema = schema::definition(protocol_version, definition).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.validate(value).map_err(|error| {
        format!(
            "{protocol_version} {definition} {}: {error}",
            error.instance_path()
        )
    })
}

#[track_caller]
fn check(protocol_version: ProtocolVersion, definition: &str, value: &Value) {
    assert_eq!(
        validate(protocol_version, definition, value),
        Ok(()),
        "{value}"
    );
}

#[test]
fn every_message_of_1_0_fits_its_schema() {
    for (name, _, document) in everything() {
        check(ProtocolVersion::V1_0, name, &document);
    }
}

#[test]
fn missing_and_surplus_members_are_refused() {
    let of_1_0 = |name: &str, value: Value| validate(ProtocolVersion::V1_0, name, &value).is_ok();
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "t"}]});
    assert!(of_1_0("Message", message.clone()));
    for member in ["messageId", "role", "parts"] {
        let mut less = message.clone();
        less.as_object_mut().unwrap().remove(member);
        assert!(!of_1_0("Message", less), "{member}");
    }
    assert!(of_1_0("Part", json!({"data": null})));
    assert!(!of_1_0("Part", json!({})));
    assert!(!of_1_0("Part", json!({"text": "t", "url": "u"})));
    assert!(!of_1_0("StreamResponse", json!({})));
    assert!(!of_1_0(
        "Task",
        json!({"id": "t", "status": {"state": "working"}})
    ));
}

#[test]
fn only_0_3_has_what_is_new_there() {
    let written = v0_2::AgentCard::from(read::<AgentCard>(card()));
    check(ProtocolVersion::V0_3, "AgentCard", &json!(written));
    check(ProtocolVersion::V0_2, "AgentCard", &json!(written.of_0_2()));
    for (definition, member) in [
        ("AgentCard", "signatures"),
        ("AgentSkill", "security"),
        ("OAuth2SecurityScheme", "oauth2MetadataUrl"),
    ] {
        let has = |protocol_version| {
            let definition = &schema::bundle(protocol_version)["$defs"][definition];
            !definition["properties"][member].is_null()
        };
        assert!(
            has(ProtocolVersion::V0_3) && !has(ProtocolVersion::V0_2),
            "{member}"
        );
    }
    for definition in [
        "AgentCardSignature",
        "MutualTLSSecurityScheme",
        "ListTasksParams",
    ] {
        assert!(schema::definition(ProtocolVersion::V0_3, definition).is_some());
        assert!(schema::definition(ProtocolVersion::V0_2, definition).is_none());
    }
    let scheme = json!({"type": "mutualTLS"});
    check(ProtocolVersion::V0_3, "SecurityScheme", &scheme);
    assert!(validate(ProtocolVersion::V0_2, "SecurityScheme", &scheme).is_err());
}

#[test]
fn requests_of_every_version_fit_their_schema() {
    let send = || read(document("SendMessageRequest"));
    let config = || read(document("TaskPushNotificationConfig"));
    macro_rules! requests {
        ($($operation:ident($name:literal);)*) => {
            [$((Request::$operation(read(document($name))), document($name)),)*]
        };
    }
    let mut requests = Vec::from(requests! {
        GetTask("GetTaskRequest");
        ListTasks("ListTasksRequest");
        CancelTask("CancelTaskRequest");
        SubscribeToTask("SubscribeToTaskRequest");
        GetTaskPushNotificationConfig("GetTaskPushNotificationConfigRequest");
        ListTaskPushNotificationConfigs("ListTaskPushNotificationConfigsRequest");
        DeleteTaskPushNotificationConfig("DeleteTaskPushNotificationConfigRequest");
        GetExtendedAgentCard("GetExtendedAgentCardRequest");
    });
    requests.push((Request::SendMessage(send()), document("SendMessageRequest")));
    requests.push((
        Request::SendStreamingMessage(send()),
        document("SendMessageRequest"),
    ));
    requests.push((
        Request::CreateTaskPushNotificationConfig(config()),
        document("TaskPushNotificationConfig"),
    ));
    assert_eq!(requests.len(), Operation::ALL.len());
    for (request, canonical) in requests {
        let operation = request.operation();
        for &protocol_version in ProtocolVersion::ALL {
            let Some(definition) = schema::request_definition(protocol_version, operation) else {
                continue;
            };
            let params = match protocol_version {
                ProtocolVersion::V0_1 => json!(v0_1::write_request(request.clone())),
                ProtocolVersion::V0_2 | ProtocolVersion::V0_3 => {
                    json!(v0_2::write_request(request.clone()))
                }
                _ => canonical.clone(),
            };
            let mut whole =
                json!({"jsonrpc": "2.0", "id": 1, "method": protocol_version.method(operation)});
            if !params.is_null() {
                whole["params"] = params;
            }
            check(protocol_version, definition, &whole);
        }
    }
}

#[test]
fn answers_of_every_version_fit_their_schema() {
    let (task, message) = (document("StreamResponse"), message());
    let sent = |answer: &Value| Response::SendMessage(read::<SendMessageResponse>(answer.clone()));
    let task_alone = || read::<Task>(task["task"].clone());
    let config = || document("TaskPushNotificationConfig");
    let (tasks, configs) = (
        document("ListTasksResponse"),
        document("ListTaskPushNotificationConfigsResponse"),
    );
    let answers = [
        (sent(&task), task.clone()),
        (sent(&message), message),
        (Response::GetTask(task_alone()), task["task"].clone()),
        (Response::CancelTask(task_alone()), task["task"].clone()),
        (
            Response::ListTasks(read::<ListTasksResponse>(tasks.clone())),
            tasks,
        ),
        (
            Response::CreateTaskPushNotificationConfig(
                read::<TaskPushNotificationConfig>(config()),
            ),
            config(),
        ),
        (
            Response::ListTaskPushNotificationConfigs(read::<
                ListTaskPushNotificationConfigsResponse,
            >(configs.clone())),
            configs,
        ),
        (Response::DeleteTaskPushNotificationConfig(()), json!({})),
        (Response::GetExtendedAgentCard(read(card())), card()),
    ];
    for (response, canonical) in answers {
        let operation = response.operation();
        for &protocol_version in ProtocolVersion::ALL {
            let result = match protocol_version {
                ProtocolVersion::V0_1 => json!(v0_1::write_response(response.clone(), &"t".into())),
                ProtocolVersion::V0_2 | ProtocolVersion::V0_3 => {
                    json!(v0_2::write_response(response.clone(), protocol_version))
                }
                _ => canonical.clone(),
            };
            check_answer(protocol_version, operation, result);
        }
    }
}

#[test]
fn streams_of_every_version_fit_their_schema() {
    let events = everything()
        .into_iter()
        .filter(|(name, ..)| *name == "StreamResponse");
    let operation = Operation::SendStreamingMessage;
    for (_, _, canonical) in events {
        let event = || read::<Event>(canonical.clone());
        for event in v0_1::EventWriter::new("t".into()).write(event()) {
            check_answer(ProtocolVersion::V0_1, operation, json!(event));
        }
        for protocol_version in [ProtocolVersion::V0_2, ProtocolVersion::V0_3] {
            check_answer(
                protocol_version,
                operation,
                json!(v0_2::write_event(event())),
            );
        }
        check_answer(ProtocolVersion::V1_0, operation, canonical.clone());
    }
}

#[track_caller]
fn check_answer(protocol_version: ProtocolVersion, operation: Operation, result: Value) {
    if let Some(definition) = schema::response_definition(protocol_version, operation) {
        let whole = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        check(protocol_version, definition, &whole);
    }
}

fn message() -> Value {
    let mut all = everything().into_iter();
    let message = all.find(|(_, _, document)| !document["message"]["parts"].is_null());
    json!({"message": message.unwrap().2["message"]})
}
