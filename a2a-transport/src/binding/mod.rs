//! From bytes to calls and back, in each binding: pure functions, no I/O.
//!
//! Each binding has the same four, two for each end: `write_call` and `read_reply` for the caller,
//! `read_call` and `write_reply` for the agent. The functions here choose the binding by the
//! [`ResponseContext`].

mod bounds;
mod canonical;
mod details;
mod event;
pub mod grpc;
mod http_message;
mod incoming_call;
pub mod jsonrpc;
mod line;
mod offer;
pub mod rest;
mod webhook;

use a2a_jsonrpc::{Id, Limits};
use a2a_types::reading::{Mode, WithRepairs};
use a2a_types::{Error as A2aError, ErrorKind, ProtocolVersion, Request, Response};
use http::{Method, StatusCode};

pub use bounds::MAX_NAME_BYTES;
pub use event::{EventReader, EventWriter};
pub use http_message::{OutgoingCall, OutgoingReply};
pub use incoming_call::{CallRefusal, IncomingCall, ReadOptions};
pub use line::Line;
pub use offer::SupportedVersions;
pub use webhook::{
    NotificationBody, have_same_notifications, notifies_of_events, write_notification,
};

use crate::{Binding, Error, ResponseContext};

/// Writes a request.
pub fn write_call(
    request: Request,
    protocol_version: ProtocolVersion,
    binding: Binding,
    id: &Id,
) -> Result<OutgoingCall, Error> {
    match binding {
        Binding::HttpJson => rest::write_call(request, protocol_version),
        Binding::Grpc => grpc::write_call(request, protocol_version),
        Binding::JsonRpc => {
            let (body, envelope) = jsonrpc::write_call(request, protocol_version, id)?;
            Ok(OutgoingCall {
                method: Method::POST,
                target: String::new(),
                body: Some(body),
                envelope,
            })
        }
    }
}

/// Writes the answer to a request that is answered once.
pub fn write_reply(
    envelope: &ResponseContext,
    outcome: Result<Response, A2aError>,
) -> OutgoingReply {
    match envelope.binding {
        Binding::HttpJson => rest::write_reply(envelope, outcome),
        Binding::Grpc => grpc::write_reply(envelope, outcome),
        Binding::JsonRpc => OutgoingReply {
            status: match outcome.as_ref().map_err(|error| error.kind) {
                Err(ErrorKind::Unauthenticated) => StatusCode::UNAUTHORIZED,
                Err(ErrorKind::PermissionDenied) => StatusCode::FORBIDDEN,
                Err(ErrorKind::RateLimited) => StatusCode::TOO_MANY_REQUESTS,
                _ => StatusCode::OK,
            },
            body: jsonrpc::write_reply(envelope, outcome),
        },
    }
}

/// Writes the answer to a request that was not understood.
pub fn write_refusal(refused: CallRefusal) -> OutgoingReply {
    match refused.binding {
        Binding::HttpJson => rest::write_refusal(&refused),
        Binding::Grpc => grpc::write_refusal(&refused),
        Binding::JsonRpc => OutgoingReply {
            status: refused.status.unwrap_or(StatusCode::OK),
            body: jsonrpc::write_refusal(refused),
        },
    }
}

/// Reads the answer to a request that is answered once.
pub fn read_reply(
    envelope: &ResponseContext,
    status: StatusCode,
    body: &[u8],
    mode: Mode,
    limits: &Limits,
) -> Result<WithRepairs<Response>, Error> {
    match envelope.binding {
        Binding::HttpJson => rest::read_reply(envelope, status, body, mode, limits),
        Binding::Grpc => grpc::read_reply(envelope, status, body, mode, limits),
        Binding::JsonRpc => jsonrpc::read_reply(envelope, body, mode, limits),
    }
}
