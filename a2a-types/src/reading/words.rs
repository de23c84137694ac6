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
    if (mode == Mode::Strict || has_other_state(json))
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

/// Returns whether a text may have a state in other words: most have not, and are not read again.
fn has_other_state(json: &str) -> bool {
    let mut words = json.split("\"state\"").skip(1).filter_map(|rest| {
        let value = rest.trim_start().strip_prefix(':')?.trim_start();
        value.strip_prefix('"')
    });
    words.any(|word| !is_known(word))
}

/// Returns whether a text begins with a state of 1.0 and a quotation mark.
fn is_known(text: &str) -> bool {
    text.split_once('"')
        .is_some_and(|(word, _)| state(word).is_some_and(|state| state.as_str() == word))
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
        && !is_known(&format!("{word}\""))
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
        && time.parse::<Timestamp>().is_err()
        && mode == Mode::Strict
    {
        let path = format!("{path}.timestamp");
        deviations.push(Deviation {
            found: "a time without zone".to_owned(),
            ..Deviation::new(Quirk::NoTimeZone, path)
        });
    }
    deviations
}
