//! The error object, and the codes the specification reserves for the protocol itself.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// An error as the peer reports it. JSON-RPC 2.0 §5.1.
///
/// Reading ignores members beyond these three; `"data": null` is read as no data.
#[derive(Clone, Debug, Deserialize, Serialize, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct Error {
    /// Code of the kind of error.
    pub code: i64,
    /// Description of the error, in one sentence.
    pub message: String,
    /// More about it, in a form the two sides have agreed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl Error {
    /// Returns an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds data, as the wire is to carry it.
    pub fn with_data(self, data: Box<RawValue>) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }
}

/// Data is compared as text: `1` and `1.0` differ.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        let text = RawValue::get;
        self.code == other.code
            && self.message == other.message
            && self.data.as_deref().map(text) == other.data.as_deref().map(text)
    }
}

/// The text is not JSON. JSON-RPC 2.0 §5.1.
pub const PARSE_ERROR: i64 = -32_700;
/// The JSON is not a request. JSON-RPC 2.0 §5.1.
pub const INVALID_REQUEST: i64 = -32_600;
/// There is no such method. JSON-RPC 2.0 §5.1.
pub const METHOD_NOT_FOUND: i64 = -32_601;
/// The method cannot be called with these parameters. JSON-RPC 2.0 §5.1.
pub const INVALID_PARAMS: i64 = -32_602;
/// The server failed. JSON-RPC 2.0 §5.1.
pub const INTERNAL_ERROR: i64 = -32_603;

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[track_caller]
    fn check(error: &Error, wire: &str) {
        assert_eq!(serde_json::to_string(error).unwrap(), wire);
        assert_eq!(&serde_json::from_str::<Error>(wire).unwrap(), error);
    }

    #[test]
    fn errors_read_as_they_are_written() {
        let error = Error::new(METHOD_NOT_FOUND, "no method `x`");
        assert_eq!(error.to_string(), "no method `x` (code -32601)");
        check(&error, r#"{"code":-32601,"message":"no method `x`"}"#);
        check(
            &error.with_data(raw(r#"[{"n":1.00}]"#)),
            r#"{"code":-32601,"message":"no method `x`","data":[{"n":1.00}]}"#,
        );
    }

    #[test]
    fn data_is_compared_as_text() {
        let error = |data| Error::new(1, "x").with_data(raw(data));
        assert_eq!(error("1"), error("1"));
        assert_ne!(error("1"), error("1.0"));
        assert_ne!(error("1"), Error::new(1, "x"));
    }
}
