//! Differences of two JSON values.

use std::fmt;

use serde_json::Value;

/// A place where the value after a round trip differs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Difference {
    pub(crate) path: Vec<Step>,
    pub(crate) change: Change,
    /// Old and new value, for people.
    values: String,
}

/// Step from an object or a list to a value in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    Member(String),
    Item(usize),
}

/// Change of the value at a place.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Change {
    /// It was there and is not any more.
    Gone,
    /// It was not there.
    New,
    /// The value differs.
    Changed,
}

/// Returns every place where `after` differs from `before`.
pub(crate) fn differences(before: &Value, after: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(&mut Vec::new(), before, after, &mut found);
    found
}

fn compare(path: &mut Vec<Step>, before: &Value, after: &Value, found: &mut Vec<Difference>) {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            let names = old
                .keys()
                .chain(new.keys().filter(|name| !old.contains_key(*name)));
            for name in names {
                path.push(Step::Member(name.clone()));
                compare_places(path, old.get(name), new.get(name), found);
                path.pop();
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for index in 0..old.len().max(new.len()) {
                path.push(Step::Item(index));
                compare_places(path, old.get(index), new.get(index), found);
                path.pop();
            }
        }
        (before, after) if before == after => {}
        (before, after) => found.push(Difference {
            path: path.clone(),
            change: Change::Changed,
            values: format!("{before} → {after}"),
        }),
    }
}

fn compare_places(
    path: &mut Vec<Step>,
    before: Option<&Value>,
    after: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    let (change, value) = match (before, after) {
        (Some(before), Some(after)) => return compare(path, before, after, found),
        (Some(before), None) => (Change::Gone, before),
        (None, Some(after)) => (Change::New, after),
        (None, None) => return,
    };
    found.push(Difference {
        path: path.clone(),
        change,
        values: value.to_string(),
    });
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        for step in &self.path {
            match step {
                Step::Member(name) => write!(f, ".{name}")?,
                Step::Item(index) => write!(f, "[{index}]")?,
            }
        }
        write!(f, " {:?}: {}", self.change, self.values)
    }
}

#[test]
fn differences_are_reported_with_their_paths() {
    let before = serde_json::json!({"a": [1, 2], "b": {"c": "x", "d": null}});
    let after = serde_json::json!({"a": [1], "b": {"c": "y", "d": null}, "e": 1});
    let found: Vec<_> = differences(&before, &after)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        found,
        [
            "$.a[1] Gone: 2",
            r#"$.b.c Changed: "x" → "y""#,
            "$.e New: 1"
        ]
    );
    assert_eq!(differences(&before, &before), []);
}
