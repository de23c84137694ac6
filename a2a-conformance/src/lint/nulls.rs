//! Members that are null.

use serde_json::Value;

/// Returns a value without its members that are null, except in what callers and agents put into data and metadata.
pub(crate) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, member)| !member.is_null());
            let kept = kept.map(|(name, member)| match name.as_str() {
                "data" | "metadata" => (name.clone(), member.clone()),
                _ => (name.clone(), without_nulls(member)),
            });
            Value::Object(kept.collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
