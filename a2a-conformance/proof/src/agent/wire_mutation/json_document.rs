//! Navigation in JSON documents: results, lists, members.

use serde_json::Value;

use crate::agent::interceptor::InterceptedRequest;

pub(super) fn is_get(request: &InterceptedRequest) -> bool {
    match request.rpc_method() {
        Some(method) => matches!(method, "tasks/get" | "GetTask"),
        None => {
            request.method == http::Method::GET
                && request.path.contains("/tasks/")
                && !request.path.contains("/push")
        }
    }
}

pub(super) fn is_list(request: &InterceptedRequest) -> bool {
    match request.rpc_method() {
        Some(method) => method == "ListTasks",
        None => request.method == http::Method::GET && request.path.ends_with("/tasks"),
    }
}

pub(super) fn is_send(request: &InterceptedRequest) -> bool {
    match request.rpc_method() {
        Some(method) => matches!(method, "tasks/send" | "message/send" | "SendMessage"),
        None => request.path.ends_with("message:send"),
    }
}

pub(super) fn is_about_push(request: &InterceptedRequest) -> bool {
    match request.rpc_method() {
        Some(method) => method.to_lowercase().contains("pushnotification"),
        None => request.path.contains("pushNotificationConfigs"),
    }
}

pub(super) fn result<'a>(
    request: &InterceptedRequest,
    json: &'a mut Value,
) -> Option<&'a mut Value> {
    match request.rpc_method() {
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

pub(super) fn without_params(request: &mut InterceptedRequest, names: &[&str]) {
    if let Some(json) = &mut request.json
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
pub(in crate::agent) fn each(
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
