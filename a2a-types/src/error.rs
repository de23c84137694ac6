//! Protocol errors and their codes.

use std::fmt;

use serde_json::Value;

use crate::ProtocolVersion;

/// An error that crosses the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// The kind of error.
    pub kind: ErrorKind,
    /// Human-readable description of the failure.
    pub message: String,
    /// Machine-readable details: `error.data` in JSON-RPC.
    pub details: Option<Value>,
}

impl Error {
    /// Returns an error with a message of its own.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            details: None,
        }
    }

    /// Adds details for programs.
    pub fn with_details(mut self, details: impl Into<Value>) -> Self {
        self.details = Some(details.into());
        self
    }
}

impl From<ErrorKind> for Error {
    /// Returns the error with the specification's own message.
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind, kind.message())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

macro_rules! error_kinds {
    ($($(#[$doc:meta])* $kind:ident = $code:literal, $http:literal, $grpc:literal, $reason:literal, $name:expr, $message:literal;)*) => {
        /// The errors of the protocol. Specification 1.0 §3.3.2 and §5.4.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])* $kind,)*
            /// A code that no table names.
            Other(i64),
        }

        impl ErrorKind {
            /// Every kind that a table names.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Returns the JSON-RPC code in 1.0; see [`ErrorKind::code_in`] for the other versions.
            pub fn code(self) -> i64 {
                match self { $(Self::$kind => $code,)* Self::Other(code) => code }
            }

            /// Returns the HTTP status in the HTTP+JSON binding (1.0.1).
            pub fn http_status(self) -> u16 {
                match self { $(Self::$kind => $http,)* Self::Other(_) => 500 }
            }

            /// Returns the canonical status name of `google.rpc.Code` (1.0.1).
            pub fn grpc_status(self) -> &'static str {
                match self { $(Self::$kind => $grpc,)* Self::Other(_) => "UNKNOWN" }
            }

            /// Returns the `reason` of `google.rpc.ErrorInfo`.
            pub fn reason(self) -> &'static str {
                match self { $(Self::$kind => $reason,)* Self::Other(_) => "UNKNOWN" }
            }

            /// Returns the name in 1.0, like `TaskNotFoundError`; see [`ErrorKind::name_in`] for the other versions.
            /// `None` for a kind that the specification does not name.
            pub fn name(self) -> Option<&'static str> {
                match self { $(Self::$kind => $name,)* Self::Other(_) => None }
            }

            /// Returns the message that the schemas give.
            pub fn message(self) -> &'static str {
                match self { $(Self::$kind => $message,)* Self::Other(_) => "Unknown error" }
            }
        }
    };
}

error_kinds! {
    /// Not JSON, or JSON beyond the limits of the parser.
    JsonParse = -32700, 400, "INVALID_ARGUMENT", "JSON_PARSE", Some("JSONParseError"), "Invalid JSON payload";
    /// JSON, but not a request.
    InvalidRequest = -32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", Some("InvalidRequestError"), "Request payload validation error";
    /// No such operation in this protocol version.
    MethodNotFound = -32601, 404, "UNIMPLEMENTED", "METHOD_NOT_FOUND", Some("MethodNotFoundError"), "Method not found";
    /// The operation is known, its params are wrong.
    InvalidParams = -32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS", Some("InvalidParamsError"), "Invalid parameters";
    /// The server failed.
    Internal = -32603, 500, "INTERNAL", "INTERNAL", Some("InternalError"), "Internal error";
    /// No such task, or none the caller may see.
    TaskNotFound = -32001, 404, "NOT_FOUND", "TASK_NOT_FOUND", Some("TaskNotFoundError"), "Task not found";
    /// The task has ended.
    TaskNotCancelable = -32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE", Some("TaskNotCancelableError"), "Task cannot be canceled";
    /// The agent sends no push notifications.
    PushNotificationNotSupported = -32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED", Some("PushNotificationNotSupportedError"), "Push Notification is not supported";
    /// Not offered, or not possible as things stand.
    UnsupportedOperation = -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION", Some("UnsupportedOperationError"), "This operation is not supported";
    /// The two sides share no media type.
    ContentTypeNotSupported = -32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", Some("ContentTypeNotSupportedError"), "Incompatible content types";
    /// The agent's code answered against the protocol.
    InvalidAgentResponse = -32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE", Some("InvalidAgentResponseError"), "Invalid agent response";
    /// The extended card is declared but there is none.
    ExtendedAgentCardNotConfigured = -32007, 400, "FAILED_PRECONDITION", "EXTENDED_AGENT_CARD_NOT_CONFIGURED", Some("ExtendedAgentCardNotConfiguredError"), "Extended Agent Card not configured";
    /// The caller must declare an extension that the agent requires.
    ExtensionSupportRequired = -32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED", Some("ExtensionSupportRequiredError"), "Extension support required";
    /// The agent does not speak the requested version.
    VersionNotSupported = -32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED", Some("VersionNotSupportedError"), "Version not supported";
    /// The caller is not authenticated. Only the text of 0.1.0 has a code for it.
    Unauthenticated = -32000, 401, "UNAUTHENTICATED", "UNAUTHENTICATED", None, "Authentication required";
    /// The caller lacks permission. Only the text of 0.1.0 has a code for it.
    PermissionDenied = -32000, 403, "PERMISSION_DENIED", "PERMISSION_DENIED", None, "Permission denied";
    /// The caller asks too often: try again later. Only the text of 0.1.0 has a code for it.
    RateLimited = -32000, 429, "RESOURCE_EXHAUSTED", "RATE_LIMITED", None, "Too many requests";
    /// The agent is busy: try again later. Only the text of 0.1.0 has a code for it.
    Unavailable = -32000, 503, "UNAVAILABLE", "UNAVAILABLE", None, "Temporarily unavailable";
}

impl ErrorKind {
    /// Returns the JSON-RPC code in a protocol version.
    ///
    /// -32006 to -32009 changed their meaning twice: an error that a version lacks is reported by a code that
    /// the version has.
    pub fn code_in(self, protocol_version: ProtocolVersion) -> i64 {
        use ErrorKind::{
            ExtendedAgentCardNotConfigured, ExtensionSupportRequired, InvalidAgentResponse,
        };
        match (protocol_version, self) {
            (ProtocolVersion::V0_1, InvalidAgentResponse) => Self::Internal.code(),
            (ProtocolVersion::V0_1 | ProtocolVersion::V0_2, ExtendedAgentCardNotConfigured) => {
                Self::UnsupportedOperation.code()
            }
            (
                ProtocolVersion::V0_1 | ProtocolVersion::V0_2 | ProtocolVersion::V0_3,
                ExtensionSupportRequired | Self::VersionNotSupported,
            ) => Self::InvalidRequest.code(),
            _ => self.code(),
        }
    }

    /// Returns the HTTP status in the HTTP+JSON binding of a protocol version. 0.3 has no table of its
    /// own; its peers answer as 1.0.0 §5.4 later specified.
    pub fn http_status_in(self, protocol_version: ProtocolVersion) -> u16 {
        match (protocol_version, self) {
            (ProtocolVersion::V1_0, _) => self.http_status(),
            (_, Self::TaskNotCancelable) => 409,
            (_, Self::ContentTypeNotSupported) => 415,
            (_, Self::InvalidAgentResponse) => 502,
            _ => self.http_status(),
        }
    }

    /// Returns the name in a protocol version: for an error that the version lacks, the name in 1.0.
    pub fn name_in(self, protocol_version: ProtocolVersion) -> Option<&'static str> {
        match (protocol_version, self) {
            (ProtocolVersion::V1_0, _) => self.name(),
            (_, Self::ExtendedAgentCardNotConfigured) => Some(AUTHENTICATED_EXTENDED_CARD),
            _ => self.name(),
        }
    }

    /// Returns the kind that has this name in any protocol version.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut kinds = Self::ALL.iter().copied();
        match name {
            AUTHENTICATED_EXTENDED_CARD => Some(Self::ExtendedAgentCardNotConfigured),
            _ => kinds.find(|kind| kind.name() == Some(name)),
        }
    }

    /// Returns the kind that has this `reason` in `google.rpc.ErrorInfo`.
    pub fn from_reason(reason: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.reason() == reason)
    }

    /// Returns the kind that a code stands for in a protocol version.
    pub fn from_code(code: i64, protocol_version: ProtocolVersion) -> Self {
        match (protocol_version, code) {
            (_, -32000) => Self::Other(code),
            // Only the text of 0.1.0 had these: streaming, authentication, authorization, state,
            // rate limit, resource.
            (ProtocolVersion::V0_1, -32006 | -32009) => Self::UnsupportedOperation,
            (ProtocolVersion::V0_1, -32007) => Self::Unauthenticated,
            (ProtocolVersion::V0_1, -32008) => Self::PermissionDenied,
            (ProtocolVersion::V0_1, -32010 | -32011) => Self::Unavailable,
            (ProtocolVersion::V0_2, -32007) => Self::Other(code),
            (ProtocolVersion::V0_2 | ProtocolVersion::V0_3, -32008 | -32009) => Self::Other(code),
            _ => Self::ALL
                .iter()
                .copied()
                .find(|kind| kind.code() == code)
                .unwrap_or(Self::Other(code)),
        }
    }
}

/// Name in 0.3 §8.2 of [`ErrorKind::ExtendedAgentCardNotConfigured`].
const AUTHENTICATED_EXTENDED_CARD: &str = "AuthenticatedExtendedCardNotConfiguredError";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_read_back_is_the_kind_it_was_written_for_or_one_the_version_has() {
        for &protocol_version in ProtocolVersion::ALL {
            for &kind in ErrorKind::ALL {
                let read = ErrorKind::from_code(kind.code_in(protocol_version), protocol_version);
                if protocol_version == ProtocolVersion::V1_0 && kind.code() != -32000 {
                    assert_eq!(read, kind);
                }
                assert_eq!(
                    read.code_in(protocol_version),
                    kind.code_in(protocol_version),
                    "{kind:?} in {protocol_version}"
                );
            }
        }
    }

    #[test]
    fn name_read_back_is_the_kind_it_was_written_for() {
        let mut unnamed = Vec::new();
        for &kind in ErrorKind::ALL {
            for &protocol_version in ProtocolVersion::ALL {
                match kind.name_in(protocol_version) {
                    Some(name) => assert_eq!(ErrorKind::from_name(name), Some(kind), "{name}"),
                    None if protocol_version == ProtocolVersion::LATEST => unnamed.push(kind),
                    None => {}
                }
            }
        }
        let expected = [
            ErrorKind::Unauthenticated,
            ErrorKind::PermissionDenied,
            ErrorKind::RateLimited,
            ErrorKind::Unavailable,
        ];
        assert_eq!(unnamed, expected);
        assert_eq!(ErrorKind::from_name("Error"), None);
        assert_eq!(
            ErrorKind::ExtendedAgentCardNotConfigured.name_in(ProtocolVersion::V0_3),
            Some("AuthenticatedExtendedCardNotConfiguredError")
        );
    }

    #[test]
    fn codes_are_read_by_version() {
        assert_eq!(
            ErrorKind::from_code(-32006, ProtocolVersion::V0_1),
            ErrorKind::UnsupportedOperation
        );
        assert_eq!(
            ErrorKind::from_code(-32006, ProtocolVersion::V0_2),
            ErrorKind::InvalidAgentResponse
        );
        assert_eq!(
            ErrorKind::from_code(-32007, ProtocolVersion::V0_1),
            ErrorKind::Unauthenticated
        );
        assert_eq!(
            ErrorKind::from_code(-32009, ProtocolVersion::V1_0),
            ErrorKind::VersionNotSupported
        );
        assert_eq!(
            ErrorKind::from_code(7, ProtocolVersion::V1_0),
            ErrorKind::Other(7)
        );
    }
}
