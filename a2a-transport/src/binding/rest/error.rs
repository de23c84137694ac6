//! Errors: an HTTP status, and a body that describes the error.

use a2a_types::{Error as A2aError, ErrorKind, ProtocolVersion};
use http::StatusCode;
use serde_json::{Value, json};

use crate::Error;
use crate::binding::details::{error_details, kind_in};
use crate::binding::{CallRefusal, OutgoingReply};

/// Writes an error: in 1.0 a `google.rpc.Status` (1.0.1 §11.6), in 0.3, whose text gives no shape,
/// the error object of JSON-RPC alone, as its clients read it.
pub fn write_error(error: &A2aError, protocol_version: ProtocolVersion) -> OutgoingReply {
    write(error, protocol_version, None)
}

/// Writes the answer to a request that was not understood.
pub fn write_refusal(refused: &CallRefusal) -> OutgoingReply {
    write(&refused.error, refused.protocol_version, refused.status)
}

fn write(
    error: &A2aError,
    protocol_version: ProtocolVersion,
    status: Option<StatusCode>,
) -> OutgoingReply {
    let of_kind = StatusCode::from_u16(error.kind.http_status_in(protocol_version));
    let status = status
        .or(of_kind.ok())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    OutgoingReply {
        status,
        body: error_body(error, protocol_version, status)
            .to_string()
            .into_bytes(),
    }
}

fn error_body(error: &A2aError, protocol_version: ProtocolVersion, status: StatusCode) -> Value {
    if protocol_version == ProtocolVersion::V1_0 {
        return json!({"error": {
            "code": status.as_u16(),
            "status": error.kind.grpc_status(),
            "message": error.message,
            "details": error_details(error),
        }});
    }
    let mut body = json!({"code": error.kind.code_in(protocol_version), "message": error.message});
    if let Some(details) = &error.details {
        body["data"] = details.clone();
    }
    body
}

/// Reads an answer whose status is that of an error, in any shape that was ever
/// published: `google.rpc.Status`, problem details of the release candidates (RFC 9457), the error
/// of JSON-RPC with or without its envelope. The reason in it counts more than the status.
pub fn read_error(status: StatusCode, body: &[u8], protocol_version: ProtocolVersion) -> Error {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    match error_in(&answer, protocol_version).or_else(|| by_status(status, &answer)) {
        Some(error) => Error::Agent(error),
        None => Error::NotA2a {
            status: status.as_u16(),
            problem: "the body is not an error of this protocol".to_owned(),
        },
    }
}

/// Returns the error that a body describes without the status, if any.
pub(super) fn error_in(answer: &Value, protocol_version: ProtocolVersion) -> Option<A2aError> {
    let error = match answer.get("error") {
        Some(inner @ Value::Object(_)) => inner,
        _ => answer,
    };
    let details = ["details", "data"]
        .into_iter()
        .find_map(|name| error.get(name));
    let by_code = || {
        let code = error.get("code")?.as_i64().filter(|code| *code < 0)?;
        Some(ErrorKind::from_code(code, protocol_version))
    };
    let by_type = || {
        let (_, name) = error.get("type")?.as_str()?.rsplit_once('/')?;
        ErrorKind::from_reason(&name.replace('-', "_").to_ascii_uppercase())
    };
    let kind = details
        .and_then(kind_in)
        .or_else(by_code)
        .or_else(by_type)?;
    Some(A2aError {
        kind,
        message: message_in(error).unwrap_or(kind.message()).to_owned(),
        details: details.cloned(),
    })
}

/// Returns the error that an event of a stream contains in place of its item.
pub(super) fn error_event_in(
    answer: &Value,
    protocol_version: ProtocolVersion,
) -> Option<A2aError> {
    let by_code = || {
        let code = answer.get("error")?.as_object()?.get("code");
        let code = code.and_then(Value::as_u64).unwrap_or_default();
        let status = u16::try_from(code).ok().map(StatusCode::from_u16);
        let status = status.and_then(Result::ok);
        by_status(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), answer)
    };
    error_in(answer, protocol_version).or_else(by_code)
}

fn message_in(error: &Value) -> Option<&str> {
    ["message", "detail", "title"]
        .into_iter()
        .find_map(|name| error.get(name)?.as_str())
}

/// Derives an error from the status, if the body is an object with a message. This covers the
/// statuses of 1.0.0 (specification 1.0.0 §5.4) and the statuses that 0.3 servers send.
fn by_status(status: StatusCode, answer: &Value) -> Option<A2aError> {
    let error = answer.get("error").filter(|error| error.is_object());
    let message = message_in(error.unwrap_or(answer))?;
    let kind = match status {
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => ErrorKind::InvalidParams,
        StatusCode::UNAUTHORIZED => ErrorKind::Unauthenticated,
        StatusCode::FORBIDDEN => ErrorKind::PermissionDenied,
        StatusCode::NOT_FOUND => ErrorKind::TaskNotFound,
        StatusCode::CONFLICT => ErrorKind::TaskNotCancelable,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ErrorKind::ContentTypeNotSupported,
        StatusCode::NOT_IMPLEMENTED => ErrorKind::UnsupportedOperation,
        StatusCode::BAD_GATEWAY => ErrorKind::InvalidAgentResponse,
        StatusCode::TOO_MANY_REQUESTS => ErrorKind::RateLimited,
        StatusCode::SERVICE_UNAVAILABLE => ErrorKind::Unavailable,
        _ => ErrorKind::Internal,
    };
    Some(A2aError::new(kind, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, body: Value, kind: ErrorKind, message: &str) {
        let status = StatusCode::from_u16(status).unwrap();
        match read_error(status, body.to_string().as_bytes(), ProtocolVersion::V1_0) {
            Error::Agent(error) => {
                assert_eq!(
                    (error.kind, error.message.as_str()),
                    (kind, message),
                    "{body}"
                );
            }
            other => panic!("{body}: {other}"),
        }
    }

    #[test]
    fn every_kind_is_read_as_it_was_written() {
        for protocol_version in [ProtocolVersion::V0_3, ProtocolVersion::V1_0] {
            for &kind in ErrorKind::ALL {
                let written = write_error(&A2aError::new(kind, "m"), protocol_version);
                let Error::Agent(read) =
                    read_error(written.status, &written.body, protocol_version)
                else {
                    panic!("{kind:?}");
                };
                if protocol_version == ProtocolVersion::V1_0 {
                    assert_eq!(read.kind, kind);
                }
                assert_eq!(
                    read.kind.code_in(protocol_version),
                    kind.code_in(protocol_version),
                    "{kind:?}"
                );
                assert_eq!(read.message, "m");
            }
        }
    }

    #[test]
    fn an_event_may_tell_an_error_without_a_reason() {
        let kind = |answer| error_event_in(&answer, ProtocolVersion::V1_0).map(|error| error.kind);
        let not_found = json!({"error": {"code": 404, "status": "NOT_FOUND", "message": "gone"}});
        assert_eq!(kind(not_found), Some(ErrorKind::TaskNotFound));
        let internal = json!({"error": {"message": "broke"}});
        assert_eq!(kind(internal), Some(ErrorKind::Internal));
        assert_eq!(kind(json!({"message": {"messageId": "m"}})), None);
    }

    #[test]
    fn error_shapes_of_other_servers_are_read() {
        use ErrorKind::*;
        let reason = |reason: &str| json!([{"@type": "…/google.rpc.ErrorInfo", "reason": reason}]);
        // The statuses of 1.0.0, where the reason says what they mean.
        let old = json!({"error": {"code": 409, "status": "FAILED_PRECONDITION", "message": "late",
            "details": reason("TASK_NOT_CANCELABLE")}});
        check(409, old, TaskNotCancelable, "late");
        let lies =
            json!({"error": {"code": 500, "message": "m", "details": reason("TASK_NOT_FOUND")}});
        check(500, lies, TaskNotFound, "m");
        let problem = json!({"type": "https://a2a-protocol.org/errors/task-not-found",
            "title": "Task not found", "status": 404, "detail": "no task t"});
        check(404, problem, TaskNotFound, "no task t");
        check(
            404,
            json!({"code": -32001, "message": "Task not found"}),
            TaskNotFound,
            "Task not found",
        );
        check(404, json!({"message": "nope"}), TaskNotFound, "nope");
        check(409, json!({"message": "nope"}), TaskNotCancelable, "nope");
        check(
            415,
            json!({"error": {"message": "nope"}}),
            ContentTypeNotSupported,
            "nope",
        );
        for body in [&b""[..], b"<html>", b"[]", b"{}"] {
            let read = read_error(StatusCode::BAD_GATEWAY, body, ProtocolVersion::V1_0);
            assert!(matches!(read, Error::NotA2a { status: 502, .. }), "{read}");
        }
    }
}
