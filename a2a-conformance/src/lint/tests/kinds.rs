//! Kinds that documents are recognised as.

use super::*;

#[test]
fn requests_of_1_0_pass_without_the_header() {
    for operation in Operation::ALL {
        let params = match operation {
            Operation::SendMessage | Operation::SendStreamingMessage => {
                json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}})
            }
            Operation::ListTasks | Operation::GetExtendedAgentCard => json!({}),
            Operation::CreateTaskPushNotificationConfig => {
                json!({"taskId": "t", "url": "https://h/hook"})
            }
            _ => json!({"id": "i", "taskId": "t"}),
        };
        let request =
            json!({"jsonrpc": "2.0", "id": 1, "method": operation.name(), "params": params});
        let kind = format!("request of {}", operation.name());
        check_1_0(&request, &kind, &[]);
    }
}

#[test]
fn methods_are_of_their_version() {
    let request =
        |method: &str| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": "t"}});
    let as_of = |protocol_version: ProtocolVersion| Context {
        protocol_version: Some(protocol_version),
        ..Context::default()
    };
    check(
        &as_of(ProtocolVersion::V0_3),
        &request("GetTask"),
        &["$.method JSON-RPC"],
    );
    check(
        &as_of(ProtocolVersion::V1_0),
        &request("tasks/get"),
        &["$.method JSON-RPC"],
    );
    check(&as_of(ProtocolVersion::V0_1), &request("tasks/get"), &[]);
    check(
        &Context::default(),
        &request("category/action"),
        &["$.method JSON-RPC"],
    );
    let found = &lint(
        &request("GetTask").to_string(),
        &as_of(ProtocolVersion::V0_3),
    )[0];
    assert_eq!(
        found.findings[0].problem,
        "`GetTask` is not a method of A2A 0.3, expected `tasks/get`"
    );
}

#[test]
fn errors_pass_as_answers() {
    let error = |error: Value| json!({"jsonrpc": "2.0", "id": 1, "error": error});
    let info = |reason: &str| json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org"});
    let describe =
        |code: i64, data: Value| error(json!({"code": code, "message": "m", "data": data}));
    check_1_0(
        &error(json!({"code": -32_603, "message": "m"})),
        "answer",
        &[],
    );
    check_1_0(
        &describe(-32_001, json!([info("TASK_NOT_FOUND")])),
        "answer",
        &[],
    );
    check_1_0(
        &describe(-32_002, json!([info("TASK_NOT_FOUND"), {"reason": "r"}])),
        "answer",
        &[
            "$.error.data[1].@type 1.0 §9.5",
            "$.error.data[0].reason 1.0 §9.5",
        ],
    );
    check(
        &Context::default(),
        &describe(-32_001, json!({"taskId": "t"})),
        &[],
    );
    let mut unread = error(json!({"code": -32_700, "message": "m"}));
    unread["id"] = Value::Null;
    check_1_0(&unread, "answer", &[]);
    for protocol_version in ProtocolVersion::ALL {
        let context = Context {
            protocol_version: Some(*protocol_version),
            ..Context::default()
        };
        check(
            &context,
            &error(json!({"code": -32_001, "message": "Task not found"})),
            &[],
        );
        let wrong = error(json!({"code": "x", "message": "m"}));
        let found = &lint(&wrong.to_string(), &context)[0];
        assert_eq!(
            found.findings[0].path, "$.error.code",
            "{protocol_version}: {found:#?}"
        );
    }
    let both = json!({"jsonrpc": "2.0", "id": 1, "result": {"task": of_task("id", "t".into())}, "error": {"code": -1, "message": "m"}});
    check(&Context::default(), &both, &["$ JSON-RPC"]);
}

#[test]
fn http_errors_are_recognised() {
    let info = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"});
    let error = |status: &str| json!({"error": {"code": 404, "status": status, "message": "m", "details": [info]}});
    check_1_0(&error("NOT_FOUND"), "HttpError", &[]);
    check_1_0(
        &error("Not Found"),
        "HttpError",
        &[
            "$.error.status HttpError",
            "$.error.details[0].reason 1.0 §11.6",
        ],
    );
    check_1_0(
        &error("INTERNAL"),
        "HttpError",
        &["$.error.details[0].reason 1.0 §11.6"],
    );
    check_1_0(
        &json!({"error": {"code": 400, "message": "m"}}),
        "HttpError",
        &["$.error HttpError"],
    );
    check_1_0(
        &json!({"type": "about:blank", "title": "m", "status": 404}),
        "HttpError",
        &["$ HttpError"],
    );
    let flat = json!({"code": -32_001, "message": "Task not found"});
    let found = &lint(&flat.to_string(), &Context::default())[0];
    assert_eq!(
        (found.verdict, found.protocol_version),
        (StrictVerdict::Accept, Some("0.3"))
    );
}

#[test]
fn pages_signatures_and_bodies_are_recognised() {
    let page = json!({"tasks": [of_task("id", "t".into())], "nextPageToken": "", "pageSize": 50, "totalSize": 1});
    check_1_0(&page, "ListTasksResponse", &[]);
    check_1_0(
        &json!({"jsonrpc": "2.0", "id": 1, "result": page}),
        "answer",
        &[],
    );
    check_1_0(
        &json!({"tasks": []}),
        "ListTasksResponse",
        &[
            "$ ListTasksResponse",
            "$ ListTasksResponse",
            "$ ListTasksResponse",
        ],
    );
    check_1_0(
        &json!({"configs": []}),
        "ListTaskPushNotificationConfigsResponse",
        &[],
    );
    check_1_0(
        &json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        "answer",
        &[],
    );
    let signature = |protected: &str| json!({"protected": protected, "signature": "c2ln"});
    check_1_0(
        &signature("eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ"),
        "AgentCardSignature",
        &[],
    );
    check_1_0(
        &signature("e30"),
        "AgentCardSignature",
        &["$.protected 1.0 §8.4.2"],
    );
    check_1_0(&json!({"alg": "ES256", "kid": "k"}), "SignatureHeader", &[]);
    check_1_0(
        &json!({"alg": "ES256", "typ": "JOSE"}),
        "SignatureHeader",
        &["$ SignatureHeader"],
    );
    let message = |role: &str| json!({"messageId": "m", "role": role, "parts": [{"text": "hi"}]});
    check_1_0(
        &json!({"message": message("ROLE_USER")}),
        "SendMessageRequest",
        &[],
    );
    let body =
        json!({"message": message("ROLE_USER"), "configuration": {"returnImmediately": true}});
    check_1_0(&body, "SendMessageRequest", &[]);
    check_1_0(
        &json!({"message": message("ROLE_AGENT")}),
        "StreamResponse",
        &[],
    );
    check_1_0(
        &json!({"task": of_task("id", "t".into())}),
        "StreamResponse",
        &[],
    );
    check_1_0(
        &json!({"taskId": "t", "url": "https://h"}),
        "TaskPushNotificationConfig",
        &[],
    );
    check_1_0(&json!({"text": "hi"}), "Part", &[]);
    check_1_0(
        &json!({"artifactId": "a", "parts": [{"text": "hi"}]}),
        "Artifact",
        &[],
    );
}

#[test]
fn the_proto_json_of_0_3_is_recognised() {
    let send = json!({"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}, "configuration": {"blocking": true}});
    for (document, kind) in [
        (&send, "SendMessageRequest"),
        (&send["message"], "Message"),
        (
            &of_task("status", json!({"state": "TASK_STATE_CANCELLED"})),
            "Task",
        ),
    ] {
        let found = &lint(&document.to_string(), &Context::default())[0];
        let recognised = (&*found.kind, found.protocol_version, found.verdict);
        assert_eq!(
            recognised,
            (kind, Some("0.3"), StrictVerdict::Accept),
            "{found:#?}"
        );
    }
}

#[test]
fn events_with_other_fields_are_read() {
    let update = json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}});
    for head in ["id: 7\n", "event: message\nid: 7\n", "retry: 10\n", ""] {
        let found = &lint(&format!("{head}data: {update}\n\n"), &Context::default())[0];
        assert_eq!(found.verdict, StrictVerdict::Accept, "{head}: {found:#?}");
        let printed = format!("{head}data: {update:#}\n\n");
        let found = &lint(&printed, &Context::default())[0];
        assert_eq!(found.verdict, StrictVerdict::Reject, "{head}: {found:#?}");
        assert_eq!(found.kind, "event of a stream over HTTP+JSON", "{head}");
    }
}

#[test]
fn texts_within_a_document_are_not_repaired() {
    let odd = "see [...] // no comment, } no end";
    check_1_0(&json!({"text": odd}), "Part", &[]);
    let found = &lint("[{}, {}]", &Context::default())[0];
    assert!(
        found.findings[0].problem.contains("found an array"),
        "{found:#?}"
    );
    assert!(found.repairs.is_empty());
}
