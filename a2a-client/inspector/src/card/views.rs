//! A card as the parser of each protocol version reads it.

use a2a_types::reading::{Hints, Mode, Violation, WithRepairs, read, read_canonical};
use a2a_types::{AgentCard, ProtocolVersion, v0_1, v0_2};
use serde_json::{Map, Value, json};

/// Returns for each version the card and the repairs that reading it took, or the reason why it cannot be read.
pub(super) fn views(raw: &str) -> Value {
    let views = ProtocolVersion::ALL.iter().map(|version| {
        let view = match read_as(*version, raw) {
            Ok(WithRepairs { value, .. }) if value.supported_interfaces.is_empty() => {
                json!({"error": "the card has no interface in the form of this version"})
            }
            Ok(WithRepairs { value, repairs }) => {
                let repairs = repairs.iter().map(|repair| {
                    json!({"path": repair.path, "code": repair.quirk.code(), "about": repair.quirk.about()})
                });
                json!({"card": value, "repairs": repairs.collect::<Value>()})
            }
            Err(violation) => json!({"error": violation.to_string()}),
        };
        (version.version().to_owned(), view)
    });
    Value::Object(views.collect::<Map<_, _>>())
}

fn read_as(version: ProtocolVersion, raw: &str) -> Result<WithRepairs<AgentCard>, Violation> {
    let at = Hints::at("$");
    match version {
        ProtocolVersion::V0_1 => {
            Ok(read::<v0_1::AgentCard>(raw, Mode::Lenient, &at)?.map(Into::into))
        }
        // On JSON the two are the same.
        ProtocolVersion::V0_2 | ProtocolVersion::V0_3 => {
            Ok(read::<v0_2::AgentCard>(raw, Mode::Lenient, &at)?.map(Into::into))
        }
        _ => Ok(WithRepairs {
            value: read_canonical(raw, &at)?,
            repairs: Vec::new(),
        }),
    }
}
