//! What an error tells about what was done.

use std::time::Duration;

use a2a_transport::{Error, Phase};
use a2a_types::ErrorKind;

/// Whether asking again later may help, and nothing was done: nothing was sent, or what was asked
/// was refused before anything else.
pub(crate) fn nothing_was_done(error: &Error) -> bool {
    match error {
        Error::Busy { .. } => true,
        Error::Agent(error) => error.kind == ErrorKind::Unavailable,
        error => error.nothing_was_sent(),
    }
}

/// Whether the connection failed, and not the question: asking again may help, but nobody knows what
/// was done.
pub(crate) fn is_cut(error: &Error) -> bool {
    match error {
        Error::Connection(_) | Error::Unfinished => true,
        Error::Timeout { phase, .. } => *phase != Phase::Deadline,
        Error::NotA2a { status, .. } => matches!(status, 502 | 504),
        error => nothing_was_done(error),
    }
}

/// Whether an agent may refuse like this because it does not have the operation.
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

/// How long the agent wants not to be asked, if it says so.
pub(crate) fn retry_after(error: &Error) -> Option<Duration> {
    match error {
        Error::Busy { after, .. } => *after,
        _ => None,
    }
}
