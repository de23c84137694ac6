//! The rules of the JSON-RPC envelope, for requests and for answers.

use a2a_jsonrpc::{Id, Limits};
use a2a_transport::binding::ReadOptions;
use a2a_transport::binding::jsonrpc::{
    EventReader, read_call, read_reply, write_call, write_reply,
};
use a2a_transport::{Error, ResponseContext};
use a2a_types::reading::Mode;
use a2a_types::{
    Error as A2aError, ErrorKind, GetExtendedAgentCardRequest, GetTaskRequest, ListTasksRequest,
    Operation, ProtocolVersion, Request,
};
use serde_json::{Value, json};

fn reading(mode: Mode) -> ReadOptions {
    let mut reading = ReadOptions::default();
    reading.mode = mode;
    reading
}

/// Checks the id that a request wants answered, if any; or the code with which it is refused.
#[track_caller]
fn check_request(
    json: &str,
    version: Option<&str>,
    lenient: Result<Option<&str>, i64>,
    strict: Result<Option<&str>, i64>,
) {
    for (mode, expected) in [(Mode::Lenient, lenient), (Mode::Strict, strict)] {
        let read = read_call(json.as_bytes(), version, &reading(mode));
        let found = match &read {
            Ok(question) => Ok(question.envelope.id.as_ref().map(ToString::to_string)),
            Err(refused) => Err(refused.error.kind.code()),
        };
        assert_eq!(
            found,
            expected.map(|id| id.map(str::to_owned)),
            "{mode:?} {json}"
        );
    }
}

#[test]
fn request_envelopes_are_read_or_refused() {
    let params = r#""params":{"id":"t"}"#;
    let with = |head: &str, method: &str| format!(r#"{{{head}"method":"{method}",{params}}}"#);
    let v2 = r#""jsonrpc":"2.0","#;
    check_request(
        &with(&format!(r#"{v2}"id":1,"#), "tasks/get"),
        None,
        Ok(Some("1")),
        Ok(Some("1")),
    );
    check_request(
        &with(&format!(r#"{v2}"id":1.0,"#), "tasks/get"),
        None,
        Ok(Some("1.0")),
        Ok(Some("1.0")),
    );
    check_request(
        &with(&format!(r#"{v2}"id":"a","#), "tasks/get"),
        None,
        Ok(Some("\"a\"")),
        Ok(Some("\"a\"")),
    );
    // A null id is a request, and wants it back.
    check_request(
        &with(&format!(r#"{v2}"id":null,"#), "tasks/get"),
        None,
        Ok(Some("null")),
        Ok(Some("null")),
    );
    // A request without an id is a notification, unless its method always has an answer.
    check_request(&with(v2, "tasks/get"), None, Ok(None), Ok(None));
    check_request(
        &with(v2, "tasks/resubscribe"),
        None,
        Ok(Some("null")),
        Ok(None),
    );
    // Documents print requests for streams without `jsonrpc`, and no others.
    let bare = with("", "tasks/resubscribe");
    check_request(&bare, None, Ok(Some("null")), Err(-32600));
    let refused = Err(-32600);
    check_request(&with("", "tasks/get"), None, refused, refused);
    let named = with(r#""id":1,"#, "tasks/resubscribe");
    check_request(&named, None, refused, refused);
    let latest = with("", "SubscribeToTask");
    check_request(&latest, Some("1.0"), refused, refused);
    let latest = with(v2, "SubscribeToTask");
    check_request(&latest, Some("1.0"), Ok(None), Ok(None));
    // The latest version wants its header.
    let get = with(&format!(r#"{v2}"id":1,"#), "GetTask");
    check_request(&get, None, Ok(Some("1")), Err(-32601));
    check_request(&get, Some("1.0"), Ok(Some("1")), Ok(Some("1")));
    check_request(&get, Some("1.0.1"), Ok(Some("1")), Ok(Some("1")));
    check_request(&get, Some("9.0"), Err(-32009), Err(-32009));
}

#[test]
fn a_method_tells_the_version() {
    let protocol_version_of = |method: &str, prefer: Option<ProtocolVersion>| {
        let json =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"id":"t"}}}}"#);
        let mut reading = ReadOptions::default();
        reading.prefer = prefer;
        let envelope = read_call(json.as_bytes(), None, &reading).unwrap().envelope;
        (envelope.protocol_version, envelope.ambiguous)
    };
    assert_eq!(
        protocol_version_of("tasks/get", None),
        (ProtocolVersion::V0_3, true)
    );
    assert_eq!(
        protocol_version_of("tasks/get", Some(ProtocolVersion::V0_1)),
        (ProtocolVersion::V0_1, true)
    );
    assert_eq!(
        protocol_version_of("tasks/pushNotification/get", None),
        (ProtocolVersion::V0_1, false)
    );
    assert_eq!(
        protocol_version_of(
            "tasks/pushNotificationConfig/get",
            Some(ProtocolVersion::V0_2)
        ),
        (ProtocolVersion::V0_2, true)
    );
    assert_eq!(
        protocol_version_of("GetTask", None),
        (ProtocolVersion::V1_0, false)
    );

    let json = br#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}}"#;
    let mut envelope = read_call(json, None, &ReadOptions::default())
        .unwrap()
        .envelope;
    envelope.settle(Some(ProtocolVersion::V0_1));
    assert_eq!(
        envelope.protocol_version,
        ProtocolVersion::V0_1,
        "the task was created in 0.1"
    );
    envelope.settle(Some(ProtocolVersion::V1_0));
    assert_eq!(
        envelope.protocol_version,
        ProtocolVersion::V0_1,
        "1.0 spells it otherwise"
    );
}

#[test]
fn unsupported_operation_is_not_sent() {
    for protocol_version in [ProtocolVersion::V0_1, ProtocolVersion::V0_2] {
        let list = Request::from(ListTasksRequest::default());
        let refused = write_call(list, protocol_version, &Id::number(1));
        assert!(
            matches!(
                refused,
                Err(Error::NotSupported {
                    operation: Operation::ListTasks,
                    ..
                })
            ),
            "{protocol_version}"
        );
    }
    let card = Request::from(GetExtendedAgentCardRequest::default());
    assert!(write_call(card, ProtocolVersion::V0_1, &Id::number(1)).is_err());
}

fn envelope(protocol_version: ProtocolVersion) -> ResponseContext {
    let get = GetTaskRequest {
        id: "t".into(),
        ..GetTaskRequest::default()
    };
    write_call(Request::GetTask(get), protocol_version, &Id::number(7))
        .unwrap()
        .1
}

/// Checks the form of an error on the wire.
#[track_caller]
fn check_error(protocol_version: ProtocolVersion, kind: ErrorKind, expected: Value) {
    let error =
        A2aError::new(kind, "m").with_details(json!({"path": "$.params.id", "problem": "p"}));
    let written: Value =
        serde_json::from_slice(&write_reply(&envelope(protocol_version), Err(error))).unwrap();
    assert_eq!(written["error"], expected, "{kind:?} in {protocol_version}");
    assert_eq!(written["id"], 7);
}

#[test]
fn errors_are_written_as_each_version_has_them() {
    let data = json!({"path": "$.params.id", "problem": "p"});
    check_error(
        ProtocolVersion::V0_1,
        ErrorKind::TaskNotFound,
        json!({"code": -32001, "message": "m", "data": data}),
    );
    check_error(
        ProtocolVersion::V0_1,
        ErrorKind::InvalidAgentResponse,
        json!({"code": -32603, "message": "m", "data": data}),
    );
    check_error(
        ProtocolVersion::V0_2,
        ErrorKind::InvalidAgentResponse,
        json!({"code": -32006, "message": "m", "data": data}),
    );
    check_error(
        ProtocolVersion::V0_2,
        ErrorKind::VersionNotSupported,
        json!({"code": -32600, "message": "m", "data": data}),
    );
    check_error(
        ProtocolVersion::V1_0,
        ErrorKind::InvalidParams,
        json!({"code": -32602, "message": "m", "data": [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "INVALID_PARAMS", "domain": "a2a-protocol.org"},
            {"@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [{"field": "$.params.id", "description": "p"}]},
        ]}),
    );
    // A value that is not an object is not data in 0.1.
    let error = A2aError::new(ErrorKind::Internal, "m").with_details(json!("text"));
    let written: Value =
        serde_json::from_slice(&write_reply(&envelope(ProtocolVersion::V0_1), Err(error))).unwrap();
    assert_eq!(written["error"], json!({"code": -32603, "message": "m"}));
}

/// Checks the repairs of an answer, or its error.
#[track_caller]
fn check_answer(json: &str, lenient: Result<&[&str], &str>, strict: Result<&[&str], &str>) {
    for (mode, expected) in [(Mode::Lenient, lenient), (Mode::Strict, strict)] {
        let read = read_reply(
            &envelope(ProtocolVersion::V0_2),
            json.as_bytes(),
            mode,
            &Limits::default(),
        );
        match (read, expected) {
            (Ok(read), Ok(codes)) => {
                let found: Vec<_> = read
                    .repairs
                    .iter()
                    .map(|repair| repair.quirk.code())
                    .collect();
                assert_eq!(found, codes, "{mode:?} {json}");
            }
            (Err(error), Err(text)) => {
                let message = match &error {
                    Error::Malformed(violation) => violation.to_string(),
                    other => other.to_string(),
                };
                assert!(message.contains(text), "{mode:?} {json}: {message}");
            }
            (found, expected) => panic!("{mode:?} {json}: expected {expected:?}, found {found:?}"),
        }
    }
}

#[test]
fn answer_envelopes_are_read_or_refused() {
    let task = r#"{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}"#;
    check_answer(
        &format!(r#"{{"jsonrpc":"2.0","id":7,"result":{task}}}"#),
        Ok(&[]),
        Ok(&[]),
    );
    check_answer(
        &format!(r#"{{"jsonrpc":"2.0","id":8,"result":{task}}}"#),
        Ok(&["IDMIS"]),
        Err("$.id"),
    );
    check_answer(
        &format!(r#"{{"jsonrpc":"2.0","id":"7","result":{task}}}"#),
        Ok(&["IDMIS"]),
        Err("$.id"),
    );
    check_answer(task, Ok(&["BARE"]), Err("$"));
    let error = r#"{"code":-32001,"message":"Task not found"}"#;
    check_answer(
        &format!(r#"{{"jsonrpc":"2.0","id":7,"error":{error}}}"#),
        Err("Task not found"),
        Err("Task not found"),
    );
    check_answer(
        &format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#),
        Err("Task not found"),
        Err("Task not found"),
    );
    check_answer(
        &format!(r#"{{"jsonrpc":"2.0","id":7,"error":{error},"result":{task}}}"#),
        Err("$"),
        Err("$"),
    );
    check_answer(r#"{"jsonrpc":"2.0","id":7}"#, Err("$"), Err("$"));
    check_answer(
        r#"{"jsonrpc":"2.0","id":7,"result":7}"#,
        Err("$.result"),
        Err("$.result"),
    );
    check_answer("<html>", Err("$"), Err("$"));
    let no_kind = task.replace(r#""kind":"task","#, "");
    check_answer(
        &format!(r#"{{"jsonrpc":"2.0","id":7,"result":{no_kind}}}"#),
        Ok(&["NOKIND"]),
        Err("$.result"),
    );
}

/// An artifact without a name goes on where the one before stopped.
#[test]
fn a_stream_remembers_its_artifact() {
    let mut reader = EventReader::new(
        envelope(ProtocolVersion::V0_2),
        Mode::Lenient,
        Limits::default(),
    );
    let event = |artifact: &str| {
        format!(
            r#"{{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{artifact},"lastChunk":true}}"#
        )
    };
    reader
        .read(event(r#"{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}"#).as_bytes())
        .unwrap();
    let end = reader.read(event(r#"{"parts":[]}"#).as_bytes()).unwrap();
    let a2a_types::Event::ArtifactUpdate(update) = end.value.event else {
        panic!()
    };
    assert_eq!(update.artifact.artifact_id.as_str(), "a");
    assert!(update.append && update.last_chunk);
}
