//! Patterns in plain words, for findings.

use serde_json::{Map, Value};

use crate::excerpt::excerpt;

/// Describes a pattern in words. `name` is the member whose value it is about: it gives the items of a list their name.
pub(super) fn describe(pattern: &Value, name: &str) -> String {
    match pattern {
        Value::Object(members) if has_operator(pattern) => {
            let is_condition = members.keys().any(|name| name.starts_with('$'));
            match is_condition {
                true => {
                    let all = members.iter();
                    let all: Vec<_> = all.map(|(name_, it)| condition(name_, it, name)).collect();
                    all.join(" and ")
                }
                false => {
                    let mut leaves = Vec::new();
                    find_leaves(members, "", &mut leaves);
                    format!("an object with {}", leaves.join(", "))
                }
            }
        }
        Value::Array(items) if has_operator(pattern) => {
            let items: Vec<_> = items.iter().map(|item| describe(item, "")).collect();
            format!("a list of {}", items.join(", "))
        }
        other => shortened(other),
    }
}

fn condition(operator: &str, operand: &Value, name: &str) -> String {
    let inner = |operand: &Value| describe(operand, name);
    let joined = |word: &str| {
        let all = operand.as_array().into_iter().flatten();
        all.map(inner).collect::<Vec<_>>().join(word)
    };
    let text = operand.as_str().unwrap_or_default();
    match operator {
        "$any" if operand == false && NOUNS.iter().any(|(list, ..)| *list == name) => {
            format!("no {name}")
        }
        "$any" if operand == false => "nothing".to_owned(),
        "$any" => "a value".to_owned(),
        "$type" => match text {
            "string" => "a text",
            "integer" => "an integer",
            "number" => "a number",
            "boolean" => "true or false",
            "object" => "an object",
            "array" => "a list",
            _ => "null",
        }
        .to_owned(),
        "$one_of" => joined(" or "),
        "$all" => joined(" and "),
        "$not" => format!("not {}", inner(operand)),
        "$contains" => format!("a text that contains `{text}`"),
        "$matches" if text == "." => "a text that is not empty".to_owned(),
        "$matches" => format!("a text that matches `{text}`"),
        "$length" => {
            let count = describe(operand, "");
            let is_one = count.rsplit(' ').next() == Some("1");
            format!("{count} {}", noun(name, is_one))
        }
        "$at_least" => format!("at least {operand}"),
        "$at_most" => format!("at most {operand}"),
        "$has" => format!("a list with {}", describe(operand, "")),
        "$each" => format!("a list of items that are each {}", describe(operand, "")),
        "$first" => format!("a list that begins with {}", describe(operand, "")),
        "$last" => format!("a list that ends with {}", describe(operand, "")),
        "$distinct" => format!("a list whose items differ in `{text}`"),
        "$descending" => format!("a list in descending order of `{text}`"),
        "$unlike" => {
            format!("a list whose items have a `{text}` that cannot be guessed from another")
        }
        "$ends" => format!("the last of {}", shortened(operand)),
        "$decoded" => format!("base64url of {}", describe(operand, "")),
        // `$exactly`, `$same`
        _ => shortened(operand),
    }
}

/// Adds each value of an object that is not an object itself, with its path.
fn find_leaves(members: &Map<String, Value>, path: &str, leaves: &mut Vec<String>) {
    for (name, value) in members {
        let path = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        match value {
            Value::Object(inner) if inner.keys().all(|name| !name.starts_with('$')) => {
                find_leaves(inner, &path, leaves);
            }
            value => leaves.push(format!("`{path}` = {}", describe(value, name))),
        }
    }
}

fn has_operator(pattern: &Value) -> bool {
    match pattern {
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| name.starts_with('$') || has_operator(value)),
        Value::Array(items) => items.iter().any(has_operator),
        _ => false,
    }
}

/// Returns a number of items of the list of this name, in words.
pub(super) fn counted(count: usize, name: &str) -> String {
    format!("{count} {}", noun(name, count == 1))
}

fn noun(name: &str, is_one: bool) -> &'static str {
    let known = NOUNS.iter().find(|(list, ..)| *list == name);
    let (_, one, many) = known.unwrap_or(ITEMS);
    if is_one { one } else { many }
}

/// Lists, and the name of one and of several of their items.
const NOUNS: &[(&str, &str, &str)] = &[
    ("history", "message", "messages"),
    ("artifacts", "artifact", "artifacts"),
    ("parts", "part", "parts"),
    ("tasks", "task", "tasks"),
    ("configs", "config", "configs"),
];
const ITEMS: &(&str, &str, &str) = &("", "item", "items");

/// Formats a value, shortened.
pub(super) fn shortened(value: &Value) -> String {
    excerpt(&value.to_string(), 300)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(pattern: Value, name: &str, expected: &str) {
        assert_eq!(describe(&pattern, name), expected);
    }

    #[test]
    fn a_pattern_is_told_in_words() {
        let few = json!({"$one_of": [{"$any": false}, {"$length": {"$at_most": 1}}]});
        check(few.clone(), "history", "no history or at most 1 message");
        check(few, "x", "nothing or at most 1 item");
        check(json!({"$length": 2}), "artifacts", "2 artifacts");
        check(json!({"$matches": "."}), "", "a text that is not empty");
        let either = json!({"$one_of": [{"task": {"status": {"state": {"$matches": "^TASK_STATE_"}}}}, {"message": {"role": "ROLE_AGENT"}}]});
        let words = "an object with `task.status.state` = a text that matches `^TASK_STATE_` or {\"message\":{\"role\":\"ROLE_AGENT\"}}";
        check(either, "result", words);
        let not = json!({"$all": [{"$type": "string"}, {"$not": "x"}]});
        check(not, "id", "a text and not \"x\"");
        check(
            json!([{"$type": "object"}, 1]),
            "",
            "a list of an object, 1",
        );
        check(json!({"a": 1}), "", "{\"a\":1}");
    }

    #[test]
    fn words_have_no_operators() {
        for operator in crate::case::pattern::OPERATORS {
            for operand in [
                json!([{"$type": "null"}]),
                json!({"$any": true}),
                json!("x"),
            ] {
                let operand = match operator {
                    // They have values as they are.
                    "$exactly" | "$same" | "$ends" | "$at_least" | "$at_most" => json!(1),
                    _ => operand,
                };
                let text = describe(&json!({operator: operand}), "");
                assert!(!text.contains('$'), "{text}");
            }
        }
    }
}
