//! Equality of JSON values, exact and by the rules of ProtoJSON.

use serde_json::Value;

/// Compares scalars; numbers are equal by value, regardless of their notation.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    if let (Some(one), Some(other)) = (one.as_i64(), other.as_i64()) {
        return one == other;
    }
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Compares values, members and all.
pub(super) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let has = |(name, value)| other.get(name).is_some_and(|other| equal(value, other));
            one.len() == other.len() && one.iter().all(has)
        }
        (Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| equal(one, other))
        }
        _ => same(one, other),
    }
}

/// Compares values as ProtoJSON does: a missing member and one with the default of its type (`""`,
/// `[]`, `0`, `false`, `{}`, `null`) are equal. `data` and `metadata`, which come from the agent's own
/// code, are compared by value.
pub(crate) fn equivalent(one: &Value, other: &Value) -> bool {
    if is_default(one) && is_default(other) {
        return true;
    }
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut names = one.keys().chain(other.keys());
            names.all(|name| {
                let [one, other] = [one, other].map(|of| of.get(name).unwrap_or(&Value::Null));
                match name.as_str() {
                    "data" | "metadata" => {
                        equal(one, other) || is_default(one) && is_default(other)
                    }
                    _ => equivalent(one, other),
                }
            })
        }
        (Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| equivalent(one, other))
        }
        _ => same(one, other),
    }
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// Returns the value at a path like `status.timestamp`; the item itself at an empty one.
pub(super) fn at<'v>(item: &'v Value, path: &str) -> Option<&'v Value> {
    let mut names = path.split('.').filter(|name| !name.is_empty());
    names.try_fold(item, |value, name| match name.parse::<usize>() {
        Ok(index) => value.get(index),
        Err(_) => value.get(name),
    })
}

pub(super) fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(one: Value, other: Value, is_equivalent: bool) {
        assert_eq!(equivalent(&one, &other), is_equivalent, "{one} {other}");
        assert_eq!(equivalent(&other, &one), is_equivalent, "{other} {one}");
    }

    #[test]
    fn a_default_and_a_member_that_is_left_out_are_equivalent() {
        let task = json!({"id": "t", "status": {"state": "S"}});
        let with_defaults = json!({"id": "t", "contextId": "", "artifacts": [], "history": null,
            "metadata": {}, "status": {"state": "S", "timestamp": ""}});
        check(task.clone(), with_defaults, true);
        check(json!([{"lastChunk": false, "index": 0}]), json!([{}]), true);
        check(json!(null), json!([]), true);
        check(
            task.clone(),
            json!({"id": "u", "status": {"state": "S"}}),
            false,
        );
        check(
            task,
            json!({"id": "t", "status": {"state": "S"}, "contextId": "c"}),
            false,
        );
        check(json!([{}]), json!([]), false);
        check(json!({"lastChunk": true}), json!({}), false);
    }

    #[test]
    fn data_and_metadata_are_compared_by_value() {
        check(json!({"data": {"a": ""}}), json!({"data": {}}), false);
        check(
            json!({"metadata": {"a": 0}}),
            json!({"metadata": {"a": false}}),
            false,
        );
        check(
            json!({"data": {"a": [1.0]}}),
            json!({"data": {"a": [1]}}),
            true,
        );
    }
}
