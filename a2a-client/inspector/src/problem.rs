//! Errors of the API.

use std::fmt;

use a2a_client::{Error, causes};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An error as the page shows it: `{"error": {"message", "hint"?, "kind"?, "card"?}}`.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    #[serde(skip)]
    status: StatusCode,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The card that could not be read, as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<String>,
}

impl Problem {
    /// Creates an error with a status and a message.
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            hint: None,
            kind: None,
            card: None,
        }
    }

    /// Creates the error of a wrong request.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Creates the error of a thing that does not exist.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// Creates the error of a path that has other methods.
    pub(crate) fn method_not_allowed() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "this path has other methods",
        )
    }

    /// Creates the error of a request that contradicts what is there, or exceeds a limit.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// Adds advice.
    pub(crate) fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Adds the card that could not be read, if that is the error.
    pub(crate) fn unread_card(mut self, card: &[u8]) -> Self {
        if self.kind == Some(MALFORMED) {
            self.hint =
                Some("the answer of this address is not a card that can be read; Wire shows it");
            self.card = Some(String::from_utf8_lossy(card).into_owned());
        }
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status;
        (status, Json(serde_json::json!({"error": self}))).into_response()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl From<a2a_client::Error> for Problem {
    fn from(error: a2a_client::Error) -> Self {
        let status = match error {
            Error::Address { .. } | Error::Ambiguous(_) => StatusCode::BAD_REQUEST,
            _ => StatusCode::BAD_GATEWAY,
        };
        Self {
            status,
            message: causes(&error),
            hint: advice(&error),
            kind: Some(error.name()),
            card: None,
        }
    }
}

/// Returns advice on a failed call.
fn advice(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Unreachable(_) => "check that the agent is running and that this is its address",
        Error::Refused { .. } | Error::Credentials(_) => {
            "connect with other credentials: the card says which ones the agent accepts"
        }
        Error::NotA2a { status: 404, .. } => {
            "check the URL; an agent without a card is connected by its version"
        }
        Error::NotA2a { .. } | Error::Malformed(_) => "Wire shows the answer",
        Error::Redirected { .. } => "connect to that URL, if you trust it",
        Error::NotSupported { .. } => "connect by another version that the card offers",
        _ => return None,
    })
}

/// Kind of an error about what the agent sent.
const MALFORMED: &str = "malformed";
