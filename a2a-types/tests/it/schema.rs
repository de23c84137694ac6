//! Validation of what the types write by the schema of its version, JSON-RPC around it included.

use a2a_types::{
    AgentCard, Dialect, Event, ListTaskPushNotificationConfigsResponse, ListTasksResponse,
    Operation, Request, Response, SendMessageResponse, Task, TaskPushNotificationConfig, schema,
    v0_1, v0_2,
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

fn validate(dialect: Dialect, definition: &str, value: &Value) -> Result<(), String> {
    let schema = schema::definition(dialect, definition).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator
        .validate(value)
        .map_err(|error| format!("{dialect} {definition} {}: {error}", error.instance_path()))
}

#[track_caller]
fn check(dialect: Dialect, definition: &str, value: &Value) {
    assert_eq!(validate(dialect, definition, value), Ok(()), "{value}");
}

#[test]
fn every_message_of_1_0_fits_its_schema() {
    for (name, _, document) in everything() {
        check(Dialect::V1_0, name, &document);
    }
}

#[test]
fn missing_and_surplus_members_are_refused() {
    let of_1_0 = |name: &str, value: Value| validate(Dialect::V1_0, name, &value).is_ok();
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
    check(Dialect::V0_3, "AgentCard", &json!(written));
    check(Dialect::V0_2, "AgentCard", &json!(written.of_0_2()));
    for (definition, member) in [
        ("AgentCard", "signatures"),
        ("AgentSkill", "security"),
        ("OAuth2SecurityScheme", "oauth2MetadataUrl"),
    ] {
        let has = |dialect| {
            let definition = &schema::bundle(dialect)["$defs"][definition];
            !definition["properties"][member].is_null()
        };
        assert!(has(Dialect::V0_3) && !has(Dialect::V0_2), "{member}");
    }
    for definition in [
        "AgentCardSignature",
        "MutualTLSSecurityScheme",
        "ListTasksParams",
    ] {
        assert!(schema::definition(Dialect::V0_3, definition).is_some());
        assert!(schema::definition(Dialect::V0_2, definition).is_none());
    }
    let scheme = json!({"type": "mutualTLS"});
    check(Dialect::V0_3, "SecurityScheme", &scheme);
    assert!(validate(Dialect::V0_2, "SecurityScheme", &scheme).is_err());
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
        for &dialect in Dialect::ALL {
            let Some(definition) = schema::request_definition(dialect, operation) else {
                continue;
            };
            let params = match dialect {
                Dialect::V0_1 => json!(v0_1::write_request(request.clone())),
                Dialect::V0_2 | Dialect::V0_3 => json!(v0_2::write_request(request.clone())),
                _ => canonical.clone(),
            };
            let mut whole = json!({"jsonrpc": "2.0", "id": 1, "method": dialect.method(operation)});
            if !params.is_null() {
                whole["params"] = params;
            }
            check(dialect, definition, &whole);
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
        for &dialect in Dialect::ALL {
            let result = match dialect {
                Dialect::V0_1 => json!(v0_1::write_response(response.clone(), &"t".into())),
                Dialect::V0_2 | Dialect::V0_3 => {
                    json!(v0_2::write_response(response.clone(), dialect))
                }
                _ => canonical.clone(),
            };
            check_answer(dialect, operation, result);
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
            check_answer(Dialect::V0_1, operation, json!(event));
        }
        for dialect in [Dialect::V0_2, Dialect::V0_3] {
            check_answer(dialect, operation, json!(v0_2::write_event(event())));
        }
        check_answer(Dialect::V1_0, operation, canonical.clone());
    }
}

#[track_caller]
fn check_answer(dialect: Dialect, operation: Operation, result: Value) {
    if let Some(definition) = schema::response_definition(dialect, operation) {
        let whole = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        check(dialect, definition, &whole);
    }
}

fn message() -> Value {
    let mut all = everything().into_iter();
    let message = all.find(|(_, _, document)| !document["message"]["parts"].is_null());
    json!({"message": message.unwrap().2["message"]})
}
