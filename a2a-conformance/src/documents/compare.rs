//! Comparison of a value with what is documented.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::documents::corpus::{Allowance, MatchMode};
use crate::excerpt::excerpt;

/// A place where the value found differs from the documented one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// JSON path.
    pub path: String,
    /// Value documented there.
    pub expected: String,
    /// Value found.
    pub found: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: expected {}, found {}",
            self.path, self.expected, self.found
        )
    }
}

/// One-to-one mapping between the identifiers of a document and the identifiers of the other side.
///
/// An identifier that the document's caller chose stands for itself; every other is bound where it
/// first appears, one to one.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    found: BTreeMap<String, String>,
}

/// Members that hold identifiers of a task, context, message or artifact.
pub(crate) const IDS: &[&str] = &[
    "id",
    "taskId",
    "contextId",
    "sessionId",
    "messageId",
    "artifactId",
];

/// Members that say nothing when they have this value.
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
pub const GENERATED: &str = "{generated}";

impl Bindings {
    /// Lets the identifiers of a request that its sender chose stand for themselves.
    pub fn keep_ids_of(&mut self, request: &Value) {
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
    pub fn apply(&self, text: &str) -> String {
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
pub struct Rules<'a> {
    /// Differences that are right.
    pub allow: &'a [Allowance],
    /// `Contains` if more may come than is documented.
    pub matching: Option<MatchMode>,
    /// `true` if times must be equal too.
    pub exact_times: bool,
}

/// Returns every difference between the documented value and the one found.
///
/// Identifiers are bound, times are ignored, defaults equal absence, metadata without members is
/// none; everything else must be equal.
pub fn compare(
    expected: &Value,
    found: &Value,
    bindings: &mut Bindings,
    rules: Rules<'_>,
) -> Vec<Difference> {
    let mut comparison = Comparison {
        bindings,
        rules,
        differences: Vec::new(),
    };
    comparison.values("$", "", expected, found);
    comparison.differences
}

struct Comparison<'a> {
    bindings: &'a mut Bindings,
    rules: Rules<'a>,
    differences: Vec<Difference>,
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
        for (name, expected) in expected {
            let path = format!("{path}.{name}");
            match found.get(name) {
                Some(found) => self.values(&path, name, expected, found),
                None if says_nothing(name, expected) => {}
                None => self.differs(&path, shown(expected), "nothing".to_owned()),
            }
        }
        if self.rules.matching == Some(MatchMode::Contains) {
            return;
        }
        for (name, found) in found {
            let new =
                !expected.contains_key(name) && !says_nothing(name, found) && name != "timestamp";
            if new {
                self.differs(
                    &format!("{path}.{name}"),
                    "nothing".to_owned(),
                    shown(found),
                );
            }
        }
    }

    fn lists(&mut self, path: &str, expected: &[Value], found: &[Value]) {
        for (index, expected) in expected.iter().enumerate() {
            let path = format!("{path}[{index}]");
            match found.get(index) {
                Some(found) => self.values(&path, "", expected, found),
                None => self.differs(&path, shown(expected), "nothing".to_owned()),
            }
        }
        for (index, found) in found.iter().enumerate().skip(expected.len()) {
            self.differs(
                &format!("{path}[{index}]"),
                "nothing".to_owned(),
                shown(found),
            );
        }
    }

    fn differs(&mut self, path: &str, expected: String, found: String) {
        let allowed = |allowance: &Allowance| path.starts_with(&allowance.path);
        if !self.rules.allow.iter().any(allowed) {
            self.differences.push(Difference {
                path: path.to_owned(),
                expected,
                found,
            });
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
            .map(|difference| difference.path.as_str())
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
