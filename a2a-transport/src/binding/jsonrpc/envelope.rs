//! The JSON-RPC envelope of answers.

use a2a_jsonrpc::{INTERNAL_ERROR, Id, Limits, Malformed, ParsedResponse, Response, Version};
use a2a_types::reading::{Deviation, Mode, Quirk, Violation};
use a2a_types::{Error as A2aError, Operation, ProtocolVersion};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::error::{read_error, write_error};
use crate::{Error, ResponseContext};

/// Closes the envelope of an answer.
pub(super) fn seal(
    id: Id,
    protocol_version: ProtocolVersion,
    result: Result<impl Serialize, A2aError>,
) -> Vec<u8> {
    let outcome = result.map_err(|error| write_error(error, protocol_version));
    let mut text = Vec::with_capacity(INITIAL_CAPACITY);
    match serde_json::to_writer(&mut text, &Response { id, outcome }) {
        Ok(()) => text,
        // Everything in it is our own type with string keys, so it always serialises.
        Err(_) => Vec::new(),
    }
}

/// Initial capacity of an answer in bytes, enough for most: growing by copies would be 3 % of a send and 5 %
/// of a get.
const INITIAL_CAPACITY: usize = 1024;

/// Returns the envelope of an answer up to its result.
pub(super) fn before_result(id: &Id) -> Vec<u8> {
    let outcome = Ok(());
    let id = id.clone();
    let mut before = serde_json::to_vec(&Response { id, outcome }).unwrap_or_default();
    before.truncate(before.len().saturating_sub(b"null}".len()));
    before
}

/// Envelope after the result.
pub(super) const BEHIND_RESULT: &[u8] = b"}";

/// Opens the envelope of an answer: returns its result and the repairs of the envelope.
pub(super) fn open<'a>(
    envelope: &ResponseContext,
    body: &'a [u8],
    mode: Mode,
    limits: &Limits,
) -> Result<(&'a RawValue, Vec<Deviation>), Error> {
    let repair = |quirk, path: &str| Deviation::new(quirk, path);
    let malformed = |path: &str, problem: String| {
        Error::Malformed(Violation {
            path: path.to_owned(),
            problem,
        })
    };
    let answer = match a2a_jsonrpc::read_response(body, limits) {
        Ok(answer) => answer,
        Err(Malformed::NotAnEnvelope { marked: false }) if mode != Mode::Strict => {
            let bare =
                serde_json::from_slice(body).map_err(|error| malformed("$", error.to_string()))?;
            return Ok((bare, vec![repair(Quirk::Bare, "$")]));
        }
        // A deletion has no result, and the Python SDK leaves the member out.
        Err(Malformed::NotAnEnvelope { marked: true })
            if mode != Mode::Strict
                && envelope.operation == Operation::DeleteTaskPushNotificationConfig =>
        {
            return Ok((RawValue::NULL, vec![repair(Quirk::NoResult, "$")]));
        }
        Err(Malformed::Unreadable(fault)) => {
            return Err(malformed(&fault.path.clone(), fault.to_string()));
        }
        Err(Malformed::Member { path, problem }) if mode == Mode::Tolerant && path == "$.error" => {
            let error = other_error(body).ok_or_else(|| malformed(path, problem))?;
            return Err(read_error(error, envelope.protocol_version).into());
        }
        Err(Malformed::Member { path, problem }) => return Err(malformed(path, problem)),
        Err(other) => return Err(malformed("$", other.to_string())),
    };
    let ParsedResponse {
        version,
        id,
        outcome,
    } = answer;
    let mut repairs = Vec::new();
    match (version, mode) {
        (Version::V2, _) | (_, Mode::Lenient) => {}
        (Version::Absent, Mode::Strict) => {
            let problem = "missing, expected \"2.0\"".to_owned();
            return Err(malformed("$.jsonrpc", problem));
        }
        (Version::Other, Mode::Strict) => {
            return Err(malformed("$.jsonrpc", "expected \"2.0\"".to_owned()));
        }
        (Version::Absent, Mode::Tolerant) => repairs.push(repair(Quirk::Missing, "$.jsonrpc")),
        (Version::Other, Mode::Tolerant) => repairs.push(repair(Quirk::LeftOut, "$.jsonrpc")),
    }
    let request_id = envelope.id.as_ref();
    // A server that could not read our id answers with null.
    let same =
        id.as_ref() == request_id || (outcome.is_err() && matches!(id, None | Some(Id::Null)));
    if !same {
        if mode == Mode::Strict {
            let quoted = |id: Option<&Id>| id.map_or("no id".to_owned(), ToString::to_string);
            let problem = format!("{} answers {}", quoted(id.as_ref()), quoted(request_id));
            return Err(malformed("$.id", problem));
        }
        let quirk = match request_id {
            None | Some(Id::Null) => Quirk::IdOnIdless,
            Some(_) => Quirk::IdMismatch,
        };
        repairs.push(repair(quirk, "$.id"));
    }
    let result = outcome.map_err(|error| read_error(error, envelope.protocol_version))?;
    Ok((result, repairs))
}

/// Reads an error that is not as JSON-RPC has it: a text alone, or a code or message of another type.
fn other_error(body: &[u8]) -> Option<a2a_jsonrpc::Error> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let error = answer.get("error")?;
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let code = error.get("code").map(text);
    let code = code.and_then(|code| code.trim().parse().ok());
    let message = error.get("message").unwrap_or(error);
    let read = a2a_jsonrpc::Error::new(code.unwrap_or(INTERNAL_ERROR), text(message));
    let data = error.get("data").filter(|data| !data.is_null());
    Some(match data.and_then(|data| to_raw_value(data).ok()) {
        Some(data) => read.with_data(data),
        None => read,
    })
}

/// Returns the JSON path of the result in its message.
pub(super) fn root(repairs: &[Deviation]) -> &'static str {
    match repairs.iter().any(|found| found.quirk == Quirk::Bare) {
        true => "$",
        false => "$.result",
    }
}
