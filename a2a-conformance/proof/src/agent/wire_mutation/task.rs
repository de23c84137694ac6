//! Wire mutations of tasks: which one is returned, its history, its ids.

use serde_json::{Value, json};

use super::MutatorState;
use super::json_document::{each, is_get, is_list, is_send, list_of, result, without};
use crate::agent::interceptor::InterceptedRequest;

pub(super) fn other_task(state: &mut MutatorState, request: &InterceptedRequest, json: &mut Value) {
    if is_get(request)
        && let Some(task) = result(request, json)
        && task.get("status").is_some()
    {
        *task = state
            .documents
            .entry("task".to_owned())
            .or_insert(task.clone())
            .clone();
    }
}

pub(super) fn other_artifacts(
    state: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    let Some(task) = result(request, json) else {
        return;
    };
    if is_get(request) && task.get("artifacts").is_some() {
        let before = state
            .documents
            .insert("artifacts".to_owned(), task["artifacts"].clone());
        if let Some(before) = before {
            task["artifacts"] = before;
        }
    }
}

pub(super) fn no_artifacts(_: &mut MutatorState, request: &InterceptedRequest, json: &mut Value) {
    if is_get(request)
        && let Some(Value::Object(task)) = result(request, json)
    {
        task.remove("artifacts");
    }
}

pub(super) fn artifacts_reversed(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    list_of(json, "artifacts", &mut |list| list.reverse());
}

pub(super) fn artifact_twice(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    list_of(json, "artifacts", &mut |list| list.extend(list.clone()));
}

pub(super) fn parts_reversed(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    list_of(json, "parts", &mut |list| list.reverse());
}

pub(super) fn history_lost(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    without(json, "history", &|_| true);
}

pub(super) fn history_last_only(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    list_of(json, "history", &mut |list| {
        drop(list.drain(..list.len().saturating_sub(1)))
    });
}

pub(super) fn history_doubled(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    list_of(json, "history", &mut |list| {
        *list = list
            .iter()
            .flat_map(|one| [one.clone(), one.clone()])
            .collect();
    });
}

pub(super) fn history_reversed(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    list_of(json, "history", &mut |list| list.reverse());
}

pub(super) fn swapped(role: &Value) -> Value {
    match role.as_str().unwrap_or_default() {
        "user" => json!("agent"),
        "agent" => json!("user"),
        "ROLE_USER" => json!("ROLE_AGENT"),
        "ROLE_AGENT" => json!("ROLE_USER"),
        _ => role.clone(),
    }
}

pub(super) fn history_roles(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    list_of(json, "history", &mut |list| {
        list.iter_mut()
            .for_each(|one| one["role"] = swapped(&one["role"]))
    });
}

pub(super) fn history_agent_as_user(
    _: &mut MutatorState,
    _: &InterceptedRequest,
    json: &mut Value,
) {
    list_of(json, "history", &mut |list| {
        for one in list {
            if one["role"] == "agent" || one["role"] == "ROLE_AGENT" {
                one["role"] = swapped(&one["role"]);
            }
        }
    });
}

pub(super) fn history_without_metadata(
    _: &mut MutatorState,
    _: &InterceptedRequest,
    json: &mut Value,
) {
    list_of(json, "history", &mut |list| {
        for one in list {
            if let Some(one) = one.as_object_mut() {
                one.remove("metadata");
                one.remove("extensions");
            }
        }
    });
}

pub(super) fn history_length_in_get(_: &mut MutatorState, request: &mut InterceptedRequest) {
    if is_get(request) {
        put(request, &["params"], "historyLength");
    }
}

pub(super) fn history_length_in_send(_: &mut MutatorState, request: &mut InterceptedRequest) {
    if !is_send(request) {
        return;
    }
    match request.rpc_method() {
        Some("tasks/send") => put(request, &["params"], "historyLength"),
        Some(_) => put(request, &["params", "configuration"], "historyLength"),
        None => put(request, &["configuration"], "historyLength"),
    }
}

pub(super) fn history_length_in_list(_: &mut MutatorState, request: &mut InterceptedRequest) {
    if is_list(request) {
        put(request, &["params"], "historyLength");
    }
}

/// Sets a member to 100 if it is present.
fn put(request: &mut InterceptedRequest, path: &[&str], name: &str) {
    let inner = path.iter().try_fold(request.json.as_mut(), |value, step| {
        Some(value?.get_mut(step))
    });
    if let Some(Some(Value::Object(members))) = inner
        && let Some(said) = members.get_mut(name)
    {
        *said = json!(100);
    }
}

pub(super) fn history_first(_: &mut MutatorState, request: &InterceptedRequest, json: &mut Value) {
    if !is_get(request) {
        return;
    }
    let length = request
        .json
        .as_ref()
        .and_then(|json| json["params"]["historyLength"].as_u64());
    let whole = request.json.is_none();
    list_of(json, "history", &mut |list| {
        if (length.is_some() || whole) && list.len() < 3 {
            list.reverse();
        }
    });
}

pub(super) fn message_id_same(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    each(json, &mut |thing| {
        let is_agent = thing
            .get("role")
            .is_some_and(|role| role == "agent" || role == "ROLE_AGENT");
        if is_agent && thing.contains_key("messageId") {
            thing.insert("messageId".to_owned(), json!("message"));
        }
    });
}

pub(super) fn message_id_of_user(
    _: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    let Some(question) = &request.json else {
        return;
    };
    let message = question
        .get("message")
        .unwrap_or(&question["params"]["message"]);
    let id = message["messageId"].clone();
    each(json, &mut |thing| {
        let is_agent = thing
            .get("role")
            .is_some_and(|role| role == "agent" || role == "ROLE_AGENT");
        if is_agent && id.is_string() && thing.contains_key("messageId") {
            thing.insert("messageId".to_owned(), id.clone());
        }
    });
}

pub(super) fn contexts(
    json: &mut Value,
    change: &mut dyn FnMut(&mut serde_json::Map<String, Value>, &str),
) {
    each(json, &mut |thing| {
        for name in ["contextId", "sessionId"] {
            if thing.contains_key(name) {
                change(thing, name);
            }
        }
    });
}

pub(super) fn context_same(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    contexts(json, &mut |thing, name| {
        drop(thing.insert(name.to_owned(), json!("default")))
    });
}

pub(super) fn context_new(state: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    state.count += 1;
    let id = format!("context-{}", state.count);
    contexts(json, &mut |thing, name| {
        drop(thing.insert(name.to_owned(), json!(id)))
    });
}

pub(super) fn context_lost(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    contexts(json, &mut |thing, name| drop(thing.remove(name)));
}

pub(super) fn task_id_same(
    state: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    // In 0.1 the caller names the task.
    if !is_send(request) || request.rpc_method() == Some("tasks/send") {
        return;
    }
    let Some(question) = &request.json else {
        return;
    };
    let message = question
        .get("message")
        .unwrap_or(&question["params"]["message"]);
    let is_new = message.get("taskId").is_none();
    if let Some(Value::Object(answer)) = result(request, json).filter(|_| is_new) {
        let task = match answer.get_mut("task") {
            Some(Value::Object(task)) => task,
            _ => answer,
        };
        if let (true, Some(id)) = (task.contains_key("status"), task.get_mut("id")) {
            let first = state.documents.entry("id".to_owned());
            *id = first.or_insert_with(|| id.clone()).clone();
        }
    }
}
