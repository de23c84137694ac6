//! Wire mutations of the events of streams.

use http::StatusCode;
use http::response::Parts;
use serde_json::{Value, json};

use super::MutatorState;
use super::json_document::each;
use crate::agent::interceptor::InterceptedRequest;

pub(super) fn event_of_other_task(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("artifact") {
            for name in ["taskId", "id"] {
                if let Some(id @ Value::String(_)) = thing.get_mut(name) {
                    *id = json!("another");
                }
            }
        }
    });
}

pub(super) fn event_of_other_context(
    _: &mut MutatorState,
    _: &InterceptedRequest,
    json: &mut Value,
) {
    each(json, &mut |thing| {
        if thing.contains_key("artifact") && thing.contains_key("contextId") {
            thing.insert("contextId".to_owned(), json!("another"));
        }
    });
}

pub(super) fn find<'a>(json: &'a Value, name: &str) -> Option<&'a Value> {
    match json {
        Value::Object(members) => match members.get(name) {
            Some(found) => Some(found),
            None => members.values().find_map(|member| find(member, name)),
        },
        _ => None,
    }
}

pub(super) fn is_last(event: &Value) -> bool {
    let state = find(event, "state")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let state = state.to_lowercase();
    ["completed", "failed", "canceled", "cancelled", "rejected"]
        .iter()
        .any(|end| state.ends_with(end))
}

pub(super) fn event_twice(_: &mut MutatorState, event: &Value) -> Vec<Value> {
    vec![event.clone(), event.clone()]
}

pub(super) fn event_artifact_lost(_: &mut MutatorState, event: &Value) -> Vec<Value> {
    match find(event, "artifact") {
        Some(_) => Vec::new(),
        None => vec![event.clone()],
    }
}

pub(super) fn event_status_lost(_: &mut MutatorState, event: &Value) -> Vec<Value> {
    let is_update = find(event, "status").is_some()
        && find(event, "history").is_none()
        && find(event, "task").is_none();
    match is_update && !is_last(event) {
        true => Vec::new(),
        false => vec![event.clone()],
    }
}

pub(super) fn event_last_lost(_: &mut MutatorState, event: &Value) -> Vec<Value> {
    match is_last(event) {
        true => Vec::new(),
        false => vec![event.clone()],
    }
}

pub(super) fn event_third_lost(state: &mut MutatorState, event: &Value) -> Vec<Value> {
    state.count += 1;
    match state.count % 3 {
        0 => Vec::new(),
        _ => vec![event.clone()],
    }
}

/// Returns the id of the task that an event belongs to.
pub(super) fn task_of(event: &Value) -> String {
    let id = find(event, "taskId").or_else(|| find(event.get("result").unwrap_or(event), "id"));
    id.map(Value::to_string).unwrap_or_default()
}

pub(super) fn event_order(state: &mut MutatorState, event: &Value) -> Vec<Value> {
    let task = task_of(event);
    match (state.documents.remove(&task), find(event, "artifact")) {
        (None, Some(_)) => {
            state.documents.insert(task, event.clone());
            Vec::new()
        }
        (Some(held_back), Some(_)) => vec![event.clone(), held_back],
        (Some(held_back), None) => vec![held_back, event.clone()],
        (None, None) => vec![event.clone()],
    }
}

pub(super) fn event_after_end(state: &mut MutatorState, event: &Value) -> Vec<Value> {
    let task = task_of(event);
    match (find(event, "artifact").is_some(), is_last(event)) {
        (true, _) => {
            let held_back = state.documents.insert(task, event.clone());
            held_back.into_iter().collect()
        }
        (false, true) => {
            let held_back = state.documents.remove(&task);
            std::iter::once(event.clone()).chain(held_back).collect()
        }
        _ => vec![event.clone()],
    }
}

/// Sets or removes a flag, which 0.1 has in the artifact, and later versions in the event.
pub(super) fn flag(json: &mut Value, name: &str, value: Option<bool>) {
    each(json, &mut |thing| {
        let is_event = thing.contains_key("artifact");
        let is_indexed = thing.contains_key("index");
        if is_event || is_indexed {
            match value {
                Some(value) if is_indexed || !is_event || thing.contains_key("taskId") => {
                    drop(thing.insert(name.to_owned(), json!(value)))
                }
                _ => drop(thing.remove(name)),
            }
        }
    });
}

pub(super) fn append_lost(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    flag(json, "append", None);
}

pub(super) fn append_always(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    flag(json, "append", Some(true));
}

pub(super) fn last_chunk_lost(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    flag(json, "lastChunk", None);
}

pub(super) fn last_chunk_always(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    flag(json, "lastChunk", Some(true));
}

pub(super) fn artifact_ids(json: &mut Value, change: &mut dyn FnMut(&Value) -> Value) {
    each(json, &mut |thing| {
        if !thing.contains_key("parts") {
            return;
        }
        for name in ["artifactId", "index"] {
            if let Some(id) = thing.get_mut(name) {
                *id = change(id);
            }
        }
    });
}

pub(super) fn artifact_id_new(state: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    artifact_ids(json, &mut |id| {
        state.count += 1;
        match id {
            Value::Number(_) => json!(state.count),
            _ => json!(format!("artifact-{}", state.count)),
        }
    });
}

pub(super) fn artifact_id_in_streams(
    _: &mut MutatorState,
    _: &InterceptedRequest,
    json: &mut Value,
) {
    artifact_ids(json, &mut |id| match id {
        Value::Number(number) => json!(number.as_u64().unwrap_or(0) + 1),
        _ => json!(format!("{}-streamed", id.as_str().unwrap_or_default())),
    });
}

pub(super) fn artifact_id_same(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    artifact_ids(json, &mut |id| match id {
        Value::Number(_) => json!(0),
        _ => json!("artifact"),
    });
}

pub(super) fn final_always(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("final") {
            thing.insert("final".to_owned(), json!(true));
        }
    });
}

pub(super) fn final_never(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("final") {
            thing.insert("final".to_owned(), json!(false));
        }
    });
}

pub(super) fn stream_accepted(head: &mut Parts) {
    head.status = StatusCode::ACCEPTED;
}

pub(super) fn event_in_lines(event: &Value) -> String {
    format!("{event:#}")
}

pub(super) fn event_quoted(event: &Value) -> String {
    event.to_string().replace('"', "'")
}

pub(super) fn event_enveloped(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    if json.get("jsonrpc").is_none() {
        *json = json!({"jsonrpc": "2.0", "id": 1, "result": json.take()});
    }
}
