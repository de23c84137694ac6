//! Bugs between the agent and the wire, as an interceptor.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use http::response::Parts;
use http::{HeaderMap, Response, StatusCode};
use serde_json::{Value, json};

use super::bug::Bug;
use super::faulty_grpc;
use super::interceptor::{InterceptedRequest, Interceptor};
use super::tls_front::add_hsts;

/// Interceptor with a bug.
#[derive(Debug)]
pub(super) struct FaultyWire {
    bug: Bug,
    /// `true` once the process has ended.
    is_down: AtomicBool,
}

impl FaultyWire {
    pub(super) fn new(bug: Bug) -> Self {
        Self {
            bug,
            is_down: AtomicBool::new(false),
        }
    }
}

impl Interceptor for FaultyWire {
    fn grpc_headers(&self, request: &InterceptedRequest, headers: &mut HeaderMap) {
        faulty_grpc::headers(self.bug, request, headers);
    }

    fn trailers(&self, request: &InterceptedRequest, trailers: &mut HeaderMap) {
        faulty_grpc::trailers(self.bug, request, trailers);
    }

    fn times_sent(&self, request: &InterceptedRequest) -> usize {
        match self.bug {
            Bug::GrpcMessageTwice if request.path.ends_with("/SendMessage") => 2,
            _ => 1,
        }
    }

    fn question(&self, request: &mut InterceptedRequest) {
        if let (Bug::ServesWithoutJsonrpc | Bug::ServesIncompleteMessage, Some(json)) =
            (self.bug, &mut request.json)
            && complete(self.bug, json)
        {
            request.body = json.to_string().into();
        }
        // A notification gets an id, and so an answer.
        if self.bug == Bug::AnswersNotifications
            && let Some(Value::Object(members)) = &mut request.json
            && members.contains_key("method")
            && !members.contains_key("id")
        {
            members.insert("id".to_owned(), Value::Null);
            request.body = request
                .json
                .as_ref()
                .map(Value::to_string)
                .unwrap_or_default()
                .into();
        }
    }

    fn instead(&self, request: &InterceptedRequest) -> Option<Response<Bytes>> {
        match self.bug {
            Bug::RefusesEmptyVersion if request.version.as_deref() == Some("") => {
                let id = request.json.as_ref().map(|json| json["id"].clone());
                let error = json!({"code": -32009, "message": "Version not supported"});
                let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
                Some(document(
                    StatusCode::OK,
                    "application/json",
                    body.to_string(),
                ))
            }
            Bug::RefusesUnknownMember => {
                let member = unknown_member(request.json.as_ref()?.get("params")?)?;
                let id = request.json.as_ref().map(|json| json["id"].clone());
                let error = json!({"code": -32602, "message": format!("unknown field `{member}`")});
                let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
                Some(document(
                    StatusCode::OK,
                    "application/json",
                    body.to_string(),
                ))
            }
            Bug::PromisesMissingStreams
                if request
                    .rpc_method()
                    .is_some_and(|method| FOLLOWING.contains(&method)) =>
            {
                let id = request.json.as_ref().map(|json| json["id"].clone());
                let error = json!({"code": -32601, "message": "Method not found"});
                let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
                Some(document(
                    StatusCode::OK,
                    "application/json",
                    body.to_string(),
                ))
            }
            Bug::RefusesMediaTypeParameter | Bug::RestRefusesMediaTypeParameter
                if request.has_media_type_parameter =>
            {
                let text = "expected application/json";
                Some(document(
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    "text/plain",
                    text.to_owned(),
                ))
            }
            Bug::CrashesOnDeepJson => {
                // It is started again once the next caller has noticed.
                if depth(&request.body) > 500 {
                    self.is_down.store(true, Ordering::SeqCst);
                } else if !self.is_down.swap(false, Ordering::SeqCst) {
                    return None;
                }
                let text = "upstream connect error or disconnect before headers";
                Some(document(
                    StatusCode::BAD_GATEWAY,
                    "text/plain",
                    text.to_owned(),
                ))
            }
            _ => None,
        }
    }

    fn answer(&self, request: &InterceptedRequest, answer: &mut Response<Bytes>) {
        if self.bug == Bug::AcceptsOldTls {
            add_hsts(answer.headers_mut());
        }
        let Ok(mut json) = serde_json::from_slice::<Value>(answer.body()) else {
            return;
        };
        let code = json["error"]["code"].as_i64();
        match (self.bug, code) {
            (Bug::RepeatsSecrets, _) if answer.status() == StatusCode::UNAUTHORIZED => {
                let shown = request.authorization.as_deref().unwrap_or_default();
                let error = match json.get("error") {
                    Some(_) => &mut json["error"],
                    None => &mut json,
                };
                error["message"] = format!("the credentials `{shown}` are wrong").into();
            }
            (Bug::NoChallenge, _) if answer.status() == StatusCode::UNAUTHORIZED => {
                answer.headers_mut().remove(WWW_AUTHENTICATE);
                return;
            }
            (Bug::ResponseIdAsText, _) if json["id"].is_number() => {
                json["id"] = json!(json["id"].to_string())
            }
            (Bug::NoJsonrpcMember, _) => without(&mut json, "jsonrpc"),
            (Bug::JsonrpcIsNumber, _) => json["jsonrpc"] = json!(2.0),
            (Bug::ResultAndError, Some(_)) => json["result"] = Value::Null,
            (Bug::ResultAndError, None) if json.get("result").is_some() => {
                json["error"] = Value::Null
            }
            (Bug::NoParseError, Some(-32700)) => json["error"]["code"] = json!(-32600),
            (Bug::CodeDiffersFromReason, Some(-32001)) => json["error"]["code"] = json!(-32050),
            (Bug::HtmlForUnknownMethod, Some(-32601)) => {
                let page = "<html><body><h1>404 Not Found</h1></body></html>";
                *answer = document(StatusCode::NOT_FOUND, "text/html", page.to_owned());
                return;
            }
            (Bug::ListSpellsOldStates, _) => {
                let Some(tasks) = page(&mut json).get_mut("tasks") else {
                    return;
                };
                spell_as_before(tasks);
            }
            (Bug::SpellsOldRoles, _) if request.version.as_deref() == Some("1.0") => {
                let text = json.to_string();
                let text = text.replace("\"ROLE_USER\"", "\"user\"");
                *answer.body_mut() = text.replace("\"ROLE_AGENT\"", "\"agent\"").into();
                return;
            }
            (Bug::GrpcRenamesArtifacts, _) if request.grpc.is_some() => {
                let Some(artifact) = json.pointer_mut("/task/artifacts/0") else {
                    return;
                };
                artifact["artifactId"] = json!("renamed");
            }
            (Bug::StatusUnknown, Some(_)) if json["error"]["status"].is_string() => {
                json["error"]["status"] = json!("UNKNOWN");
            }
            (Bug::WebhookHasOtherUrl, None)
                if request
                    .rpc_method()
                    .is_some_and(|name| GETTING.contains(&name)) =>
            {
                let result = &mut json["result"];
                let config = match result.get("pushNotificationConfig") {
                    Some(_) => &mut result["pushNotificationConfig"],
                    None => result,
                };
                config["url"] = json!("https://another.example/webhook");
            }
            (Bug::LosesArtifacts, None)
                if request
                    .rpc_method()
                    .is_some_and(|name| READING.contains(&name)) =>
            {
                let task = &mut json["result"];
                if task["artifacts"][0]["parts"][0]["text"] == "hello" {
                    without(task, "artifacts");
                }
            }
            (Bug::LastPageWithoutToken, _) => {
                let page = page(&mut json);
                if page.get("nextPageToken").is_some_and(|token| token == "") {
                    without(page, "nextPageToken");
                }
            }
            _ => return,
        }
        *answer.body_mut() = json.to_string().into();
    }

    fn head(&self, request: &InterceptedRequest, head: &mut Parts) {
        let follows = match request.rpc_method() {
            Some(method) => FOLLOWING.contains(&method),
            None => request.path.ends_with(":subscribe"),
        };
        let is_grpc_error = request.grpc.is_some() && head.headers.contains_key("grpc-status");
        let is_plain_text = match self.bug {
            Bug::SubscriptionIsPlainText => follows && request.grpc.is_none(),
            Bug::GrpcErrorIsPlainText => is_grpc_error && request.path.ends_with("/GetTask"),
            _ => false,
        };
        if is_plain_text {
            let text = HeaderValue::from_static("text/plain");
            head.headers.insert(CONTENT_TYPE, text);
        }
    }

    fn event(&self, _: &InterceptedRequest, event: &mut Value) {
        if self.bug == Bug::EventsWithoutEnvelope {
            *event = event["result"].take();
        }
    }
}

fn document(status: StatusCode, media_type: &'static str, body: String) -> Response<Bytes> {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    let media_type = HeaderValue::from_static(media_type);
    answer.headers_mut().insert(CONTENT_TYPE, media_type);
    answer
}

fn without(json: &mut Value, member: &str) {
    if let Some(members) = json.as_object_mut() {
        members.remove(member);
    }
}

/// Returns the result that an answer carries, in either binding.
fn page(json: &mut Value) -> &mut Value {
    match json.get("result") {
        Some(_) => &mut json["result"],
        None => json,
    }
}

fn spell_as_before(json: &mut Value) {
    match json {
        Value::String(text) if text == "TASK_STATE_COMPLETED" => "completed".clone_into(text),
        Value::Object(members) => members.values_mut().for_each(spell_as_before),
        Value::Array(items) => items.iter_mut().for_each(spell_as_before),
        _ => {}
    }
}

/// A member of the params, the message or a part that no version knows.
fn unknown_member(params: &Value) -> Option<&str> {
    let (message, configuration) = (params.get("message"), params.get("configuration"));
    let parts = message.and_then(|message| message["parts"].as_array());
    let objects = [
        (Some(params), PARAMS),
        (message, MESSAGE),
        (configuration, CONFIGURATION),
    ];
    let parts = parts.into_iter().flatten().map(|part| (Some(part), PART));
    objects
        .into_iter()
        .chain(parts)
        .find_map(|(object, known)| {
            let members = object?.as_object()?;
            let unknown = |name: &&String| !known.contains(&name.as_str());
            members.keys().find(unknown).map(String::as_str)
        })
}

#[rustfmt::skip]
const PARAMS: &[&str] = &[
    "message", "configuration", "metadata", "tenant", "id", "sessionId", "acceptedOutputModes", "pushNotification", "taskId", "contextId", "historyLength", "pageSize",
    "pageToken", "status", "statusTimestampAfter", "includeArtifacts", "url", "token", "authentication",
    "pushNotificationConfig",
];
#[rustfmt::skip]
const MESSAGE: &[&str] = &[
    "messageId", "contextId", "taskId", "role", "parts", "metadata", "extensions", "referenceTaskIds", "kind",
];
#[rustfmt::skip]
const CONFIGURATION: &[&str] = &[
    "acceptedOutputModes", "taskPushNotificationConfig", "historyLength", "returnImmediately", "blocking",
    "pushNotificationConfig",
];
#[rustfmt::skip]
const PART: &[&str] = &[
    "text", "raw", "url", "data", "metadata", "filename", "mediaType", "kind", "file",
];

/// Adds the missing members of a request, and returns whether it added any.
fn complete(bug: Bug, json: &mut Value) -> bool {
    let is_request = json["method"].is_string();
    match bug {
        Bug::ServesWithoutJsonrpc if is_request && json.get("jsonrpc").is_none() => {
            json["jsonrpc"] = json!("2.0");
            true
        }
        Bug::ServesIncompleteMessage if json["params"]["message"]["parts"].is_array() => {
            let Some(message) = json["params"]["message"].as_object_mut() else {
                return false;
            };
            let before = message.len();
            message.entry("role").or_insert_with(|| json!("user"));
            message
                .entry("messageId")
                .or_insert_with(|| json!("made-up"));
            message.len() > before
        }
        _ => false,
    }
}

const GETTING: &[&str] = &[
    "GetTaskPushNotificationConfig",
    "tasks/pushNotificationConfig/get",
];
const READING: &[&str] = &["GetTask", "tasks/get"];

#[rustfmt::skip]
const FOLLOWING: &[&str] = &["tasks/resubscribe", "SubscribeToTask"];

/// Returns how deep the brackets of a text are nested.
fn depth(text: &[u8]) -> usize {
    let depths = text.iter().scan(0_usize, |depth, byte| {
        match byte {
            b'[' | b'{' => *depth += 1,
            b']' | b'}' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(*depth)
    });
    depths.max().unwrap_or(0)
}
