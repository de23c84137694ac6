//! Reasons why a model gave no whole answer.

use std::time::Duration;

use a2a_server::UpdateError;
use serde_json::Value;

use crate::tools::ToolError;

/// Reason why a model gave no whole answer, by who is to blame.
///
/// The texts are for the operator. A caller gets [`for_caller`](Self::for_caller).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The settings of the agent are contradictory or malformed; nothing was sent.
    #[error("the model cannot be called: {0}")]
    Settings(String),
    /// The service cannot be reached.
    #[error("the service cannot be reached")]
    Unreachable(#[source] a2a_transport::Error),
    /// The service does not accept the API key, or denies it the model.
    #[error("the service refused access with HTTP status {status}: {detail}")]
    Refused {
        /// 401 or 403.
        status: u16,
        /// Start of the service's explanation.
        detail: String,
    },
    /// The service has had too many requests, and the attempts are used up.
    #[error("the service limits the rate of requests: {detail}")]
    RateLimited {
        /// Delay that the service asks for.
        retry_after: Option<Duration>,
        /// Start of the service's explanation.
        detail: String,
    },
    /// The service failed.
    #[error("the service failed with {}: {detail}", status.map_or("an error event".to_owned(), |status| format!("HTTP status {status}")))]
    Service {
        /// The HTTP status, unless the error came within the stream.
        status: Option<u16>,
        /// Delay that the service asks for.
        retry_after: Option<Duration>,
        /// Start of the service's explanation.
        detail: String,
    },
    /// The service does not accept the request: the model does not exist, or the conversation is too long for it.
    #[error("the service rejected the request with HTTP status {status}: {detail}")]
    Rejected {
        /// The HTTP status.
        status: u16,
        /// Start of the service's explanation.
        detail: String,
    },
    /// The connection broke, or the stream ended before the answer did.
    #[error("the answer was cut off")]
    Cut(#[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// An event of the stream is not what the API specifies.
    #[error("an event of the stream cannot be read")]
    MalformedDelta(#[source] serde_json::Error),
    /// The service sent nothing for too long.
    #[error("the service was silent for {0:?}")]
    Silence(Duration),
    /// The service sent more than a limit.
    #[error("the {what} has more than {limit} bytes")]
    TooLong {
        /// The answer, the list of tool calls, or an event.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The service's response is not a stream of events, or has too many tool calls.
    #[error("the response is not understood: {0}")]
    NotUnderstood(String),
    /// The service ended the answer early, by a limit of its own or a content filter.
    #[error("the service ended the answer early: {0}")]
    Incomplete(String),
    /// The model called tools in too many rounds.
    #[error("the model called tools in more than {0} rounds")]
    TooManyRounds(usize),
    /// The tools cannot be listed.
    #[error("the tools cannot be listed")]
    Tools(#[source] ToolError),
    /// The task cannot be updated.
    #[error("the task cannot be updated")]
    Update(#[from] UpdateError),
}

impl ModelError {
    /// Returns the kind of error in one word.
    pub fn name(&self) -> &'static str {
        self.row().0
    }

    /// Returns a sentence for the caller of the agent, without details that are the operator's.
    pub fn for_caller(&self) -> &'static str {
        self.row().1
    }

    fn row(&self) -> (&'static str, &'static str) {
        match self {
            Self::Settings(_) => ("settings", "The language model is not set up correctly."),
            Self::Unreachable(_) => ("unreachable", "The language model cannot be reached."),
            Self::Refused { .. } => (
                "refused",
                "The language model refused access to this agent.",
            ),
            Self::RateLimited { .. } => (
                "rate_limited",
                "The language model is busy. Try again later.",
            ),
            Self::Service { .. } => ("service", "The language model failed. Try again later."),
            Self::Rejected { .. } => ("rejected", "The language model rejected the request."),
            Self::Cut(_) => ("cut", "The answer of the language model was cut off."),
            Self::MalformedDelta(_) => (
                "malformed_delta",
                "The answer of the language model cannot be read.",
            ),
            Self::Silence(_) => ("silence", "The language model did not answer in time."),
            Self::TooLong { .. } => ("too_long", "The answer of the language model is too long."),
            Self::NotUnderstood(_) => (
                "not_understood",
                "The response of the language model is not understood.",
            ),
            Self::Incomplete(_) => ("incomplete", "The language model ended its answer early."),
            Self::TooManyRounds(_) => (
                "too_many_rounds",
                "The language model called too many tools.",
            ),
            Self::Tools(_) => ("tools", "The tools of this agent are not available."),
            Self::Update(_) => ("update", "The task cannot be updated."),
        }
    }

    /// Reads the error that an event of the stream has, with the whole explanation.
    pub(crate) fn of_event(error: &Value) -> Self {
        Self::Service {
            status: None,
            retry_after: None,
            detail: detail(error),
        }
    }

    /// Returns whether a retry may help.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::RateLimited { .. } | Self::Cut(_) => true,
            Self::Service { status, .. } => status.is_none_or(|status| status != 501),
            _ => false,
        }
    }

    /// Returns the delay that the service asks for.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Service { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }
}

/// Returns the explanation that an error of a service has.
pub(crate) fn detail(error: &Value) -> String {
    match error {
        Value::String(text) => text.clone(),
        Value::Object(members) => match members.get("message") {
            Some(Value::String(text)) => text.clone(),
            _ => error.to_string(),
        },
        other => other.to_string(),
    }
}

/// Returns the start of a service's text, on one line.
pub(crate) fn clip(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().take(MAX_DETAIL).map(plain).collect()
}

/// Characters of a service's text in an error.
const MAX_DETAIL: usize = 300;
