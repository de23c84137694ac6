//! Classification of errors for retries, and the error of an answer to another operation.

use std::time::Duration;

use a2a_transport::{Error, Phase, ResponseBody};
use a2a_types::{ErrorKind, Operation};

/// Returns whether a retry may help and is safe: nothing was sent, or the agent refused the request
/// before it did anything.
pub(crate) fn nothing_was_done(error: &Error) -> bool {
    match error {
        Error::Busy { .. } => true,
        Error::Agent(error) => {
            matches!(error.kind, ErrorKind::Unavailable | ErrorKind::RateLimited)
        }
        error => error.nothing_was_sent(),
    }
}

/// Returns whether the connection failed, not the request: a retry may help, but the request may have
/// been executed.
pub(crate) fn is_cut(error: &Error) -> bool {
    match error {
        Error::Connection(_) | Error::Unfinished => true,
        Error::Timeout { phase, .. } => *phase != Phase::Deadline,
        Error::NotA2a { status, .. } => matches!(status, 502 | 504),
        error => nothing_was_done(error),
    }
}

/// Returns whether an error may mean that the agent does not support the operation.
pub(crate) fn lacks_operation(error: &Error) -> bool {
    match error {
        Error::NotSupported { .. } => true,
        Error::Agent(error) => matches!(
            error.kind,
            ErrorKind::UnsupportedOperation | ErrorKind::MethodNotFound
        ),
        _ => false,
    }
}

/// Returns the error of a transport that breaks its contract.
pub(crate) fn mismatch(operation: Operation, answer: &ResponseBody) -> Error {
    let got = match answer {
        ResponseBody::Once(response) => format!("an answer to {}", response.operation().name()),
        ResponseBody::Stream(_) => "a stream".to_owned(),
    };
    Error::NotA2a {
        status: 200,
        problem: format!(
            "the call was {}, and the agent answered with {got}",
            operation.name()
        ),
    }
}

/// Returns the `Retry-After` of the agent, if any.
pub(crate) fn retry_after(error: &Error) -> Option<Duration> {
    match error {
        Error::Busy { after, .. } => *after,
        _ => None,
    }
}

/// Formats an error with its causes.
pub fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        // Some errors repeat their cause.
        if !text.ends_with(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}
