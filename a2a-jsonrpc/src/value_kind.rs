//! The six kinds of JSON value, recognised by the first byte.

use std::fmt;

/// Kind of a JSON value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ValueKind {
    Object,
    Array,
    String,
    Number,
    Boolean,
    Null,
}

impl ValueKind {
    /// Returns the kind of the value in `json`, which must be JSON.
    pub(crate) fn of(json: impl AsRef<[u8]>) -> Self {
        match json.as_ref().trim_ascii_start().first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') => Self::Null,
            _ => Self::Number,
        }
    }
}

/// Writes the kind with its article, as sentences need it.
impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Null => "null",
        })
    }
}
