//! Wire mutations of lists of tasks and of push notification configs.

use serde_json::{Value, json};

use super::MutatorState;
use super::json_document::{each, is_about_push, is_list, result, status, without_params};
use crate::agent::interceptor::InterceptedRequest;

pub(super) fn list(
    request: &InterceptedRequest,
    json: &mut Value,
    change: &mut dyn FnMut(&mut Value),
) {
    if is_list(request)
        && let Some(list) = result(request, json)
        && list.get("tasks").is_some()
    {
        change(list);
    }
}

pub(super) fn count(list: &Value) -> usize {
    list["tasks"].as_array().map_or(0, Vec::len)
}

pub(super) fn total_of_page(_: &mut MutatorState, request: &InterceptedRequest, json: &mut Value) {
    list(request, json, &mut |list| {
        list["totalSize"] = json!(count(list))
    });
}

pub(super) fn total_off_by_one(
    _: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    list(request, json, &mut |list| {
        list["totalSize"] = json!(list["totalSize"].as_u64().unwrap_or(0) + 1)
    });
}

pub(super) fn page_size_wrong(
    _: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    list(request, json, &mut |list| {
        list["pageSize"] = json!(count(list))
    });
}

pub(super) fn page_token_always(
    _: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    list(request, json, &mut |list| {
        if list["nextPageToken"] == "" {
            list["nextPageToken"] = json!("bm8gbW9yZQ");
        }
    });
}

pub(super) fn page_token_ignored(_: &mut MutatorState, request: &mut InterceptedRequest) {
    if is_list(request) {
        without_params(request, &["pageToken"]);
    }
}

pub(super) fn list_ignores_context(_: &mut MutatorState, request: &mut InterceptedRequest) {
    if is_list(request) {
        without_params(request, &["contextId"]);
    }
}

pub(super) fn list_ignores_status(_: &mut MutatorState, request: &mut InterceptedRequest) {
    if is_list(request) {
        without_params(request, &["status"]);
    }
}

pub(super) fn list_ignores_time(_: &mut MutatorState, request: &mut InterceptedRequest) {
    if is_list(request) {
        without_params(request, &["statusTimestampAfter"]);
    }
}

pub(super) fn list_reversed(_: &mut MutatorState, request: &InterceptedRequest, json: &mut Value) {
    list(request, json, &mut |list| {
        if let Some(tasks) = list["tasks"].as_array_mut() {
            tasks.reverse();
        }
    });
}

pub(super) fn list_artifacts_empty(
    _: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    list(request, json, &mut |list| {
        for task in list["tasks"].as_array_mut().into_iter().flatten() {
            if task.get("artifacts").is_none() {
                task["artifacts"] = json!([]);
            }
        }
    });
}

pub(super) fn push(
    request: &InterceptedRequest,
    json: &mut Value,
    change: &mut dyn FnMut(&mut serde_json::Map<String, Value>),
) {
    if is_about_push(request)
        && let Some(result) = result(request, json)
    {
        each(result, change);
    }
}

pub(super) fn push_url_wrong(
    state: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    push(request, json, &mut |thing| {
        if let Some(url) = thing.get_mut("url") {
            *url = state
                .documents
                .entry("url".to_owned())
                .or_insert(url.clone())
                .clone();
        }
    });
}

pub(super) fn push_id_lost(_: &mut MutatorState, request: &InterceptedRequest, json: &mut Value) {
    push(request, json, &mut |thing| {
        if thing.contains_key("url") {
            thing.remove("id");
        }
        thing.remove("name");
    });
}

pub(super) fn push_scheme_wrong(
    _: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    push(request, json, &mut |thing| {
        if let Some(scheme) = thing.get_mut("scheme") {
            *scheme = json!("Digest");
        }
        if let Some(schemes) = thing.get_mut("schemes") {
            *schemes = json!(["Digest"]);
        }
    });
}

pub(super) fn push_task_wrong(
    _: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    push(request, json, &mut |thing| {
        if let Some(id) = thing.get_mut("taskId") {
            *id = json!("another");
        }
        if let Some(Value::String(name)) = thing.get_mut("name") {
            *name = format!(
                "tasks/another/pushNotificationConfigs/{}",
                name.rsplit('/').next().unwrap_or_default()
            );
        }
    });
}

pub(super) fn configs<'a>(
    request: &InterceptedRequest,
    json: &'a mut Value,
) -> Option<&'a mut Vec<Value>> {
    if !is_about_push(request) {
        return None;
    }
    let list = result(request, json)?;
    if list.get("configs").is_some() {
        list["configs"].as_array_mut()
    } else {
        list.as_array_mut()
    }
}

pub(super) fn push_list_first(
    _: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    if let Some(list) = configs(request, json) {
        list.truncate(1);
    }
}

pub(super) fn push_list_doubled(
    _: &mut MutatorState,
    request: &InterceptedRequest,
    json: &mut Value,
) {
    if let Some(list) = configs(request, json) {
        list.extend(list.clone());
    }
}

pub(super) fn cancel_keeps_state(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    status(json, &mut |status| {
        let state = status["state"].as_str().unwrap_or_default();
        status["state"] = match state {
            "canceled" => json!("working"),
            "TASK_STATE_CANCELED" | "TASK_STATE_CANCELLED" => json!("TASK_STATE_WORKING"),
            _ => return,
        };
    });
}
