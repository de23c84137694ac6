//! The liberties that ProtoJSON gives a sender of 1.0, on every type of the canonical model.

use a2a_types::reading::{Hints, read_canonical};
use a2a_types::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, Event,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, Part, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, TaskPushNotificationConfig,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Reads a value and writes it again: what was understood, or the path and what was wrong there.
type Reread = fn(&Value) -> Result<Value, String>;

fn reread<T: DeserializeOwned + Serialize>(value: &Value) -> Result<Value, String> {
    let read = read_canonical::<T>(&value.to_string(), &Hints::at("$"));
    read.map(|value| json!(value))
        .map_err(|violation| violation.to_string())
}

/// Every message of the protocol with every member that it has, and how it is read.
fn everything() -> Vec<(&'static str, Reread, Value)> {
    let parts = json!([
        {"text": "t", "mediaType": "text/plain", "filename": "f", "metadata": {"a_b": null}},
        {"raw": "aGk="}, {"url": "https://h/"}, {"data": {"a_b": null}},
    ]);
    let message = json!({
        "messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_AGENT", "parts": parts,
        "metadata": {"aB": 1}, "extensions": ["urn:e"], "referenceTaskIds": ["r"],
    });
    let status = json!({"state": "TASK_STATE_WORKING", "message": message, "timestamp": "2025-04-02T16:59:25.331Z"});
    let artifact = json!({
        "artifactId": "a", "name": "n", "description": "d", "parts": parts, "metadata": {"aB": 1}, "extensions": ["urn:e"],
    });
    let task = json!({
        "id": "t", "contextId": "c", "status": status, "artifacts": [artifact], "history": [message], "metadata": {"aB": 1},
    });
    let config = json!({
        "tenant": "x", "id": "p", "taskId": "t", "url": "https://h/", "token": "k",
        "authentication": {"scheme": "Bearer", "credentials": "s"},
    });
    let status_update =
        json!({"taskId": "t", "contextId": "c", "status": status, "metadata": {"aB": 1}});
    let artifact_update = json!({
        "taskId": "t", "contextId": "c", "artifact": artifact, "append": true, "lastChunk": true, "metadata": {"aB": 1},
    });
    let named = json!({"tenant": "x", "taskId": "t", "id": "p"});
    vec![
        ("Event", reread::<Event>, json!({ "task": task })),
        ("Event", reread::<Event>, json!({ "message": message })),
        (
            "Event",
            reread::<Event>,
            json!({ "statusUpdate": status_update }),
        ),
        (
            "Event",
            reread::<Event>,
            json!({ "artifactUpdate": artifact_update }),
        ),
        (
            "SendMessageResponse",
            reread::<SendMessageResponse>,
            json!({ "task": task }),
        ),
        (
            "SendMessageRequest",
            reread::<SendMessageRequest>,
            json!({
                "tenant": "x", "message": message, "metadata": {"aB": 1},
                "configuration": {"acceptedOutputModes": ["text/plain"], "taskPushNotificationConfig": config,
                    "historyLength": 3, "returnImmediately": true},
            }),
        ),
        (
            "GetTaskRequest",
            reread::<GetTaskRequest>,
            json!({"tenant": "x", "id": "t", "historyLength": 3}),
        ),
        (
            "ListTasksRequest",
            reread::<ListTasksRequest>,
            json!({
                "tenant": "x", "contextId": "c", "status": "TASK_STATE_WORKING", "pageSize": 7, "pageToken": "k",
                "historyLength": 3, "statusTimestampAfter": "2025-04-02T16:59:25.331Z", "includeArtifacts": true,
            }),
        ),
        (
            "ListTasksResponse",
            reread::<ListTasksResponse>,
            json!({"tasks": [task], "nextPageToken": "k", "pageSize": 7, "totalSize": 70}),
        ),
        (
            "CancelTaskRequest",
            reread::<CancelTaskRequest>,
            json!({"tenant": "x", "id": "t", "metadata": {"aB": 1}}),
        ),
        (
            "SubscribeToTaskRequest",
            reread::<SubscribeToTaskRequest>,
            json!({"tenant": "x", "id": "t"}),
        ),
        (
            "TaskPushNotificationConfig",
            reread::<TaskPushNotificationConfig>,
            config.clone(),
        ),
        (
            "GetTaskPushNotificationConfigRequest",
            reread::<GetTaskPushNotificationConfigRequest>,
            named.clone(),
        ),
        (
            "DeleteTaskPushNotificationConfigRequest",
            reread::<DeleteTaskPushNotificationConfigRequest>,
            named,
        ),
        (
            "ListTaskPushNotificationConfigsRequest",
            reread::<ListTaskPushNotificationConfigsRequest>,
            json!({"tenant": "x", "taskId": "t", "pageSize": 7, "pageToken": "k"}),
        ),
        (
            "ListTaskPushNotificationConfigsResponse",
            reread::<ListTaskPushNotificationConfigsResponse>,
            json!({"configs": [config], "nextPageToken": "k"}),
        ),
        (
            "GetExtendedAgentCardRequest",
            reread::<GetExtendedAgentCardRequest>,
            json!({"tenant": "x"}),
        ),
        ("AgentCard", reread::<AgentCard>, card()),
    ]
}

fn card() -> Value {
    let urls = json!({"authorizationUrl": "a", "tokenUrl": "t", "refreshUrl": "r", "scopes": {"a_b": "s"}});
    let flow = |name: &str, members: &[&str]| {
        let mut flow = json!({"refreshUrl": "r", "scopes": {"a_b": "s"}});
        for member in members {
            flow[member] = json!("u");
        }
        json!({"oauth2SecurityScheme": {"description": "d", "flows": {name: flow}, "oauth2MetadataUrl": "m"}})
    };
    let mut code = urls.clone();
    code["pkceRequired"] = json!(true);
    let requirements = json!([{"schemes": {"a_key": {"list": ["s"]}}}]);
    json!({
        "name": "n", "description": "d", "version": "1", "documentationUrl": "https://d/", "iconUrl": "https://i/",
        "supportedInterfaces": [{"url": "u", "protocolBinding": "JSONRPC", "tenant": "x", "protocolVersion": "1.0"}],
        "provider": {"organization": "o", "url": "https://o/"},
        "capabilities": {"streaming": true, "pushNotifications": false, "extendedAgentCard": true,
            "extensions": [{"uri": "urn:e", "description": "d", "required": true, "params": {"aB": 1}}]},
        "securitySchemes": {
            "a_key": {"apiKeySecurityScheme": {"description": "d", "location": "header", "name": "X-Key"}},
            "aToken": {"httpAuthSecurityScheme": {"description": "d", "scheme": "Bearer", "bearerFormat": "JWT"}},
            "open": {"openIdConnectSecurityScheme": {"description": "d", "openIdConnectUrl": "https://c/"}},
            "mtls": {"mtlsSecurityScheme": {"description": "d"}},
            "code": {"oauth2SecurityScheme": {"description": "d", "flows": {"authorizationCode": code}}},
            "client": flow("clientCredentials", &["tokenUrl"]),
            "implicit": flow("implicit", &["authorizationUrl"]),
            "password": flow("password", &["tokenUrl"]),
            "device": flow("deviceCode", &["deviceAuthorizationUrl", "tokenUrl"]),
        },
        "securityRequirements": requirements,
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "s", "description": "d", "tags": ["t"], "examples": ["e"], "inputModes": ["i"],
            "outputModes": ["o"], "securityRequirements": requirements}],
        "signatures": [{"protected": "p", "signature": "s", "header": {"aB": 1}}],
    })
}

/// Calls `visit` with every object whose members the protocol names, `value` included.
fn objects(value: &mut Value, visit: &mut impl FnMut(&mut Object)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| objects(item, visit)),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match name.as_str() {
                    "metadata" | "params" | "header" | "data" | "scopes" => {}
                    "schemes" | "securitySchemes" => {
                        let named = member.as_object_mut().into_iter().flatten();
                        named.for_each(|(_, member)| objects(member, visit));
                    }
                    _ => objects(member, visit),
                }
            }
            visit(members);
        }
        _ => {}
    }
}

fn snake_case(name: &str) -> String {
    let words = name.chars().map(|letter| match letter.is_uppercase() {
        true => format!("_{}", letter.to_ascii_lowercase()),
        false => letter.to_string(),
    });
    words.collect()
}

#[test]
fn every_member_is_read_in_both_spellings() {
    for (name, reread, whole) in everything() {
        assert_eq!(reread(&whole), Ok(whole.clone()), "{name} as it is written");
        let mut snake = whole.clone();
        objects(&mut snake, &mut |members| {
            let renamed = std::mem::take(members).into_iter();
            members.extend(renamed.map(|(name, value)| (snake_case(&name), value)));
        });
        assert_eq!(reread(&snake), Ok(whole), "{name}: {snake}");
    }
}

#[test]
fn members_that_nobody_knows_are_ignored() {
    for (name, reread, whole) in everything() {
        let mut more = whole.clone();
        objects(&mut more, &mut |members| {
            members.insert("kindOfThing".to_owned(), json!({"x": [null]}));
        });
        assert_eq!(reread(&more), Ok(whole), "{name}");
    }
}

/// How many members the objects of `value` have in all.
fn count(value: &mut Value) -> usize {
    let mut count = 0;
    objects(value, &mut |members| count += members.len());
    count
}

/// Each member by itself: `null` is what is read without it, whether that can be read or not.
#[test]
fn null_is_absent() {
    for (name, reread, whole) in everything() {
        for nth in 0..count(&mut whole.clone()) {
            let change = |change: fn(&mut Object, &str)| {
                let (mut changed, mut seen, mut path) = (whole.clone(), 0, String::new());
                objects(&mut changed, &mut |members| {
                    let names: Vec<_> = members.keys().cloned().collect();
                    for name in names {
                        if seen == nth {
                            change(members, &name);
                            path = name;
                        }
                        seen += 1;
                    }
                });
                (changed, path)
            };
            let (absent, member) = change(|members, name| drop(members.remove(name)));
            let (null, _) =
                change(|members, name| drop(members.insert(name.to_owned(), Value::Null)));
            if member == "data" {
                assert!(reread(&null).is_ok() && reread(&absent).is_err());
                continue;
            }
            match (reread(&null), reread(&absent)) {
                (Ok(null), Ok(absent)) => assert_eq!(null, absent, "{name} {member}"),
                (Err(_), Err(_)) => {}
                (null, absent) => panic!("{name} {member}: {null:?} but {absent:?}"),
            }
        }
    }
}

#[track_caller]
fn check<T: DeserializeOwned + Serialize>(json: Value, expected: Result<Value, &str>) {
    let read = reread::<T>(&json);
    assert_eq!(
        read.as_ref().map_err(String::as_str),
        expected.as_ref().map_err(|e| *e),
        "{json}"
    );
}

#[test]
fn numbers() {
    let sized = |size: Value| json!({"pageSize": size});
    let read = |size: Value, number: u32| {
        check::<ListTasksRequest>(sized(size), Ok(sized(number.into())));
    };
    read(json!(10), 10);
    read(json!("10"), 10);
    read(json!(10.0), 10);
    read(json!("10.0"), 10);
    read(json!("1e1"), 10);
    read(json!(0), 0);
    read(json!(i32::MAX), 2_147_483_647);
    let refused = |size: Value, said: &str| {
        let expected = "a whole number from 0 to 2147483647";
        let problem = format!("$.pageSize: invalid value: {said}, expected {expected}");
        check::<ListTasksRequest>(sized(size), Err(&problem));
    };
    refused(json!(-1), "integer `-1`");
    refused(json!(2_147_483_648_u32), "integer `2147483648`");
    refused(json!(u64::MAX), "integer `18446744073709551615`");
    refused(json!(1.5), "floating point `1.5`");
    refused(json!("-1"), "string \"-1\"");
    refused(json!("ten"), "string \"ten\"");
    refused(json!("NaN"), "string \"NaN\"");
    refused(json!(""), "string \"\"");
    let problem = "$.configuration.historyLength: invalid type: boolean `true`, expected a whole number from 0 to 2147483647";
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "t"}]});
    let request = json!({"message": message, "configuration": {"historyLength": true}});
    check::<SendMessageRequest>(request, Err(problem));
    check::<GetTaskRequest>(
        json!({"id": "t", "historyLength": "3"}),
        Ok(json!({"id": "t", "historyLength": 3})),
    );
    check::<ListTaskPushNotificationConfigsRequest>(
        json!({"taskId": "t", "pageSize": "3"}),
        Ok(json!({"taskId": "t", "pageSize": 3})),
    );
    check::<ListTasksResponse>(
        json!({"pageSize": "3", "totalSize": 4.0}),
        Ok(json!({"tasks": [], "nextPageToken": "", "pageSize": 3, "totalSize": 4})),
    );
}

#[test]
fn flags_and_words() {
    for flag in [json!("true"), json!(1)] {
        let read = reread::<ListTasksRequest>(&json!({"includeArtifacts": flag}));
        assert!(read.unwrap_err().starts_with("$.includeArtifacts: "));
    }
    let state = |state: Value| json!({"status": state});
    let working = || Ok(json!({"status": "TASK_STATE_WORKING"}));
    check::<ListTasksRequest>(state(json!("TASK_STATE_WORKING")), working());
    check::<ListTasksRequest>(state(json!(2)), working());
    for unknown in [json!("working"), json!(9), json!(-1)] {
        let read = reread::<ListTasksRequest>(&state(unknown));
        assert!(read.unwrap_err().starts_with("$.status: "));
    }
}

#[test]
fn exactly_one() {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": []});
    let said = json!({ "message": message });
    check::<Event>(
        json!({"message": message, "task": null, "x": 1}),
        Ok(said.clone()),
    );
    check::<SendMessageResponse>(json!({"message": message, "task": null}), Ok(said));
    let problem = "$: expected exactly one of `task`, `message`";
    check::<SendMessageResponse>(json!({}), Err(problem));
    let task = json!({"id": "t", "status": {"state": "TASK_STATE_WORKING"}});
    check::<SendMessageResponse>(json!({"message": message, "task": task}), Err(problem));
    check::<Part>(json!({"text": "t", "raw": null}), Ok(json!({"text": "t"})));
    check::<Part>(json!({"data": null}), Ok(json!({"data": null})));
}

#[test]
fn the_updates_by_the_names_of_the_page_that_tells_what_is_new() {
    let update =
        json!({"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}});
    check::<Event>(
        json!({ "taskStatusUpdate": update }),
        Ok(json!({ "statusUpdate": update })),
    );
    let update =
        json!({"taskId": "t", "contextId": "c", "artifact": {"artifactId": "a", "parts": []}});
    check::<Event>(
        json!({ "taskArtifactUpdate": update }),
        Ok(json!({ "artifactUpdate": update })),
    );
}
