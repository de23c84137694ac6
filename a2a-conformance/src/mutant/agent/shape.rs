//! Shape of answers: the places in them, and what can stand there instead.

use std::fmt;

use serde_json::{Map, Value, json};

use super::interceptor::InterceptedRequest;
use crate::documents::compare::IDS;

/// A place in a JSON document; `*` stands for every item of an array.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct Path(Vec<String>);

/// Change of the value at a place.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Change {
    /// It is left out.
    Dropped,
    /// It is of another type.
    Retyped,
    /// It is another value of its type.
    Swapped,
}

impl Change {
    /// All changes.
    pub(super) const ALL: [Self; 3] = [Self::Dropped, Self::Retyped, Self::Swapped];
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dropped => "dropped",
            Self::Retyped => "retyped",
            Self::Swapped => "swapped",
        })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.iter().try_for_each(|step| match step.as_str() {
            ITEM => f.write_str("[*]"),
            member => write!(f, ".{member}"),
        })
    }
}

impl Path {
    /// Every place in a document but the document itself.
    pub(super) fn all_of(json: &Value) -> Vec<Self> {
        let mut all = Vec::new();
        visit(json, &mut Vec::new(), &mut all);
        all.sort();
        all.dedup();
        all
    }

    /// Returns whether a change at this place must not be missed: it concerns the kind, the owner or the outcome of
    /// an answer.
    pub(super) fn is_vital(&self) -> bool {
        let last = self.0.last().map_or("", String::as_str);
        let is_of_the_agent = self
            .0
            .iter()
            .any(|step| matches!(step.as_str(), "data" | "metadata" | "parameters"));
        !is_of_the_agent
            && (self.0.len() == 1
                || IDS.contains(&last)
                || matches!(last, "state" | "code" | "kind" | "role"))
    }

    /// Makes the change at every place of the path; returns whether anything differs.
    pub(super) fn change(&self, json: &mut Value, change: Change) -> bool {
        change_at(json, &self.0, change)
    }
}

fn visit(json: &Value, path: &mut Vec<String>, all: &mut Vec<Path>) {
    let mut inner = |step: &str, value: &Value| {
        path.push(step.to_owned());
        all.push(Path(path.clone()));
        visit(value, path, all);
        path.pop();
    };
    match json {
        Value::Object(members) => members
            .iter()
            .for_each(|(name, member)| inner(name, member)),
        Value::Array(items) => items.iter().for_each(|item| inner(ITEM, item)),
        _ => {}
    }
}

fn change_at(json: &mut Value, path: &[String], change: Change) -> bool {
    let Some((step, rest)) = path.split_first() else {
        let other = match change {
            Change::Dropped => Value::Null,
            Change::Retyped => of_another_type(json),
            Change::Swapped => of_the_same_type(json),
        };
        return std::mem::replace(json, other.clone()) != other;
    };
    match json {
        Value::Object(members) if rest.is_empty() && change == Change::Dropped => {
            members.remove(step).is_some()
        }
        Value::Object(members) => members
            .get_mut(step)
            .is_some_and(|member| change_at(member, rest, change)),
        Value::Array(items) if step == ITEM && rest.is_empty() && change == Change::Dropped => {
            items.pop().is_some()
        }
        Value::Array(items) if step == ITEM => {
            let changed = items.iter_mut().map(|item| change_at(item, rest, change));
            changed.fold(false, |any, changed| any | changed)
        }
        _ => false,
    }
}

fn of_another_type(json: &Value) -> Value {
    match json {
        Value::String(_) => json!(7),
        Value::Number(number) => json!(number.to_string()),
        Value::Bool(_) => json!("yes"),
        Value::Array(_) => json!({}),
        Value::Object(_) => json!([]),
        Value::Null => json!(false),
    }
}

fn of_the_same_type(json: &Value) -> Value {
    match json {
        Value::String(text) => json!(another(text)),
        Value::Number(number) => match number.as_i64() {
            Some(number) => json!(number.wrapping_add(1)),
            None => json!(0.5),
        },
        Value::Bool(flag) => json!(!flag),
        Value::Array(items) if items.is_empty() => json!([{}]),
        Value::Array(_) => json!([]),
        Value::Object(_) => Value::Object(Map::new()),
        Value::Null => Value::Null,
    }
}

/// Returns another word of the same list, if there is one.
fn another(text: &str) -> String {
    let known = WORDS.iter().find(|(word, _)| *word == text);
    match known {
        Some((_, other)) => (*other).to_owned(),
        None => format!("{text}x"),
    }
}

const WORDS: &[(&str, &str)] = &[
    ("TASK_STATE_COMPLETED", "TASK_STATE_FAILED"),
    ("TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"),
    ("TASK_STATE_SUBMITTED", "TASK_STATE_COMPLETED"),
    ("TASK_STATE_FAILED", "TASK_STATE_REJECTED"),
    ("TASK_STATE_REJECTED", "TASK_STATE_CANCELED"),
    ("TASK_STATE_CANCELED", "TASK_STATE_COMPLETED"),
    ("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"),
    ("TASK_STATE_AUTH_REQUIRED", "TASK_STATE_INPUT_REQUIRED"),
    ("completed", "failed"),
    ("working", "submitted"),
    ("submitted", "completed"),
    ("failed", "rejected"),
    ("rejected", "canceled"),
    ("canceled", "completed"),
    ("input-required", "auth-required"),
    ("auth-required", "input-required"),
    ("ROLE_AGENT", "ROLE_USER"),
    ("ROLE_USER", "ROLE_AGENT"),
    ("agent", "user"),
    ("user", "agent"),
    ("text", "data"),
    ("data", "text"),
    ("file", "text"),
    ("task", "message"),
    ("message", "task"),
    ("status-update", "artifact-update"),
    ("artifact-update", "status-update"),
];

/// Returns the kind of an answer, like `SendMessage: task`, `GET /tasks/*: error -32001`.
pub(super) fn kind_of(request: &InterceptedRequest, answer: &Value) -> String {
    let question = match request.rpc_method() {
        Some(method) => method.to_owned(),
        None => format!("{} {}", request.method, general(&request.path)),
    };
    let code = &answer["error"]["code"];
    if !code.is_null() {
        return format!("{question}: error {code}");
    }
    let result = answer.get("result").unwrap_or(answer);
    let variant = match result["kind"].as_str() {
        Some(kind) => kind,
        None => VARIANTS
            .iter()
            .find(|name| result.get(name).is_some())
            .map_or("result", |name| name),
    };
    format!("{question}: {variant}")
}

/// A path in which the ids are `*`.
fn general(path: &str) -> String {
    let mut before = "";
    let segments = path.split('/').map(|segment| {
        let is_id = matches!(before, "tasks" | "pushNotificationConfigs");
        before = segment;
        match segment.rsplit_once(':') {
            Some((_, verb)) if is_id => format!("*:{verb}"),
            None if is_id => "*".to_owned(),
            _ => segment.to_owned(),
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

const VARIANTS: [&str; 8] = [
    "task",
    "message",
    "statusUpdate",
    "artifactUpdate",
    "tasks",
    "configs",
    "artifact",
    "status",
];

const ITEM: &str = "*";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_made_wherever_the_path_leads() {
        let json = json!({"a": [{"b": 1}, {"b": "x"}], "c": true});
        let paths: Vec<_> = Path::all_of(&json)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(paths, ["$.a", "$.a[*]", "$.a[*].b", "$.c"]);
        let path = Path(["a", "*", "b"].map(str::to_owned).to_vec());
        let changed = |change| {
            let mut changed = json.clone();
            assert!(path.change(&mut changed, change));
            changed["a"].take()
        };
        assert_eq!(changed(Change::Dropped), json!([{}, {}]));
        assert_eq!(changed(Change::Retyped), json!([{"b": "1"}, {"b": 7}]));
        assert_eq!(changed(Change::Swapped), json!([{"b": 2}, {"b": "xx"}]));
        assert!(!path.change(&mut json!({"a": 1}), Change::Swapped));
    }

    #[test]
    fn no_word_becomes_itself() {
        assert!(
            WORDS
                .iter()
                .all(|(word, other)| word != other && another(word) == *other)
        );
        assert_eq!(general("/rest/tasks/abc:cancel"), "/rest/tasks/*:cancel");
        assert_eq!(
            general("/rest/v1/tasks/a/pushNotificationConfigs/b"),
            "/rest/v1/tasks/*/pushNotificationConfigs/*"
        );
    }
}
