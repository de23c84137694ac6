//! Helpers of all slips: finding things in documents.

use serde_json::Value;

use crate::mutant::agent::wire::Asked;

pub(super) fn is_get(asked: &Asked) -> bool {
    match asked.rpc_method() {
        Some(method) => matches!(method, "tasks/get" | "GetTask"),
        None => {
            asked.method == http::Method::GET
                && asked.path.contains("/tasks/")
                && !asked.path.contains("/push")
        }
    }
}

pub(super) fn is_list(asked: &Asked) -> bool {
    match asked.rpc_method() {
        Some(method) => method == "ListTasks",
        None => asked.method == http::Method::GET && asked.path.ends_with("/tasks"),
    }
}

pub(super) fn is_send(asked: &Asked) -> bool {
    match asked.rpc_method() {
        Some(method) => matches!(method, "tasks/send" | "message/send" | "SendMessage"),
        None => asked.path.ends_with("message:send"),
    }
}

pub(super) fn is_about_push(asked: &Asked) -> bool {
    match asked.rpc_method() {
        Some(method) => method.to_lowercase().contains("pushnotification"),
        None => asked.path.contains("pushNotificationConfigs"),
    }
}

pub(super) fn result<'a>(asked: &Asked, json: &'a mut Value) -> Option<&'a mut Value> {
    match asked.rpc_method() {
        Some(_) => json.get_mut("result"),
        None => Some(json),
    }
}

pub(super) fn list_of(json: &mut Value, name: &str, change: &mut dyn FnMut(&mut Vec<Value>)) {
    each(json, &mut |thing| {
        if let Some(Value::Array(list)) = thing.get_mut(name) {
            change(list);
        }
    });
}

pub(super) fn without(
    json: &mut Value,
    name: &str,
    only: &dyn Fn(&serde_json::Map<String, Value>) -> bool,
) {
    each(json, &mut |thing| {
        if only(thing) {
            thing.remove(name);
        }
    });
}

pub(super) fn without_params(asked: &mut Asked, names: &[&str]) {
    if let Some(json) = &mut asked.json
        && let Some(params) = json.get_mut("params").and_then(Value::as_object_mut)
    {
        for name in names {
            params.remove(*name);
            if let Some(Value::Object(inner)) = params.get_mut("configuration") {
                inner.remove(*name);
            }
        }
    }
}

pub(super) fn status(json: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    each(json, &mut |thing| {
        if let Some(status) = thing.get_mut("status")
            && status.is_object()
        {
            change(status);
        }
    });
}

/// Every object in a document.
pub(in crate::mutant::agent) fn each(
    json: &mut Value,
    change: &mut dyn FnMut(&mut serde_json::Map<String, Value>),
) {
    match json {
        Value::Object(members) => {
            change(members);
            members.values_mut().for_each(|inner| each(inner, change));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| each(inner, change)),
        _ => {}
    }
}
