//! Every route: the request that reaches the agent, and the answer.

use a2a_transport::http::HttpService;
use a2a_types::reading::Mode;
use a2a_types::{
    AgentCard, CancelTaskRequest, ListTasksRequest, Message, ProtocolVersion, Request,
    SendMessageConfiguration, SendMessageRequest, TaskState,
};
use serde_json::{Value, json};

use crate::http_json::{HttpReply, Scripted, ask, config};

/// Sends a request. Returns what reached the agent, and the reply.
async fn asked(asked: &str, body: Value) -> (Request, ProtocolVersion, HttpReply) {
    let scripted = Scripted::default();
    let service = HttpService::new(scripted.clone());
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let response = ask(&service, asked, &[], &body).await;
    assert_eq!(response.status, 200, "{asked}: {}", response.text);
    let call = scripted.last_call();
    (call.request, call.context.protocol_version, response)
}

const V0_3: ProtocolVersion = ProtocolVersion::V0_3;
const V1_0: ProtocolVersion = ProtocolVersion::V1_0;

#[tokio::test]
async fn a_message_in_each_spelling_is_answered_in_kind() {
    let of_1_0 =
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}});
    let proto = json!({"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]},
        "configuration": {"blocking": true}});
    let plain = json!({"message": {"kind": "message", "messageId": "m", "role": "user",
        "parts": [{"kind": "text", "text": "hi"}]}});
    let wrapped =
        |state: &str| json!({"task": {"id": "t", "contextId": "c", "status": {"state": state}}});
    let bare =
        json!({"kind": "task", "id": "t", "contextId": "c", "status": {"state": "canceled"}});
    for (path, body, protocol_version, answer) in [
        (
            "/message:send",
            of_1_0,
            V1_0,
            wrapped("TASK_STATE_CANCELED"),
        ),
        (
            "/v1/message:send",
            proto,
            V0_3,
            wrapped("TASK_STATE_CANCELLED"),
        ),
        ("/v1/message:send", plain, V0_3, bare),
    ] {
        for path in [path.to_owned(), format!("{path}/"), format!("/rest{path}")] {
            let (request, found_protocol_version, response) =
                asked(&format!("POST {path}"), body.clone()).await;
            let Request::SendMessage(SendMessageRequest { message, .. }) = &request else {
                panic!("{request:?}");
            };
            let expected = Message {
                message_id: "m".into(),
                ..Message::user("hi")
            };
            assert_eq!(
                (message, found_protocol_version),
                (&expected, protocol_version),
                "{path}"
            );
            assert_eq!(response.json(), answer, "{path}");
        }
    }
}

#[tokio::test]
async fn streams_have_no_envelope() {
    let of_1_0 =
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}});
    let plain = json!({"message": {"kind": "message", "messageId": "m", "role": "user",
        "parts": [{"kind": "text", "text": "hi"}]}});
    for (target, body, names) in [
        (
            "POST /message:stream",
            of_1_0,
            ["task", "artifactUpdate", "statusUpdate"],
        ),
        (
            "POST /v1/message:stream",
            plain,
            ["id", "artifact", "status"],
        ),
        (
            "GET /tasks/t:subscribe",
            Value::Null,
            ["task", "artifactUpdate", "statusUpdate"],
        ),
        (
            "POST /tasks/t:subscribe",
            Value::Null,
            ["task", "artifactUpdate", "statusUpdate"],
        ),
        (
            "POST /tasks/t:subscribe",
            json!({}),
            ["task", "artifactUpdate", "statusUpdate"],
        ),
        (
            "GET /v1/tasks/t:subscribe",
            Value::Null,
            ["task", "artifactUpdate", "statusUpdate"],
        ),
        (
            "POST /v1/tasks/t:subscribe",
            json!({"name": "tasks/t"}),
            ["task", "artifactUpdate", "statusUpdate"],
        ),
    ] {
        let (_, protocol_version, response) = asked(target, body).await;
        let events = response.events();
        assert_eq!(events.len(), 3, "{target}");
        for (event, name) in events.iter().zip(names) {
            assert!(!event[name].is_null(), "{target}: {event}");
            assert!(event["jsonrpc"].is_null(), "{target}: {event}");
        }
        assert!(
            response.text.starts_with("id: 1\ndata: "),
            "{target}: {}",
            response.text
        );
        let last = &events[2]["statusUpdate"]["final"];
        assert_eq!(
            last.is_boolean(),
            protocol_version == V0_3 && names[0] == "task",
            "{target}: {last}"
        );
    }
}

#[tokio::test]
async fn path_and_query_are_read_into_the_request() {
    let listing = ListTasksRequest {
        context_id: Some("c".into()),
        status: Some(TaskState::InputRequired),
        page_size: Some(3),
        page_token: "p".to_owned(),
        history_length: Some(2),
        status_timestamp_after: Some("2026-01-02T03:04:05Z".parse().unwrap()),
        include_artifacts: true,
        tenant: None,
    };
    let query = "contextId=c&pageSize=3&pageToken=p&historyLength=2&includeArtifacts=true";
    for target in [
        format!(
            "/tasks?{query}&status=TASK_STATE_INPUT_REQUIRED&statusTimestampAfter=2026-01-02T04:04:05+01:00"
        ),
        format!("/tasks?{query}&status=6&statusTimestampAfter=2026-01-02T03:04:05Z"),
        "/tasks?context_id=c&page_size=3&page_token=p&history_length=2&include_artifacts=true\
         &status=TASK_STATE_INPUT_REQUIRED&status_timestamp_after=2026-01-02T03:04:05Z"
            .to_owned(),
        format!("/v1/tasks?{query}&status=input-required&lastUpdatedAfter=1767323045000"),
        format!(
            "/v1/tasks?{query}&status=TASK_STATE_INPUT_REQUIRED&lastUpdatedTime=2026-01-02T03:04:05Z"
        ),
    ] {
        let (request, _, response) = asked(&format!("GET {target}"), Value::Null).await;
        assert_eq!(request, Request::ListTasks(listing.clone()), "{target}");
        assert_eq!(response.json()["totalSize"], 1);
        assert_eq!(response.json()["nextPageToken"], "", "{target}");
    }
    let none = asked("GET /tasks?unknown=1", Value::Null).await;
    assert_eq!(none.0, Request::ListTasks(ListTasksRequest::default()));

    let length = |request: Request| match request {
        Request::GetTask(params) => (String::from(params.id), params.history_length),
        other => panic!("{other:?}"),
    };
    for (target, expected) in [
        ("GET /tasks/a%2Fb", ("a/b", None)),
        ("GET /tasks/t?historyLength=0", ("t", Some(0))),
        ("GET /v1/tasks/t?historyLength=7", ("t", Some(7))),
        // The proto of 0.3 prints 0 for a length that is absent.
        ("GET /v1/tasks/t?historyLength=0", ("t", None)),
    ] {
        let (request, ..) = asked(target, Value::Null).await;
        assert_eq!(
            length(request),
            (expected.0.to_owned(), expected.1),
            "{target}"
        );
    }
}

#[tokio::test]
async fn cancel_request_is_read_and_answered() {
    for (target, body) in [
        ("POST /tasks/t:cancel", Value::Null),
        ("POST /tasks/t:cancel", json!({})),
        ("POST /v1/tasks/t:cancel", Value::Null),
        ("POST /v1/tasks/t:cancel", json!({"name": "tasks/t"})),
    ] {
        let (request, protocol_version, response) = asked(target, body).await;
        let expected = CancelTaskRequest {
            id: "t".into(),
            ..CancelTaskRequest::default()
        };
        assert_eq!(request, Request::CancelTask(expected), "{target}");
        let state = if protocol_version == V1_0 {
            "TASK_STATE_CANCELED"
        } else {
            "TASK_STATE_CANCELLED"
        };
        assert_eq!(response.json()["status"]["state"], state, "{target}");
    }
    let body = json!({"metadata": {"why": "late"}, "tenant": "acme"});
    let (request, ..) = asked("POST /tasks/t:cancel", body).await;
    let Request::CancelTask(params) = request else {
        panic!()
    };
    assert_eq!(params.metadata.unwrap()["why"], "late");
    assert_eq!(params.tenant.as_deref(), Some("acme"));
}

/// The official Go SDK sends `null` when the path has all members.
#[tokio::test]
async fn a_request_whose_members_are_in_its_path_needs_no_body() {
    let config = "pushNotificationConfigs";
    let targets = |version: &str| {
        [
            format!("GET {version}/tasks"),
            format!("GET {version}/tasks/t"),
            format!("POST {version}/tasks/t:cancel"),
            format!("GET {version}/tasks/t:subscribe"),
            format!("POST {version}/tasks/t:subscribe"),
            format!("GET {version}/tasks/t/{config}"),
            format!("GET {version}/tasks/t/{config}/p"),
            format!("DELETE {version}/tasks/t/{config}/p"),
        ]
    };
    let cards = ["GET /extendedAgentCard", "GET /v1/card"].map(str::to_owned);
    let targets = [targets("").to_vec(), targets("/v1").to_vec(), cards.into()].concat();
    for target in targets {
        let mut requests = Vec::new();
        for body in ["", "{}", "null", " null\r\n"] {
            for mode in [Mode::Lenient, Mode::Strict] {
                let scripted = Scripted::default();
                let service = HttpService::new(scripted.clone()).mode(mode);
                let version = if target.contains("/v1/") {
                    "0.3"
                } else {
                    "1.0"
                };
                let response = ask(&service, &target, &[("a2a-version", version)], body).await;
                assert_eq!(response.status, 200, "{target} {body:?}: {}", response.text);
                requests.push(scripted.last_call().request);
            }
        }
        assert!(requests.iter().all(|it| *it == requests[0]), "{requests:?}");
    }
    // A request with a member in the wrong place lacks that member.
    for target in [
        "POST /message:send",
        "POST /message:stream",
        "POST /tasks/t/pushNotificationConfigs",
        "POST /v1/message:send",
        "POST /v1/message:stream",
        "POST /v1/tasks/t/pushNotificationConfigs",
    ] {
        let service = HttpService::new(Scripted::default());
        let response = ask(&service, target, &[], "null").await;
        assert_eq!(response.status, 400, "{target}: {}", response.text);
    }
}

#[tokio::test]
async fn webhook_requests_are_read_and_answered() {
    let flat = json!({"id": "p", "url": "https://w.example/"});
    let nested = json!({"id": "p", "url": "https://w.example/"});
    let name = "tasks/t/pushNotificationConfigs/p";
    let resource = json!({"name": name, "pushNotificationConfig": nested});
    for (path, body) in [
        ("/tasks", flat),
        (
            "/v1/tasks",
            json!({"parent": "tasks/t", "configId": "p", "config": resource}),
        ),
        ("/v1/tasks", resource.clone()),
        ("/v1/tasks", json!({"config": nested})),
        ("/v1/task", json!({"pushNotificationConfig": nested})),
    ] {
        let target = format!("POST {path}/t/pushNotificationConfigs");
        let (request, protocol_version, response) = asked(&target, body.clone()).await;
        let expected = Request::CreateTaskPushNotificationConfig(config());
        assert_eq!(request, expected, "{target} {body}");
        match protocol_version {
            V1_0 => assert_eq!(response.json()["taskId"], "t", "{target}"),
            _ => assert!(
                response.text.contains("https://w.example/"),
                "{target}: {}",
                response.text
            ),
        }
    }
    for prefix in ["", "/v1"] {
        let place = format!("{prefix}/tasks/t/pushNotificationConfigs");
        let (request, _, response) = asked(&format!("GET {place}/p"), Value::Null).await;
        let Request::GetTaskPushNotificationConfig(params) = request else {
            panic!()
        };
        assert_eq!((params.task_id.as_str(), params.id.as_str()), ("t", "p"));
        assert!(response.text.contains("https://w.example/"));
        let (request, _, response) = asked(&format!("GET {place}?pageSize=2"), Value::Null).await;
        let Request::ListTaskPushNotificationConfigs(params) = request else {
            panic!()
        };
        assert_eq!((params.task_id.as_str(), params.page_size), ("t", Some(2)));
        assert_eq!(response.json()["configs"].as_array().unwrap().len(), 1);
        let (request, _, response) = asked(&format!("DELETE {place}/p"), Value::Null).await;
        assert!(matches!(
            request,
            Request::DeleteTaskPushNotificationConfig(_)
        ));
        assert_eq!(response.text, "{}");
    }
}

#[tokio::test]
async fn extended_card_is_answered_in_the_version_of_its_path() {
    let (_, protocol_version, response) = asked("GET /extendedAgentCard", Value::Null).await;
    assert_eq!(protocol_version, V1_0);
    assert!(serde_json::from_str::<AgentCard>(&response.text).is_ok());
    let (_, protocol_version, response) = asked("GET /v1/card", Value::Null).await;
    assert_eq!(protocol_version, V0_3);
    assert_eq!(response.json()["protocolVersion"], "0.3.0");
}

#[tokio::test]
async fn tenant_and_version_are_read_from_path_or_query() {
    let body =
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}});
    for (target, tenant) in [
        ("POST /message:send", None),
        ("POST /acme/message:send", Some("acme")),
        ("GET /acme/tasks/t", Some("acme")),
        ("GET /tasks/t?tenant=acme", Some("acme")),
        (
            "DELETE /acme/tasks/t/pushNotificationConfigs/p",
            Some("acme"),
        ),
        ("GET /acme/extendedAgentCard", Some("acme")),
    ] {
        let body = if target.starts_with("POST") {
            body.clone()
        } else {
            Value::Null
        };
        let (request, ..) = asked(target, body).await;
        assert_eq!(request.tenant(), tenant, "{target}");
    }
    let (_, protocol_version, _) = asked("GET /tasks/t?A2A-Version=0.3", Value::Null).await;
    assert_eq!(protocol_version, V0_3);
    let (request, protocol_version, _) =
        asked("GET /v1/tasks/t?A2A-Version=1.0", Value::Null).await;
    assert_eq!((request.tenant(), protocol_version), (Some("v1"), V1_0));
}

#[tokio::test]
async fn request_of_0_3_returns_at_once_unless_blocking() {
    let configuration = |blocking: Value| {
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]},
            "configuration": blocking})
    };
    for (configured, at_once) in [
        (json!({}), true),
        (json!({"blocking": true}), false),
        (json!({"blocking": false}), true),
    ] {
        let (request, ..) = asked("POST /v1/message:send", configuration(configured)).await;
        let Request::SendMessage(params) = request else {
            panic!()
        };
        let SendMessageConfiguration {
            return_immediately, ..
        } = params.configuration.unwrap();
        assert_eq!(return_immediately, at_once);
    }
}
