//! JSON with another order of members.

use serde_json::{Value, json};

/// Returns JSON with its members from last to first.
pub(super) fn with_members_reversed(json: &Value) -> String {
    match json {
        Value::Object(members) => {
            let members = members.iter().rev();
            let members = members
                .map(|(name, value)| format!("{}:{}", json!(name), with_members_reversed(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(with_members_reversed).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
}
