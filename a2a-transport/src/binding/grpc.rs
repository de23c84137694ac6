//! gRPC: the messages of requests and answers, as JSON. Protocol Buffers, frames and trailers are the matter of the
//! HTTP side.

use a2a_jsonrpc::{Id, Limits};
use a2a_types::reading::{Hints, Mode, Violation, WithRepairs};
use a2a_types::{
    Error as A2aError, ErrorKind, Event, Object, Operation, ProtocolVersion, Request, Response,
    v0_3,
};
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::details::{error_details, kind_in};
use super::incoming_call::invalid_params;
use super::{
    CallRefusal, IncomingCall, OutgoingCall, OutgoingReply, ReadOptions, bounds, canonical, rest,
};
use crate::{Binding, Error, ResponseContext};

/// Returns the path of an operation, if the protocol version has it by gRPC.
pub fn path(operation: Operation, protocol_version: ProtocolVersion) -> Option<String> {
    let method = match (protocol_version, operation) {
        (ProtocolVersion::V1_0, operation) => operation.name(),
        (ProtocolVersion::V0_3, Operation::ListTasks) => return None,
        (ProtocolVersion::V0_3, Operation::SubscribeToTask) => "TaskSubscription",
        (ProtocolVersion::V0_3, Operation::GetExtendedAgentCard) => "GetAgentCard",
        (ProtocolVersion::V0_3, Operation::ListTaskPushNotificationConfigs) => {
            "ListTaskPushNotificationConfig"
        }
        (ProtocolVersion::V0_3, operation) => operation.name(),
        _ => return None,
    };
    Some(format!("{}{method}", service(protocol_version)?))
}

/// Returns the operation at a path; `None` for an unknown method.
pub fn operation_at(path: &str) -> Option<(Operation, ProtocolVersion)> {
    let versions = [ProtocolVersion::V1_0, ProtocolVersion::V0_3];
    let protocol_version = versions
        .into_iter()
        .find(|version| service(*version).is_some_and(|service| path.starts_with(service)))?;
    let is_at = |operation: &&Operation| {
        self::path(**operation, protocol_version).is_some_and(|known| known == path)
    };
    let operation = Operation::ALL.iter().find(is_at)?;
    Some((*operation, protocol_version))
}

/// Returns the path of the service of a protocol version, before the name of a method.
pub fn service(protocol_version: ProtocolVersion) -> Option<&'static str> {
    match protocol_version {
        ProtocolVersion::V1_0 => Some("/lf.a2a.v1.A2AService/"),
        ProtocolVersion::V0_3 => Some("/a2a.v1.A2AService/"),
        _ => None,
    }
}

/// Reads a request in ProtoJSON.
pub fn read_call(
    operation: Operation,
    protocol_version: ProtocolVersion,
    json: &[u8],
    reading: &ReadOptions,
) -> Result<IncomingCall, CallRefusal> {
    let refuse = |error| refusal(protocol_version, error);
    let parse = |problem: String| refuse(A2aError::new(ErrorKind::JsonParse, problem));
    a2a_jsonrpc::check(json, &reading.limits).map_err(|fault| parse(fault.to_string()))?;
    let json = std::str::from_utf8(json).map_err(|error| parse(error.to_string()))?;
    let (mode, hints) = (reading.mode, Hints::at("$"));
    let read = match protocol_version {
        ProtocolVersion::V1_0 => canonical::read_sent(operation, json, mode, &hints),
        _ => v0_3::read_grpc_request(operation, json, mode, &hints),
    };
    let mut read = read
        .and_then(|read| bounds::check(&read.value, ProtocolVersion::V1_0, "$").map(|()| read))
        .map_err(|violation| refuse(invalid_params(&violation)))?;
    unset_zero(&mut read.value);
    Ok(IncomingCall {
        envelope: ResponseContext {
            task: read.value.task_id().cloned(),
            ..ResponseContext::new(protocol_version, Binding::Grpc, operation)
        },
        request: read.value,
        repairs: read.repairs,
    })
}

/// Reads a page size of 0 as absent: clients in Go send it for a size that is not set.
fn unset_zero(request: &mut Request) {
    let size = match request {
        Request::ListTasks(params) => &mut params.page_size,
        Request::ListTaskPushNotificationConfigs(params) => &mut params.page_size,
        _ => return,
    };
    *size = size.filter(|size| *size > 0);
}

/// Returns the refusal of a request that was not understood.
pub fn refusal(protocol_version: ProtocolVersion, error: A2aError) -> CallRefusal {
    CallRefusal {
        binding: Binding::Grpc,
        id: Id::Null,
        protocol_version,
        error,
        status: None,
    }
}

/// Writes a request in ProtoJSON. Errors: the protocol version has no such operation by gRPC.
pub fn write_call(
    request: Request,
    protocol_version: ProtocolVersion,
) -> Result<OutgoingCall, Error> {
    let operation = request.operation();
    let not_supported = || Error::NotSupported {
        operation,
        protocol_version,
    };
    let target = path(operation, protocol_version).ok_or_else(not_supported)?;
    let envelope = ResponseContext {
        task: request.task_id().cloned(),
        ..ResponseContext::new(protocol_version, Binding::Grpc, operation)
    };
    let body = match protocol_version {
        ProtocolVersion::V1_0 => canonical::write_request(&request)
            .map(|json| Box::<str>::from(json).into_string().into_bytes()),
        _ => v0_3::write_grpc_request(request).ok_or_else(not_supported)?,
    };
    let body = body.map_err(|error| {
        Error::Malformed(Violation {
            path: "$".to_owned(),
            problem: error.to_string(),
        })
    })?;
    Ok(OutgoingCall {
        method: Method::POST,
        target,
        body: Some(body),
        envelope,
    })
}

/// Writes the answer to a request that is answered once: its message, or a [`Status`], as JSON.
pub fn write_reply(
    envelope: &ResponseContext,
    outcome: Result<Response, A2aError>,
) -> OutgoingReply {
    match outcome {
        Ok(response) => rest::write_reply(envelope, Ok(response)),
        Err(error) => write_error(&error, envelope.protocol_version, None),
    }
}

/// Writes the answer to a request that was not understood.
pub fn write_refusal(refused: &CallRefusal) -> OutgoingReply {
    write_error(&refused.error, refused.protocol_version, refused.status)
}

/// Writes an error as a [`Status`]. `status` is that of HTTP where it has one of its own.
///
/// 0.3 specifies no details. Some of its clients read them; others, like those of the Python and Java SDKs, know the
/// kind only by its name in front of the message: `TaskNotFoundError: Task not found`.
pub fn write_error(
    error: &A2aError,
    protocol_version: ProtocolVersion,
    status: Option<StatusCode>,
) -> OutgoingReply {
    let of_kind = StatusCode::from_u16(error.kind.http_status());
    let code = match status {
        Some(StatusCode::PAYLOAD_TOO_LARGE) => Code::RESOURCE_EXHAUSTED,
        Some(StatusCode::GATEWAY_TIMEOUT) => Code::DEADLINE_EXCEEDED,
        Some(StatusCode::NOT_IMPLEMENTED) => Code::UNIMPLEMENTED,
        _ => Code::named(error.kind.grpc_status()),
    };
    let answer = match code {
        // No kind of error means it: the request may have been carried out.
        Code::DEADLINE_EXCEEDED => Status::new(code, &error.message),
        _ => Status {
            code,
            message: match error.kind.name_in(protocol_version) {
                Some(name) if protocol_version == ProtocolVersion::V0_3 => {
                    format!("{name}: {}", error.message)
                }
                _ => error.message.clone(),
            },
            details: error_details(error),
        },
    };
    OutgoingReply {
        status: status
            .or(of_kind.ok())
            .filter(|status| !status.is_success())
            .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        body: serde_json::to_vec(&answer).unwrap_or_default(),
    }
}

/// Key in the metadata of an event by gRPC, whose value is the id that the event has in Server-Sent Events. It is there
/// if the request had `last-event-id`, be it 0.
pub const EVENT_ID: &str = "https://github.com/a2a-rust/a2a/event-id";

/// Returns an event with its id in the metadata.
pub(crate) fn with_event_id(mut event: Event, id: u64) -> Event {
    let metadata = metadata_of(&mut event).get_or_insert_default();
    metadata.insert(EVENT_ID.to_owned(), id.to_string().into());
    event
}

/// Takes the id of an event out of its metadata.
pub(crate) fn take_event_id(event: &mut Event) -> Option<u64> {
    let metadata = metadata_of(event);
    let id = metadata.as_mut()?.remove(EVENT_ID);
    if metadata.as_ref().is_some_and(Object::is_empty) {
        *metadata = None;
    }
    id?.as_str()?.parse().ok()
}

fn metadata_of(event: &mut Event) -> &mut Option<Object> {
    match event {
        Event::Task(task) => &mut task.metadata,
        Event::Message(message) => &mut message.metadata,
        Event::StatusUpdate(update) => &mut update.metadata,
        Event::ArtifactUpdate(update) => &mut update.metadata,
    }
}

/// Reads the answer to a request that is answered once: its message or, if `status` is that of a failure, a [`Status`].
pub fn read_reply(
    envelope: &ResponseContext,
    status: StatusCode,
    body: &[u8],
    mode: Mode,
    limits: &Limits,
) -> Result<WithRepairs<Response>, Error> {
    if status.is_success() {
        let mut read = rest::read_reply(envelope, status, body, mode, limits)?;
        if envelope.protocol_version == ProtocolVersion::V0_3
            && let Response::GetExtendedAgentCard(card) = &mut read.value
        {
            // 0.3 does not write what is false.
            card.capabilities.streaming.get_or_insert(false);
            card.capabilities.push_notifications.get_or_insert(false);
        }
        return Ok(read);
    }
    Err(match serde_json::from_slice::<Status>(body) {
        Ok(answer) => answer.into_error(),
        Err(error) => Error::NotA2a {
            status: status.as_u16(),
            problem: format!("the status cannot be read: {error}"),
        },
    })
}

/// Status of an answer that is an error: `google.rpc.Status`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The number in `grpc-status`.
    #[serde(default)]
    pub code: Code,
    /// The text in `grpc-message`.
    #[serde(default)]
    pub message: String,
    /// Objects with their types, as in ProtoJSON.
    #[serde(default)]
    pub details: Value,
}

impl Status {
    /// Creates a status without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Value::Array(Vec::new()),
        }
    }

    /// Reads the JSON that [`write_error`] writes.
    pub fn read(json: &[u8]) -> Self {
        let status = serde_json::from_slice(json);
        status.unwrap_or_else(|_| Self::new(Code::INTERNAL, "the status cannot be read"))
    }

    /// Returns the error that it means: by the reason in its details, by the name in front of its message, or by its
    /// code. The message of the error is without the name.
    pub fn into_error(self) -> Error {
        let named = self.message.split_once(": ");
        let named = named.and_then(|(name, rest)| Some((ErrorKind::from_name(name)?, rest)));
        let kind = kind_in(&self.details)
            .or_else(|| named.map(|(kind, _)| kind))
            .or_else(|| self.code.kind());
        let Some(kind) = kind else {
            return Error::NotA2a {
                status: StatusCode::OK.as_u16(),
                problem: format!("gRPC status {}: {}", self.code.name(), self.message),
            };
        };
        let message = match named {
            Some((named, rest)) if named == kind => rest,
            _ => &self.message,
        };
        let message = match message {
            "" => kind.message().to_owned(),
            message => message.to_owned(),
        };
        let details = self.details;
        let error = A2aError {
            kind,
            message,
            details: details
                .as_array()
                .is_some_and(|list| !list.is_empty())
                .then_some(details),
        };
        match kind {
            ErrorKind::Unavailable | ErrorKind::RateLimited => Error::Busy {
                after: super::details::retry_delay(error.details.as_ref()),
                answer: error,
            },
            _ => Error::Agent(error),
        }
    }
}

/// Code of a [`Status`].
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Code(i32);

impl Code {
    /// No error.
    pub const OK: Self = Self(0);
    /// A request is malformed.
    pub const INVALID_ARGUMENT: Self = Self(3);
    /// There is nothing of this name.
    pub const NOT_FOUND: Self = Self(5);
    /// The deadline passed.
    pub const DEADLINE_EXCEEDED: Self = Self(4);
    /// A limit was reached.
    pub const RESOURCE_EXHAUSTED: Self = Self(8);
    /// There is no such method.
    pub const UNIMPLEMENTED: Self = Self(12);
    /// The answer broke the rules.
    pub const INTERNAL: Self = Self(13);

    /// Returns the code of a number.
    pub const fn of(number: i32) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn number(self) -> i32 {
        self.0
    }

    /// Returns the name, like `NOT_FOUND`; `UNKNOWN` for a number that gRPC does not have.
    pub fn name(self) -> &'static str {
        let place = usize::try_from(self.0).unwrap_or(UNKNOWN);
        NAMES.get(place).unwrap_or(&NAMES[UNKNOWN])
    }

    fn named(name: &str) -> Self {
        let place = NAMES.iter().position(|known| *known == name);
        Self(place.unwrap_or(UNKNOWN) as i32)
    }

    /// Returns the kind of error of an answer without details, as 0.3 has them.
    fn kind(self) -> Option<ErrorKind> {
        Some(match self.name() {
            "INVALID_ARGUMENT" | "OUT_OF_RANGE" => ErrorKind::InvalidParams,
            "NOT_FOUND" => ErrorKind::TaskNotFound,
            "FAILED_PRECONDITION" => ErrorKind::UnsupportedOperation,
            "UNIMPLEMENTED" => ErrorKind::MethodNotFound,
            "INTERNAL" | "UNKNOWN" | "DATA_LOSS" | "ABORTED" => ErrorKind::Internal,
            "UNAVAILABLE" => ErrorKind::Unavailable,
            "RESOURCE_EXHAUSTED" => ErrorKind::RateLimited,
            "UNAUTHENTICATED" => ErrorKind::Unauthenticated,
            "PERMISSION_DENIED" => ErrorKind::PermissionDenied,
            _ => return None,
        })
    }
}

/// Place of `UNKNOWN` among the names.
const UNKNOWN: usize = 2;

/// Names of the codes, in order of their numbers.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(error: &A2aError, protocol_version: ProtocolVersion) -> Status {
        Status::read(&write_error(error, protocol_version, None).body)
    }

    #[test]
    fn error_in_0_3_has_its_name_before_the_message() {
        for (kind, in_0_3, in_1_0) in [
            (ErrorKind::TaskNotFound, "TaskNotFoundError: m", "m"),
            (
                ErrorKind::ExtendedAgentCardNotConfigured,
                "AuthenticatedExtendedCardNotConfiguredError: m",
                "m",
            ),
            (ErrorKind::JsonParse, "JSONParseError: m", "m"),
            (ErrorKind::Unauthenticated, "m", "m"),
            (ErrorKind::Unavailable, "m", "m"),
        ] {
            let error = A2aError::new(kind, "m");
            let status = written(&error, ProtocolVersion::V0_3);
            assert_eq!(status.message, in_0_3);
            assert_eq!(status.details[0]["reason"], kind.reason());
            assert_eq!(written(&error, ProtocolVersion::V1_0).message, in_1_0);
        }
        let late = Some(StatusCode::GATEWAY_TIMEOUT);
        let error = A2aError::new(ErrorKind::Internal, "m");
        let status = Status::read(&write_error(&error, ProtocolVersion::V0_3, late).body);
        assert_eq!(status, Status::new(Code::DEADLINE_EXCEEDED, "m"));
    }

    #[test]
    fn error_read_back_has_its_kind_and_message() {
        for version in [ProtocolVersion::V0_3, ProtocolVersion::V1_0] {
            for &kind in ErrorKind::ALL {
                for message in ["m", "a: b", "InternalError: m"] {
                    if version == ProtocolVersion::V1_0 && message.starts_with("Internal") {
                        continue;
                    }
                    let mut status = written(&A2aError::new(kind, message), version);
                    let read = |status: Status| status.into_error().into_answer();
                    let error = read(status.clone());
                    assert_eq!((error.kind, &*error.message), (kind, message));
                    status.details = json!([]);
                    if version == ProtocolVersion::V0_3 && kind.name().is_some() {
                        let error = read(status);
                        assert_eq!((error.kind, &*error.message), (kind, message));
                    }
                }
            }
        }
    }

    #[track_caller]
    fn check_read(number: i32, message: &str, reason: Option<&str>, expected: (ErrorKind, &str)) {
        let mut status = Status::new(Code::of(number), message);
        if let Some(reason) = reason {
            status.details = json!([{"reason": reason}]);
        }
        let error = status.into_error().into_answer();
        assert_eq!((error.kind, &*error.message), expected);
    }

    #[test]
    fn kind_is_that_of_the_details_or_of_the_name_or_of_the_code() {
        let precondition = 9;
        let cancel = "TaskNotCancelableError: ended";
        let (not_cancelable, unsupported) = (
            ErrorKind::TaskNotCancelable,
            ErrorKind::UnsupportedOperation,
        );
        check_read(precondition, cancel, None, (not_cancelable, "ended"));
        let unimplemented = Code::UNIMPLEMENTED.number();
        check_read(unimplemented, cancel, None, (not_cancelable, "ended"));
        // A name that contradicts the details stays in the message.
        let reason = Some("UNSUPPORTED_OPERATION");
        check_read(precondition, cancel, reason, (unsupported, cancel));
        let same = "UnsupportedOperationError: no";
        check_read(precondition, same, reason, (unsupported, "no"));
        for message in ["Error: no", "no: TaskNotFoundError: x", "TaskNotFoundError"] {
            check_read(precondition, message, None, (unsupported, message));
        }
        let empty = "TaskNotFoundError: ";
        let expected = (ErrorKind::TaskNotFound, "Task not found");
        check_read(precondition, empty, None, expected);
        let card = "AuthenticatedExtendedCardNotConfiguredError: no";
        let expected = (ErrorKind::ExtendedAgentCardNotConfigured, "no");
        check_read(precondition, card, None, expected);
    }
}
