//! The answer to one request: a result or an error, written by servers and read by clients.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::envelope::{Envelope, EnvelopeError, MemberError};
use crate::value_kind::ValueKind;
use crate::{Error, Fault, Id, Limits, Version};

/// A response to be written; it serialises to the whole envelope. JSON-RPC 2.0 §5.
#[derive(Clone, Debug, PartialEq)]
pub struct Response<T> {
    /// The id of the request, as it was sent.
    pub id: Id,
    /// Result of the request, or the error.
    pub outcome: Result<T, Error>,
}

/// A response as it was read, borrowing from its bytes. JSON-RPC 2.0 §5.
#[derive(Clone)]
pub struct ParsedResponse<'a> {
    /// Version that the response declares.
    pub version: Version,
    /// The id of the request it answers; `None` if the member is absent, or is of a type that no id has.
    pub id: Option<Id>,
    /// Result of the request, which may be null, or the error.
    pub outcome: Result<&'a RawValue, Error>,
}

/// Does not print the result: it may hold secrets.
impl fmt::Debug for ParsedResponse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = format_args!("(hidden)");
        f.debug_struct("Answer")
            .field("version", &self.version)
            .field("id", &self.id)
            .field("outcome", &self.outcome.as_ref().map(|_| hidden))
            .finish()
    }
}

/// Reason for which bytes from a server are not a response. The server is to blame.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The bytes are not JSON, or not within the limits.
    #[error("the response cannot be read")]
    Unreadable(#[from] Fault),
    /// JSON with neither a result nor an error: perhaps a result without its envelope, as some servers
    /// send.
    #[error("the response has neither a result nor an error")]
    NotAnEnvelope {
        /// `true` if there was a member `jsonrpc`, which no bare result has.
        marked: bool,
    },
    /// Both a result and an error, neither of them null.
    #[error("the response has both a result and an error")]
    Both,
    /// A member violates JSON-RPC.
    #[error("{path} {problem}")]
    Member {
        /// The member: `$.result` or `$.error`.
        path: &'static str,
        /// The problem, such as `must be an object, found a string`.
        problem: String,
    },
}

impl<T: Serialize> Serialize for Response<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut envelope = serializer.serialize_struct("Response", 3)?;
        envelope.serialize_field("jsonrpc", "2.0")?;
        envelope.serialize_field("id", &self.id)?;
        match &self.outcome {
            Ok(result) => envelope.serialize_field("result", result)?,
            Err(error) => envelope.serialize_field("error", error)?,
        }
        envelope.end()
    }
}

/// Reads one response.
///
/// A result together with a null error is a success, even when the result is null too. An error together
/// with a null result is a failure. A result and an error that are both not null are [`Malformed::Both`].
pub fn read_response<'a>(
    bytes: &'a [u8],
    limits: &Limits,
) -> Result<ParsedResponse<'a>, Malformed> {
    let envelope = Envelope::read(bytes, limits)?;
    let error = envelope
        .error
        .filter(|raw| ValueKind::of(raw) != ValueKind::Null);
    // Before `jsonrpc` and `id` are checked: in a bare result they may mean anything.
    let outcome = match (envelope.result, error) {
        (Some(result), None) => Ok(raw(result)?),
        (Some(result), Some(_)) if ValueKind::of(result) != ValueKind::Null => {
            return Err(Malformed::Both);
        }
        (_, Some(error)) => Err(read_error(error)?),
        (None, None) => {
            return Err(Malformed::NotAnEnvelope {
                marked: envelope.is_marked(),
            });
        }
    };
    // The outcome is readable, whatever stands next to it.
    Ok(ParsedResponse {
        version: envelope.version().unwrap_or(Version::Other),
        id: envelope.id().unwrap_or_default(),
        outcome,
    })
}

fn raw(result: &str) -> Result<&RawValue, MemberError> {
    // It has been validated already.
    serde_json::from_str(result).map_err(|error| MemberError::new("$.result", error.to_string()))
}

fn read_error(raw: &str) -> Result<Error, MemberError> {
    match ValueKind::of(raw) {
        ValueKind::Object => serde_json::from_str(raw).map_err(|error| {
            MemberError::new("$.error", format!("is not an error object: {error}"))
        }),
        other => Err(MemberError::new(
            "$.error",
            format!("must be an object, found {other}"),
        )),
    }
}

impl From<EnvelopeError> for Malformed {
    fn from(error: EnvelopeError) -> Self {
        match error {
            EnvelopeError::Fault(fault) => Self::Unreadable(fault),
            EnvelopeError::NotAnObject(_) => Self::NotAnEnvelope { marked: false },
        }
    }
}

impl From<MemberError> for Malformed {
    fn from(MemberError { path, problem }: MemberError) -> Self {
        Self::Member { path, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expects `version id result`, `version id error`, or what is malformed.
    #[track_caller]
    fn check(bytes: impl AsRef<[u8]>, expected: &str) {
        let found = match read_response(bytes.as_ref(), &Limits::default()) {
            Ok(ParsedResponse {
                version,
                id,
                outcome,
            }) => {
                let id = id.map_or("-".to_owned(), |id| id.to_string());
                match outcome {
                    Ok(result) => format!("{version:?} {id} {result}"),
                    Err(error) => format!("{version:?} {id} {error} {:?}", error.data),
                }
            }
            Err(Malformed::NotAnEnvelope { marked }) => format!("not an envelope, {marked}"),
            Err(Malformed::Unreadable(fault)) => fault.to_string(),
            Err(malformed) => malformed.to_string(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_result_is_a_success() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"result":{"a":1.0}}"#,
            r#"V2 1 {"a":1.0}"#,
        );
        check(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "V2 1 null");
        check(
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":null}"#,
            "V2 1 1",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"error":null,"result":null}"#,
            "V2 1 null",
        );
        check(r#"{"result":1}"#, "Absent - 1");
        check(r#"{"id":null,"result":1}"#, "Absent null 1");
    }

    #[test]
    fn an_error_is_a_failure() {
        let error = r#"{"code":-32601,"message":"no","data":[1],"more":1}"#;
        let expected = "no (code -32601) Some(RawValue([1]))";
        check(
            format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#),
            &format!("V2 1 {expected}"),
        );
        check(
            format!(r#"{{"result":null,"error":{error}}}"#),
            &format!("Absent - {expected}"),
        );
        check(
            r#"{"id":null,"error":{"code":1,"message":"x","data":null}}"#,
            "Absent null x (code 1) None",
        );
    }

    #[test]
    fn documents_without_result_and_error_are_not_envelopes() {
        check(r#"{"id":{"a":1},"status":{}}"#, "not an envelope, false");
        check("[1]", "not an envelope, false");
        check("null", "not an envelope, false");
        check(r#"{"jsonrpc":"2.0","id":1}"#, "not an envelope, true");
        check(
            r#"{"jsonrpc":"2.0","id":1,"error":null}"#,
            "not an envelope, true",
        );
    }

    #[test]
    fn responses_with_another_version_or_id_are_read() {
        check(r#"{"result":1,"jsonrpc":"1.0"}"#, "Other - 1");
        check(r#"{"result":1,"jsonrpc":2.0,"id":7}"#, "Other 7 1");
        check(r#"{"result":1,"id":[]}"#, "Absent - 1");
    }

    #[test]
    fn other_responses_are_malformed() {
        check(
            r#"{"result":1,"error":{"code":1,"message":"x"}}"#,
            "the response has both a result and an error",
        );
        check(
            r#"{"error":"x"}"#,
            "$.error must be an object, found a string",
        );
        check(
            r#"{"error":[1,"x"]}"#,
            "$.error must be an object, found an array",
        );
        check(
            r#"{"error":{"code":1}}"#,
            "$.error is not an error object: missing field `message` at line 1 column 10",
        );
        check(
            r#"{"error":{"code":1.5,"message":"x"}}"#,
            "$.error is not an error object: \
             invalid type: floating point `1.5`, expected i64 at line 1 column 11",
        );
        check(
            r#"{"result":{"a":1,"a":2}}"#,
            "duplicate key `a` at $.result (line 1, column 20)",
        );
    }

    #[track_caller]
    fn check_written(outcome: Result<Option<u8>, Error>, expected: &str) {
        let response = Response {
            id: Id::from("a"),
            outcome,
        };
        assert_eq!(serde_json::to_string(&response).unwrap(), expected);
    }

    #[test]
    fn responses_are_written() {
        check_written(Ok(Some(1)), r#"{"jsonrpc":"2.0","id":"a","result":1}"#);
        check_written(Ok(None), r#"{"jsonrpc":"2.0","id":"a","result":null}"#);
        check_written(
            Err(Error::new(1, "x")),
            r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"x"}}"#,
        );
    }

    #[test]
    fn reading_never_panics() {
        let sample = br#"{"jsonrpc":"2.0","id":1e2,"result":null,"error":{"code":-1,"message":"\u00e9","data":[{}]}}"#;
        assert!(read_response(sample, &Limits::default()).is_ok());
        for position in 0..sample.len() {
            assert!(read_response(&sample[..position], &Limits::default()).is_err());
            for byte in 0..=u8::MAX {
                let mut bytes = sample.to_vec();
                bytes[position] = byte;
                let _ = read_response(&bytes, &Limits::default());
            }
        }
    }
}
