//! Malformed requests, in every binding and version: what refuses them speaks of JSON, not of Rust.

use a2a_jsonrpc::Id;
use a2a_transport::Binding;
use a2a_transport::binding::rest::{self, Route};
use a2a_transport::binding::{CallRefusal, ReadOptions, jsonrpc, write_call};
use a2a_types::reading::Mode;
use a2a_types::{
    AuthenticationInfo, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, ErrorKind,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, Message, Part, ProtocolVersion, Request, Role, SendMessageConfiguration,
    SendMessageRequest, SubscribeToTaskRequest, TaskPushNotificationConfig,
};
use http::Method;
use serde_json::{Value, json};

fn config() -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        task_id: "t".into(),
        id: "c".into(),
        url: "https://a.example/hook".to_owned(),
        token: Some("s".to_owned()),
        authentication: Some(AuthenticationInfo {
            scheme: "Bearer".to_owned(),
            credentials: Some("s".to_owned()),
        }),
        ..TaskPushNotificationConfig::default()
    }
}

fn requests() -> Vec<Request> {
    let parts = vec![
        Part::text("x"),
        Part::bytes("x", "text/plain"),
        Part::url("https://a.example/"),
        Part::data(json!({"a": 1})),
    ];
    let send = SendMessageRequest {
        message: Message {
            extensions: vec!["https://a.example/x".to_owned()],
            metadata: json!({"a": 1}).as_object().cloned(),
            task_id: Some("t".into()),
            ..Message::new(Role::User, parts)
        },
        configuration: Some(SendMessageConfiguration {
            accepted_output_modes: vec!["text/plain".to_owned()],
            history_length: Some(1),
            task_push_notification_config: Some(config().into()),
            ..SendMessageConfiguration::default()
        }),
        ..SendMessageRequest::default()
    };
    let (id, task_id) = (|| "t".into(), || "t".into());
    vec![
        Request::SendMessage(send.clone()),
        Request::SendStreamingMessage(send),
        Request::GetTask(GetTaskRequest {
            id: id(),
            history_length: Some(1),
            ..GetTaskRequest::default()
        }),
        Request::ListTasks(ListTasksRequest {
            page_size: Some(1),
            ..ListTasksRequest::default()
        }),
        Request::CancelTask(CancelTaskRequest {
            id: id(),
            ..CancelTaskRequest::default()
        }),
        Request::SubscribeToTask(SubscribeToTaskRequest {
            id: id(),
            ..SubscribeToTaskRequest::default()
        }),
        Request::CreateTaskPushNotificationConfig(config()),
        Request::GetTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest {
            task_id: task_id(),
            id: "c".into(),
            ..GetTaskPushNotificationConfigRequest::default()
        }),
        Request::ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest {
            task_id: task_id(),
            ..ListTaskPushNotificationConfigsRequest::default()
        }),
        Request::DeleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest {
            task_id: task_id(),
            id: "c".into(),
            ..DeleteTaskPushNotificationConfigRequest::default()
        }),
    ]
}

/// Returns every place of a document, the document itself first.
fn places(value: &Value, at: &str, places: &mut Vec<String>) {
    places.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                self::places(member, &format!("{at}/{name}"), places);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                self::places(item, &format!("{at}/{index}"), places);
            }
        }
        _ => {}
    }
}

/// Returns the document with each place replaced by each of several values, and whether that is an object's
/// members as an array.
fn mutants(document: &Value) -> Vec<(Value, String, bool)> {
    let mut all = Vec::new();
    places(document, "", &mut all);
    let mut mutants = Vec::new();
    for place in all {
        let mut put = |value: Value, positional: bool| {
            let mut mutant = document.clone();
            if let Some(target) = mutant.pointer_mut(&place) {
                *target = value;
            }
            mutants.push((mutant, place.clone(), positional));
        };
        for value in [
            json!(null),
            json!(true),
            json!(7),
            json!(-1),
            json!(1.5),
            json!(1e300),
            json!("x"),
            json!([]),
            json!([[]]),
            json!({}),
            json!({"user": null}),
            json!([7, "x", null]),
        ] {
            put(value, false);
        }
        if let Some(Value::Object(members)) = document.pointer(&place) {
            let is_free = place.ends_with("/metadata") || place.ends_with("/data");
            put(members.values().cloned().collect(), !is_free);
        }
    }
    mutants
}

/// Returns the first word of a message that is a term of Rust, if any.
fn rust_word(message: &str) -> Option<&str> {
    // Names in backticks are wire names, and paths contain wire names, too.
    let plain = message
        .split('`')
        .step_by(2)
        .flat_map(|text| text.split(|c: char| !(c.is_ascii_alphanumeric() || "_$.[]".contains(c))));
    let of_rust = |word: &&str| {
        let capitals = word.chars().filter(char::is_ascii_uppercase).count();
        let is_type = word.starts_with(|c: char| c.is_ascii_uppercase())
            && capitals > 1
            && word.chars().any(|c| c.is_ascii_lowercase());
        is_type || RUST.contains(word) || word.contains("::")
    };
    plain.into_iter().find(of_rust)
}

const RUST: &[&str] = &[
    "struct",
    "enum",
    "variant",
    "variants",
    "tuple",
    "newtype",
    "unit",
    "map",
    "sequence",
    "seq",
    "identifier",
    "option",
    "Option",
    "Vec",
    "bool",
    "char",
    "str",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "usize",
    "f32",
    "f64",
    "untagged",
    "expected value",
];

#[track_caller]
fn check(refused: Result<(), CallRefusal>, place: &str, positional: bool, sent: &str) {
    match refused {
        Ok(()) => assert!(!positional, "{place} was read by position: {sent}"),
        Err(refused) => {
            let error = refused.error;
            let word = rust_word(&error.message);
            assert_eq!(word, None, "{}: {place} of {sent}", error.message);
            let client = [
                ErrorKind::InvalidParams,
                ErrorKind::InvalidRequest,
                ErrorKind::MethodNotFound,
            ];
            assert!(client.contains(&error.kind), "{error:?}: {sent}");
        }
    }
}

#[test]
fn refusals_name_no_type_of_rust() {
    let mut count = 0;
    for &protocol_version in ProtocolVersion::ALL {
        for (request, mode) in requests()
            .into_iter()
            .flat_map(|request| [Mode::Lenient, Mode::Strict].map(|mode| (request.clone(), mode)))
        {
            let mut reading = ReadOptions::default();
            reading.mode = mode;
            let version = Some(protocol_version.version());
            if let Ok((body, _)) =
                jsonrpc::write_call(request.clone(), protocol_version, &Id::number(1))
            {
                let body: Value = serde_json::from_slice(&body).unwrap();
                for (mutant, place, positional) in mutants(&body) {
                    let text = mutant.to_string();
                    let read = jsonrpc::read_call(text.as_bytes(), version, &reading);
                    check(read.map(drop), &place, positional, &text);
                    count += 1;
                }
            }
            let asking = write_call(request, protocol_version, Binding::HttpJson, &Id::Null);
            if let Ok(asking) = asking
                && let Some(body) = &asking.body
            {
                let (path, query) = match asking.target.split_once('?') {
                    Some((path, query)) => (path, Some(query)),
                    None => (asking.target.as_str(), None),
                };
                let body: Value = serde_json::from_slice(body).unwrap();
                for (mutant, place, positional) in mutants(&body) {
                    let route =
                        Route::find(&Method::POST, path, Some(protocol_version), mode).unwrap();
                    let text = mutant.to_string();
                    let read = rest::read_call(route, query, text.as_bytes(), &reading);
                    check(read.map(drop), &place, positional, &text);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 10_000, "{count}");
}

#[test]
fn queries_name_no_type_of_rust() {
    let reading = ReadOptions::default();
    for (path, protocol_version) in [
        ("/tasks", ProtocolVersion::V1_0),
        ("/v1/tasks", ProtocolVersion::V0_3),
    ] {
        for query in [
            "pageSize=x",
            "pageSize=-1",
            "pageSize=",
            "historyLength=1.5",
            "includeArtifacts=maybe",
            "status=7000",
            "status=dancing",
            "statusTimestampAfter=now",
            "pageSize=1&pageSize=2",
        ] {
            let route =
                Route::find(&Method::GET, path, Some(protocol_version), Mode::Lenient).unwrap();
            let read = rest::read_call(route, Some(query), b"", &reading);
            check(read.map(drop), query, false, path);
        }
    }
}

#[test]
fn an_empty_message_id_is_refused_in_every_version_and_binding() {
    // 0.1 has no identifiers of messages.
    for protocol_version in [
        ProtocolVersion::V0_2,
        ProtocolVersion::V0_3,
        ProtocolVersion::V1_0,
    ] {
        for mode in [Mode::Lenient, Mode::Strict] {
            let mut reading = ReadOptions::default();
            reading.mode = mode;
            let sent = SendMessageRequest::from(Message {
                message_id: "".into(),
                ..Message::user("x")
            });
            for request in [
                Request::SendMessage(sent.clone()),
                Request::SendStreamingMessage(sent),
            ] {
                let (body, _) =
                    jsonrpc::write_call(request.clone(), protocol_version, &Id::number(1)).unwrap();
                let read = jsonrpc::read_call(&body, Some(protocol_version.version()), &reading);
                let error = read.map(drop).unwrap_err().error;
                assert_eq!(error.kind, ErrorKind::InvalidParams, "{error:?}");
                assert!(error.message.contains("messageId"), "{error:?}");
                if protocol_version == ProtocolVersion::V0_2 {
                    continue;
                }
                let call =
                    write_call(request, protocol_version, Binding::HttpJson, &Id::Null).unwrap();
                let route =
                    Route::find(&Method::POST, &call.target, Some(protocol_version), mode).unwrap();
                let read = rest::read_call(route, None, &call.body.unwrap(), &reading);
                let error = read.map(drop).unwrap_err().error;
                assert_eq!(error.kind, ErrorKind::InvalidParams, "{error:?}");
                assert!(error.message.contains("messageId"), "{error:?}");
            }
        }
    }
}

/// Reads a call of 1.0. Returns the repaired quirks, or the code and message of the refusal.
fn read_1_0(message: &Value, mode: Mode) -> Result<Vec<String>, String> {
    let mut reading = ReadOptions::default();
    reading.mode = mode;
    let params = json!({"message": message});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
    let read = jsonrpc::read_call(body.to_string().as_bytes(), Some("1.0"), &reading);
    let question = read.map_err(|refused| refused.error.message)?;
    let repairs = question.repairs.into_iter();
    let listed = repairs.map(|repair| format!("{} {}", repair.quirk.code(), repair.path));
    Ok(listed.collect())
}

#[test]
fn words_of_older_versions_are_refused_or_listed_in_1_0() {
    let say = |role: Value, part: Value| json!({"messageId": "m", "role": role, "parts": [part]});
    let text = json!({"text": "about \"user\" and \"kind\""});
    for mode in [Mode::Lenient, Mode::Strict] {
        for role in [json!("ROLE_USER"), json!(1)] {
            assert_eq!(read_1_0(&say(role, text.clone()), mode), Ok(vec![]));
        }
        for role in ["user", "agent"] {
            let refused = read_1_0(&say(role.into(), text.clone()), mode).unwrap_err();
            assert!(
                refused.starts_with("$.params.message.role: expected `ROLE_USER`"),
                "{refused}"
            );
        }
    }
    let kind = say(json!("ROLE_USER"), json!({"kind": "text", "text": "x"}));
    let listed = vec!["KINDIN1.0 $.params.message.parts[0].kind".to_owned()];
    assert_eq!(read_1_0(&kind, Mode::Lenient), Ok(listed));
    assert!(read_1_0(&kind, Mode::Strict).is_err());
    let file = say(
        json!("ROLE_USER"),
        json!({"kind": "file", "file": {"fileWithUri": "u"}}),
    );
    assert!(read_1_0(&file, Mode::Lenient).is_err());
}
