//! Answers to requests that are answered once.

use a2a_jsonrpc::{Id, Limits};
use a2a_types::reading::{Hints, Mode, WithRepairs, read_unwrapped};
use a2a_types::{Error as A2aError, ErrorKind, ProtocolVersion, Response, v0_1, v0_2};

use super::envelope::{open, root, seal};
use crate::binding::{CallRefusal, canonical};
use crate::{Error, ResponseContext};

/// Writes the answer to a request that is answered once.
pub fn write_reply(envelope: &ResponseContext, outcome: Result<Response, A2aError>) -> Vec<u8> {
    let (id, protocol_version) = (
        envelope.id.clone().unwrap_or(Id::Null),
        envelope.protocol_version,
    );
    let response = match outcome {
        Ok(response) => response,
        Err(error) => return seal(id, protocol_version, Err::<(), _>(error)),
    };
    let unsaid = || A2aError::from(ErrorKind::MethodNotFound);
    match protocol_version {
        ProtocolVersion::V0_1 => {
            let task = envelope.task.clone().unwrap_or_default();
            let result = v0_1::write_response(response, &task);
            seal(id, protocol_version, result.ok_or_else(unsaid))
        }
        ProtocolVersion::V0_2 | ProtocolVersion::V0_3 => {
            let result = v0_2::write_response(response, protocol_version);
            seal(id, protocol_version, result.ok_or_else(unsaid))
        }
        _ => seal(id, protocol_version, Ok(canonical::Outcome(&response))),
    }
}

/// Writes the answer to a request that was not understood.
pub fn write_refusal(refused: CallRefusal) -> Vec<u8> {
    seal(
        refused.id,
        refused.protocol_version,
        Err::<(), _>(refused.error),
    )
}

/// Reads the answer to a request that is answered once.
pub fn read_reply(
    envelope: &ResponseContext,
    body: &[u8],
    mode: Mode,
    limits: &Limits,
) -> Result<WithRepairs<Response>, Error> {
    let (result, mut repairs) = open(envelope, body, mode, limits)?;
    let hints = Hints {
        task: envelope.task.as_ref(),
        ..Hints::at(root(&repairs))
    };
    let operation = envelope.operation;
    let read = read_unwrapped(result.get(), mode, &hints, |json| {
        match envelope.protocol_version {
            ProtocolVersion::V0_1 => v0_1::read_response(operation, json, mode, &hints),
            ProtocolVersion::V0_2 | ProtocolVersion::V0_3 => {
                v0_2::read_response(operation, json, mode, &hints)
            }
            _ => canonical::read_response(operation, json, mode, &hints),
        }
    });
    let read = read.map_err(Error::Malformed)?;
    repairs.extend(read.repairs);
    Ok(WithRepairs {
        value: read.value,
        repairs,
    })
}
