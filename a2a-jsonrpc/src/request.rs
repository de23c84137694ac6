//! A call of one method, read by servers and written by clients.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::envelope::{Envelope, EnvelopeError, MemberError};
use crate::recovery::recover_id;
use crate::text::Text;
use crate::value_kind::ValueKind;
use crate::{Error, INVALID_PARAMS, INVALID_REQUEST, Id, Limits, Version};

/// One request as it was read, borrowing from its bytes. JSON-RPC 2.0 §4.
#[derive(Clone)]
pub struct Request<'a> {
    /// Version that the request declares.
    pub version: Version,
    /// The id to answer with; `None` if the member is absent, which makes the request a notification.
    /// JSON-RPC 2.0 §4.1.
    pub id: Option<Id>,
    /// The method to call.
    pub method: Cow<'a, str>,
    /// The text of an object or an array, known to be JSON within the limits; `None` if the member is
    /// absent or null. JSON-RPC 2.0 §4.2.
    pub params: Option<&'a str>,
}

/// Does not print the parameters: they may hold secrets.
impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("version", &self.version)
            .field("id", &self.id)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

/// Refusal of a request: its id and the error.
///
/// The response to the request consists of the two.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("request {id} refused")]
pub struct Refusal {
    /// The id of the request, or [`Id::Null`] if it has none or its id is ambiguous.
    /// JSON-RPC 2.0 §5.
    pub id: Id,
    /// The error to answer with; its message names the place and what is expected there.
    #[source]
    pub error: Error,
}

/// Reads one request.
///
/// Bytes that are not JSON, or not within the limits, are refused with
/// [`PARSE_ERROR`](crate::PARSE_ERROR); a body that is too long, and JSON that is not a request, with
/// [`INVALID_REQUEST`]; `params` that are neither object nor array with [`INVALID_PARAMS`]. Unknown
/// members are ignored.
pub fn read_request<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Request<'a>, Refusal> {
    let envelope = Envelope::read(bytes, limits).map_err(|error| match error {
        EnvelopeError::Fault(fault) => Refusal {
            // Only the allowed part of a body that is too long is searched.
            id: recover_id(&bytes[..bytes.len().min(limits.bytes)]),
            error: fault.into(),
        },
        EnvelopeError::NotAnObject(kind) => Refusal {
            id: Id::Null,
            error: not_an_object(kind),
        },
    })?;

    let id = envelope
        .id()
        .map_err(|error| error.refuse(INVALID_REQUEST, None))?;
    let version = envelope
        .version()
        .map_err(|error| error.refuse(INVALID_REQUEST, id.as_ref()))?;
    let method = method(&envelope).map_err(|error| error.refuse(INVALID_REQUEST, id.as_ref()))?;
    let params = params(&envelope).map_err(|error| error.refuse(INVALID_PARAMS, id.as_ref()))?;
    Ok(Request {
        version,
        id,
        method,
        params,
    })
}

/// Writes one request. JSON-RPC 2.0 §4.
///
/// `params` that serialise to null are left out, as if they were `None`. The caller ensures that others
/// become an object or an array.
pub fn write_request<P: Serialize + ?Sized>(
    id: &Id,
    method: &str,
    params: Option<&P>,
) -> Result<Vec<u8>, serde_json::Error> {
    #[derive(Serialize)]
    struct RequestWire<'a> {
        jsonrpc: &'static str,
        id: &'a Id,
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<Box<RawValue>>,
    }

    let params = params
        .map(to_raw_value)
        .transpose()?
        .filter(|raw| raw.get() != "null");
    serde_json::to_vec(&RequestWire {
        jsonrpc: "2.0",
        id,
        method,
        params,
    })
}

fn method<'a>(envelope: &Envelope<'a>) -> Result<Cow<'a, str>, MemberError> {
    let raw = envelope
        .method
        .ok_or_else(|| MemberError::new("$.method", "is missing"))?;
    match Text::of(raw) {
        Some(Text(method)) => Ok(method),
        None => Err(MemberError::new(
            "$.method",
            format!("must be a string, found {}", ValueKind::of(raw)),
        )),
    }
}

fn params<'a>(envelope: &Envelope<'a>) -> Result<Option<&'a str>, MemberError> {
    let Some(raw) = envelope.params else {
        return Ok(None);
    };
    match ValueKind::of(raw) {
        ValueKind::Object | ValueKind::Array => Ok(Some(raw)),
        ValueKind::Null => Ok(None),
        other => Err(MemberError::new(
            "$.params",
            format!("must be an object or an array, found {other}"),
        )),
    }
}

fn not_an_object(kind: ValueKind) -> Error {
    let message = match kind {
        ValueKind::Array => "a batch is not supported: send one request per message".to_owned(),
        _ => format!("$ must be an object, found {kind}"),
    };
    Error::new(INVALID_REQUEST, message)
}

impl MemberError {
    fn refuse(self, code: i64, id: Option<&Id>) -> Refusal {
        Refusal {
            id: id.cloned().unwrap_or(Id::Null),
            error: Error::new(code, self.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"{"jsonrpc":"2.0","id":7,"method":"message/send","params":{"message":{"role":"user","parts":[{"text":"caf\u00e9 \ud83d\ude00 é"},{"data":[1,-2.5e3,true,null,{}]}]}}}"#;

    #[test]
    fn parameters_are_not_printed() {
        let call = br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"token":"canary"}}"#;
        let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"token":"canary"}}"#;
        let limits = Limits::default();
        for printed in [
            format!("{:?}", read_request(call, &limits).unwrap()),
            format!("{:?}", crate::read_response(answer, &limits).unwrap()),
        ] {
            assert!(!printed.contains("canary"), "{printed}");
        }
    }

    /// Expects `version id method params`, or `id code message` of the refusal.
    #[track_caller]
    fn check(bytes: impl AsRef<[u8]>, expected: &str) {
        let found = match read_request(bytes.as_ref(), &Limits::default()) {
            Ok(Request {
                version,
                id,
                method,
                params,
            }) => {
                let id = id.map_or("-".to_owned(), |id| id.to_string());
                let params = params.unwrap_or("-");
                format!("{version:?} {id} {method} {params}")
            }
            Err(Refusal { id, error }) => format!("{id} {} {}", error.code, error.message),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn requests_are_read() {
        check(
            r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":1}}"#,
            r#"V2 7 x {"a":1}"#,
        );
        check(
            r#" {"params":[ 1 ],"method":"x","id":"a","jsonrpc":"2.0"} "#,
            r#"V2 "a" x [ 1 ]"#,
        );
        check(
            r#"{"jsonrpc":"2.\u0030","id":1e2,"method":"\u0078"}"#,
            "V2 1e2 x -",
        );
        check(
            r#"{"jsonrpc":"2.0","id":null,"method":"x","params":null}"#,
            "V2 null x -",
        );
        check(r#"{"jsonrpc":"2.0","method":"x"}"#, "V2 - x -");
        check(
            r#"{"id":1,"method":"x","result":1,"more":[]}"#,
            "Absent 1 x -",
        );
    }

    #[test]
    fn methods_are_borrowed_when_they_can_be() {
        let request = read_request(SAMPLE.as_bytes(), &Limits::default()).unwrap();
        assert!(matches!(request.method, Cow::Borrowed("message/send")));
    }

    #[test]
    fn invalid_json_is_a_parse_error() {
        check(
            "",
            "null -32700 invalid JSON: EOF while parsing a value at $ (line 1, column 0)",
        );
        check(
            r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"#,
            "7 -32700 invalid JSON: EOF while parsing an object at $.params (line 1, column 47)",
        );
        check(
            r#"{"params":{"message":{"role":1,"role":2}},"method":"x","id":7}"#,
            "7 -32700 invalid JSON: duplicate key `role` at $.params.message (line 1, column 37)",
        );
        check(
            r#"{"id":7,"id":8}"#,
            "null -32700 invalid JSON: duplicate key `id` at $ (line 1, column 12)",
        );
        check(
            b"{\"id\":7,\"a\":\"\xff\"}",
            "7 -32700 invalid JSON: not UTF-8 at $.a (line 1, column 14)",
        );
        check(
            "\u{feff}{}",
            "null -32700 invalid JSON: a byte order mark stands before the document \
             at $ (line 1, column 1)",
        );
    }

    #[test]
    fn documents_beyond_the_limits_are_refused_with_their_id() {
        let deep = "[".repeat(64) + &"]".repeat(64);
        check(
            format!(r#"{{"params":{deep},"id":7}}"#),
            &format!(
                "7 -32700 nested deeper than 64 levels at $.params{} (line 1, column 75)",
                "[0]".repeat(63)
            ),
        );
        let nodes = r#"{"":0},"#.repeat(150_000);
        check(
            format!(r#"{{"params":[{nodes}0],"id":7}}"#),
            "7 -32700 more than 16777216 bytes would be needed to hold the values \
             at $.params[24574] (line 1, column 172032)",
        );
        let long = "x".repeat(5_000_000);
        let too_long = "-32600 the body is longer than 4194304 bytes";
        check(
            format!(r#"{{"id":7,"a":"{long}"}}"#),
            &format!("7 {too_long}"),
        );
        check(
            format!(r#"{{"a":"{long}","id":7}}"#),
            &format!("null {too_long}"),
        );
    }

    #[test]
    fn json_without_a_request_is_an_invalid_request() {
        check(
            r#"[{"jsonrpc":"2.0","id":7,"method":"x"}]"#,
            "null -32600 a batch is not supported: send one request per message",
        );
        check("7", "null -32600 $ must be an object, found a number");
        check("null", "null -32600 $ must be an object, found null");
        check(
            r#"{"jsonrpc":"2.0","id":7}"#,
            "7 -32600 $.method is missing",
        );
        check(
            r#"{"id":7,"method":null}"#,
            "7 -32600 $.method must be a string, found null",
        );
        check(
            r#"{"method":["x"]}"#,
            "null -32600 $.method must be a string, found an array",
        );
    }

    #[test]
    fn other_versions_are_refused() {
        let found = |raw: &str| format!(r#"{{"jsonrpc":{raw},"id":7,"method":"x"}}"#);
        let expected = |text: &str| format!("7 -32600 $.jsonrpc must be \"2.0\", found {text}");
        check(found("\"1.0\""), &expected("\"1.0\""));
        check(found("2.0"), &expected("a number"));
        check(found("null"), &expected("null"));
        check(found(r#""2.0\n""#), &expected(r#""2.0\n""#));
    }

    #[test]
    fn other_ids_are_refused() {
        let found = |raw: &str| format!(r#"{{"jsonrpc":"2.0","id":{raw},"method":"x"}}"#);
        let expected = "null -32600 $.id must be a string, a number or null, found";
        check(found("{}"), &format!("{expected} an object"));
        check(found("[7]"), &format!("{expected} an array"));
        check(found("false"), &format!("{expected} a boolean"));
    }

    #[test]
    fn params_are_structured() {
        let found = |raw: &str| format!(r#"{{"id":7,"method":"x","params":{raw}}}"#);
        let expected = "7 -32602 $.params must be an object or an array, found";
        check(found("1"), &format!("{expected} a number"));
        check(found("\"a\""), &format!("{expected} a string"));
        check(found("true"), &format!("{expected} a boolean"));
    }

    #[track_caller]
    fn check_written(params: Option<&impl Serialize>, expected: &str) {
        let bytes = write_request(&Id::number(7), "x", params).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn requests_are_written() {
        check_written(
            Some(&["a"]),
            r#"{"jsonrpc":"2.0","id":7,"method":"x","params":["a"]}"#,
        );
        check_written(None::<&()>, r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#);
        check_written(Some(&()), r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#);
    }

    #[test]
    fn a_request_cut_short_is_refused_with_its_id_or_none() {
        let id_is_whole = SAMPLE.find(",\"method").unwrap();
        for end in 0..SAMPLE.len() {
            let refusal = read_request(&SAMPLE.as_bytes()[..end], &Limits::default()).unwrap_err();
            let expected = if end > id_is_whole {
                Id::number(7)
            } else {
                Id::Null
            };
            assert_eq!((end, refusal.id), (end, expected));
        }
    }

    #[test]
    fn reading_never_panics() {
        let limits = Limits {
            bytes: 256,
            depth: 7,
            heap: 8 * 1024,
        };
        assert!(read_request(SAMPLE.as_bytes(), &limits).is_ok());
        for position in 0..SAMPLE.len() {
            for byte in 0..=u8::MAX {
                let mut bytes = SAMPLE.as_bytes().to_vec();
                bytes[position] = byte;
                let _ = read_request(&bytes, &limits);
                bytes.insert(position, byte);
                let _ = read_request(&bytes, &limits);
            }
        }
    }
}
