//! `error` in each generation.

use a2a_types::{Dialect, Error as A2aError, ErrorKind};
use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::binding::details::error_details;

/// Writes an error: what `data` may be differs.
pub(super) fn write_error(error: A2aError, dialect: Dialect) -> a2a_jsonrpc::Error {
    let data = match dialect {
        Dialect::V1_0 => Some(error_details(&error)),
        Dialect::V0_1 => error.details.filter(Value::is_object),
        Dialect::V0_2 | Dialect::V0_3 => error.details,
    };
    let written = a2a_jsonrpc::Error::new(error.kind.code_in(dialect), error.message);
    match data.and_then(|data| to_raw_value(&data).ok()) {
        Some(data) => written.with_data(data),
        None => written,
    }
}

/// Reads an error: what a code means differs.
pub(super) fn read_error(error: a2a_jsonrpc::Error, dialect: Dialect) -> A2aError {
    A2aError {
        kind: ErrorKind::from_code(error.code, dialect),
        message: error.message,
        details: error
            .data
            .and_then(|data| serde_json::from_str(data.get()).ok()),
    }
}
