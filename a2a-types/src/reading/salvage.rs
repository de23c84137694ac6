//! Reading of an answer that violates the specification: everything that can be read is kept.
//!
//! The types are tried; where they refuse, the place that they name is changed, and they are tried again: a value of
//! another JSON type is converted or left out, a required member that is absent gets an empty value, a part of an
//! unknown kind becomes data. Every change is a [`Deviation`].

use std::collections::HashMap;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::parsing::{PathStep, read_value};
use super::{Deviation, Hints, Quirk, Violation};
use crate::Object;

/// Changes a value until it is a `T`, and returns that with the changes; the first violation, if there is nothing of
/// a `T` in it.
pub(super) fn salvage<T: DeserializeOwned>(
    mut value: Value,
    bytes: usize,
    hints: &Hints<'_>,
) -> Result<(T, Vec<Deviation>), Violation> {
    let mut salvage = Salvage {
        root: hints.root,
        supplied: HashMap::new(),
        deviations: Vec::new(),
    };
    let mut first = None;
    for _ in 0..MAX_CHANGES.min(MAX_BYTES / bytes.max(1)).max(MIN_CHANGES) {
        let (steps, violation) = match read_value(&value, hints) {
            Ok(read) => return Ok((read, salvage.deviations)),
            Err(problem) => problem,
        };
        let changed = has_content(&value) && salvage.change(&mut value, &steps, &violation.problem);
        let violation = first.get_or_insert(violation);
        if !changed {
            return Err(violation.clone());
        }
    }
    Err(first.unwrap_or_else(|| Violation {
        path: hints.root.to_owned(),
        problem: "nothing could be read".to_owned(),
    }))
}

/// Changes of one answer.
const MAX_CHANGES: usize = 1000;
/// Changes of the largest answers.
const MIN_CHANGES: usize = 16;
/// Bytes that are read again for the changes of one answer.
const MAX_BYTES: usize = 256 << 20;

struct Salvage<'h> {
    root: &'h str,
    /// Places that were changed, with the next step if the change does not help.
    supplied: HashMap<String, Supplied>,
    deviations: Vec<Deviation>,
}

/// A place that was changed.
#[derive(Clone, Copy)]
enum Supplied {
    /// A member that was absent is `null` now.
    Null { deviation: usize },
    /// It has an empty value of the expected type.
    Empty,
}

impl Salvage<'_> {
    /// Changes the place of a problem. Returns `false` if nothing is left to be changed.
    fn change(&mut self, value: &mut Value, steps: &[PathStep], problem: &str) -> bool {
        if let Some(name) = between(problem, "missing field `", "`") {
            return self.supply(value, steps, name);
        }
        let path = self.path(steps);
        if let Some(part) = part_of(steps)
            && !matches!(problem.split_once(", expected a string"), Some((found, _)) if !found.contains("null"))
            && self.change_part(value, part)
        {
            return true;
        }
        let expected = problem
            .rsplit_once(", expected ")
            .map(|(_, expected)| expected);
        let Some(place) = at(value, steps) else {
            return false;
        };
        if let (Some(Supplied::Null { deviation }), Some(expected)) =
            (self.supplied.get(&path).copied(), expected)
        {
            *place = empty(expected);
            self.deviations[deviation].read_as = described(place);
            self.supplied.insert(path, Supplied::Empty);
            return true;
        }
        if steps.is_empty() {
            let inner = wrapped(place);
            return inner.is_some_and(|better| self.replace(place, path, Quirk::Wrapped, better));
        }
        if let (None, Value::Object(object)) = (expected, &mut *place)
            && let Some(name) = between(problem, "`", "`")
            && let Some(member) = object.get_mut(name)
        {
            // A rule about a member that the types leave open.
            let path = format!("{path}.{name}");
            let better = match member {
                Value::Object(_) => json!([member]),
                _ => Value::Null,
            };
            return self.replace(member, path, Quirk::OtherType, better);
        }
        let better = expected.and_then(|expected| converted(place, expected, steps));
        if let Some(better) = better
            && better != *place
        {
            return self.replace(place, path, Quirk::OtherType, better);
        }
        self.leave_out(value, steps)
    }

    /// Gives an object a member that it must have.
    fn supply(&mut self, value: &mut Value, steps: &[PathStep], name: &str) -> bool {
        let snake = snake_case(name);
        if let Some(Value::Object(object)) = at(value, steps)
            && snake != name
            && object.contains_key(&snake)
        {
            let path = self.path(steps);
            self.note(
                Quirk::SnakeCase,
                format!("{path}.{snake}"),
                "snake_case",
                name,
            );
            camel_case(value);
            return true;
        }
        if let Some(part) = part_of(steps)
            && self.change_part(value, part)
        {
            return true;
        }
        let path = self.path(steps);
        let is_root = steps.is_empty();
        let Some(place) = at(value, steps) else {
            return false;
        };
        let Value::Object(object) = place else {
            return false;
        };
        if is_root && (is_wrapper(object) || !may_lack(object, name)) {
            return false;
        }
        let path = format!("{path}.{name}");
        let known = self.deviations.iter().position(|known| known.path == path);
        let deviation = known.unwrap_or_else(|| {
            self.note(Quirk::Missing, path.clone(), "nothing", "nothing");
            self.deviations.len() - 1
        });
        object.insert(name.to_owned(), Value::Null);
        let before = self.supplied.insert(path, Supplied::Null { deviation });
        match before {
            None => true,
            // It has been tried.
            Some(_) => self.leave_out(value, steps),
        }
    }

    /// Takes the content out of a wrapper, or keeps a part of an unknown kind as data.
    fn change_part(&mut self, value: &mut Value, steps: &[PathStep]) -> bool {
        let path = self.path(steps);
        if self.supplied.contains_key(&path) {
            return false;
        }
        let Some(part) = at(value, steps) else {
            return false;
        };
        let (quirk, better) = match part {
            Value::String(text) => (
                Quirk::OtherType,
                json!({"kind": "text", "type": "text", "text": text}),
            ),
            Value::Object(object) if object.get("root").is_some_and(Value::is_object) => {
                let inner = object.remove("root").unwrap_or_default();
                return self.replace(part, path, Quirk::Wrapped, inner);
            }
            Value::Object(object) if object.get("text").is_some_and(Value::is_string) => {
                let mut text = object.clone();
                for tag in ["kind", "type"] {
                    text.insert(tag.to_owned(), "text".into());
                }
                (Quirk::OtherPart, text.into())
            }
            Value::Object(object) => {
                let is_proto =
                    matches!(steps, [.., PathStep::Member(name), _] if name == "content");
                let data = match is_proto {
                    true => json!({"data": {"data": object}}),
                    false => json!({"kind": "data", "type": "data", "data": object}),
                };
                (Quirk::OtherPart, data)
            }
            _ => return false,
        };
        self.supplied.insert(path.clone(), Supplied::Empty);
        self.replace(part, path, quirk, better)
    }

    fn replace(&mut self, place: &mut Value, path: String, quirk: Quirk, better: Value) -> bool {
        let (found, read_as) = (described(place), described(&better));
        *place = better;
        self.note(quirk, path, &found, &read_as);
        true
    }

    /// Removes a value, or its parent if the value is required.
    fn leave_out(&mut self, value: &mut Value, steps: &[PathStep]) -> bool {
        let mut steps = steps;
        while matches!(self.supplied.get(&self.path(steps)), Some(Supplied::Empty)) {
            let Some((_, outer)) = steps.split_last() else {
                return false;
            };
            steps = outer;
        }
        let Some((last, outer)) = steps.split_last() else {
            return false;
        };
        let removed = match (at(value, outer), last) {
            (Some(Value::Object(object)), PathStep::Member(name)) => object.remove(name),
            (Some(Value::Array(items)), PathStep::Item(index)) if *index < items.len() => {
                Some(items.remove(*index))
            }
            _ => None,
        };
        let Some(removed) = removed else { return false };
        let path = self.path(steps);
        match self.deviations.iter_mut().find(|known| known.path == path) {
            Some(known) => "nothing".clone_into(&mut known.read_as),
            None => self.note(Quirk::LeftOut, path, &described(&removed), "nothing"),
        }
        true
    }

    fn note(&mut self, quirk: Quirk, path: String, found: &str, read_as: &str) {
        self.deviations.push(Deviation {
            quirk,
            path,
            found: found.to_owned(),
            read_as: read_as.to_owned(),
        });
    }

    fn path(&self, steps: &[PathStep]) -> String {
        let steps = steps.iter().map(ToString::to_string);
        std::iter::once(self.root.to_owned()).chain(steps).collect()
    }
}

/// Returns whether there is anything of a task, message, event, card or list in a value. Errors of frameworks have
/// none of it, though many have a `status` or a `message`.
fn has_content(value: &Value) -> bool {
    const OBJECTS: [&str; 8] = [
        "artifact",
        "artifactUpdate",
        "message",
        "msg",
        "pushNotificationConfig",
        "status",
        "statusUpdate",
        "task",
    ];
    const OTHERS: [&str; 10] = [
        "artifacts",
        "configs",
        "defaultInputModes",
        "history",
        "parts",
        "skills",
        "supportedInterfaces",
        "supported_interfaces",
        "tasks",
        "url",
    ];
    value.as_object().is_some_and(|object| {
        OBJECTS
            .iter()
            .any(|name| object.get(*name).is_some_and(Value::is_object))
            || OTHERS.iter().any(|name| object.contains_key(*name))
    })
}

/// Returns whether an object of this kind may lack the member: an agent card must not be read as a task.
fn may_lack(object: &Object, member: &str) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| object.contains_key(*name));
    match member {
        "id" | "contextId" | "status" => has(&["status", "artifacts", "history"]),
        "messageId" | "parts" | "role" => has(&["parts"]),
        "taskId" | "artifact" | "final" => has(&["status", "artifact", "pushNotificationConfig"]),
        "name" | "description" | "version" | "capabilities" | "skills" | "supportedInterfaces" => {
            has(&["url", "skills", "capabilities", "supportedInterfaces"])
        }
        _ => true,
    }
}

/// Returns the object wrapped as 1.0 has it, by its members.
fn wrapped(value: &Value) -> Option<Value> {
    let object = value.as_object()?;
    let name = match object {
        _ if object.contains_key("parts") => "message",
        _ if object.contains_key("artifact") => "artifactUpdate",
        _ if object.contains_key("status") && object.contains_key("id") => "task",
        _ if object.contains_key("status") => "statusUpdate",
        _ => return None,
    };
    Some(json!({ name: object }))
}

/// Returns the name and the content of the wrapper that an object is.
pub(super) fn unwrapped(value: Value) -> Option<(&'static str, Value)> {
    let Value::Object(mut object) = value else {
        return None;
    };
    if !is_wrapper(&object) {
        return None;
    }
    EVENTS
        .iter()
        .find_map(|(name, kind)| match object.remove(*name) {
            Some(Value::Object(mut inner)) => {
                inner.entry("kind").or_insert_with(|| (*kind).into());
                Some((*name, inner.into()))
            }
            _ => None,
        })
}

/// Returns whether an object only wraps an event.
fn is_wrapper(object: &Object) -> bool {
    let own = ["status", "parts", "artifact", "id"];
    let wraps = EVENTS
        .iter()
        .any(|(name, _)| object.get(*name).is_some_and(Value::is_object));
    wraps && !own.iter().any(|name| object.contains_key(*name))
}

const EVENTS: [(&str, &str); 7] = [
    ("task", "task"),
    ("message", "message"),
    ("msg", "message"),
    ("statusUpdate", "status-update"),
    ("status_update", "status-update"),
    ("artifactUpdate", "artifact-update"),
    ("artifact_update", "artifact-update"),
];

/// Returns a value of the expected type that says the same, if there is one.
fn converted(value: &Value, expected: &str, steps: &[PathStep]) -> Option<Value> {
    let name = steps.iter().rev().find_map(|step| match step {
        PathStep::Member(name) => Some(name.as_str()),
        PathStep::Item(_) => None,
    });
    let is_item = matches!(steps.last(), Some(PathStep::Item(_)));
    match (value, expected) {
        (Value::String(word), _) if expected.contains('`') => word_of(word, expected),
        (Value::Number(_) | Value::Bool(_), expected) if expected.starts_with("a string") => {
            (name != Some("timestamp")).then(|| value.to_string().into())
        }
        (Value::Null, expected) if expected.starts_with("an array") => Some(json!([])),
        (_, expected) if expected.starts_with("an array") => Some(json!([value])),
        (Value::String(word), "a boolean") => word
            .to_ascii_lowercase()
            .parse::<bool>()
            .ok()
            .map(Value::Bool),
        (Value::String(digits), expected)
            if expected.contains("number") || expected.contains("integer") =>
        {
            digits.parse::<i64>().ok().map(Value::from)
        }
        (Value::String(text), "an object") => match name {
            Some("message" | "msg" | "history") => Some(json!({
                "kind": "message", "messageId": "", "role": "agent",
                "parts": [{"kind": "text", "type": "text", "text": text}],
            })),
            Some("skills") if is_item => {
                Some(json!({"id": text, "name": text, "description": "", "tags": []}))
            }
            Some("provider") => Some(json!({"organization": text, "url": ""})),
            Some("status") => Some(json!({ "state": text })),
            _ => None,
        },
        (Value::Array(names), "an object") if name == Some("capabilities") => {
            let named = names.iter().filter_map(Value::as_str);
            let named: Object = named.map(|name| (name.to_owned(), true.into())).collect();
            Some(named.into())
        }
        _ => None,
    }
}

/// Returns the expected word that this one is meant to be: in another case, with or without a prefix.
fn word_of(word: &str, expected: &str) -> Option<Value> {
    let plain = |word: &str| {
        let word = word.to_ascii_uppercase().replace('-', "_");
        let word = word.strip_prefix("TASK_STATE_").unwrap_or(&word);
        word.strip_prefix("ROLE_").unwrap_or(word).to_owned()
    };
    let words = || expected.split('`').skip(1).step_by(2);
    let meant = match plain(word).as_str() {
        "ASSISTANT" | "MODEL" | "BOT" => "AGENT".to_owned(),
        "HUMAN" => "USER".to_owned(),
        other => other.to_owned(),
    };
    let same = words().find(|known| plain(known) == meant);
    let unknown =
        || words().find(|known| ["UNKNOWN", "UNSPECIFIED"].contains(&plain(known).as_str()));
    same.or_else(unknown).map(Value::from)
}

/// Returns an empty value of the expected type.
fn empty(expected: &str) -> Value {
    if expected.contains('`') {
        let words: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
        let fitting = words.iter().find(|word| {
            ["unknown", "TASK_STATE_UNSPECIFIED", "agent", "ROLE_AGENT"].contains(word)
        });
        return fitting
            .or(words.first())
            .map_or(Value::Null, |word| (*word).into());
    }
    match expected {
        _ if expected.starts_with("a string") => "".into(),
        _ if expected.starts_with("an array") => json!([]),
        "a boolean" => false.into(),
        _ if expected.contains("number") || expected.contains("integer") => 0.into(),
        _ => json!({}),
    }
}

/// Returns the part that a place is in: `content` is the list of parts in the proto of 0.3.
fn part_of(steps: &[PathStep]) -> Option<&[PathStep]> {
    let is_part = |pair: &[PathStep]| matches!(pair, [PathStep::Member(name), PathStep::Item(_)] if ["parts", "content"].contains(&name.as_str()));
    let begins = steps.windows(2).rposition(is_part)?;
    steps.get(..begins + 2)
}

fn at<'v>(value: &'v mut Value, steps: &[PathStep]) -> Option<&'v mut Value> {
    steps.iter().try_fold(value, |value, step| match step {
        PathStep::Member(name) => value.get_mut(name),
        PathStep::Item(index) => value.get_mut(index),
    })
}

/// Describes a value without its texts, which may be secrets; enum words are quoted.
pub(super) fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => match text.as_str() {
            "" => "\"\"".to_owned(),
            word if is_word(word) => format!("`{word}`"),
            _ => "a text".to_owned(),
        },
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(object) => match object.get("kind").and_then(Value::as_str) {
            Some(kind) if is_word(kind) => format!("an object of the kind `{kind}`"),
            _ if object.is_empty() => "{}".to_owned(),
            _ => "an object".to_owned(),
        },
    }
}

fn is_word(text: &str) -> bool {
    let of_word = |byte: u8| byte.is_ascii_alphabetic() || b"-_+".contains(&byte);
    (1..=32).contains(&text.len()) && text.bytes().all(of_word)
}

fn snake_case(name: &str) -> String {
    let spelled = name.chars().flat_map(|letter| {
        let before = letter.is_ascii_uppercase().then_some('_');
        before.into_iter().chain([letter.to_ascii_lowercase()])
    });
    spelled.collect()
}

/// Renames the members of all objects to camel case, except in objects whose member names the sender chooses.
fn camel_case(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(camel_case),
        Value::Object(object) => {
            let members = std::mem::take(object).into_iter().map(|(name, mut value)| {
                if !["metadata", "data", "params", "header", "scopes"].contains(&name.as_str()) {
                    camel_case(&mut value);
                }
                let mut words = name.split('_');
                let first = words.next().unwrap_or_default().to_owned();
                let name = words.fold(first, |name, word| match word.split_at_checked(1) {
                    Some((initial, rest)) => name + &initial.to_ascii_uppercase() + rest,
                    None => name,
                });
                (name, value)
            });
            *object = members.collect();
        }
        _ => {}
    }
}

fn between<'t>(text: &'t str, before: &str, behind: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(behind).map(|(found, _)| found)
}
