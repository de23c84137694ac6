//! From bytes to calls and back, in each binding: pure functions, no I/O.
//!
//! Each binding has the same four, two for each end: `write_call` and `read_reply` for the caller,
//! `read_call` and `write_reply` for the agent. The functions here choose the binding by the
//! [`Envelope`].

mod bounds;
mod canonical;
mod details;
mod event;
pub mod jsonrpc;
mod offer;
pub mod rest;
mod webhook;

use std::fmt;

use a2a_jsonrpc::{Id, Limits};
use a2a_types::reading::{Mode, Read, Repair, Violation};
use a2a_types::{Dialect, Error as A2aError, ErrorKind, Request, Response};
use http::{Method, StatusCode};
use serde_json::json;

pub use event::{EventReader, EventWriter, Line};
pub use offer::Offer;
pub use webhook::{Pushed, write_notification};

use crate::{Binding, Envelope, Error};

/// Options for reading requests. Made with [`Default`], then its fields are set.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Reading {
    /// Leniently or strictly.
    pub mode: Mode,
    /// Protocol version in which a request is answered that several spell alike, unless its task was created
    /// in another. `None` means 0.3 (specification 1.0 §3.6.2).
    pub prefer: Option<Dialect>,
    /// Limits of one message.
    pub limits: Limits,
    /// The versions that are answered.
    pub offer: Offer,
}

/// A request as read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Question {
    /// The request in the canonical model.
    pub request: Request,
    /// Envelope for the answer.
    pub envelope: Envelope,
    /// Repairs that were needed to understand it.
    pub repairs: Vec<Repair>,
}

/// A request that was refused before it was understood.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refused {
    /// Binding of the answer.
    pub binding: Binding,
    /// The id to answer with by JSON-RPC, null if it could not be read.
    pub id: Id,
    /// Protocol version of the answer.
    pub dialect: Dialect,
    /// Error to answer with.
    pub error: A2aError,
    /// The HTTP status, where HTTP has one of its own for this.
    pub status: Option<StatusCode>,
}

/// An answer as written.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct Written {
    /// The HTTP status: by JSON-RPC 200, unless the caller is not let in.
    pub status: StatusCode,
    /// The JSON.
    pub body: Vec<u8>,
}

/// A request as written.
#[derive(Clone)]
#[non_exhaustive]
pub struct Asking {
    /// The HTTP method.
    pub method: Method,
    /// Path and query, to be put behind the URL of the agent; nothing by JSON-RPC.
    pub target: String,
    /// The JSON, if the request has a body.
    pub body: Option<Vec<u8>>,
    /// Envelope for reading the answer.
    pub envelope: Envelope,
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written")
            .field("status", &self.status)
            .field("body", &Length(&self.body))
            .finish()
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking")
            .field("method", &self.method)
            .field("target", &self.target)
            .field("body", &self.body.as_deref().map(Length))
            .field("envelope", &self.envelope)
            .finish()
    }
}

/// A body where it is printed: it may hold the secrets of webhooks.
struct Length<'a>(&'a [u8]);

impl fmt::Debug for Length<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}

/// Writes a request.
pub fn write_call(
    request: Request,
    dialect: Dialect,
    binding: Binding,
    id: &Id,
) -> Result<Asking, Error> {
    match binding {
        Binding::HttpJson => rest::write_call(request, dialect),
        Binding::JsonRpc => {
            let (body, envelope) = jsonrpc::write_call(request, dialect, id)?;
            Ok(Asking {
                method: Method::POST,
                target: String::new(),
                body: Some(body),
                envelope,
            })
        }
    }
}

/// Writes the answer to a question that is answered once.
pub fn write_reply(envelope: &Envelope, outcome: Result<Response, A2aError>) -> Written {
    match envelope.binding {
        Binding::HttpJson => rest::write_reply(envelope, outcome),
        Binding::JsonRpc => Written {
            status: match outcome.as_ref().map_err(|error| error.kind) {
                Err(ErrorKind::Unauthenticated) => StatusCode::UNAUTHORIZED,
                Err(ErrorKind::PermissionDenied) => StatusCode::FORBIDDEN,
                _ => StatusCode::OK,
            },
            body: jsonrpc::write_reply(envelope, outcome),
        },
    }
}

/// Writes the answer to a question that was not understood.
pub fn write_refusal(refused: Refused) -> Written {
    match refused.binding {
        Binding::HttpJson => rest::write_refusal(&refused),
        Binding::JsonRpc => Written {
            status: refused.status.unwrap_or(StatusCode::OK),
            body: jsonrpc::write_refusal(refused),
        },
    }
}

/// Reads the answer to a question that is answered once.
pub fn read_reply(
    envelope: &Envelope,
    status: StatusCode,
    body: &[u8],
    mode: Mode,
    limits: &Limits,
) -> Result<Read<Response>, Error> {
    match envelope.binding {
        Binding::HttpJson => rest::read_reply(envelope, status, body, mode, limits),
        Binding::JsonRpc => jsonrpc::read_reply(envelope, body, mode, limits),
    }
}

fn invalid_params(violation: &Violation) -> A2aError {
    A2aError::new(ErrorKind::InvalidParams, violation.to_string())
        .with_details(json!({"path": violation.path, "problem": violation.problem}))
}

/// Returns the start of a peer's text for an error message, at most 64 characters.
pub(crate) fn clip(word: &str) -> String {
    word.chars().take(64).collect()
}
