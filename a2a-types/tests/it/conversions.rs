//! The same thing in three versions, side by side, and what each way loses.

use a2a_types::reading::{Hints, Mode, Wire, read};
use a2a_types::{
    AgentCard, Event, Message, Part, SendMessageRequest, Task, TaskPushNotificationConfig, v0_1,
    v0_2,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Checks both conversions between the canonical value and a version's.
#[track_caller]
fn check<C, W>(canonical: &Value, wire: &Value, back: &Value)
where
    C: Serialize + DeserializeOwned + From<W>,
    W: Wire + From<C>,
{
    let value: C = serde_json::from_value(canonical.clone()).unwrap();
    let written = serde_json::to_value(W::from(value)).unwrap();
    assert_eq!(&written, wire, "written");
    let read = read::<W>(&wire.to_string(), Mode::Strict, &Hints::at("$")).unwrap();
    let mut read = serde_json::to_value(C::from(read.value)).unwrap();
    forget_made_up_ids(&mut read, back);
    assert_eq!(&read, back, "read back");
}

/// Replaces message ids by `*` where the expected id is `*`: 0.1 has none, so a conversion makes them up.
fn forget_made_up_ids(read: &mut Value, expected: &Value) {
    if expected["messageId"] == "*"
        && let Some(id) = read.get_mut("messageId")
    {
        *id = json!("*");
    }
    match (read, expected) {
        (Value::Object(read), Value::Object(expected)) => {
            for (name, value) in read {
                forget_made_up_ids(value, expected.get(name).unwrap_or(&Value::Null));
            }
        }
        (Value::Array(read), Value::Array(expected)) => {
            for (value, expected) in read.iter_mut().zip(expected) {
                forget_made_up_ids(value, expected);
            }
        }
        _ => {}
    }
}

#[test]
fn parts_round_trip_through_each_version() {
    let rows = [
        (json!({"text": "a"}), json!({"kind": "text", "text": "a"})),
        (
            json!({"text": "a", "metadata": {"x": 1}, "filename": "n", "mediaType": "text/markdown"}),
            json!({"kind": "text", "text": "a", "metadata": {"x": 1, "filename": "n", "mimeType": "text/markdown"}}),
        ),
        (
            json!({"raw": "aGk=", "filename": "n", "mediaType": "image/png"}),
            json!({"kind": "file", "file": {"name": "n", "mimeType": "image/png", "bytes": "aGk="}}),
        ),
        (
            json!({"url": "https://h/"}),
            json!({"kind": "file", "file": {"uri": "https://h/"}}),
        ),
        (
            json!({"data": {"value": 1}}),
            json!({"kind": "data", "data": {"value": 1}}),
        ),
        (
            json!({"data": [u64::MAX, i64::MIN, 0.1]}),
            json!({"kind": "data", "data": {"value": [u64::MAX, i64::MIN, 0.1]}, "metadata": {"a2a-wrapped-value": true}}),
        ),
        // The flag speaks of an object that has nothing but the value.
        (
            json!({"data": {"value": 1, "more": 2}, "metadata": {"a2a-wrapped-value": true}}),
            json!({"kind": "data", "data": {"value": 1, "more": 2}, "metadata": {"a2a-wrapped-value": true}}),
        ),
        (
            json!({"data": null}),
            json!({"kind": "data", "data": {"value": null}, "metadata": {"a2a-wrapped-value": true}}),
        ),
    ];
    for (canonical, of_0_2) in rows {
        let part: Part = serde_json::from_value(canonical.clone()).unwrap();
        assert_eq!(
            serde_json::to_value(v0_2::Part::from(part.clone())).unwrap(),
            of_0_2
        );
        let back: v0_2::Part = serde_json::from_value(of_0_2.clone()).unwrap();
        assert_eq!(serde_json::to_value(Part::from(back)).unwrap(), canonical);

        let mut of_0_1 = of_0_2;
        let kind = of_0_1.as_object_mut().unwrap().remove("kind").unwrap();
        of_0_1["type"] = kind;
        assert_eq!(
            serde_json::to_value(v0_1::Part::from(part)).unwrap(),
            of_0_1
        );
        let back: v0_1::Part = serde_json::from_value(of_0_1).unwrap();
        assert_eq!(serde_json::to_value(Part::from(back)).unwrap(), canonical);
    }
}

#[test]
fn messages_round_trip_through_each_version() {
    let canonical = json!({
        "messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_AGENT", "parts": [{"text": "a"}],
        "metadata": {"x": 1}, "extensions": ["urn:e"], "referenceTaskIds": ["r"],
    });
    let of_0_2 = json!({
        "kind": "message", "messageId": "m", "contextId": "c", "taskId": "t", "role": "agent",
        "parts": [{"kind": "text", "text": "a"}], "metadata": {"x": 1}, "extensions": ["urn:e"], "referenceTaskIds": ["r"],
    });
    check::<Message, v0_2::Message>(&canonical, &of_0_2, &canonical);
    let of_0_1 =
        json!({"role": "agent", "parts": [{"type": "text", "text": "a"}], "metadata": {"x": 1}});
    let back = json!({"messageId": "*", "role": "ROLE_AGENT", "parts": [{"text": "a"}], "metadata": {"x": 1}});
    check::<Message, v0_1::Message>(&canonical, &of_0_1, &back);
}

#[test]
fn tasks_round_trip_through_each_version() {
    let canonical = json!({
        "id": "t", "contextId": "c",
        "status": {"state": "TASK_STATE_INPUT_REQUIRED", "timestamp": "2025-04-02T16:59:25.331Z",
            "message": {"messageId": "m2", "role": "ROLE_AGENT", "parts": [{"text": "which?"}]}},
        "artifacts": [
            {"artifactId": "a", "name": "n", "description": "d", "parts": [{"text": "1"}], "metadata": {"x": 1}},
            {"artifactId": "b", "parts": [{"text": "2"}]},
        ],
        "history": [{"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "a phone"}]}],
        "metadata": {"y": 2},
    });
    let of_0_2 = json!({
        "kind": "task", "id": "t", "contextId": "c",
        "status": {"state": "input-required", "timestamp": "2025-04-02T16:59:25.331Z",
            "message": {"kind": "message", "messageId": "m2", "role": "agent", "parts": [{"kind": "text", "text": "which?"}]}},
        "artifacts": [
            {"artifactId": "a", "name": "n", "description": "d", "parts": [{"kind": "text", "text": "1"}], "metadata": {"x": 1}},
            {"artifactId": "b", "parts": [{"kind": "text", "text": "2"}]},
        ],
        "history": [{"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "a phone"}]}],
        "metadata": {"y": 2},
    });
    check::<Task, v0_2::Task>(&canonical, &of_0_2, &canonical);
    let of_0_1 = json!({
        "id": "t", "sessionId": "c",
        "status": {"state": "input-required", "timestamp": "2025-04-02T16:59:25.331Z",
            "message": {"role": "agent", "parts": [{"type": "text", "text": "which?"}]}},
        "artifacts": [
            {"index": 0, "name": "n", "description": "d", "parts": [{"type": "text", "text": "1"}], "metadata": {"x": 1}},
            {"index": 1, "parts": [{"type": "text", "text": "2"}]},
        ],
        "history": [{"role": "user", "parts": [{"type": "text", "text": "a phone"}]}],
        "metadata": {"y": 2},
    });
    let mut back = canonical.clone();
    back["status"]["message"]["messageId"] = json!("*");
    back["history"][0]["messageId"] = json!("*");
    back["artifacts"][0]["artifactId"] = json!("index-0");
    back["artifacts"][1]["artifactId"] = json!("index-1");
    check::<Task, v0_1::Task>(&canonical, &of_0_1, &back);
}

/// An artifact that came with a number and one that came with a name are two.
#[test]
fn no_two_artifacts_have_one_number() {
    #[track_caller]
    fn check(ids: &[&str], expected: &[u32]) {
        let mut indices = v0_1::ArtifactIndices::default();
        let numbers: Vec<_> = ids.iter().map(|id| indices.index(&(*id).into())).collect();
        assert_eq!(numbers, expected, "{ids:?}");
    }
    check(&["zebra", "ant", "zebra"], &[0, 1, 0]);
    check(&["index-3", "index-0", "ant", "index-3"], &[3, 0, 1, 3]);
    check(&["ant", "index-0", "index-0", "index-x"], &[0, 1, 1, 2]);
}

/// 0.1 has neither state, and remembers them in the message.
#[test]
fn states_missing_in_0_1_round_trip_through_it() {
    for (state, word) in [
        ("TASK_STATE_REJECTED", "failed"),
        ("TASK_STATE_AUTH_REQUIRED", "input-required"),
    ] {
        let message = json!({"messageId": "*", "role": "ROLE_AGENT", "parts": [{"text": "no"}]});
        let canonical = json!({"id": "t", "status": {"state": state, "message": message}});
        let task: Task = serde_json::from_value(canonical.clone()).unwrap();
        let written = serde_json::to_value(v0_1::Task::from(task)).unwrap();
        assert_eq!(written["status"]["state"], word);
        let read = read::<v0_1::Task>(&written.to_string(), Mode::Strict, &Hints::at("$")).unwrap();
        let mut back = serde_json::to_value(Task::from(read.value)).unwrap();
        forget_made_up_ids(&mut back, &canonical);
        assert_eq!(back, canonical);
    }
}

#[test]
fn send_requests_round_trip_through_each_version() {
    let canonical = json!({
        "message": {"messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER", "parts": [{"text": "a"}]},
        "configuration": {
            "acceptedOutputModes": ["text/plain"], "historyLength": 3, "returnImmediately": true,
            "taskPushNotificationConfig": {"id": "p", "url": "https://h/", "token": "k",
                "authentication": {"scheme": "Bearer", "credentials": "s"}},
        },
        "metadata": {"x": 1},
    });
    let push = json!({"id": "p", "url": "https://h/", "token": "k", "authentication": {"schemes": ["Bearer"], "credentials": "s"}});
    let of_0_2 = json!({
        "message": {"kind": "message", "messageId": "m", "contextId": "c", "taskId": "t", "role": "user",
            "parts": [{"kind": "text", "text": "a"}]},
        "configuration": {"acceptedOutputModes": ["text/plain"], "historyLength": 3, "blocking": false,
            "pushNotificationConfig": push},
        "metadata": {"x": 1},
    });
    check::<SendMessageRequest, v0_2::MessageSendParams>(&canonical, &of_0_2, &canonical);
    let of_0_1 = json!({
        "id": "t", "sessionId": "c", "message": {"role": "user", "parts": [{"type": "text", "text": "a"}]},
        "acceptedOutputModes": ["text/plain"], "historyLength": 3,
        "pushNotification": {"url": "https://h/", "token": "k", "authentication": {"schemes": ["Bearer"], "credentials": "s"}},
        "metadata": {"x": 1},
    });
    let mut back = canonical.clone();
    back["message"]["messageId"] = json!("*");
    back["configuration"]
        .as_object_mut()
        .unwrap()
        .remove("returnImmediately");
    back["configuration"]["taskPushNotificationConfig"]
        .as_object_mut()
        .unwrap()
        .remove("id");
    check::<SendMessageRequest, v0_1::TaskSendParams>(&canonical, &of_0_1, &back);
}

#[test]
fn webhooks_round_trip_through_each_version() {
    let canonical = json!({"id": "default", "taskId": "t", "url": "https://h/", "authentication": {"scheme": "jwt"}});
    let of_0_2 = json!({"taskId": "t", "pushNotificationConfig": {"id": "default", "url": "https://h/", "authentication": {"schemes": ["jwt"]}}});
    check::<TaskPushNotificationConfig, v0_2::TaskPushNotificationConfig>(
        &canonical, &of_0_2, &canonical,
    );
    let of_0_1 = json!({"id": "t", "pushNotificationConfig": {"url": "https://h/", "authentication": {"schemes": ["jwt"]}}});
    check::<TaskPushNotificationConfig, v0_1::TaskPushNotificationConfig>(
        &canonical, &of_0_1, &canonical,
    );

    let several = r#"{"id":"t","pushNotificationConfig":{"url":"u","authentication":{"schemes":["x","basic"]}}}"#;
    let read =
        read::<v0_1::TaskPushNotificationConfig>(several, Mode::Strict, &Hints::at("$")).unwrap();
    let config = TaskPushNotificationConfig::from(read.value);
    assert_eq!(
        config.authentication.unwrap().scheme,
        "basic",
        "the first that we can perform"
    );
}

#[test]
fn cards_round_trip_through_each_version() {
    let canonical = json!({
        "name": "n", "description": "d", "version": "1", "documentationUrl": "https://d/", "iconUrl": "https://i/",
        "supportedInterfaces": [{"url": "https://h/", "protocolBinding": "JSONRPC", "protocolVersion": "0.2"}],
        "provider": {"organization": "o", "url": "https://o/"},
        "capabilities": {"streaming": true, "pushNotifications": false, "extendedAgentCard": true,
            "extensions": [{"uri": "urn:e", "required": true, "params": {"x": 1}}]},
        "securitySchemes": {
            "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}},
            "token": {"httpAuthSecurityScheme": {"scheme": "bearer", "bearerFormat": "JWT"}},
            "open": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://c/"}},
            "flow": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {"tokenUrl": "https://t/", "scopes": {"a": "b"}}}}},
        },
        "securityRequirements": [{"schemes": {"key": {"list": []}, "flow": {"list": ["a"]}}}, {"schemes": {"token": {"list": []}}}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "s", "description": "d", "tags": ["t"], "examples": ["e"], "inputModes": ["i"], "outputModes": ["o"]}],
    });
    let of_0_2 = json!({
        "protocolVersion": "0.2.6", "name": "n", "description": "d", "version": "1", "documentationUrl": "https://d/",
        "iconUrl": "https://i/", "url": "https://h/", "preferredTransport": "JSONRPC",
        "provider": {"organization": "o", "url": "https://o/"},
        "capabilities": {"streaming": true, "pushNotifications": false,
            "extensions": [{"uri": "urn:e", "required": true, "params": {"x": 1}}]},
        "supportsAuthenticatedExtendedCard": true,
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
            "open": {"type": "openIdConnect", "openIdConnectUrl": "https://c/"},
            "flow": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://t/", "scopes": {"a": "b"}}}},
        },
        "security": [{"key": [], "flow": ["a"]}, {"token": []}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "s", "description": "d", "tags": ["t"], "examples": ["e"], "inputModes": ["i"], "outputModes": ["o"]}],
    });
    check::<AgentCard, v0_2::AgentCard>(&canonical, &of_0_2, &canonical);

    let card: AgentCard = serde_json::from_value(canonical).unwrap();
    let of_0_1 = serde_json::to_value(v0_1::AgentCard::from(card)).unwrap();
    assert_eq!(
        of_0_1["authentication"]["schemes"],
        json!(["OAuth2", "ApiKey", "Bearer"])
    );
    assert_eq!(of_0_1["url"], "https://h/");
}

#[track_caller]
fn check_events(canonical: Value, of_0_2: Value, of_0_1: &[Value]) {
    let event: Event = serde_json::from_value(canonical).unwrap();
    assert_eq!(
        serde_json::to_value(v0_2::write_event(event.clone())).unwrap(),
        of_0_2
    );
    let written = v0_1::EventWriter::new("t".into()).write(event);
    let written: Vec<_> = written
        .iter()
        .map(|event| serde_json::to_value(event).unwrap())
        .collect();
    assert_eq!(written, of_0_1);
}

#[test]
fn events_are_converted_to_each_version() {
    check_events(
        json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}),
        json!({"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": "working"}, "final": false}),
        &[json!({"id": "t", "status": {"state": "working"}, "final": false})],
    );
    for (state, word) in [
        ("COMPLETED", "completed"),
        ("CANCELED", "canceled"),
        ("FAILED", "failed"),
        ("INPUT_REQUIRED", "input-required"),
    ] {
        check_events(
            json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": format!("TASK_STATE_{state}")}}}),
            json!({"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": word}, "final": true}),
            &[json!({"id": "t", "status": {"state": word}, "final": true})],
        );
    }
    check_events(
        json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "append": true, "lastChunk": true,
            "artifact": {"artifactId": "a", "parts": [{"text": "x"}]}, "metadata": {"x": 1}}}),
        json!({"kind": "artifact-update", "taskId": "t", "contextId": "c", "append": true, "lastChunk": true,
            "artifact": {"artifactId": "a", "parts": [{"kind": "text", "text": "x"}]}, "metadata": {"x": 1}}),
        &[
            json!({"id": "t", "artifact": {"index": 0, "append": true, "lastChunk": true,
            "parts": [{"type": "text", "text": "x"}]}, "metadata": {"x": 1}}),
        ],
    );
    check_events(
        json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}}),
        json!({"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "x"}]}),
        &[
            json!({"id": "t", "final": true, "status": {"state": "completed",
            "message": {"role": "agent", "parts": [{"type": "text", "text": "x"}]}}}),
        ],
    );
    let artifact = json!({"artifactId": "a", "parts": [{"text": "x"}]});
    check_events(
        json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}, "artifacts": [artifact]}}),
        json!({"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"},
            "artifacts": [{"artifactId": "a", "parts": [{"kind": "text", "text": "x"}]}]}),
        &[
            json!({"id": "t", "status": {"state": "working"}, "final": false}),
            json!({"id": "t", "artifact": {"index": 0, "append": false, "lastChunk": false, "parts": [{"type": "text", "text": "x"}]}}),
        ],
    );
}
