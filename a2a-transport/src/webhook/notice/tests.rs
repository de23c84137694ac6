//! Bodies of every protocol version.

use super::*;
use crate::binding::write_notification;
use a2a_types::{Task, TaskState, TaskStatus};

/// Checks what is read from a body: its version, task, kind and state.
#[track_caller]
fn check(body: &str, expected: &str) {
    let ParsedNotification {
        task,
        event,
        protocol_version,
    } = read_notice(body.as_bytes(), &Limits::default()).unwrap();
    let kind = match &event {
        None => "nothing",
        Some(Event::Task(_)) => "task",
        Some(Event::Message(_)) => "message",
        Some(Event::StatusUpdate(_)) => "status",
        Some(Event::ArtifactUpdate(_)) => "artifact",
    };
    let state = event.as_ref().and_then(Event::status);
    let state = state.map_or_else(String::new, |status| format!(" {:?}", status.state));
    let task = task.map_or("-".to_owned(), String::from);
    assert_eq!(
        format!("{protocol_version} {task} {kind}{state}"),
        expected,
        "{body}"
    );
}

#[test]
fn bodies_of_0_1_are_read() {
    check(
        r#"{"id":"T","sessionId":"S","status":{"state":"completed"},"artifacts":[{"parts":[{"type":"text","text":"x"}],"index":0}]}"#,
        "0.1 T task Completed",
    );
    check(
        r#"{"id":"T","status":{"state":"working"}}"#,
        "0.1 T task Working",
    );
    check(
        r#"{"id":"T","status":{"state":"canceled"},"final":true}"#,
        "0.1 T status Canceled",
    );
    check(
        r#"{"id":"T","artifact":{"parts":[{"type":"text","text":"x"}],"index":0}}"#,
        "0.1 T artifact",
    );
    check(
        r#"{"eventType":"taskStatusChanged","taskId":"T","status":{"state":"completed"},"summary":"s"}"#,
        "0.1 T status Completed",
    );
    check(
        r#"{"jsonrpc":"2.0","method":"tasks/notifyEvent","params":{"id":"T","status":{"state":"completed"}}}"#,
        "0.1 T task Completed",
    );
}

#[test]
fn bodies_of_0_2_and_0_3_are_read() {
    check(
        r#"{"kind":"task","id":"T","contextId":"C","status":{"state":"input-required"}}"#,
        "0.3 T task InputRequired",
    );
    check(
        r#"{"id":"T","contextId":"C","status":{"state":"completed"}}"#,
        "0.3 T task Completed",
    );
    check(
        r#"{"kind":"status-update","taskId":"T","contextId":"C","status":{"state":"failed"},"final":true}"#,
        "0.3 T status Failed",
    );
    check(
        r#"{"kind":"artifact-update","taskId":"T","contextId":"C","artifact":{"artifactId":"A","parts":[{"kind":"text","text":"x"}]}}"#,
        "0.3 T artifact",
    );
    check(
        r#"{"kind":"message","role":"agent","messageId":"M","taskId":"T","parts":[{"kind":"text","text":"x"}]}"#,
        "0.3 T message",
    );
    check(
        r#"{"task":{"kind":"task","id":"T","contextId":"C","status":{"state":"completed"}}}"#,
        "0.3 T task Completed",
    );
}

/// A body that could be 0.3 or 1.0 is read as 1.0.
#[test]
fn bodies_of_0_3_in_proto_json_are_read() {
    check(
        r#"{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_CANCELLED"}}}"#,
        "1.0 T task Canceled",
    );
    check(
        r#"{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_COMPLETED"},"final":true}}"#,
        "0.3 T status Completed",
    );
    check(
        r#"{"msg":{"messageId":"M","taskId":"T","role":"ROLE_AGENT","content":[{"text":"x"}]}}"#,
        "0.3 T message",
    );
    check(
        r#"{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"},"final":false}"#,
        "0.3 T status Working",
    );
}

#[test]
fn bodies_of_1_0_are_read() {
    check(
        r#"{"statusUpdate":{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_COMPLETED"}}}"#,
        "1.0 T status Completed",
    );
    check(
        r#"{"artifactUpdate":{"taskId":"T","contextId":"C","artifact":{"artifactId":"A","parts":[{"text":"x"}]},"lastChunk":true}}"#,
        "1.0 T artifact",
    );
    check(
        r#"{"task":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}"#,
        "1.0 T task InputRequired",
    );
    check(
        r#"{"message":{"messageId":"M","role":"ROLE_AGENT","parts":[{"text":"x"}]}}"#,
        "1.0 - message",
    );
    check(
        r#"{"taskId":"T","contextId":"C","status":{"state":"TASK_STATE_COMPLETED"}}"#,
        "1.0 T status Completed",
    );
    check(
        r#"{"taskId":"T","contextId":"C","artifact":{"artifactId":"A","parts":[{"text":"x"}]}}"#,
        "1.0 T artifact",
    );
    check(
        r#"{"id":"T","contextId":"C","status":{"state":"TASK_STATE_FAILED"}}"#,
        "1.0 T task Failed",
    );
}

#[test]
fn incomplete_bodies_give_no_event() {
    check("{}", "0.1 - nothing");
    check(r#"{"id":"T"}"#, "0.1 T nothing");
    check(r#"{"taskId":7}"#, "0.1 7 nothing");
    check(r#"{"taskId":"T","status":"finished"}"#, "0.1 T nothing");
    check(r#"{"task":"T"}"#, "0.1 T nothing");
    check(r#"{"statusUpdate":{"taskId":"T"}}"#, "0.1 T nothing");
    for body in ["", "null", "[]", "\"T\"", "{", "{\"id\":\"\u{0}\"}"] {
        assert!(
            read_notice(body.as_bytes(), &Limits::default()).is_err(),
            "{body}"
        );
    }
    assert!(read_notice(b"{\"id\":\"\xff\"}", &Limits::default()).is_err());
}

#[test]
fn written_notification_is_read_back() {
    let task = Task {
        id: "T".into(),
        context_id: Some("C".into()),
        status: TaskStatus {
            state: TaskState::Completed,
            message: None,
            timestamp: None,
        },
        ..Task::default()
    };
    let whole = Event::Task(task.clone());
    let update = Event::StatusUpdate(a2a_types::TaskStatusUpdateEvent {
        task_id: "T".into(),
        context_id: Some("C".into()),
        status: task.status.clone(),
        metadata: None,
    });
    for protocol_version in ProtocolVersion::ALL {
        let event = match protocol_version {
            ProtocolVersion::V1_0 => &update,
            _ => &whole,
        };
        let pushed = write_notification(event.clone(), *protocol_version).unwrap();
        let read = read_notice(&pushed.body, &Limits::default()).unwrap();
        assert_eq!(read.event.as_ref(), Some(event), "{protocol_version}");
        assert_eq!(
            pushed.media_type.contains("a2a"),
            *protocol_version == ProtocolVersion::V1_0
        );
    }
}
