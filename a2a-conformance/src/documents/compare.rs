//! Comparison of a value with the documented one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::corpus::Allowance;
use crate::excerpt::excerpt;

/// One-to-one mapping between the identifiers of a document and the identifiers of the other side.
///
/// An identifier that the document's caller chose stands for itself; every other is bound where it
/// first appears, one to one.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    found: BTreeMap<String, String>,
}

/// Members that hold identifiers of a task, context, message or artifact.
const IDS: &[&str] = &[
    "id",
    "taskId",
    "contextId",
    "sessionId",
    "messageId",
    "artifactId",
];

/// Members for which this value means the same as absent.
const DEFAULTS: &[(&str, &str)] = &[
    ("index", "0"),
    ("append", "false"),
    ("lastChunk", "false"),
    ("final", "false"),
    ("blocking", "true"),
    ("acceptedOutputModes", "[]"),
    ("metadata", "{}"),
];

/// A value that the other side makes up.
const GENERATED: &str = "{generated}";

impl Bindings {
    /// Lets the identifiers of a request that its sender chose stand for themselves.
    pub(super) fn keep_ids_of(&mut self, request: &Value) {
        match request {
            Value::Object(object) => {
                for (name, value) in object {
                    match value {
                        Value::String(id) if IDS.contains(&name.as_str()) => {
                            self.found.entry(id.clone()).or_insert_with(|| id.clone());
                        }
                        other => self.keep_ids_of(other),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.keep_ids_of(item)),
            _ => {}
        }
    }

    /// The text of a document with the identifiers that the other side uses.
    pub(super) fn apply(&self, text: &str) -> String {
        let bound = self
            .found
            .iter()
            .filter(|(documented, found)| documented != found);
        bound.fold(text.to_owned(), |text, (documented, found)| {
            text.replace(&format!("\"{documented}\""), &format!("\"{found}\""))
        })
    }

    fn bind(&mut self, documented: &str, found: &str) -> bool {
        if let Some(known) = self.found.get(documented) {
            return known == found;
        }
        if self.found.values().any(|taken| taken == found) {
            return false;
        }
        self.found.insert(documented.to_owned(), found.to_owned());
        true
    }
}

/// Rules by which two values are compared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules<'a> {
    /// Differences that are right.
    pub(super) allow: &'a [Allowance],
    /// `true` if more may come than is documented.
    pub(super) more: bool,
    /// `true` if times must be equal too.
    pub(super) exact_times: bool,
}

/// Returns every difference between the documented value and the one found.
///
/// Identifiers are bound, times are ignored, defaults equal absence, metadata without members is
/// none; everything else must be equal.
pub(super) fn compare(
    expected: &Value,
    found: &Value,
    bindings: &mut Bindings,
    rules: Rules<'_>,
) -> Vec<String> {
    let mut comparison = Comparison {
        bindings,
        rules,
        differences: Vec::new(),
    };
    comparison.values("$", "", expected, found);
    comparison.differences
}

/// Returns every difference from a value whose ids and times must be found as they are, each after the label.
pub(super) fn compare_exactly(label: &str, expected: &Value, found: &Value) -> Vec<String> {
    let mut bindings = Bindings::default();
    bindings.keep_ids_of(expected);
    let rules = Rules {
        exact_times: true,
        ..Rules::default()
    };
    let differences = compare(expected, found, &mut bindings, rules).into_iter();
    differences
        .map(|difference| format!("{label}: {difference}"))
        .collect()
}

struct Comparison<'a> {
    bindings: &'a mut Bindings,
    rules: Rules<'a>,
    differences: Vec<String>,
}

impl Comparison<'_> {
    fn values(&mut self, path: &str, name: &str, expected: &Value, found: &Value) {
        match (expected, found) {
            (Value::String(generated), Value::String(_)) if generated == GENERATED => {}
            (Value::Object(expected), Value::Object(found)) => self.objects(path, expected, found),
            (Value::Array(expected), Value::Array(found)) => self.lists(path, expected, found),
            (Value::String(_), Value::String(_))
                if name == "timestamp" && !self.rules.exact_times => {}
            // The id of the envelope is the caller's own; every other is bound.
            (Value::String(expected), Value::String(found))
                if path != "$.id" && IDS.contains(&name) =>
            {
                if !self.bindings.bind(expected, found) {
                    let documented = self
                        .bindings
                        .found
                        .get(expected)
                        .cloned()
                        .unwrap_or_else(|| "a new id".to_owned());
                    self.differs(
                        path,
                        format!("{expected:?} (that is {documented:?})"),
                        format!("{found:?}"),
                    );
                }
            }
            (expected, found) if expected == found => {}
            (expected, found) => self.differs(path, shown(expected), shown(found)),
        }
    }

    fn objects(&mut self, path: &str, expected: &Map<String, Value>, found: &Map<String, Value>) {
        let more = self.rules.more;
        let new = found.keys();
        let new = new.filter(|name| !more && !expected.contains_key(*name));
        for name in expected.keys().chain(new) {
            let path = format!("{path}.{name}");
            self.member(&path, name, expected.get(name), found.get(name));
        }
    }

    fn lists(&mut self, path: &str, expected: &[Value], found: &[Value]) {
        for index in 0..expected.len().max(found.len()) {
            let path = format!("{path}[{index}]");
            self.member(&path, "", expected.get(index), found.get(index));
        }
    }

    fn member(&mut self, path: &str, name: &str, expected: Option<&Value>, found: Option<&Value>) {
        match (expected, found) {
            (Some(expected), Some(found)) => self.values(path, name, expected, found),
            (Some(expected), None) if !says_nothing(name, expected) => {
                self.differs(path, shown(expected), "nothing".to_owned());
            }
            (None, Some(found)) if !says_nothing(name, found) && name != "timestamp" => {
                self.differs(path, "nothing".to_owned(), shown(found));
            }
            _ => {}
        }
    }

    fn differs(&mut self, path: &str, expected: String, found: String) {
        let allowed = |allowance: &Allowance| path.starts_with(&allowance.path);
        if !self.rules.allow.iter().any(allowed) {
            let difference = format!("{path}: expected {expected}, found {found}");
            self.differences.push(difference);
        }
    }
}

fn says_nothing(name: &str, value: &Value) -> bool {
    let text = value.to_string();
    DEFAULTS.contains(&(name, text.as_str()))
}

/// Returns a value as a message shows it.
fn shown(value: &Value) -> String {
    excerpt(&value.to_string(), 120)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(expected: Value, found: Value, paths: &[&str]) {
        let differences = compare(
            &expected,
            &found,
            &mut Bindings::default(),
            Rules::default(),
        );
        let found: Vec<_> = differences
            .iter()
            .map(|difference| difference.split(": ").next().unwrap())
            .collect();
        assert_eq!(found, paths);
    }

    #[test]
    fn ids_are_bound_one_to_one() {
        let ids =
            |a: &str, b: &str, c: &str| json!({"x": [{"taskId": a}, {"taskId": b}, {"id": c}]});
        check(ids("1", "1", "2"), ids("a", "a", "b"), &[]);
        check(ids("1", "1", "2"), ids("a", "b", "c"), &["$.x[1].taskId"]);
        check(ids("1", "2", "2"), ids("a", "a", "b"), &["$.x[1].taskId"]);
    }

    #[test]
    fn the_envelope_id_is_exact() {
        check(json!({"id": "1"}), json!({"id": "2"}), &["$.id"]);
        check(json!({"id": 1}), json!({"id": "1"}), &["$.id"]);
    }

    #[test]
    fn defaults_and_times_say_nothing() {
        check(
            json!({"metadata": {}}),
            json!({"append": false, "index": 0, "timestamp": "now"}),
            &[],
        );
        check(json!({"final": true}), json!({}), &["$.final"]);
        check(
            json!({}),
            json!({"final": true, "extra": 1}),
            &["$.extra", "$.final"],
        );
        check(json!([1, 2]), json!([1]), &["$[1]"]);
        check(json!([1]), json!([1, 2]), &["$[1]"]);
    }
}
