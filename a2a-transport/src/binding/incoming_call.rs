//! Requests as read, understood or refused.

use a2a_jsonrpc::{Id, Limits};
use a2a_types::reading::{Deviation, Mode, Violation};
use a2a_types::{Error as A2aError, ErrorKind, ProtocolVersion, Request};
use http::StatusCode;
use serde_json::json;

use super::SupportedVersions;
use crate::{Binding, ResponseContext};

/// Options for reading requests. Made with [`Default`], then its fields are set.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Leniently or strictly.
    pub mode: Mode,
    /// Protocol version in which a request is answered that several spell alike, unless its task was created
    /// in another. `None` means 0.3 (specification 1.0 §3.6.2).
    pub prefer: Option<ProtocolVersion>,
    /// Limits of one message.
    pub limits: Limits,
    /// The versions that are answered.
    pub offer: SupportedVersions,
}

/// A request as read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IncomingCall {
    /// The request in the canonical model.
    pub request: Request,
    /// Envelope for the answer.
    pub envelope: ResponseContext,
    /// Repairs that were needed to understand it.
    pub repairs: Vec<Deviation>,
}

/// A request that was refused before it was understood.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallRefusal {
    /// Binding of the answer.
    pub binding: Binding,
    /// The id to answer with by JSON-RPC, null if it could not be read.
    pub id: Id,
    /// Protocol version of the answer.
    pub protocol_version: ProtocolVersion,
    /// Error to answer with.
    pub error: A2aError,
    /// The HTTP status, where HTTP has one of its own for this.
    pub status: Option<StatusCode>,
}

/// Returns the error of params that break a rule.
pub(super) fn invalid_params(violation: &Violation) -> A2aError {
    A2aError::new(ErrorKind::InvalidParams, violation.to_string())
        .with_details(json!({"path": violation.path, "problem": violation.problem}))
}
