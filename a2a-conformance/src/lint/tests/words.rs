//! Documents that the prose of the specification refuses.

use super::*;

#[test]
fn prose_rules_refuse_what_schemas_accept() {
    let at = |time: &str| {
        of_task(
            "status",
            json!({"state": "TASK_STATE_WORKING", "timestamp": time}),
        )
    };
    check_1_0(&at("2025-10-28T10:30:00Z"), "Task", &[]);
    for wrong in [
        "2025-10-28T10:30:00",
        "2025-10-28T10:30:00+02:00",
        "2025-10-28 10:30:00Z",
        "2025-10-28T10:30Z",
        "2025-10-28",
        "",
    ] {
        check_1_0(&at(wrong), "Task", &["$.status.timestamp 1.0 §5.6.1"]);
    }
    let part = |raw: &str| json!({"raw": raw, "mediaType": "image/png"});
    for right in ["aGk=", "aGk", "-_8=", ""] {
        check_1_0(&part(right), "Part", &[]);
    }
    for wrong in ["<base64>", "iVBORw0KGgo...", "aGk==", "aG k=", "aaaaa"] {
        check_1_0(&part(wrong), "Part", &["$.raw 1.0 §4.1.6"]);
    }
    check_1_0(&of_task("id", "".into()), "Task", &["$.id 1.0 §5.7"]);
    check_1_0(&of_task("contextId", "".into()), "Task", &[]);
    check_1_0(
        &of_task("status", json!({"state": "TASK_STATE_UNSPECIFIED"})),
        "Task",
        &["$.status.state 1.0 §5.7"],
    );
    let artifact = |id: &str| json!({"artifactId": id, "parts": [{"text": "hi"}]});
    check_1_0(
        &of_task("artifacts", json!([artifact("a"), artifact("b")])),
        "Task",
        &[],
    );
    check_1_0(
        &of_task(
            "artifacts",
            json!([artifact("a"), artifact("b"), artifact("a")]),
        ),
        "Task",
        &["$.artifacts[2].artifactId 1.0 §4.1.7"],
    );
    check_1_0(
        &of_task("artifacts", json!([{"artifactId": "", "parts": []}])),
        "Task",
        &[
            "$.artifacts[0].artifactId 1.0 §5.7",
            "$.artifacts[0].parts 1.0 §5.7",
        ],
    );
    let message = json!({"messageId": "", "role": "ROLE_UNSPECIFIED", "parts": []});
    check_1_0(
        &message,
        "Message",
        &[
            "$.role 1.0 §5.7",
            "$.messageId 1.0 §5.7",
            "$.parts 1.0 §5.7",
        ],
    );
    let update = json!({"statusUpdate": {"taskId": "", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}});
    check_1_0(
        &update,
        "StreamResponse",
        &["$.statusUpdate.taskId 1.0 §5.7"],
    );
    let with_metadata = of_task(
        "metadata",
        json!({"kind": "task", "raw": "?", "timestamp": "now", "id": ""}),
    );
    check_1_0(&with_metadata, "Task", &[]);
    let list = |size: i64| json!({"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {"pageSize": size}});
    check_1_0(&list(100), "request of ListTasks", &[]);
    check_1_0(
        &list(101),
        "request of ListTasks",
        &["$.params.pageSize 1.0 §3.1.4"],
    );
}

#[test]
fn kind_is_refused_in_1_0() {
    let as_of_1_0 = Context {
        protocol_version: Some(ProtocolVersion::V1_0),
        ..Context::default()
    };
    let message = json!({"kind": "message", "messageId": "m", "role": "ROLE_USER", "parts": [{"kind": "text", "text": "hi"}]});
    let expected = ["$.kind 1.0 §A.2.1", "$.parts[0].kind 1.0 §A.2.1"];
    check(&as_of_1_0, &message, &expected);
    check(&Context::default(), &message, &expected);
    check_1_0(
        &json!({"task": {"kind": "task", "id": "t", "status": {"state": "TASK_STATE_WORKING"}}}),
        "StreamResponse",
        &["$.task.kind 1.0 §A.2.1"],
    );
}

#[test]
fn timestamps_ids_and_bytes_are_judged_by_version() {
    let as_of = |protocol_version: ProtocolVersion| Context {
        protocol_version: Some(protocol_version),
        ..Context::default()
    };
    let status = json!({"state": "working", "timestamp": "2025-04-02T16:59:25.331844"});
    check(
        &as_of(ProtocolVersion::V0_1),
        &status,
        &["$.timestamp 0.1 §6.2"],
    );
    check(&as_of(ProtocolVersion::V0_2), &status, &[]);
    check(&as_of(ProtocolVersion::V0_3), &status, &[]);
    let status = json!({"state": "working", "timestamp": "yesterday"});
    check(
        &as_of(ProtocolVersion::V0_3),
        &status,
        &["$.timestamp 0.3 §6.2"],
    );
    let task = json!({"kind": "task", "id": "", "contextId": "c", "status": {"state": "working"}});
    check(&as_of(ProtocolVersion::V0_3), &task, &["$.id 0.3 §6.1"]);
    let part = json!({"kind": "file", "file": {"bytes": "<base64>"}});
    check(
        &as_of(ProtocolVersion::V0_3),
        &part,
        &["$.file.bytes 0.3 §6.6.1"],
    );
    check(
        &as_of(ProtocolVersion::V0_2),
        &json!({"kind": "file", "file": {"uri": "https://h"}}),
        &[],
    );
}

fn card() -> Value {
    let mut card = a2a_types::AgentCard::new("Joker", "Tells jokes").at("https://joker.example");
    card.supported_interfaces.truncate(2);
    serde_json::to_value(card).unwrap()
}

#[test]
fn cards_of_1_0_are_reached_somewhere() {
    check_1_0(&card(), "AgentCard", &[]);
    let with = |path: &str, value: Value| {
        let mut card = card();
        *card.pointer_mut(path).unwrap() = value;
        card
    };
    check_1_0(
        &with("/supportedInterfaces", json!([])),
        "AgentCard",
        &["$.supportedInterfaces 1.0 §5.7"],
    );
    for url in ["/rpc", "joker.example/rpc", "", "//joker.example"] {
        check_1_0(
            &with("/supportedInterfaces/0/url", url.into()),
            "AgentCard",
            &["$.supportedInterfaces[0].url 1.0 §4.4.6"],
        );
    }
    check_1_0(
        &with("/skills/0/id", "".into()),
        "AgentCard",
        &["$.skills[0].id A2A10-4.4.5-M1"],
    );
    let mut old = card();
    old["security"] = json!([{"google": ["openid"]}]);
    check_1_0(&old, "AgentCard", &["$.security 1.0 §4.4.1"]);
    old["security"] = json!([]);
    check_1_0(&old, "AgentCard", &[]);
}

#[test]
fn a_card_of_several_versions_is_judged_as_each() {
    let both = json!({
        "name": "n", "description": "d", "version": "1", "url": "https://h/rpc", "protocolVersion": "0.3.0",
        "preferredTransport": "JSONRPC", "capabilities": {}, "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"], "skills": [], "supportedInterfaces": [],
        "securitySchemes": {"b": {"type": "http", "scheme": "bearer", "httpAuthSecurityScheme": {"scheme": "bearer"}}},
        "security": [{"b": []}], "securityRequirements": [{"schemes": {"b": {"list": []}}}],
    });
    let found = lint(&both.to_string(), &Context::default());
    let describe: Vec<_> = found
        .iter()
        .map(|one| (one.protocol_version, one.verdict))
        .collect();
    let expected = [
        (Some("1.0"), StrictVerdict::RejectByRule),
        (Some("0.3"), StrictVerdict::Accept),
    ];
    assert_eq!(describe, expected, "{found:#?}");
    assert_eq!(found[0].findings[0].path, "$.supportedInterfaces");
}

#[test]
fn given_kind_takes_precedence() {
    let as_kind = |name: &str| Context {
        kind: DocumentKind::named(name),
        ..Context::default()
    };
    let message =
        json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}});
    for name in [
        "SendMessageRequest",
        "sendmessageresponse",
        "StreamResponse",
        "event",
    ] {
        check(&as_kind(name), &message, &[]);
    }
    check(&as_kind("Task"), &message, &["$ Task", "$ Task"]);
    check(
        &as_kind("request"),
        &json!({"jsonrpc": "2.0", "id": 1}),
        &["$.method JSON-RPC"],
    );
    let found = &lint("{}", &as_kind("AgentCard"))[0];
    assert_eq!(
        (&*found.kind, found.protocol_version),
        ("AgentCard", Some("1.0"))
    );
}

#[test]
fn text_after_a_document_is_not_part_of_it() {
    let task = of_task("id", "t".into()).to_string();
    for text in [
        format!("{task}\n{task}\n"),
        format!("{task} done"),
        format!("\u{feff}{task}"),
        task.replacen('{', "{\"id\": \"u\", ", 1),
        String::new(),
    ] {
        let found = &lint(&text, &Context::default())[0];
        assert_eq!(found.verdict, StrictVerdict::Reject, "{text}: {found:#?}");
        assert_eq!(found.findings[0].rule, "JSON", "{text}");
    }
}

/// Returns the findings on a text, each as its path and its problem.
fn findings(text: &str) -> Vec<String> {
    let results = lint(text, &Context::default());
    let findings = results.iter().flat_map(|result| &result.findings);
    findings
        .map(|one| format!("{} {}", one.path, one.problem))
        .collect()
}

/// Returns a card with these members besides.
fn card_with(members: Value) -> String {
    let mut card = card();
    for (name, member) in members.as_object().unwrap() {
        card[name] = member.clone();
    }
    card.to_string()
}

fn card_of_0_1(authentication: Value) -> String {
    json!({"name": "n", "url": "https://a.example/", "version": "1", "capabilities": {},
        "skills": [{"id": "s", "name": "s"}], "provider": null, "authentication": authentication})
    .to_string()
}

#[test]
fn forms_of_earlier_versions_are_refused_as_such() {
    let schemes = json!({"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}});
    let requirement = json!({"securitySchemes": schemes, "securityRequirements": [{"bearer": []}]});
    let [found] = &findings(&card_with(requirement))[..] else {
        panic!()
    };
    assert!(
        found.starts_with("$.securityRequirements[0] `bearer`"),
        "{found}"
    );
    let scheme = json!({"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}});
    let [found] = &findings(&card_with(scheme))[..] else {
        panic!()
    };
    assert!(
        found.starts_with("$.securitySchemes.bearer the form of 0.3"),
        "{found}"
    );
    let snake = json!({"jsonrpc": "2.0", "id": 1, "result": {"task": {"id": "t", "context_id": "c",
        "status": {"state": "TASK_STATE_COMPLETED"}}}});
    let expected = "$.result.task.context_id expected `contextId`: members are in camelCase";
    assert_eq!(findings(&snake.to_string()), [expected]);
}

#[test]
fn a_fault_deep_in_an_answer_is_found_at_its_place() {
    let artifact = json!({"artifactId": "a", "parts": [{"text": 5}]});
    let task = json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [artifact]});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"task": task}});
    let [found] = &findings(&answer.to_string())[..] else {
        panic!()
    };
    assert!(
        found.starts_with("$.result.task.artifacts[0].parts[0].text "),
        "{found}"
    );
}

#[test]
fn members_that_may_be_null_or_open_are_accepted() {
    let settings = json!({"schemes": ["Bearer"], "credentials": null});
    assert_eq!(findings(&card_of_0_1(settings)), [""; 0]);
    let place = json!({"schemes": ["Bearer"], "credentials": "keys are given out at /register"});
    assert_eq!(findings(&card_of_0_1(place)), [""; 0]);
    let secret = json!({"schemes": ["Bearer"], "credentials": "sk-0123456789abcdef"});
    assert_eq!(findings(&card_of_0_1(secret)).len(), 1);
    let task = json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}, "history": null});
    assert_eq!(findings(&task.to_string()), [""; 0]);
    // An unknown member `url` makes no card of 0.3 of it.
    assert_eq!(
        lint(
            &card_with(json!({"url": "https://a.example/"})),
            &Context::default()
        )
        .len(),
        1
    );
    let short = json!({"name": "n", "description": "d", "version": "1", "protocolVersion": "0.3.0", "url": "https://a.example/",
        "preferredTransport": "JSONRPC", "capabilities": {}, "defaultInputModes": ["text"], "defaultOutputModes": ["text"],
        "skills": [{"id": "s", "name": "s", "description": "d", "tags": ["t"]}]});
    assert_eq!(findings(&short.to_string()), [""; 0]);
}

#[test]
fn a_stream_with_two_messages_and_an_artifact_without_parts_are_refused() {
    let event = |id: &str| {
        let message = json!({"messageId": id, "role": "ROLE_AGENT", "parts": [{"text": "a"}]});
        format!(
            "data: {}\n\n",
            json!({"jsonrpc": "2.0", "id": 1, "result": {"message": message}})
        )
    };
    assert_eq!(findings(&event("m")), [""; 0]);
    let both = event("m") + &event("n");
    assert_eq!(
        findings(&both),
        ["$ a stream with a message has nothing else"]
    );
    let task = json!({"id": "t", "status": {"state": "completed"}, "artifacts": [{"index": 0, "parts": []}]});
    let [found] = &findings(&task.to_string())[..] else {
        panic!()
    };
    assert!(found.starts_with("$.artifacts[0].parts "), "{found}");
}
