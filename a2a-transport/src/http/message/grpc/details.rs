//! Details of a status: objects with their types in ProtoJSON, `google.protobuf.Any` on the wire.

use a2a_protobuf::{BAD_REQUEST, ERROR_INFO, MessageType, RETRY_INFO, STATUS};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::binding::grpc::Status;

/// Writes a status with its details as `google.rpc.Status`. Details of other types than A2A's are left out.
pub(crate) fn write_details(status: &Status) -> Option<Vec<u8>> {
    let details = status.details.as_array()?.iter().filter_map(packed);
    let status = json!({
        "code": status.code,
        "message": status.message,
        "details": details.collect::<Vec<_>>(),
    });
    STATUS.to_protobuf(status.to_string().as_bytes()).ok()
}

/// Reads the details in a `google.rpc.Status`. Those of unknown types are kept as their bytes.
pub(crate) fn read_details(status: &[u8]) -> Option<Value> {
    let status: Value = serde_json::from_slice(&STATUS.to_json(status).ok()?).ok()?;
    let details = status["details"].as_array()?.iter();
    Some(details.map(unpacked).collect())
}

/// Returns the type that a URL names.
fn named(url: &str) -> Option<&'static MessageType> {
    let name = url.rsplit('/').next()?;
    [ERROR_INFO, BAD_REQUEST, RETRY_INFO]
        .into_iter()
        .find(|known| known.name() == name)
}

fn packed(detail: &Value) -> Option<Value> {
    let url = detail["@type"].as_str()?;
    let value = match named(url) {
        Some(message_type) => {
            let mut detail = detail.clone();
            if let Some(delay) = detail.get_mut("retryDelay") {
                *delay = seconds_and_nanos(delay.as_str()?)?;
            }
            STANDARD.encode(
                message_type
                    .to_protobuf(detail.to_string().as_bytes())
                    .ok()?,
            )
        }
        None => detail["value"].as_str()?.to_owned(),
    };
    Some(json!({"typeUrl": url, "value": value}))
}

fn unpacked(any: &Value) -> Value {
    let url = any["typeUrl"].as_str().unwrap_or_default();
    let value = any["value"].as_str().unwrap_or_default();
    let known = named(url).and_then(|message_type| {
        let message = STANDARD.decode(value).ok()?;
        let json = message_type.to_json(&message).ok()?;
        serde_json::from_slice::<Map<String, Value>>(&json).ok()
    });
    let mut detail = known.unwrap_or_else(|| Map::from_iter([("value".to_owned(), value.into())]));
    if let Some(delay) = detail.get_mut("retryDelay") {
        let part = |name: &str| delay[name].as_i64().unwrap_or_default();
        *delay = format!("{}s", part("seconds") as f64 + part("nanos") as f64 / 1e9).into();
    }
    detail.insert("@type".to_owned(), url.into());
    Value::Object(detail)
}

/// Returns the fields of a duration like `1.5s`.
fn seconds_and_nanos(text: &str) -> Option<Value> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    let nanos = (seconds.fract() * 1e9) as i32;
    Some(json!({"seconds": seconds.trunc() as i32, "nanos": nanos}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::grpc::Code;

    #[test]
    fn details_are_read_as_they_were_written() {
        let details = json!([
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "R", "domain": "d",
             "metadata": {"supportedVersions": "1.0"}},
            {"@type": "type.googleapis.com/google.rpc.BadRequest",
             "fieldViolations": [{"field": "$.id", "description": "missing"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"},
            {"@type": "type.example/other.Type", "value": "AAECAw=="},
        ]);
        let status = Status {
            details: details.clone(),
            ..Status::new(Code::INTERNAL, "m")
        };
        let written = write_details(&status).unwrap();
        assert_eq!(read_details(&written), Some(details));
        assert_eq!(read_details(b"\xff"), None);
    }
}
