//! The status of an answer in its trailers, or in its headers if it has no message.

use a2a_protobuf::STATUS;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode, utf8_percent_encode};
use serde_json::{Value, json};

use crate::binding::grpc::{Code, Status};

static CODE: HeaderName = HeaderName::from_static("grpc-status");
static MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
static DETAILS: HeaderName = HeaderName::from_static("grpc-status-details-bin");

/// Writes a status. Code and message are repeated in the details, where some clients compare them.
pub fn write_status(status: &Status, trailers: &mut HeaderMap) {
    trailers.insert(&CODE, HeaderValue::from(status.code.number()));
    if status.code == Code::OK {
        return;
    }
    let mut status = status.clone();
    if status.message.len() > MAX_MESSAGE {
        let message = &status.message;
        let end = (0..=MAX_MESSAGE).rfind(|end| message.is_char_boundary(*end));
        status.message.truncate(end.unwrap_or_default());
    }
    let message = utf8_percent_encode(&status.message, ENCODED).to_string();
    if let Ok(message) = HeaderValue::from_str(&message) {
        trailers.insert(&MESSAGE, message);
    }
    if status.details.as_array().is_none_or(Vec::is_empty) {
        return;
    }
    if let Value::Array(details) = &mut status.details {
        // An agent's own details may be of a type that cannot be written.
        details.retain(|detail| pack(&json!({"details": [detail]})).is_some());
    }
    let details = pack(&json!(status)).filter(|details| details.len() <= MAX_DETAILS);
    if let Some(Ok(details)) = details.map(|it| HeaderValue::from_str(&BASE64.encode(it))) {
        trailers.insert(&DETAILS, details);
    }
}

/// Reads a status, if there is one. Details that cannot be read are left out.
pub fn read_status(trailers: &HeaderMap) -> Option<Status> {
    let text = |name: &HeaderName| trailers.get(name)?.to_str().ok();
    let code = text(&CODE)?.trim().parse().unwrap_or(UNKNOWN);
    let message = trailers
        .get(&MESSAGE)
        .map(|it| percent_decode(it.as_bytes()));
    let message = message.map(|it| it.decode_utf8_lossy().into_owned());
    let mut status = Status::new(Code::of(code), message.unwrap_or_default());
    if let Some(Status { details, .. }) = read_details(trailers) {
        status.details = details;
    }
    Some(status)
}

/// Reads the status in the details, whose code and message should equal the ones in the trailers; `None` if there is none that
/// can be read.
pub fn read_details(trailers: &HeaderMap) -> Option<Status> {
    let details = BASE64.decode(trailers.get(&DETAILS)?).ok()?;
    serde_json::from_slice(&STATUS.to_json(&details).ok()?).ok()
}

fn pack(status: &Value) -> Option<Vec<u8>> {
    STATUS.to_protobuf(status.to_string().as_bytes()).ok()
}

/// Code of a status whose number cannot be read.
const UNKNOWN: i32 = 2;
/// Bytes of a message: all headers of an answer together may have 8 KiB with many peers.
const MAX_MESSAGE: usize = 1024;
/// Bytes of details.
const MAX_DETAILS: usize = 4096;

/// Bytes that are percent-encoded in a message: all but those from space to `~`, and `%`.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%');

/// Base64 without padding; with it is read, too.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_as_it_was_written() {
        let info = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
            "domain": "a2a-protocol.org"});
        let other = json!({"@type": "type.example/other.Type", "value": "AAECAw=="});
        for details in [json!([]), json!([info, other])] {
            let status = Status {
                details,
                ..Status::new(Code::of(5), "no task\n100 % ü")
            };
            let mut trailers = HeaderMap::new();
            write_status(&status, &mut trailers);
            assert_eq!(trailers["grpc-status"], "5");
            assert_eq!(trailers["grpc-message"], "no task%0A100 %25 %C3%BC");
            assert_eq!(read_status(&trailers), Some(status));
        }
        assert_eq!(read_status(&HeaderMap::new()), None);
    }

    #[test]
    fn a_status_has_a_bound() {
        let status = Status::new(Code::INTERNAL, "ü".repeat(10_000));
        let mut trailers = HeaderMap::new();
        write_status(&status, &mut trailers);
        assert_eq!(read_status(&trailers).unwrap().message, "ü".repeat(512));
    }
}
