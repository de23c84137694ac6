//! Faults of a document: the reason and the place.

use std::fmt;

use crate::{Error, INVALID_REQUEST, PARSE_ERROR};

/// The first thing in a document that forbids reading it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub struct Fault {
    /// The member or element at fault, such as `$.params.message.parts[3]`.
    ///
    /// Odd keys are written as `["…"]`, long ones are clipped.
    pub path: String,
    /// The line the scan had reached, from 1; 0 when nothing was scanned.
    pub line: usize,
    /// The column in that line, in bytes.
    pub column: usize,
    /// The reason.
    pub reason: Reason,
}

/// Reason for which a document is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The text is longer than [`Limits::bytes`](crate::Limits::bytes).
    #[error("the body is longer than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The text is not UTF-8, as RFC 8259 §8.1 demands.
    #[error("not UTF-8")]
    NotUtf8,
    /// The text is not JSON, or holds what Rust cannot: a lone surrogate, a number beyond `f64`.
    #[error("{0}")]
    Syntax(String),
    /// More arrays and objects are open at once than [`Limits::depth`](crate::Limits::depth).
    #[error("nested deeper than {limit} levels")]
    TooDeep {
        /// The limit, in open arrays and objects.
        limit: usize,
    },
    /// The tree of values would outgrow [`Limits::heap`](crate::Limits::heap).
    #[error("more than {limit} bytes would be needed to hold the values")]
    TooHeavy {
        /// The limit, in estimated bytes.
        limit: usize,
    },
    /// An object names a member twice, so two readers could see two different messages.
    #[error("duplicate key `{0}`")]
    DuplicateKey(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            column,
            reason,
        } = self;
        match line {
            0 => write!(f, "{reason}"),
            _ => write!(f, "{reason} at {path} (line {line}, column {column})"),
        }
    }
}

/// Converts to the error that a server answers with. JSON-RPC 2.0 §5.1.
impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault.reason {
            Reason::TooLarge { .. } => Self::new(INVALID_REQUEST, fault.to_string()),
            Reason::TooDeep { .. } | Reason::TooHeavy { .. } => {
                Self::new(PARSE_ERROR, fault.to_string())
            }
            Reason::NotUtf8 | Reason::Syntax(_) | Reason::DuplicateKey(_) => {
                Self::new(PARSE_ERROR, format!("invalid JSON: {fault}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: usize, reason: Reason, code: i64, message: &str) {
        let fault = Fault {
            path: "$.params".to_owned(),
            line,
            column: 9,
            reason,
        };
        assert_eq!(Error::from(fault), Error::new(code, message));
    }

    #[test]
    fn a_fault_says_what_and_where() {
        check(
            1,
            Reason::DuplicateKey("role".to_owned()),
            -32_700,
            "invalid JSON: duplicate key `role` at $.params (line 1, column 9)",
        );
        check(
            2,
            Reason::TooDeep { limit: 64 },
            -32_700,
            "nested deeper than 64 levels at $.params (line 2, column 9)",
        );
        check(
            0,
            Reason::TooLarge { limit: 5 },
            -32_600,
            "the body is longer than 5 bytes",
        );
    }
}
