//! Patches of requests before they are sent.

use serde_json::{Map, Value};

/// Applies a patch to a value (RFC 7386): objects member by member, of which `null` removes one;
/// anything else replaces the value. `{"$null": true}` is null itself.
pub fn merge_patch(value: &mut Value, patch: &Value) {
    let Value::Object(members) = patch else {
        *value = patch.clone();
        return;
    };
    if members.get("$null") == Some(&Value::Bool(true)) {
        *value = Value::Null;
        return;
    }
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Some(object) = value.as_object_mut() else {
        return;
    };
    for (name, inner) in members {
        match inner {
            Value::Null => drop(object.remove(name)),
            inner => merge_patch(object.entry(name).or_insert(Value::Null), inner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(mut value: Value, patch: &Value, expected: &Value) {
        merge_patch(&mut value, patch);
        assert_eq!(&value, expected, "{patch}");
    }

    #[test]
    fn members_are_laid_over_others() {
        check(
            json!({"a": {"b": 1, "c": 2}}),
            &json!({"a": {"b": 3}}),
            &json!({"a": {"b": 3, "c": 2}}),
        );
        check(
            json!({"a": 1, "b": 2}),
            &json!({"a": null}),
            &json!({"b": 2}),
        );
        check(
            json!({"a": 1}),
            &json!({"a": {"$null": true}}),
            &json!({"a": null}),
        );
        check(json!({"a": [1]}), &json!({"a": []}), &json!({"a": []}));
        check(
            json!({}),
            &json!({"a": {"b": {"c": 1}}}),
            &json!({"a": {"b": {"c": 1}}}),
        );
        check(json!({"a": 1}), &json!([1]), &json!([1]));
    }
}
