//! `error` in each protocol version.

use a2a_types::{Error as A2aError, ErrorKind, ProtocolVersion};
use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::binding::details::{error_details, kind_in};

/// Writes an error: what `data` may be differs.
pub(super) fn write_error(
    error: A2aError,
    protocol_version: ProtocolVersion,
) -> a2a_jsonrpc::Error {
    let data = match protocol_version {
        ProtocolVersion::V0_1 => error.details.filter(Value::is_object),
        ProtocolVersion::V0_2 | ProtocolVersion::V0_3 => error.details,
        _ => Some(error_details(&error)),
    };
    let written = a2a_jsonrpc::Error::new(error.kind.code_in(protocol_version), error.message);
    match data.and_then(|data| to_raw_value(&data).ok()) {
        Some(data) => written.with_data(data),
        None => written,
    }
}

/// Reads an error. The meaning of a code depends on the version; where the code has none, the reason in the
/// details decides.
pub(super) fn read_error(error: a2a_jsonrpc::Error, protocol_version: ProtocolVersion) -> A2aError {
    let details: Option<Value> = error
        .data
        .and_then(|data| serde_json::from_str(data.get()).ok());
    let kind = match ErrorKind::from_code(error.code, protocol_version) {
        unknown @ ErrorKind::Other(_) => details.as_ref().and_then(kind_in).unwrap_or(unknown),
        kind => kind,
    };
    A2aError {
        kind,
        message: error.message,
        details,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_without_a_code_are_identified_by_reason() {
        for kind in [ErrorKind::Unavailable, ErrorKind::Unauthenticated] {
            let written = write_error(kind.into(), ProtocolVersion::V1_0);
            assert_eq!(written.code, -32000);
            assert_eq!(read_error(written, ProtocolVersion::V1_0).kind, kind);
        }
        // A code with a defined meaning keeps it.
        let mut lies = write_error(ErrorKind::Unavailable.into(), ProtocolVersion::V1_0);
        lies.code = ErrorKind::TaskNotFound.code();
        assert_eq!(
            read_error(lies, ProtocolVersion::V1_0).kind,
            ErrorKind::TaskNotFound
        );
        let plain = a2a_jsonrpc::Error::new(-32000, "busy".to_owned());
        let read = read_error(plain, ProtocolVersion::V1_0);
        assert_eq!(read.kind, ErrorKind::Other(-32000));
    }
}
