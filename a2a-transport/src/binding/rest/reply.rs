//! Answers to requests that are answered once.

use a2a_jsonrpc::Limits;
use a2a_types::reading::{Hints, Mode, WithRepairs, read_unwrapped};
use a2a_types::v0_3::{self, Flavour};
use a2a_types::{Error as A2aError, ErrorKind, Operation, ProtocolVersion, Response, v0_2};
use http::StatusCode;
use serde::Serialize;

use super::error::{read_error, write_error};
use super::event::checked;
use crate::binding::{OutgoingReply, canonical};
use crate::{Error, ResponseContext};

/// Writes the answer to a request that is answered once.
pub fn write_reply(
    envelope: &ResponseContext,
    outcome: Result<Response, A2aError>,
) -> OutgoingReply {
    let body = outcome.and_then(|response| {
        let body = match (envelope.protocol_version, envelope.flavour) {
            (ProtocolVersion::V1_0, _) => json(&canonical::Outcome(&response)),
            (_, Flavour::Plain) => v0_2::write_response(response, envelope.protocol_version)
                .and_then(|item| json(&item)),
            (_, Flavour::Proto) => v0_3::write_response(response).and_then(|item| json(&item)),
        };
        body.ok_or_else(|| ErrorKind::MethodNotFound.into())
    });
    match body {
        Ok(body) => OutgoingReply {
            status: StatusCode::OK,
            body,
        },
        Err(error) => write_error(&error, envelope.protocol_version),
    }
}

fn json(item: &impl Serialize) -> Option<Vec<u8>> {
    serde_json::to_vec(item).ok()
}

/// Reads the answer to a request that is answered once.
pub fn read_reply(
    envelope: &ResponseContext,
    status: StatusCode,
    body: &[u8],
    mode: Mode,
    limits: &Limits,
) -> Result<WithRepairs<Response>, Error> {
    if !status.is_success() {
        return Err(read_error(status, body, envelope.protocol_version));
    }
    let operation = envelope.operation;
    if operation == Operation::DeleteTaskPushNotificationConfig {
        // Some servers answer with an empty object, some with no body.
        return Ok(canonical::unrepaired(
            Response::DeleteTaskPushNotificationConfig(()),
        ));
    }
    let body = checked(body, limits)?;
    let hints = Hints {
        task: envelope.task.as_ref(),
        ..Hints::at("$")
    };
    let read = read_unwrapped(body, mode, &hints, |json| match envelope.protocol_version {
        ProtocolVersion::V1_0 => canonical::read_response(operation, json, mode, &hints),
        _ => match Flavour::of(json) {
            Some(Flavour::Plain) => v0_2::read_response(operation, json, mode, &hints),
            _ => v0_3::read_response(operation, json, mode, &hints),
        },
    });
    read.map_err(Error::Malformed)
}
