//! JSON, written otherwise.

use serde_json::{Value, json};

/// JSON with its members from last to first.
pub(super) fn backwards(json: &Value) -> String {
    match json {
        Value::Object(members) => {
            let members = members.iter().rev();
            let members =
                members.map(|(name, value)| format!("{}:{}", json!(name), backwards(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(backwards).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
}
