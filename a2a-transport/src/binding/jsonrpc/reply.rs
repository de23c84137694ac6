//! Answers to requests that are answered once.

use a2a_jsonrpc::{Id, Limits};
use a2a_types::reading::{Hints, Mode, Read};
use a2a_types::{Dialect, Error as A2aError, ErrorKind, Response, v0_1, v0_2};
use serde_json::value::to_raw_value;

use super::envelope::{open, root, seal};
use crate::binding::{Refused, canonical};
use crate::{Envelope, Error};

/// Writes the answer to a question that is answered once.
pub fn write_reply(envelope: &Envelope, outcome: Result<Response, A2aError>) -> Vec<u8> {
    let id = envelope.id.clone().unwrap_or(Id::Null);
    let result = outcome.and_then(|response| {
        let raw = match envelope.dialect {
            Dialect::V0_1 => {
                let task = envelope.task.clone().unwrap_or_default();
                v0_1::write_response(response, &task).map(|returned| to_raw_value(&returned))
            }
            Dialect::V0_2 | Dialect::V0_3 => v0_2::write_response(response, envelope.dialect)
                .map(|returned| to_raw_value(&returned)),
            Dialect::V1_0 => Some(canonical::write_response(&response)),
        };
        raw.transpose()
            .ok()
            .flatten()
            .ok_or_else(|| ErrorKind::MethodNotFound.into())
    });
    seal(id, envelope.dialect, result)
}

/// Writes the answer to a question that was not understood.
pub fn write_refusal(refused: Refused) -> Vec<u8> {
    seal(refused.id, refused.dialect, Err::<(), _>(refused.error))
}

/// Reads the answer to a question that is answered once.
pub fn read_reply(
    envelope: &Envelope,
    body: &[u8],
    mode: Mode,
    limits: &Limits,
) -> Result<Read<Response>, Error> {
    let (result, mut repairs) = open(envelope, body, mode, limits)?;
    let hints = Hints {
        task: envelope.task.as_ref(),
        ..Hints::at(root(&repairs))
    };
    let read = match envelope.dialect {
        Dialect::V0_1 => v0_1::read_response(envelope.operation, result.get(), mode, &hints),
        Dialect::V0_2 | Dialect::V0_3 => {
            v0_2::read_response(envelope.operation, result.get(), mode, &hints)
        }
        Dialect::V1_0 => canonical::read_response(envelope.operation, result.get(), &hints),
    };
    let read = read.map_err(Error::Malformed)?;
    repairs.extend(read.repairs);
    Ok(Read {
        value: read.value,
        repairs,
    })
}
