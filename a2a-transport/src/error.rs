//! Errors of a call, by who is to blame.

use std::time::Duration;

use a2a_types::reading::Violation;
use a2a_types::{ErrorKind, Operation, ProtocolVersion};

/// Reason why a call got no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The agent answered with an error. Its text is part of this error's text, so it is not reported as the source.
    #[error("the agent answered: {0}")]
    Agent(a2a_types::Error),
    /// The agent, or what stands before it, is too busy and has done nothing: retry later.
    #[error("the agent is busy: {answer}")]
    Busy {
        /// Error that it answered.
        answer: a2a_types::Error,
        /// Delay until the next attempt, if the peer names one.
        after: Option<Duration>,
    },
    /// The agent requires other credentials, or denies the caller the operation.
    #[error("the agent refused access with HTTP status {status}")]
    Refused {
        /// 401 or 403.
        status: u16,
        /// The `WWW-Authenticate` header.
        challenge: Option<String>,
    },
    /// The agent's protocol version has no such operation; nothing was sent.
    #[error("{} does not exist in version {protocol_version}", operation.name())]
    NotSupported {
        /// Operation of the call.
        operation: Operation,
        /// Protocol version of the agent.
        protocol_version: ProtocolVersion,
    },
    /// The agent answered with a redirect, which is not followed: the target may belong to another party.
    #[error(
        "the agent answered with HTTP status {status}, a redirect to {}",
        location.as_deref().map_or("an unnamed address", |location| location)
    )]
    Redirected {
        /// The HTTP status.
        status: u16,
        /// The `Location` header.
        location: Option<String>,
    },
    /// There are no credentials that the agent accepts; nothing was sent.
    #[error("no credentials that the agent accepts: {0}")]
    Credentials(String),
    /// The card has no signature that the caller trusts; nothing was sent to its URLs.
    #[error("the card cannot be trusted: {0}")]
    Unverified(String),
    /// The operation applies to one of several objects, and the caller named none.
    #[error("{0}")]
    Ambiguous(String),
    /// The agent's answer violates the protocol.
    #[error("malformed answer: {0}")]
    Malformed(Violation),
    /// The agent's answer is not an A2A answer at all.
    #[error("the peer answered {status}: {problem}")]
    NotA2a {
        /// The HTTP status.
        status: u16,
        /// Description of the fault.
        problem: String,
    },
    /// The agent sent more than the limit.
    #[error("the {what} is larger than {limit} bytes{}", setting(what))]
    TooLarge {
        /// The head, body, line, event, or task.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
    /// The answers that are being received leave no room for this one.
    #[error(
        "too many answers are being received: more than {limit} bytes together: raise \
         `HttpClientBuilder::receive_budget`"
    )]
    Crowded {
        /// The bound of all answers.
        limit: usize,
    },
    /// The agent cannot be reached; nothing was sent.
    #[error("cannot connect")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The connection broke.
    #[error("the connection broke")]
    Connection(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The agent ended a stream while the task goes on: follow it again.
    #[error("the stream ended before the task did")]
    Unfinished,
    /// The agent was silent for too long.
    #[error("timed out after {limit:?} {phase}")]
    Timeout {
        /// The phase that timed out.
        phase: Phase,
        /// The limit.
        limit: Duration,
    },
    /// The address cannot be called.
    #[error("cannot call `{url}`: {problem}")]
    Address {
        /// The address.
        url: String,
        /// Description of the fault.
        problem: String,
    },
}

/// Returns the setting that raises a limit, as the end of an error's text.
fn setting(what: &str) -> &'static str {
    match what {
        "body" => ": raise `HttpClientBuilder::limit`",
        "line" | "event" => ": raise `Bounds` of the transport or client",
        "task" => ": raise `TaskEventStream::limit`",
        _ => "",
    }
}

/// Phase of a call in which it timed out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Phase {
    /// The connection.
    Connect,
    /// The head of the answer.
    FirstByte,
    /// The next bytes of the answer.
    Idle,
    /// The complete answer, if it is not a stream.
    Body,
    /// Any phase: the caller's deadline has passed.
    Deadline,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "of connecting",
            Self::FirstByte => "of waiting for an answer",
            Self::Idle => "of waiting for more",
            Self::Body => "of reading an answer",
            Self::Deadline => "that the caller gave it",
        })
    }
}

impl Error {
    /// Returns whether nothing was sent, so that a retry cannot repeat the call.
    pub fn nothing_was_sent(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Timeout { phase, .. } => *phase == Phase::Connect,
            _ => false,
        }
    }

    /// Returns the kind of error in one word: the agent's [reason](ErrorKind::reason), or the local failure.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Agent(error) | Self::Busy { answer: error, .. } => error.kind.reason(),
            Self::Refused { .. } => "refused",
            Self::NotSupported { .. } => "not_supported",
            Self::Redirected { .. } => "redirected",
            Self::Credentials(_) => "credentials",
            Self::Ambiguous(_) => "ambiguous",
            Self::Malformed(_) => "malformed",
            Self::NotA2a { .. } => "not_a2a",
            Self::TooLarge { .. } => "too_large",
            Self::Crowded { .. } => "crowded",
            Self::Unreachable(_) => "unreachable",
            Self::Connection(_) => "connection",
            Self::Unfinished => "unfinished",
            Self::Timeout { .. } => "timeout",
            Self::Address { .. } => "address",
            Self::Unverified(_) => "unverified",
        }
    }

    /// Returns the error to pass on to a caller: an error or refusal of the agent unchanged, any other as an
    /// internal error.
    pub fn into_answer(self) -> a2a_types::Error {
        match self {
            Self::Agent(error) => error,
            Self::Busy { answer, .. } if answer.kind == ErrorKind::RateLimited => answer,
            Self::Refused { status: 401, .. } => ErrorKind::Unauthenticated.into(),
            Self::Refused { .. } => ErrorKind::PermissionDenied.into(),
            Self::Crowded { .. } => {
                let text = "too many answers are being received: ask again later";
                a2a_types::Error::new(ErrorKind::Unavailable, text)
            }
            // Only 1.0 has an error for it: the code of an older agent may mean nothing to the caller.
            Self::Busy { answer, .. } => a2a_types::Error {
                kind: ErrorKind::Unavailable,
                ..answer
            },
            Self::Unreachable(_) => {
                let text = "the agent cannot be reached: try again later";
                a2a_types::Error::new(ErrorKind::Unavailable, text)
            }
            Self::NotSupported { .. } => {
                a2a_types::Error::new(ErrorKind::UnsupportedOperation, self.to_string())
            }
            _ => ErrorKind::Internal.into(),
        }
    }
}

impl From<a2a_types::Error> for Error {
    fn from(error: a2a_types::Error) -> Self {
        Self::Agent(error)
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::Agent(kind.into())
    }
}

/// Returns the start of a peer's text for an error message, at most 64 characters.
pub(crate) fn clip(word: &str) -> String {
    word.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports print an error and then its sources, one after the other.
    #[test]
    fn an_error_does_not_repeat_its_source() {
        let answer = a2a_types::Error::new(ErrorKind::TaskNotFound, "no task t");
        for error in [
            Error::Agent(answer.clone()),
            Error::Busy {
                answer,
                after: None,
            },
            Error::Unreachable("refused".into()),
            Error::Connection("reset".into()),
        ] {
            let text = error.to_string();
            let source = std::error::Error::source(&error).map(ToString::to_string);
            assert!(
                source.is_none_or(|source| !text.contains(&source)),
                "{text}"
            );
        }
    }
}
