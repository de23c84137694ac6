//! Names at their limits, in every version and binding.

use a2a_types::{Error as A2aError, ErrorKind, ProtocolVersion};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::binding::rest::{self, Route};
use crate::binding::{ReadOptions, jsonrpc, write_refusal};

/// Returns the error with which a JSON-RPC request is refused.
fn refusal(protocol_version: ProtocolVersion, method: &str, params: &Value) -> Option<A2aError> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let reading = ReadOptions {
        prefer: Some(protocol_version),
        ..ReadOptions::default()
    };
    let version = (protocol_version == ProtocolVersion::V1_0).then_some("1.0");
    let read = jsonrpc::read_call(body.as_bytes(), version, &reading);
    read.err().map(|refused| refused.error)
}

/// Checks that the member at `path` may have `limit` bytes, and no more.
#[track_caller]
fn check(protocol_version: ProtocolVersion, method: &str, params: Value, path: &str, limit: usize) {
    let pointer = path.replace(['.', '['], "/").replace(']', "");
    let with = |length: usize| {
        let mut params = params.clone();
        let member = params.pointer_mut(&format!("/{pointer}"));
        let member = member.unwrap_or_else(|| panic!("{path} is not there"));
        let before = member.as_str().unwrap_or_default().to_owned();
        *member = format!("{before:x<length$}").into();
        params
    };
    let fits = refusal(protocol_version, method, &with(limit));
    assert_eq!(fits, None, "{protocol_version:?} {method} {path}");
    let error = refusal(protocol_version, method, &with(limit + 1));
    let error =
        error.unwrap_or_else(|| panic!("{protocol_version:?} {method} {path} has no limit"));
    assert_eq!(error.kind, ErrorKind::InvalidParams, "{path}");
    let details = error.details.unwrap_or_default();
    assert_eq!(details["path"], format!("$.params.{path}"), "{method}");
    assert!(error.message.len() < 200, "{}", error.message);
}

#[test]
fn names_of_1_0_are_bounded() {
    let config = json!({
        "tenant": "", "id": "", "taskId": "", "url": "https://h/", "token": "",
        "authentication": {"scheme": "", "credentials": ""},
    });
    let of_config = [
        ("tenant", 1024),
        ("id", 1024),
        ("taskId", 1024),
        ("url", 4096),
        ("token", 4096),
        ("authentication.scheme", 1024),
        ("authentication.credentials", 8192),
    ];
    for (path, limit) in of_config {
        let method = "CreateTaskPushNotificationConfig";
        check(ProtocolVersion::V1_0, method, config.clone(), path, limit);
    }
    let send = json!({
        "tenant": "",
        "message": {
            "messageId": "m", "contextId": "", "taskId": "", "role": "ROLE_USER", "parts": [{"text": ""}],
            "extensions": ["", ""], "referenceTaskIds": ["", ""],
        },
        "configuration": {"acceptedOutputModes": ["", ""], "taskPushNotificationConfig": config},
    });
    for method in ["SendMessage", "SendStreamingMessage"] {
        for path in [
            "tenant",
            "message.messageId",
            "message.contextId",
            "message.taskId",
            "message.extensions[1]",
            "message.referenceTaskIds[1]",
            "configuration.acceptedOutputModes[1]",
        ] {
            check(ProtocolVersion::V1_0, method, send.clone(), path, 1024);
        }
        for (path, limit) in of_config {
            let path = format!("configuration.taskPushNotificationConfig.{path}");
            check(ProtocolVersion::V1_0, method, send.clone(), &path, limit);
        }
    }
    for (method, paths) in [
        ("GetTask", &["tenant", "id"][..]),
        ("CancelTask", &["tenant", "id"]),
        ("SubscribeToTask", &["tenant", "id"]),
        ("ListTasks", &["tenant", "contextId"]),
        ("GetExtendedAgentCard", &["tenant"]),
        ("GetTaskPushNotificationConfig", &["tenant", "taskId", "id"]),
        (
            "DeleteTaskPushNotificationConfig",
            &["tenant", "taskId", "id"],
        ),
        ("ListTaskPushNotificationConfigs", &["tenant", "taskId"]),
    ] {
        let params: serde_json::Map<_, _> = paths
            .iter()
            .map(|path| ((*path).to_owned(), json!("")))
            .collect();
        for path in paths {
            check(
                ProtocolVersion::V1_0,
                method,
                params.clone().into(),
                path,
                1024,
            );
        }
    }
    for method in ["ListTasks", "ListTaskPushNotificationConfigs"] {
        let params = json!({"taskId": "t", "pageToken": ""});
        check(ProtocolVersion::V1_0, method, params, "pageToken", 4096);
    }
}

#[test]
fn names_of_older_versions_are_bounded_where_their_senders_wrote_them() {
    let config = json!({"id": "", "url": "https://h/", "token": ""});
    let send = json!({
        "message": {
            "kind": "message", "messageId": "m", "contextId": "", "taskId": "", "role": "user",
            "parts": [{"kind": "text", "text": ""}],
        },
        "configuration": {"acceptedOutputModes": [""], "pushNotificationConfig": config},
    });
    for protocol_version in [ProtocolVersion::V0_2, ProtocolVersion::V0_3] {
        for (path, limit) in [
            ("message.messageId", 1024),
            ("message.contextId", 1024),
            ("message.taskId", 1024),
            ("configuration.acceptedOutputModes[0]", 1024),
            ("configuration.pushNotificationConfig.id", 1024),
            ("configuration.pushNotificationConfig.url", 4096),
        ] {
            check(protocol_version, "message/send", send.clone(), path, limit);
        }
        check(protocol_version, "tasks/get", json!({"id": ""}), "id", 1024);
        let set = json!({"taskId": "t", "pushNotificationConfig": config});
        for (path, limit) in [("taskId", 1024), ("pushNotificationConfig.token", 4096)] {
            let method = "tasks/pushNotificationConfig/set";
            check(protocol_version, method, set.clone(), path, limit);
        }
    }
    let delete = json!({"id": "t", "pushNotificationConfigId": ""});
    for path in ["id", "pushNotificationConfigId"] {
        let method = "tasks/pushNotificationConfig/delete";
        check(ProtocolVersion::V0_3, method, delete.clone(), path, 1024);
    }
    let send = json!({
        "id": "t", "sessionId": "",
        "message": {"role": "user", "parts": [{"type": "text", "text": ""}]},
        "pushNotification": {"url": "https://h/", "token": ""},
    });
    for (path, limit) in [
        ("id", 1024),
        ("sessionId", 1024),
        ("pushNotification.url", 4096),
        ("pushNotification.token", 4096),
    ] {
        check(
            ProtocolVersion::V0_1,
            "tasks/send",
            send.clone(),
            path,
            limit,
        );
    }
    let set = json!({"id": "t", "pushNotificationConfig": {"url": "https://h/"}});
    for (path, limit) in [("id", 1024), ("pushNotificationConfig.url", 4096)] {
        let method = "tasks/pushNotification/set";
        check(ProtocolVersion::V0_1, method, set.clone(), path, limit);
    }
}

#[test]
fn lists_of_names_and_ids_of_requests_are_bounded() {
    for (path, list) in [
        ("message.extensions", "extensions"),
        ("message.referenceTaskIds", "referenceTaskIds"),
    ] {
        for (length, expected) in [(100, false), (101, true)] {
            let mut message =
                json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": ""}]});
            message[list] = vec!["x"; length].into();
            let error = refusal(
                ProtocolVersion::V1_0,
                "SendMessage",
                &json!({"message": message}),
            );
            assert_eq!(error.is_some(), expected, "{path} {length}");
            let message = error.map(|error| error.message).unwrap_or_default();
            assert!(!expected || message.contains(path), "{message}");
        }
    }
    for id in ["1".repeat(1025), format!("{:?}", "x".repeat(1025))] {
        for method in ["GetTask", ""] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":7}}"#);
            let read = jsonrpc::read_call(body.as_bytes(), Some("1.0"), &ReadOptions::default());
            let written = write_refusal(read.unwrap_err());
            let answer: Value = serde_json::from_slice(&written.body).unwrap();
            assert_eq!(answer["id"], Value::Null);
            assert!(written.body.len() < 1000);
        }
    }
}

#[test]
fn names_in_paths_and_queries_are_bounded() {
    let (fits, long) = ("x".repeat(1024), "x".repeat(1025));
    for (method, path, query, field) in [
        (Method::GET, "/tasks/{}", "", "query.id"),
        (Method::POST, "/tasks/{}:cancel", "", "$.id"),
        (Method::GET, "/{}/tasks/t", "", "query.tenant"),
        (Method::GET, "/tasks", "contextId={}", "query.contextId"),
        (
            Method::GET,
            "/tasks/t/pushNotificationConfigs/{}",
            "",
            "query.id",
        ),
        (
            Method::DELETE,
            "/v1/tasks/{}/pushNotificationConfigs/c",
            "",
            "query.taskId",
        ),
    ] {
        for (name, expected) in [(&fits, None), (&long, Some(field))] {
            let (path, query) = (path.replace("{}", name), query.replace("{}", name));
            let reading = ReadOptions::default();
            let route = Route::find(&method, &path, None, reading.mode).unwrap();
            let read = rest::read_call(route, Some(&query), b"", &reading);
            let refused = read.err();
            let found = refused.as_ref().and_then(|refused| {
                refused.error.details.as_ref()?["path"]
                    .as_str()
                    .map(str::to_owned)
            });
            assert_eq!(found.as_deref(), expected, "{field}");
            if let Some(refused) = refused {
                assert_eq!(write_refusal(refused).status, StatusCode::BAD_REQUEST);
            }
        }
    }
}
