//! The same thing in 1.0 and in 0.3, side by side.

use a2a_types::reading::Mode;
use a2a_types::v0_3::{self, Flavour};
use a2a_types::{
    AgentCard, Event, ListTasksResponse, Message, Operation, Request, Response,
    SendMessageResponse, Task,
};
use serde_json::{Value, json};

use crate::proto_0_3::{hints, text, unrepaired, value};

/// Checks both conversions between a canonical response and the answer of 0.3.
#[track_caller]
pub(crate) fn check(response: Response, wire: &Value) {
    let operation = response.operation();
    assert_eq!(
        &text(v0_3::write_response(response.clone()).unwrap()),
        wire,
        "written"
    );
    check_read(operation, wire, &response);
}

#[track_caller]
pub(crate) fn check_read(operation: Operation, wire: &Value, expected: &Response) {
    let read = v0_3::read_response(operation, &wire.to_string(), Mode::Strict, &hints(None));
    assert_eq!(&unrepaired(read), expected, "read");
}

#[track_caller]
fn check_task(canonical: &Value, wire: &Value) {
    check(Response::GetTask(value(canonical)), wire);
}

#[track_caller]
fn check_event(canonical: &Value, wire: &Value, last: bool) {
    let event: Event = value(canonical);
    assert_eq!(&text(v0_3::write_event(event.clone())), wire, "written");
    let read = v0_3::read_event(&wire.to_string(), Mode::Strict, &hints(None));
    let read = unrepaired(read);
    assert_eq!((read.event, read.last), (event, last), "read");
}

#[track_caller]
fn check_send(canonical: &Value, wire: &Value, back: &Value) {
    let request = Request::SendMessage(value(canonical));
    assert_eq!(&text(v0_3::write_request(request)), wire, "written");
    let read = v0_3::read_request(
        Operation::SendStreamingMessage,
        &wire.to_string(),
        Mode::Strict,
        &hints(None),
    );
    let Request::SendStreamingMessage(read) = unrepaired(read) else {
        panic!("another operation");
    };
    assert_eq!(&text(read), back, "read");
}

#[test]
fn parts_round_trip() {
    for (canonical, wire) in [
        (json!({"text": ""}), json!({"text": ""})),
        (
            json!({"text": "a", "metadata": {"x": 1}, "filename": "n", "mediaType": "text/markdown"}),
            json!({"text": "a", "metadata": {"x": 1, "filename": "n", "mimeType": "text/markdown"}}),
        ),
        (
            json!({"raw": "aGk=", "filename": "n", "mediaType": "image/png", "metadata": {"x": 1}}),
            json!({"file": {"fileWithBytes": "aGk=", "mimeType": "image/png", "name": "n"}, "metadata": {"x": 1}}),
        ),
        (
            json!({"url": "https://h/"}),
            json!({"file": {"fileWithUri": "https://h/"}}),
        ),
        (
            json!({"data": {"value": 12_345_678_901_234_567_u64}}),
            json!({"data": {"data": {"value": 12_345_678_901_234_567_u64}}}),
        ),
        (
            json!({"data": [1, null]}),
            json!({"data": {"data": {"value": [1, null]}}, "metadata": {"a2a-wrapped-value": true}}),
        ),
        (
            json!({"data": null}),
            json!({"data": {"data": {"value": null}}, "metadata": {"a2a-wrapped-value": true}}),
        ),
    ] {
        let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [canonical]});
        check(
            Response::SendMessage(SendMessageResponse::Message(value(&message))),
            &json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "content": [wire]}}),
        );
    }
}

#[test]
fn tasks_round_trip() {
    let canonical = json!({
        "id": "t", "contextId": "c",
        "status": {"state": "TASK_STATE_CANCELED", "timestamp": "2025-04-02T16:59:25.331Z",
            "message": {"messageId": "m2", "contextId": "c", "taskId": "t", "role": "ROLE_AGENT", "parts": [{"text": "no"}],
                "metadata": {"x": 1}, "extensions": ["urn:e"]}},
        "artifacts": [{"artifactId": "a", "name": "n", "description": "d", "parts": [{"text": "1"}],
            "metadata": {"x": 1}, "extensions": ["urn:e"]}],
        "history": [{"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "a phone"}]}],
        "metadata": {"y": 2},
    });
    let wire = json!({
        "id": "t", "contextId": "c",
        "status": {"state": "TASK_STATE_CANCELLED", "timestamp": "2025-04-02T16:59:25.331Z",
            "message": {"messageId": "m2", "contextId": "c", "taskId": "t", "role": "ROLE_AGENT", "content": [{"text": "no"}],
                "metadata": {"x": 1}, "extensions": ["urn:e"]}},
        "artifacts": [{"artifactId": "a", "name": "n", "description": "d", "parts": [{"text": "1"}],
            "metadata": {"x": 1}, "extensions": ["urn:e"]}],
        "history": [{"messageId": "m1", "role": "ROLE_USER", "content": [{"text": "a phone"}]}],
        "metadata": {"y": 2},
    });
    check_task(&canonical, &wire);
    let task = || value::<Task>(&canonical);
    check(Response::CancelTask(task()), &wire);
    check(
        Response::SendMessage(SendMessageResponse::Task(task())),
        &json!({"task": wire}),
    );
    let list = ListTasksResponse {
        tasks: vec![task()],
        next_page_token: "n".to_owned(),
        page_size: 1,
        total_size: 2,
    };
    check(
        Response::ListTasks(list),
        &json!({"tasks": [wire], "nextPageToken": "n", "totalSize": 2, "pageSize": 1}),
    );
    let bare = ListTasksResponse {
        tasks: vec![task()],
        ..ListTasksResponse::default()
    };
    check_read(
        Operation::ListTasks,
        &json!([wire]),
        &Response::ListTasks(bare),
    );
}

/// The names of the main line, of the proto itself, and what means nothing.
#[test]
fn other_spellings_are_read() {
    let canonical = json!({
        "id": "t", "contextId": "c",
        "status": {"state": "TASK_STATE_CANCELED", "message":
            {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"raw": "+/8=", "mediaType": "a/b"}], "referenceTaskIds": ["r"]}},
        "artifacts": [{"artifactId": "a", "parts": []}],
    });
    let task = Response::GetTask(value(&canonical));
    for state in [
        json!("TASK_STATE_CANCELED"),
        json!("TASK_STATE_CANCELLED"),
        json!(5),
    ] {
        let wire = json!({
            "id": "t", "context_id": "c", "history": null, "metadata": null,
            "status": {"state": state, "update": {"message_id": "m", "role": 2, "taskId": "", "contextId": null,
                "parts": [{"file": {"file_with_bytes": "-_8", "mime_type": "a/b", "name": ""}}], "reference_task_ids": ["r"]}},
            "artifacts": [{"artifact_id": "a", "name": "", "unknown": 1}],
        });
        check_read(Operation::GetTask, &wire, &task);
    }
    let unspecified = json!({"id": "t", "contextId": "c", "status": {}});
    let back = json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_UNSPECIFIED"}});
    check_read(
        Operation::GetTask,
        &unspecified,
        &Response::GetTask(value(&back)),
    );
    let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "a"}]});
    let answer = SendMessageResponse::Message(value(&message));
    check_read(
        Operation::SendMessage,
        &json!({"msg": message, "task": null}),
        &Response::SendMessage(answer),
    );
}

/// Parsers of ProtoJSON refuse what their proto does not have, so it is not written.
#[test]
fn members_missing_in_0_3_0_are_lost() {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a"}], "referenceTaskIds": ["r"]});
    let written = text(v0_3::Message::from(value::<Message>(&message)));
    let wire = json!({"messageId": "m", "role": "ROLE_USER", "content": [{"text": "a"}]});
    assert_eq!(written, wire);
}

#[test]
fn events_round_trip() {
    let part = json!([{"text": "x"}]);
    check_event(
        &json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}),
        &json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}),
        false,
    );
    check_event(
        &json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": part}}),
        &json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "content": part}}),
        true,
    );
    for (state, written, last) in [
        ("WORKING", "WORKING", false),
        ("AUTH_REQUIRED", "AUTH_REQUIRED", false),
        ("INPUT_REQUIRED", "INPUT_REQUIRED", true),
        ("CANCELED", "CANCELLED", true),
    ] {
        let event = |state: &str| json!({"taskId": "t", "contextId": "c", "status": {"state": format!("TASK_STATE_{state}")}, "metadata": {"x": 1}});
        let mut wire = event(written);
        wire["final"] = json!(last);
        check_event(
            &json!({"statusUpdate": event(state)}),
            &json!({"statusUpdate": wire}),
            last,
        );
    }
    let artifact = json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "append": true, "lastChunk": true,
        "artifact": {"artifactId": "a", "parts": part}, "metadata": {"x": 1}}});
    check_event(&artifact, &artifact, false);
    let said = r#"{"status_update":{"task_id":"t","context_id":"c","status":{"state":2},"final":true},"msg":null}"#;
    let read = unrepaired(v0_3::read_event(said, Mode::Strict, &hints(None)));
    assert!(read.last);
}

#[test]
fn send_requests_round_trip() {
    let canonical = json!({
        "message": {"messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER", "parts": [{"text": "a"}]},
        "configuration": {
            "acceptedOutputModes": ["text/plain"], "historyLength": 3, "returnImmediately": true,
            "taskPushNotificationConfig": {"id": "p", "url": "https://h/", "token": "k",
                "authentication": {"scheme": "Bearer", "credentials": "s"}},
        },
        "metadata": {"x": 1},
    });
    let wire = json!({
        "message": {"messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER", "content": [{"text": "a"}]},
        "configuration": {"acceptedOutputModes": ["text/plain"], "historyLength": 3, "blocking": false,
            "pushNotification": {"id": "p", "url": "https://h/", "token": "k", "authentication": {"schemes": ["Bearer"], "credentials": "s"}}},
        "metadata": {"x": 1},
    });
    check_send(&canonical, &wire, &canonical);
    // A history of no messages cannot be requested.
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a"}]});
    let said = json!({"messageId": "m", "role": "ROLE_USER", "content": [{"text": "a"}]});
    check_send(
        &json!({"message": message, "configuration": {"historyLength": 0}}),
        &json!({"message": said, "configuration": {"blocking": true}}),
        &json!({"message": message, "configuration": {}}),
    );
    check_send(
        &json!({"message": message}),
        &json!({"message": said, "configuration": {"blocking": true}}),
        &json!({"message": message, "configuration": {}}),
    );
}

/// A request without `blocking` does not wait.
#[test]
fn waiting_is_asked_for() {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "content": [{"text": "a"}]});
    for (configuration, returns) in [
        (json!(null), true),
        (json!({}), true),
        (json!({"blocking": null, "historyLength": 0}), true),
        (json!({"blocking": false}), true),
        (json!({"blocking": true}), false),
    ] {
        let body = json!({"request": message, "configuration": configuration}).to_string();
        let read = v0_3::read_request(Operation::SendMessage, &body, Mode::Strict, &hints(None));
        let Request::SendMessage(request) = unrepaired(read) else {
            panic!("another operation");
        };
        let configuration = request.configuration.unwrap();
        assert_eq!(configuration.return_immediately, returns, "{body}");
        assert_eq!(configuration.history_length, None);
    }
}

#[test]
fn cards_round_trip() {
    let canonical = json!({
        "name": "n", "description": "d", "version": "1", "documentationUrl": "https://d/", "iconUrl": "https://i/",
        "supportedInterfaces": [
            {"url": "https://h/v1", "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"},
            {"url": "https://h/", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
        ],
        "provider": {"organization": "o", "url": "https://o/"},
        "capabilities": {"streaming": true, "pushNotifications": false, "extendedAgentCard": true,
            "extensions": [{"uri": "urn:e", "required": true, "params": {"x": 1}}]},
        "securitySchemes": {
            "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}},
            "token": {"httpAuthSecurityScheme": {"scheme": "bearer", "bearerFormat": "JWT"}},
            "mtls": {"mtlsSecurityScheme": {}},
            "flow": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {"tokenUrl": "https://t/", "scopes": {"a": "b"}}}, "oauth2MetadataUrl": "https://m/"}},
        },
        "securityRequirements": [{"schemes": {"key": {"list": []}, "flow": {"list": ["a"]}}}, {"schemes": {}}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "s", "description": "d", "tags": ["t"], "examples": ["e"], "inputModes": ["i"],
            "outputModes": ["o"], "securityRequirements": [{"schemes": {"token": {"list": []}}}]}],
    });
    let mut wire = canonical.clone();
    let members = wire.as_object_mut().unwrap();
    members.remove("supportedInterfaces");
    let requirements = members.remove("securityRequirements").unwrap();
    members.insert("security".to_owned(), requirements);
    let own = json!({
        "protocolVersion": "0.3.0", "url": "https://h/v1", "preferredTransport": "HTTP+JSON",
        "additionalInterfaces": [{"url": "https://h/", "transport": "JSONRPC"}],
        "supportsAuthenticatedExtendedCard": true,
    });
    members.extend(own.as_object().unwrap().clone());
    let capabilities = members["capabilities"].as_object_mut().unwrap();
    capabilities.remove("extendedAgentCard");
    let skill = members["skills"][0].as_object_mut().unwrap();
    let requirements = skill.remove("securityRequirements").unwrap();
    skill.insert("security".to_owned(), requirements);
    check(Response::GetExtendedAgentCard(value(&canonical)), &wire);

    let least = json!({"name": "n", "url": "https://h/", "version": "1", "protocolVersion": null, "skills": null});
    let read = v0_3::read_response(
        Operation::GetExtendedAgentCard,
        &least.to_string(),
        Mode::Strict,
        &hints(None),
    );
    let Response::GetExtendedAgentCard(card) = unrepaired(read) else {
        panic!("another operation");
    };
    assert_eq!(card.supported_interfaces[0].protocol_binding, "JSONRPC");
    assert_eq!(card.supported_interfaces[0].protocol_version, "0.3");
}

/// 0.3 knows neither: what remains of the card's security has to be satisfiable.
#[test]
fn device_codes_and_pkce_are_lost() {
    let code =
        json!({"authorizationUrl": "a", "tokenUrl": "t", "pkceRequired": true, "scopes": {}});
    let device = json!({"deviceAuthorizationUrl": "d", "tokenUrl": "t", "scopes": {}});
    let card: AgentCard = value(&json!({
        "name": "n", "version": "1", "capabilities": {},
        "securitySchemes": {
            "code": {"oauth2SecurityScheme": {"flows": {"authorizationCode": code}}},
            "device": {"oauth2SecurityScheme": {"flows": {"deviceCode": device}}},
        },
        "securityRequirements": [
            {"schemes": {"device": {"list": []}}},
            {"schemes": {"code": {"list": []}}},
            // Never made weaker, and what names a scheme that the card does not have stays.
            {"schemes": {"code": {"list": []}, "device": {"list": []}}},
            {"schemes": {"elsewhere": {"list": []}}},
        ],
    }));
    let wire = text(v0_3::AgentCard::from(card));
    let flow = json!({"authorizationUrl": "a", "tokenUrl": "t", "scopes": {}});
    assert_eq!(
        wire["securitySchemes"],
        json!({"code": {"oauth2SecurityScheme": {"flows": {"authorizationCode": flow}}}})
    );
    assert_eq!(
        wire["security"],
        json!([{"schemes": {"code": {"list": []}}}, {"schemes": {"elsewhere": {"list": []}}}])
    );
}

/// Our ProtoJSON is recognised as ProtoJSON, and the JSON of 0.2 as plain.
#[test]
fn written_json_has_recognisable_flavour() {
    let event: Event = value(
        &json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}),
    );
    let proto = text(v0_3::write_event(event.clone())).to_string();
    assert_eq!(Flavour::of(&proto), Some(Flavour::Proto));
    let plain = text(a2a_types::v0_2::write_event(event)).to_string();
    assert_eq!(Flavour::of(&plain), Some(Flavour::Plain));
}
