//! Errors of the protocol as statuses of gRPC.

use std::collections::HashMap;

use tonic::{Code, Status};
use tonic_types::{BadRequest, ErrorDetails, ErrorInfo, StatusExt};

/// The domain of the [`ErrorInfo`] of every error of A2A 1.0.
pub const DOMAIN: &str = "a2a-protocol.org";

/// Returns the `ErrorInfo` in the details of a status.
pub fn error_info(status: &Status) -> Option<ErrorInfo> {
    status.get_details_error_info()
}

/// Returns the `BadRequest` in the details of a status.
pub fn bad_request(status: &Status) -> Option<BadRequest> {
    status.get_details_bad_request()
}

/// An error of the protocol.
#[derive(Debug)]
pub(crate) enum Error {
    /// There is no such task, or no such push notification configuration of it.
    TaskNotFound { id: String },
    /// The task has ended.
    TaskNotCancelable { id: String },
    /// The task has ended, so it takes no message and has no further events.
    UnsupportedOperation { id: String },
    /// A field of the request is missing or wrong.
    InvalidParams {
        field: &'static str,
        problem: &'static str,
    },
    /// The `a2a-version` of the request is not the version of the service.
    VersionNotSupported { version: String },
}

impl Error {
    /// Returns the status for a caller of 1.0, with details.
    pub(crate) fn status_v1_0(&self) -> Status {
        let (code, reason) = self.code_and_reason();
        let mut details = ErrorDetails::with_error_info(reason, DOMAIN, self.metadata());
        if let Self::InvalidParams { field, problem } = self {
            details.add_bad_request_violation(*field, *problem);
        }
        Status::with_error_details(code, self.message(), details)
    }

    /// Returns the status for a caller of 0.3, without details.
    pub(crate) fn status_v0_3(&self) -> Status {
        Status::new(self.code_and_reason().0, self.message())
    }

    fn code_and_reason(&self) -> (Code, &'static str) {
        match self {
            Self::TaskNotFound { .. } => (Code::NotFound, "TASK_NOT_FOUND"),
            Self::TaskNotCancelable { .. } => (Code::FailedPrecondition, "TASK_NOT_CANCELABLE"),
            Self::UnsupportedOperation { .. } => {
                (Code::FailedPrecondition, "UNSUPPORTED_OPERATION")
            }
            Self::InvalidParams { .. } => (Code::InvalidArgument, "INVALID_PARAMS"),
            Self::VersionNotSupported { .. } => (Code::FailedPrecondition, "VERSION_NOT_SUPPORTED"),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::TaskNotFound { id } => format!("task not found: {id}"),
            Self::TaskNotCancelable { id } => format!("task cannot be canceled: {id} has ended"),
            Self::UnsupportedOperation { id } => {
                format!("this operation is not supported: {id} has ended")
            }
            Self::InvalidParams { field, problem } => {
                format!("invalid parameters: {field} {problem}")
            }
            Self::VersionNotSupported { version } => format!("version not supported: {version}"),
        }
    }

    fn metadata(&self) -> HashMap<String, String> {
        let pair = match self {
            Self::TaskNotFound { id }
            | Self::TaskNotCancelable { id }
            | Self::UnsupportedOperation { id } => ("taskId", id.clone()),
            Self::InvalidParams { field, .. } => ("field", (*field).to_owned()),
            Self::VersionNotSupported { version } => ("version", version.clone()),
        };
        HashMap::from([(pair.0.to_owned(), pair.1)])
    }
}
