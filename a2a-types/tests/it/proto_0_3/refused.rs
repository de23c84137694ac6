//! Bodies that no one can read: refused in either mode, at the place where their sender wrote it.

use std::fmt::Debug;

use a2a_types::Operation;
use a2a_types::reading::{Mode, Violation, WithRepairs};
use a2a_types::v0_3::{self, Flavour};

use crate::proto_0_3::hints;

/// Checks that both readers refuse the text, at this path.
#[track_caller]
fn check_refused<T: Debug>(
    read: impl Fn(Mode) -> Result<WithRepairs<T>, Violation>,
    path: &str,
    body: &str,
) {
    for mode in [Mode::Strict, Mode::Lenient] {
        let refused = read(mode).map(|_| ()).unwrap_err();
        assert_eq!(refused.path, path, "{body} {mode:?}: {refused}");
    }
}

#[test]
fn unreadable_value_is_refused_at_its_path() {
    for (body, path) in [
        ("", "$"),
        ("7", "$"),
        ("[]", "$"),
        ("{}", "$"),
        (r#"{"message":[]}"#, "$.message"),
        (
            r#"{"message":{"messageId":"m","role":"ROLE_USER"}}"#,
            "$.message.content",
        ),
        (
            r#"{"message":{"messageId":"m","role":"ROLE_USER","content":[{}]}}"#,
            "$.message.content[0]",
        ),
        (
            r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":7}]}}"#,
            "$.message.parts[0].text",
        ),
        (
            r#"{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"a","data":{"data":{}}}]}}"#,
            "$.message.content[0]",
        ),
        (
            r#"{"message":{"messageId":"m","role":"ROLE_USER","content":[{"file":{"fileWithUri":"u","fileWithBytes":""}}]}}"#,
            "$.message.content[0].file",
        ),
        (
            r#"{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"a"}]},"configuration":{"historyLength":-1}}"#,
            "$.configuration.historyLength",
        ),
    ] {
        let read = |mode| v0_3::read_request(Operation::SendMessage, body, mode, &hints(None));
        check_refused(read, path, body);
    }
    for (body, path) in [
        ("null", "$"),
        ("{}", "$"),
        (
            r#"{"statusUpdate":{"taskId":"t","contextId":"c"}}"#,
            "$.statusUpdate",
        ),
        (
            r#"{"statusUpdate":{"taskId":"","contextId":"c","status":{}}}"#,
            "$.statusUpdate.taskId",
        ),
        (
            r#"{"task":{"id":"t","contextId":"c","status":{}},"statusUpdate":{"taskId":"t","contextId":"c","status":{}}}"#,
            "$",
        ),
        (
            r#"{"task":{"id":"","contextId":"c","status":{"state":1}}}"#,
            "$.task.id",
        ),
    ] {
        let read = |mode| v0_3::read_event(body, mode, &hints(None));
        check_refused(read, path, body);
    }
    for operation in [
        Operation::GetTask,
        Operation::SubscribeToTask,
        Operation::GetExtendedAgentCard,
    ] {
        let read = |mode| v0_3::read_request(operation, "{}", mode, &hints(None));
        check_refused(read, "$", operation.name());
    }
    let read = |mode| v0_3::read_response(Operation::SubscribeToTask, "{}", mode, &hints(None));
    check_refused(read, "$", "a stream is not an answer");
}

/// Odd JSON is refused or read, and never more than that.
#[test]
fn hostile_json_never_panics() {
    let nest = |open: &str, close: &str| open.repeat(5_000) + "{}" + &close.repeat(5_000);
    for body in [
        nest(r#"{"config":"#, "}"),
        nest(r#"{"message":"#, "}"),
        nest("[", "]"),
        r#"{"message":{"messageId":"m","message_id":"m","role":1,"content":[{"text":"a"}]}}"#
            .to_owned(),
        r#"{"message":{"messageId":"m","role":1,"content":[{"text":"a"}],"parts":[]}}"#.to_owned(),
        r#"{"message":{"messageId":"m","role":1e400,"content":[{"data":{"data":null}}]}}"#
            .to_owned(),
        r#"{"task":{"id":{},"status":[],"artifacts":{},"history":7}}"#.to_owned(),
        "\u{0}".to_owned(),
        r#""\ud800""#.to_owned(),
    ] {
        for mode in [Mode::Strict, Mode::Lenient] {
            Flavour::of(&body);
            for &operation in Operation::ALL {
                let request = v0_3::read_request(operation, &body, mode, &hints(None));
                assert!(request.is_err(), "{operation:?} {body:.80}");
                let _ = v0_3::read_response(operation, &body, mode, &hints(None));
            }
            assert!(
                v0_3::read_event(&body, mode, &hints(None)).is_err(),
                "{body:.80}"
            );
        }
    }
}
