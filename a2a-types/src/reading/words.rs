//! Words and times of 1.0 answers that the types understand in the forms of other versions, too.

use serde_json::Value;

use super::{Deviation, Hints, Mode, Quirk, Violation};
use crate::{Object, TaskState, Timestamp};

/// Returns the states and times that are not as 1.0 has them. Errors: the first of them, in strict mode.
pub(super) fn other_words(
    json: &str,
    mode: Mode,
    hints: &Hints<'_>,
) -> Result<Vec<Deviation>, Violation> {
    let mut deviations = Vec::new();
    let may_deviate =
        || has_other(json, "\"state\"", is_known) || has_other(json, "\"timestamp\"", has_zone);
    if (mode == Mode::Strict || may_deviate())
        && let Ok(value) = serde_json::from_str(json)
    {
        statuses(&value, hints.root, &mut |status, path| {
            deviations.extend(of_status(status, path, mode));
        });
    }
    match deviations.first() {
        Some(first) if mode == Mode::Strict => Err(Violation {
            path: first.path.clone(),
            problem: format!("found {}: {}", first.found, first.quirk.about()),
        }),
        _ => Ok(deviations),
    }
}

/// Returns whether a text may have a member of this name whose value is not accepted: most have none, and are not read
/// again.
fn has_other(json: &str, name: &str, accepts: fn(&str) -> bool) -> bool {
    let mut values = json.split(name).skip(1).filter_map(|rest| {
        let value = rest.trim_start().strip_prefix(':')?.trim_start();
        Some(value.strip_prefix('"')?.split_once('"')?.0)
    });
    values.any(|value| !accepts(value))
}

/// Returns whether a word is a state of 1.0.
fn is_known(word: &str) -> bool {
    state(word).is_some_and(|state| state.as_str() == word)
}

/// Returns whether a text is a time with its zone.
fn has_zone(time: &str) -> bool {
    time.parse::<Timestamp>().is_ok()
}

fn state(word: &str) -> Option<TaskState> {
    serde_json::from_value(word.into()).ok()
}

fn statuses(value: &Value, path: &str, visit: &mut impl FnMut(&Object, &str)) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                statuses(item, &format!("{path}[{index}]"), visit);
            }
        }
        Value::Object(object) => {
            for (name, value) in object {
                let path = format!("{path}.{name}");
                match (name.as_str(), value) {
                    ("status", Value::Object(status)) => visit(status, &path),
                    ("task" | "statusUpdate" | "tasks", value) => statuses(value, &path, visit),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn of_status(status: &Object, path: &str, mode: Mode) -> Vec<Deviation> {
    let mut deviations = Vec::new();
    if let Some(Value::String(word)) = status.get("state")
        && !is_known(word)
        // A later minor version may have it (1.0 §5.7).
        && !(mode == Mode::Strict && word.starts_with("TASK_STATE_"))
    {
        let read =
            serde_json::from_value::<crate::TaskStatus>(serde_json::json!({ "state": word }));
        let read_as = read.map_or_else(|_| String::new(), |read| read.state.as_str().to_owned());
        deviations.push(Deviation {
            found: super::salvage::described(&word.as_str().into()),
            read_as,
            ..Deviation::new(Quirk::UnknownWord, format!("{path}.state"))
        });
    }
    if let Some(Value::String(time)) = status.get("timestamp")
        && !has_zone(time)
    {
        let path = format!("{path}.timestamp");
        deviations.push(Deviation {
            found: "a time without zone".to_owned(),
            read_as: "that time in UTC".to_owned(),
            ..Deviation::new(Quirk::NoTimeZone, path)
        });
    }
    deviations
}
