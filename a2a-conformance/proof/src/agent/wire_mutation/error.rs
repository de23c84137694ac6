//! Wire mutations of errors and of the JSON-RPC envelope.

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::MutatorState;
use super::json_document::each;
use crate::agent::interceptor::InterceptedRequest;

/// The error that an answer is; by HTTP+JSON in 0.3 it stands by itself.
fn error(json: &mut Value) -> Option<&mut Value> {
    let is_error = |value: &Value| value["code"].is_i64() && value["message"].is_string();
    let error = match is_error(json) {
        true => Some(json),
        false => json.get_mut("error"),
    };
    error.filter(|error| is_error(error))
}

pub(super) fn error_in_result(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    if let Some(members) = json.as_object_mut()
        && members.contains_key("jsonrpc")
        && let Some(error) = members.remove("error")
    {
        members.insert("result".to_owned(), json!({ "error": error }));
    }
}

pub(super) fn recode(json: &mut Value, from: i64, to: i64) {
    if json["error"]["code"] == from {
        json["error"]["code"] = json!(to);
    }
}

pub(super) fn code_internal(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    recode(json, -32602, -32603);
}

pub(super) fn code_invalid(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    recode(json, -32001, -32602);
}

pub(super) fn code_as_text(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    if let Some(error) = error(json) {
        error["code"] = json!(error["code"].to_string());
    }
}

pub(super) fn status_200(_: &InterceptedRequest, answer: &mut Response<Bytes>) {
    let has = |name: &[u8]| answer.body().windows(name.len()).any(|part| part == name);
    // Errors of JSON-RPC do.
    if has(b"\"error\"") && !has(b"\"jsonrpc\"") {
        *answer.status_mut() = StatusCode::OK;
    }
}

pub(super) fn status_500(request: &InterceptedRequest, answer: &mut Response<Bytes>) {
    let is_error = answer.body().windows(7).any(|part| part == b"\"error\"");
    // Without a card the suite sends nothing else.
    let is_card = request.path.starts_with("/.well-known/");
    if answer.status() == StatusCode::OK && !is_error && !is_card {
        *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    }
}

pub(super) fn status_404(request: &InterceptedRequest, answer: &mut Response<Bytes>) {
    // 0.3 has no table of statuses: what its agents answer by HTTP+JSON is theirs to choose.
    let is_bound = request.version.as_deref() == Some("1.0");
    // JSON-RPC leaves the status to its agents, also for requests without a method.
    let is_rpc = answer.body().windows(9).any(|part| part == b"\"jsonrpc\"");
    if answer.status().is_client_error() && !is_rpc && is_bound {
        *answer.status_mut() = StatusCode::NOT_FOUND;
    }
}

pub(super) fn plain_text(_: &InterceptedRequest, answer: &mut Response<Bytes>) {
    let text = http::HeaderValue::from_static("text/plain");
    answer
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, text);
}

pub(super) fn id_lost_in_errors(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    if let Some(members) = json.as_object_mut()
        && members.contains_key("error")
        && members.contains_key("jsonrpc")
    {
        members.insert("id".to_owned(), Value::Null);
    }
}

pub(super) fn id_of_first(state: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    if json.get("jsonrpc").is_some() {
        json["id"] = state
            .documents
            .entry("id".to_owned())
            .or_insert(json["id"].clone())
            .clone();
    }
}

pub(super) fn event_id_null(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    if json.get("jsonrpc").is_some() {
        json["id"] = Value::Null;
    }
}

pub(super) fn error_data_object(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    for place in ["/error/data", "/error/details"] {
        if let Some(data) = json.pointer_mut(place)
            && data.is_array()
        {
            *data = json!({"details": data.take()});
        }
    }
}

pub(super) fn error_reason(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    each(json, &mut |thing| {
        if thing.contains_key("reason") {
            thing.insert("reason".to_owned(), json!("INTERNAL"));
        }
    });
}

pub(super) fn error_message_empty(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    if let Some(error) = error(json) {
        error["message"] = json!("");
    }
}

pub(super) fn code_unknown(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    recode(json, -32001, -32150);
}

/// 1.0 wraps errors of HTTP+JSON, and 0.3 does not.
pub(super) fn error_as_before(_: &mut MutatorState, _: &InterceptedRequest, json: &mut Value) {
    if json.get("jsonrpc").is_none()
        && let Some(error) = json.get_mut("error")
        && error.get("status").is_some()
    {
        *json = error.take();
    }
}

pub(super) fn error_details_untyped(
    _: &mut MutatorState,
    _: &InterceptedRequest,
    json: &mut Value,
) {
    if let Some(error) = json.get_mut("error") {
        each(error, &mut |thing| drop(thing.remove("@type")));
    }
}
