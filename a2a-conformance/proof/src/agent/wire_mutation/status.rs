//! Wire mutations of statuses and of spellings.

use serde_json::{Value, json};

use super::MutatorState;
use super::json_document::{each, is_send, list_of, result, status};
use super::task::swapped;
use crate::agent::interceptor::InterceptedRequest;

pub(super) fn status_role(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    status(json, &mut |status| {
        if let Some(message) = status.get_mut("message") {
            message["role"] = swapped(&message["role"]);
        }
    });
}

pub(super) fn status_message_lost(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    status(json, &mut |status| {
        if let Some(status) = status.as_object_mut() {
            status.remove("message");
        }
    });
}

pub(super) fn times(json: &mut Value, change: &mut dyn FnMut(&str) -> Value) {
    status(json, &mut |status| {
        if let Some(time) = status.get_mut("timestamp")
            && let Some(text) = time.as_str()
        {
            *time = change(text);
        }
    });
}

pub(super) fn time_without_zone(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    times(json, &mut |time| json!(time.trim_end_matches('Z')));
}

pub(super) fn time_offset(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    times(json, &mut |time| json!(time.replace('Z', "+02:00")));
}

pub(super) fn moved(time: &str, by: jiff::SignedDuration) -> Value {
    let moved = time.parse::<jiff::Timestamp>().ok();
    let moved = moved.and_then(|time| time.checked_add(by).ok());
    moved.map_or(Value::Null, |time| json!(time.to_string()))
}

pub(super) fn time_local(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    times(json, &mut |time| {
        moved(time, jiff::SignedDuration::from_hours(2))
    });
}

pub(super) fn time_blank(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    times(json, &mut |time| json!(time.replace('T', " ")));
}

pub(super) fn time_minutes(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    times(json, &mut |time| json!(format!("{}Z", &time[..16])));
}

pub(super) fn time_zero(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    times(json, &mut |_| json!("1970-01-01T00:00:00.000Z"));
}

pub(super) fn time_numbers(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    times(json, &mut |_| json!(1_763_000_000));
}

pub(super) fn time_backwards(state: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    times(json, &mut |time| {
        state.count += 1;
        moved(
            time,
            jiff::SignedDuration::from_secs(-2 * state.count as i64),
        )
    });
}

pub(super) fn nulls(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("status") && thing.get("status").is_some_and(Value::is_object) {
            thing.entry("metadata").or_insert(Value::Null);
        }
    });
}

pub(super) fn numbers_as_text(
    _: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    for name in ["totalSize", "pageSize"] {
        let number = result(request, json).and_then(|result| result.get_mut(name));
        if let Some(number @ Value::Number(_)) = number {
            *number = json!(number.to_string());
        }
    }
    list_of(json, "artifacts", &mut |list| {
        for artifact in list {
            if let Some(index @ Value::Number(_)) = artifact.get_mut("index") {
                *index = json!(index.to_string());
            }
        }
    });
}

pub(super) fn state_spelling(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    status(json, &mut |status| {
        let state = status["state"].as_str().unwrap_or_default();
        status["state"] = match state.strip_prefix("TASK_STATE_") {
            Some(state) => json!(state.to_lowercase().replace('_', "-")),
            None => json!(format!(
                "TASK_STATE_{}",
                state.to_uppercase().replace('-', "_")
            )),
        };
    });
}

pub(super) fn role_spelling(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    each(json, &mut |thing| {
        if let Some(Value::String(role)) = thing.get_mut("role") {
            *role = match role.strip_prefix("ROLE_") {
                Some(role) => role.to_lowercase(),
                None => format!("ROLE_{}", role.to_uppercase()),
            };
        }
    });
}

pub(super) fn kinds(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("status") && thing.get("status").is_some_and(Value::is_object) {
            match thing.contains_key("kind") {
                true => drop(thing.remove("kind")),
                false => drop(thing.insert("kind".to_owned(), json!("task"))),
            }
        }
    });
}

pub(super) fn no_wrapper(_: &mut MutatorState, request: &InterceptedRequest, json: &mut Value) {
    if !is_send(request) {
        return;
    }
    let Some(answer) = result(request, json) else {
        return;
    };
    match answer.get_mut("task").map(Value::take) {
        Some(task) => *answer = task,
        None if answer.get("status").is_some() => *answer = json!({ "task": answer.take() }),
        None => {}
    }
}
