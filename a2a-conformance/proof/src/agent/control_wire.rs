//! Answers of control agents: unusual, but valid.

use std::time::Duration;

use a2a_transport::BoxFuture;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::response::Parts;
use http::{Method, Response, StatusCode};
use serde_json::{Map, Value, json};

use super::control::Control;
use super::interceptor::{BodyChunking, InterceptedRequest, Interceptor};
use super::tls_front::add_hsts;
use crate::member_order::with_members_reversed;

/// Interceptor that changes answers to equivalent ones.
#[derive(Debug)]
pub(super) struct ControlWire(Control);

impl ControlWire {
    pub(super) fn new(control: Control) -> Self {
        Self(control)
    }

    fn change(&self, json: &mut Value) {
        match self.0 {
            Control::UnknownMembers => each_thing(json, &mut |thing| {
                thing.insert("futureMember".to_owned(), json!({"since": "2.0"}));
            }),
            Control::EmptyMetadata => each_thing(json, &mut |thing| {
                if !thing.contains_key("state") {
                    thing.entry("metadata").or_insert_with(|| json!({}));
                }
            }),
            Control::Offsets => each_time(json, |time| time.replace('Z', "+00:00")),
            Control::Nanoseconds => each_time(json, |time| {
                let whole = time.split(['.', 'Z']).next().unwrap_or_default();
                let fraction = time.split(['.', 'Z']).nth(1).unwrap_or_default();
                format!("{whole}.{fraction:0<9}Z")
            }),
            Control::Language => translate(json),
            Control::NullIds => {
                if matches!(json["error"]["code"].as_i64(), Some(-32700 | -32600)) {
                    json["id"] = Value::Null;
                }
            }
            Control::Defaults => pad(json),
            Control::LongIds => lengthen(json),
            _ => {}
        }
    }

    fn write(&self, json: &Value) -> String {
        match self.0 {
            Control::KeyOrder => with_members_reversed(json),
            _ => json.to_string(),
        }
    }

    fn headers(&self, headers: &mut HeaderMap) {
        match self.0 {
            Control::MediaTypes => {
                if let Some(media_type) = headers.get(CONTENT_TYPE) {
                    let text = media_type.to_str().unwrap_or_default();
                    let essence = text.split(';').next().unwrap_or_default();
                    let essence = essence.replace("application/json", "Application/JSON");
                    let essence = essence.replace("text/event", "Text/Event");
                    let odd = format!("{essence} ; Charset=\"UTF-8\"");
                    if let Ok(odd) = HeaderValue::from_str(&odd) {
                        headers.insert(CONTENT_TYPE, odd);
                    }
                }
            }
            Control::Tls => add_hsts(headers),
            Control::Headers => {
                for number in 0..40 {
                    let name = HeaderName::try_from(format!("x-unasked-{number}"));
                    if let Ok(name) = name {
                        headers.append(name.clone(), HeaderValue::from_static("one"));
                        headers.append(name, HeaderValue::from_static("two; with=\"more\""));
                    }
                }
            }
            _ => {}
        }
    }
}

impl Interceptor for ControlWire {
    fn question(&self, request: &mut InterceptedRequest) {
        if self.0 == Control::LongIds {
            request.path = request.path.replace(PREFIX, "");
            let body = String::from_utf8_lossy(&request.body).replace(PREFIX, "");
            if request.json.is_some() {
                request.json = serde_json::from_str(&body).ok();
                request.body = body.into();
            }
        }
    }

    fn instead(&self, request: &InterceptedRequest) -> Option<Response<Bytes>> {
        if self.0 != Control::ProtoForms || request.method != Method::POST {
            return None;
        }
        let has_parent = request
            .json
            .as_ref()
            .is_some_and(|it| it.get("parent").is_some());
        let (status, body) = match &*request.path {
            path if path.ends_with(":subscribe") => (StatusCode::METHOD_NOT_ALLOWED, ""),
            path if path.ends_with("/pushNotificationConfigs") && has_parent => {
                let error = r#"{"code": -32602, "message": "there is no configuration"}"#;
                (StatusCode::BAD_REQUEST, error)
            }
            _ => return None,
        };
        let mut answer = Response::new(Bytes::from_static(body.as_bytes()));
        *answer.status_mut() = status;
        let json = HeaderValue::from_static("application/json");
        answer.headers_mut().insert(CONTENT_TYPE, json);
        Some(answer)
    }

    fn answer(&self, request: &InterceptedRequest, answer: &mut Response<Bytes>) {
        self.headers(answer.headers_mut());
        let Ok(mut json) = serde_json::from_slice::<Value>(answer.body()) else {
            return;
        };
        let is_sent = request.path.ends_with("/message:send") && answer.status() == StatusCode::OK;
        if self.0 == Control::Created && is_sent {
            *answer.status_mut() = StatusCode::CREATED;
        }
        if self.0 == Control::Reasons && json["error"]["status"] == "INVALID_ARGUMENT" {
            for detail in json["error"]["details"]
                .as_array_mut()
                .into_iter()
                .flatten()
            {
                if detail["reason"] == "INVALID_PARAMS" {
                    detail["reason"] = json!("INVALID_REQUEST");
                    *answer.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
                }
            }
            json["error"]["code"] = json!(answer.status().as_u16());
        }
        self.change(&mut json);
        let text = match self.0 {
            Control::Pretty => format!("\n{json:#}\r\n"),
            _ => self.write(&json),
        };
        *answer.body_mut() = text.into();
    }

    fn head(&self, _: &InterceptedRequest, head: &mut Parts) {
        self.headers(&mut head.headers);
    }

    fn event(&self, _: &InterceptedRequest, event: &mut Value) {
        self.change(event);
    }

    fn block(&self, fields: &str, event: &Value) -> String {
        let data = self.write(event);
        match self.0 {
            Control::CarriageReturns => format!("{fields}data: {data}\n\n").replace('\n', "\r\n"),
            Control::Comments => {
                format!(
                    ":\n: an event\nretry: 3000\nevent: message\nunknown: field\n{fields}data:{data}\n\n"
                )
            }
            Control::Pretty => {
                let lines = format!("{event:#}");
                let lines = lines.lines().map(|line| format!("data: {line}\n"));
                format!("{fields}{}\n", lines.collect::<String>())
            }
            _ => format!("{fields}data: {data}\n\n"),
        }
    }

    fn preface(&self) -> &'static str {
        match self.0 {
            Control::ByteOrderMark => "\u{feff}",
            Control::Comments => ": welcome\n\n\n",
            _ => "",
        }
    }

    fn pieces(&self) -> BodyChunking {
        match self.0 {
            Control::Bytes => BodyChunking::Bytes,
            Control::Chunked => BodyChunking::Chunked,
            _ => BodyChunking::AsTheyCome,
        }
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        match self.0 {
            Control::Slow => Box::pin(tokio::time::sleep(SLOW)),
            _ => Box::pin(std::future::ready(())),
        }
    }
}

/// Time before the first byte.
const SLOW: Duration = Duration::from_millis(30);

/// Prefix of the ids of tasks.
const PREFIX: &str = "an-id-may-be-as-long-as-its-agent-likes-and-no-client-may-interpret-this-text-at-all-0123456789-\
    or-cut-it-off-or-write-it-in-other-letters-or-take-it-apart-0123456789.0123456789_0123456789~";

/// Changes every task, message, artifact and status. Data and metadata, which are the agent's, stay as they are.
fn each_thing(json: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    match json {
        Value::Object(members) => {
            let is_task = members.contains_key("id") && members.contains_key("status");
            let has = |name: &str| members.contains_key(name);
            if is_task || has("messageId") || has("artifactId") || has("state") {
                change(members);
            }
            let inner = members
                .iter_mut()
                .filter(|(name, _)| !is_of_the_agent(name));
            inner.for_each(|(_, member)| each_thing(member, change));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_thing(item, change)),
        _ => {}
    }
}

/// Gives listed tasks the members that they do not have.
fn pad(json: &mut Value) {
    let page = match json.get("result") {
        Some(_) => &mut json["result"],
        None => json,
    };
    let tasks = page.get_mut("tasks").and_then(Value::as_array_mut);
    for task in tasks.into_iter().flatten().filter_map(Value::as_object_mut) {
        task.entry("history").or_insert_with(|| json!([]));
        task.entry("metadata").or_insert_with(|| json!({}));
    }
}

fn is_of_the_agent(name: &str) -> bool {
    matches!(name, "data" | "metadata")
}

fn each_time(json: &mut Value, write: impl Fn(&str) -> String) {
    each_thing(json, &mut |thing| {
        if let Some(Value::String(time)) = thing.get_mut("timestamp") {
            *time = write(time);
        }
    });
}

fn translate(json: &mut Value) {
    let Some(Value::String(message)) = json
        .get_mut("error")
        .and_then(|error| error.get_mut("message"))
    else {
        return;
    };
    // A path is not translated.
    let place = message
        .split_once(": ")
        .map(|(place, _)| place)
        .filter(|place| place.starts_with('$'));
    *message = match place {
        Some(place) => format!("{place}: 値が正しくありません"),
        None => "リクエストを処理できません".to_owned(),
    };
}

/// Puts [`PREFIX`] before ids of tasks.
fn lengthen(json: &mut Value) {
    match json {
        Value::Object(members) => {
            let is_task = members.contains_key("status") && !members.contains_key("taskId");
            for (name, member) in members.iter_mut() {
                let is_id = name == "taskId" || is_task && name == "id";
                match member {
                    Value::String(id) if is_id => *id = format!("{PREFIX}{id}"),
                    member if !is_of_the_agent(name) => lengthen(member),
                    _ => {}
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(lengthen),
        _ => {}
    }
}
