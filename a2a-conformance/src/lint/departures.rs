//! Departures from the specification that need no repair.

use std::collections::BTreeSet;

use a2a_types::{Base64, ProtocolVersion, Timestamp};
use serde_json::Value;

/// Adds the codes of the departures that need no repair: they are understood as they are.
pub(super) fn accepted_departures(
    value: &Value,
    protocol_version: ProtocolVersion,
    codes: &mut BTreeSet<String>,
) {
    match value {
        Value::Object(object) => {
            for (name, member) in object {
                let text = member.as_str();
                let found = match name.as_str() {
                    "timestamp" => text.is_some_and(lacks_zone).then_some("NOTZ"),
                    "bytes" => text.is_some_and(is_not_base64).then_some("B64"),
                    "data" if object.contains_key("mimeType") => {
                        text.is_some_and(is_not_base64).then_some("B64")
                    }
                    "configuration" if protocol_version == ProtocolVersion::V0_2 => {
                        member["acceptedOutputModes"].is_null().then_some("NOAOM")
                    }
                    "uri" if object.contains_key("params") => {
                        text.is_some_and(|uri| !uri.contains(':')).then_some("URI")
                    }
                    _ => None,
                };
                codes.extend(found.map(str::to_owned));
                accepted_departures(member, protocol_version, codes);
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| accepted_departures(item, protocol_version, codes)),
        _ => {}
    }
}

fn lacks_zone(text: &str) -> bool {
    text.parse::<Timestamp>().is_err() && Timestamp::parse_zone_optional(text).is_ok()
}

fn is_not_base64(text: &str) -> bool {
    Base64::from_text(text).decode().is_err()
}
