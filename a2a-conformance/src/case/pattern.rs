//! Patterns that values are compared with.
//!
//! A pattern is JSON. A scalar has to be equal. An object names members that must be present and their
//! patterns; others may be present. An array has as many items, each like its pattern. An object with
//! members that begin with `$` adds conditions, all of which must hold:
//!
//! | member | the value |
//! |---|---|
//! | `$any` | is present with any value (`true`), or is absent (`false`) |
//! | `$type` | is a `string`, `integer`, `number`, `boolean`, `object`, `array` or `null` |
//! | `$one_of` | is like one of these patterns |
//! | `$not` | is not like this pattern |
//! | `$contains` | is a text with this text in it |
//! | `$matches` | is a text that this regular expression matches |
//! | `$length` | is an array, object or text of this length, itself a pattern |
//! | `$at_least`, `$at_most` | is a number not below, not above |
//! | `$has` | is an array with an item like this |
//! | `$each` | is an array whose items are all like this |
//! | `$first`, `$last` | is an array whose first, last item is like this |
//! | `$exactly` | is equal, members and all |
//! | `$same` | is equal as ProtoJSON has it: what is left out is the default of its type |
//! | `$all` | is like all of these patterns |
//! | `$distinct` | is an array whose items have distinct values at this path |
//! | `$unlike` | is an array whose items have texts at this path that cannot be guessed from each other: each two differ in eight letters or more |
//! | `$descending` | is an array whose items have values at this path that never grow |
//! | `$ends` | is an array, not empty, like the last items of this one |
//! | `$decoded` | is a text of base64url, without padding; decoded it is JSON like this |

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regex::Regex;
use serde_json::{Map, Value};

use super::equality::{at, equal, equivalent, same, text_of};
use super::guessable::are_guessable;
use super::pattern_text::{counted, describe, shortened};
use crate::record::{Mismatch, MismatchKind};

/// Returns every place where `found` does not match `pattern`; `place` is the path of `found`.
pub fn mismatches(pattern: &Value, found: Option<&Value>, place: &str) -> Vec<Mismatch> {
    let mut all = Vec::new();
    compare(pattern, found, place, &mut all);
    all
}

/// Returns whether a value matches a pattern.
pub fn is_like(pattern: &Value, found: Option<&Value>) -> bool {
    mismatches(pattern, found, "").is_empty()
}

fn compare(pattern: &Value, found: Option<&Value>, place: &str, all: &mut Vec<Mismatch>) {
    if let Value::Object(members) = pattern
        && members.keys().any(|name| name.starts_with('$'))
    {
        for (operator, operand) in members {
            operate(operator, operand, found, place, all);
        }
        return;
    }
    let Some(found) = found else {
        return all.push(mismatch(
            place,
            describe(pattern, name_of(place)),
            "nothing",
        ));
    };
    match (pattern, found) {
        (Value::Object(members), Value::Object(object)) => {
            for (name, pattern) in members {
                let place = format!("{place}.{name}");
                compare(pattern, object.get(name), &place, all);
            }
        }
        (Value::Array(patterns), Value::Array(items)) => {
            if patterns.len() != items.len() {
                let count = |count| counted(count, name_of(place));
                let (expected, found) = (count(patterns.len()), count(items.len()));
                all.push(mismatch(place, expected, found).of_kind(MismatchKind::Count));
            }
            for (index, (pattern, item)) in patterns.iter().zip(items).enumerate() {
                compare(pattern, Some(item), &format!("{place}[{index}]"), all);
            }
        }
        (pattern, found) if same(pattern, found) => {}
        (pattern, found) => {
            all.push(mismatch(
                place,
                describe(pattern, name_of(place)),
                shortened(found),
            ));
        }
    }
}

fn operate(
    operator: &str,
    operand: &Value,
    found: Option<&Value>,
    place: &str,
    all: &mut Vec<Mismatch>,
) {
    let text = found.map_or_else(|| "nothing".to_owned(), shortened);
    let own = Map::from_iter([(operator.to_owned(), operand.clone())]);
    let wanted = || describe(&Value::Object(own.clone()), name_of(place));
    let mut fail = |expected: String| all.push(mismatch(place, expected, text.clone()));
    let items = found.and_then(Value::as_array);
    match operator {
        "$any" => match (operand.as_bool(), found) {
            (Some(false), Some(_)) | (Some(true), None) => fail(wanted()),
            _ => {}
        },
        "$type" => {
            let name = operand.as_str().unwrap_or_default();
            if !found.is_some_and(|found| is_of(name, found)) {
                fail(wanted());
            }
        }
        "$one_of" => {
            let patterns = operand.as_array().map_or(&[][..], Vec::as_slice);
            if !patterns.iter().any(|pattern| is_like(pattern, found)) {
                fail(wanted());
            }
        }
        "$not" => {
            if is_like(operand, found) {
                fail(wanted());
            }
        }
        "$contains" => {
            let part = operand.as_str().unwrap_or_default();
            if !found
                .and_then(Value::as_str)
                .is_some_and(|text| text.contains(part))
            {
                fail(wanted());
            }
        }
        "$matches" => {
            let expression = operand.as_str().unwrap_or_default();
            let found = found.and_then(Value::as_str);
            match Regex::new(expression) {
                Ok(expression) if found.is_some_and(|text| expression.is_match(text)) => {}
                _ => fail(wanted()),
            }
        }
        "$length" => {
            let length = found.and_then(length);
            if !is_like(operand, length.map(Value::from).as_ref()) {
                let found = length.map_or(text.clone(), |length| counted(length, name_of(place)));
                all.push(mismatch(place, wanted(), found).of_kind(MismatchKind::Count));
            }
        }
        "$at_least" | "$at_most" => {
            let (bound, found) = (operand.as_f64(), found.and_then(Value::as_f64));
            let holds = match (bound, found, operator) {
                (Some(bound), Some(found), "$at_least") => found >= bound,
                (Some(bound), Some(found), _) => found <= bound,
                _ => false,
            };
            if !holds {
                fail(wanted());
            }
        }
        "$has" => {
            if !items.is_some_and(|items| items.iter().any(|item| is_like(operand, Some(item)))) {
                fail(wanted());
            }
        }
        "$each" => match items {
            None => fail("a list".to_owned()),
            Some(items) => {
                for (index, item) in items.iter().enumerate() {
                    compare(operand, Some(item), &format!("{place}[{index}]"), all);
                }
            }
        },
        "$first" | "$last" => {
            let item = match operator {
                "$first" => items.and_then(|items| items.first()),
                _ => items.and_then(|items| items.last()),
            };
            let index = operator.trim_start_matches('$');
            compare(operand, item, &format!("{place}[{index}]"), all);
        }
        "$exactly" if found.is_some_and(|found| equal(operand, found)) => {}
        "$same" if equivalent(operand, found.unwrap_or(&Value::Null)) => {}
        "$exactly" | "$same" => fail(wanted()),
        "$all" => {
            for pattern in operand.as_array().into_iter().flatten() {
                compare(pattern, found, place, all);
            }
        }
        "$distinct" | "$descending" => {
            let path = operand.as_str().unwrap_or_default();
            let items: Vec<_> = items
                .into_iter()
                .flatten()
                .map(|item| at(item, path))
                .collect();
            let holds = found.is_some_and(Value::is_array)
                && match operator {
                    "$distinct" => (1..items.len()).all(|end| !items[..end].contains(&items[end])),
                    _ => items.is_sorted_by(|one, next| text_of(*one) >= text_of(*next)),
                };
            if !holds {
                let found: Vec<_> = items.iter().map(|item| text_of(*item)).collect();
                all.push(mismatch(place, wanted(), found.join(", ")));
            }
        }
        "$unlike" => {
            let path = operand.as_str().unwrap_or_default();
            if items.is_none_or(|items| are_guessable(items, path)) {
                fail(wanted());
            }
        }
        "$ends" => {
            let whole = operand.as_array().map_or(&[][..], Vec::as_slice);
            let length = items.map_or(0, Vec::len);
            match whole.len().checked_sub(length) {
                Some(start) if length > 0 => {
                    compare(&Value::from(&whole[start..]), found, place, all);
                }
                _ => fail(wanted()),
            }
        }
        "$decoded" => {
            let bytes = found
                .and_then(Value::as_str)
                .map(|text| URL_SAFE_NO_PAD.decode(text));
            let json = bytes.and_then(Result::ok);
            let json = json.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
            match json {
                Some(json) => compare(operand, Some(&json), &format!("{place} decoded"), all),
                None => fail(wanted()),
            }
        }
        unknown => fail(format!("a pattern that is known: `{unknown}` is not")),
    }
}

/// Names of all operators.
pub const OPERATORS: [&str; 21] = [
    "$any",
    "$type",
    "$one_of",
    "$not",
    "$contains",
    "$matches",
    "$length",
    "$at_least",
    "$at_most",
    "$has",
    "$each",
    "$first",
    "$last",
    "$exactly",
    "$same",
    "$all",
    "$distinct",
    "$descending",
    "$unlike",
    "$ends",
    "$decoded",
];

/// Returns the operators in a pattern that do not exist.
pub fn unknown_operators(pattern: &Value) -> Vec<String> {
    match pattern {
        Value::Object(members) => {
            let unknown =
                |name: &&String| name.starts_with('$') && !OPERATORS.contains(&name.as_str());
            let mut all: Vec<_> = members.keys().filter(unknown).cloned().collect();
            all.extend(members.values().flat_map(unknown_operators));
            all
        }
        Value::Array(items) => items.iter().flat_map(unknown_operators).collect(),
        _ => Vec::new(),
    }
}

/// Returns the last name of a path, without an index.
fn name_of(place: &str) -> &str {
    let last = place.rsplit(['.', ' ']).next().unwrap_or_default();
    last.split('[').next().unwrap_or_default()
}

fn mismatch(place: &str, expected: impl Into<String>, found: impl Into<String>) -> Mismatch {
    Mismatch::new(place, expected, found)
}

fn is_of(wanted: &str, found: &Value) -> bool {
    match wanted {
        "string" => found.is_string(),
        "integer" => found.is_i64() || found.is_u64(),
        "number" => found.is_number(),
        "boolean" => found.is_boolean(),
        "object" => found.is_object(),
        "array" => found.is_array(),
        "null" => found.is_null(),
        _ => false,
    }
}

fn length(found: &Value) -> Option<usize> {
    match found {
        Value::Array(items) => Some(items.len()),
        Value::Object(members) => Some(Map::len(members)),
        Value::String(text) => Some(text.chars().count()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(pattern: &Value, found: &Value, places: &[&str]) {
        let all = mismatches(pattern, Some(found), "$");
        let found: Vec<_> = all.iter().map(|mismatch| mismatch.place.as_str()).collect();
        assert_eq!(found, places, "{pattern}: {all:?}");
    }

    #[test]
    fn named_members_must_be_present() {
        let found = json!({"a": 1, "b": [1, {"c": "text"}], "d": null});
        check(
            &json!({"a": 1.0, "b": [1, {"c": "text"}], "d": null}),
            &found,
            &[],
        );
        check(&json!({"a": 2, "e": 1}), &found, &["$.a", "$.e"]);
        check(&json!({"b": [1]}), &found, &["$.b"]);
        check(
            &json!({"b": [2, {"c": 1}]}),
            &found,
            &["$.b[0]", "$.b[1].c"],
        );
        check(&json!({"a": {"x": 1}}), &found, &["$.a"]);
    }

    #[test]
    fn every_operator_holds_and_fails() {
        let cases = [
            (json!({"$any": true}), json!(1), None),
            (json!({"$type": "integer"}), json!(1), Some(json!(1.5))),
            (json!({"$type": "string"}), json!("x"), Some(json!(1))),
            (
                json!({"$one_of": [1, {"$type": "string"}]}),
                json!("x"),
                Some(json!(2)),
            ),
            (
                json!({"$not": {"a": 1}}),
                json!({"a": 2}),
                Some(json!({"a": 1, "b": 2})),
            ),
            (
                json!({"$contains": "el"}),
                json!("hello"),
                Some(json!("hi")),
            ),
            (
                json!({"$matches": "^[a-z]+$"}),
                json!("abc"),
                Some(json!("a1")),
            ),
            (json!({"$length": 2}), json!("äö"), Some(json!([1]))),
            (
                json!({"$length": {"$at_least": 1}}),
                json!([1]),
                Some(json!([])),
            ),
            (
                json!({"$at_least": 2, "$at_most": 3}),
                json!(2),
                Some(json!(4)),
            ),
            (
                json!({"$has": {"a": 1}}),
                json!([{"a": 2}, {"a": 1}]),
                Some(json!([{"a": 2}])),
            ),
            (
                json!({"$each": {"$type": "string"}}),
                json!([]),
                Some(json!(["a", 1])),
            ),
            (
                json!({"$first": 1, "$last": 3}),
                json!([1, 2, 3]),
                Some(json!([1, 3, 2])),
            ),
            (
                json!({"$exactly": {"a": 1}}),
                json!({"a": 1.0}),
                Some(json!({"a": 1, "b": 2})),
            ),
            (
                json!({"$exactly": [9_007_199_254_740_993_i64]}),
                json!([9_007_199_254_740_993_i64]),
                Some(json!([9_007_199_254_740_992_i64])),
            ),
            (
                json!({"$same": {"a": 1}}),
                json!({"a": 1, "b": ""}),
                Some(json!({"a": 1, "b": 2})),
            ),
            (
                json!({"$all": [{"a": 1}, {"b": 2}]}),
                json!({"a": 1, "b": 2}),
                Some(json!({"a": 1})),
            ),
            (
                json!({"$distinct": "id"}),
                json!([{"id": 1}, {"id": 2}]),
                Some(json!([{"id": 1}, {"id": 2}, {"id": 1}])),
            ),
            (
                json!({"$descending": "a.0"}),
                json!([{"a": ["3"]}, {"a": ["3"]}, {"a": ["1"]}]),
                Some(json!([{"a": ["1"]}, {"a": ["2"]}])),
            ),
            (
                json!({"$ends": [1, 2, 3]}),
                json!([2, 3]),
                Some(json!([1, 2])),
            ),
            (json!({"$ends": [1]}), json!([1]), Some(json!([]))),
            (
                json!({"$decoded": {"alg": "ES256"}}),
                json!("eyJhbGciOiJFUzI1NiJ9"),
                Some(json!("eyJhbGciOiJub25lIn0")),
            ),
            (json!({"$nonsense": 1}), json!(null), Some(json!(1))),
        ];
        for (pattern, good, bad) in cases {
            let known = unknown_operators(&pattern).is_empty();
            assert_eq!(is_like(&pattern, Some(&good)), known, "{pattern} {good}");
            if let Some(bad) = bad {
                assert!(!is_like(&pattern, Some(&bad)), "{pattern} {bad}");
            }
        }
        assert!(is_like(&json!({"$any": false}), None));
        assert!(!is_like(&json!({"$any": true}), None));
        assert!(!is_like(&json!(1), None));
        let nested = json!({"a": [{"$nonsense": 1}]});
        assert_eq!(unknown_operators(&nested), ["$nonsense"]);
    }
}
