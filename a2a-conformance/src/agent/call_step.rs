//! Steps of a case whose requests are answered once.

use std::time::Duration;

use a2a_transport::sse::{Bounds, Decoder};
use a2a_transport::{Binding, Error, ResponseContext};
use a2a_types::{Operation, ProtocolVersion, Request};
use bytes::Bytes;
use http::header::HeaderMap;
use serde_json::{Value, json};
use uuid::Uuid;

use super::case_run::{CaseRun, StopReason};
use super::event_stream::is_event_stream;
use super::expectation;
use super::grpc;
use super::interface::Interface;
use super::patience::RAW_ANSWER;
use crate::case::{RawHttpRequest, Step, merge_patch};
use crate::judge::response::{self, RawRequest};
use crate::record::Mismatch;
use crate::wire::exchange::{
    AgentResponse, ResponseContent, WireRequest, origin, path, percent_encoded, set_header, task_of,
};

/// Calls an operation; again and again until the answer is as expected or the time is over, if the step says so.
pub(super) async fn call(run: &mut CaseRun<'_>, step: &Step, name: &str) -> Result<(), StopReason> {
    let interface = run.interface_of(step)?;
    let deadline = tokio::time::Instant::now() + interface.response_timeout;
    loop {
        let (outgoing, envelope) = write(run, interface, step, name)?;
        let answered = interface
            .ask(run.number(), outgoing, &envelope, step.caller)
            .await;
        let late = tokio::time::Instant::now() >= deadline;
        if step.eventually
            && !late
            && !expectation::answer(run, &step.expect, &answered)?.is_empty()
        {
            tokio::time::sleep(RETRY_PAUSE).await;
            continue;
        }
        return conclude(run, step, answered);
    }
}

/// Sends a raw request, as the case writes it.
pub(super) async fn http(
    run: &mut CaseRun<'_>,
    step: &Step,
    http: &RawHttpRequest,
) -> Result<(), StopReason> {
    let interface = run.interface_of(step)?;
    let target = run.fill_text(&http.path)?;
    let url = match target.strip_prefix("//") {
        Some(target) => format!("{}/{target}", origin(&interface.url)),
        None if target.starts_with("http") => target,
        None if target.is_empty() => interface.url.clone(),
        None => format!("{}{target}", interface.url.trim_end_matches('/')),
    };
    let body = raw_body(run, http)?;
    let is_grpc = grpc::is_service(path(&url));
    let frame = body.clone().filter(|_| is_grpc && http.bytes.is_some());
    let mut headers = interface.usual_headers(body.is_some());
    if is_grpc {
        grpc::write_headers(&mut headers);
    }
    add_headers(run, step, &mut headers)?;
    let outgoing = WireRequest {
        method: http.method.clone().unwrap_or_else(|| "POST".to_owned()),
        url,
        headers,
        body,
        is_grpc,
        frame: frame.map(Bytes::from),
        params: Value::Null,
        is_altered: true,
        has_title_case_headers: has_capitals(run, step)?,
    };
    let json = outgoing.body.as_deref();
    let json = json.and_then(|body| serde_json::from_slice::<Value>(body).ok());
    let json = json.unwrap_or_default();
    let (envelope, is_known) = envelope_of(interface, &outgoing, &json);
    let raw = RawRequest {
        is_of_interface: is_of_interface(interface, &outgoing),
        is_known,
        json: &json,
    };
    let (mut answered, body) = interface
        .exchange(run.number(), outgoing, RAW_ANSWER, step.caller)
        .await;
    if answered.evidence.failure.is_none() {
        let judge = &interface.judge;
        answered.outcome = response::read(judge, &envelope, answered.status, &body);
        let findings = response::check_raw(judge, &envelope, &raw, &answered);
        judge.record(findings, &answered.evidence);
    }
    if answered.json.is_none() {
        answered.json = first_event(&answered.headers, &body);
    }
    conclude(run, step, answered)
}

fn raw_body(run: &CaseRun<'_>, http: &RawHttpRequest) -> Result<Option<Vec<u8>>, StopReason> {
    if let Some(bytes) = &http.bytes {
        let digits: Vec<_> = bytes.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pairs = digits.chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).unwrap_or_default();
            u8::from_str_radix(pair, 16).unwrap_or_default()
        });
        return Ok(Some(pairs.collect()));
    }
    Ok(match (&http.body, &http.repeat) {
        (None, None) => None,
        (piece, Some((before, times, after))) => {
            let piece = piece.as_ref().and_then(Value::as_str).unwrap_or_default();
            let (before, after) = (run.fill_text(before)?, run.fill_text(after)?);
            Some(format!("{before}{}{after}", piece.repeat(*times)).into_bytes())
        }
        (Some(Value::String(text)), None) => Some(run.fill_text(text)?.into_bytes()),
        (Some(value), None) => {
            let mut value = run.fill(value)?;
            add_tenant(run, &mut value);
            Some(value.to_string().into_bytes())
        }
    })
}

/// Adds the tenant of the interface to a raw request of its version, as every request must have it (1.0 §8.3.2).
fn add_tenant(run: &CaseRun<'_>, body: &mut Value) {
    let Some(tenant) = &run.interface.tenant else {
        return;
    };
    let holder = match run.interface.binding {
        Binding::JsonRpc => body.get_mut("params"),
        _ => Some(body).filter(|body| body.get("message").is_some()),
    };
    if let Some(Value::Object(holder)) = holder {
        let tenant = tenant.as_str();
        holder.entry("tenant").or_insert_with(|| tenant.into());
    }
}

/// Judges the answer to the request of a step, and keeps what later steps may need of it.
fn conclude(run: &mut CaseRun<'_>, step: &Step, answered: AgentResponse) -> Result<(), StopReason> {
    let found = run.judge_step(step, |run, expect| {
        expectation::answer(run, expect, &answered)
    });
    let index = run.evidence.len();
    let text = answered.evidence.response.as_ref();
    let text = text.map_or_else(String::new, |response| response.body.clone());
    run.evidence.push(answered.evidence);
    run.mismatches
        .extend(found?.into_iter().map(|mismatch| Mismatch {
            evidence: Some(index),
            ..mismatch
        }));
    if let Some(name) = &step.r#as {
        let body = answered.json.unwrap_or_default();
        let value = match answered.outcome {
            ResponseContent::Result(value) => value,
            _ => body.clone(),
        };
        // An error may have a status, too, and no id.
        let id = task_of(&value).and_then(|task| task["id"].as_str());
        let id = id.map(Value::from);
        run.put_result(name, value, id);
        run.names.put(&format!("{name}_body"), body);
        run.names.put(&format!("{name}_text"), text.into());
        run.names.put(&format!("{name}_headers"), answered.headers);
    }
    Ok(())
}

/// Makes several calls concurrently; each is judged by itself.
pub(super) async fn together(run: &mut CaseRun<'_>, step: &Step) -> Result<(), StopReason> {
    let (interface, number) = (run.interface, run.number());
    let mut requests = Vec::new();
    for step in &step.together {
        let name = step.call.as_deref().unwrap_or_default();
        let (outgoing, envelope) = write(run, interface, step, name)?;
        requests.push((step, outgoing, envelope));
    }
    let asking = requests
        .into_iter()
        .map(|(step, outgoing, envelope)| async move {
            let answered = interface
                .ask(number, outgoing, &envelope, step.caller)
                .await;
            (step, answered)
        });
    for (step, answered) in futures_util::future::join_all(asking).await {
        conclude(run, step, answered)?;
    }
    Ok(())
}

/// Writes the request of a step for an operation.
pub(super) fn write(
    run: &CaseRun<'_>,
    interface: &Interface,
    step: &Step,
    name: &str,
) -> Result<(WireRequest, ResponseContext), StopReason> {
    let mut params = run.fill(&run.without_absent_context_ids(&step.params, None))?;
    if let (Some(tenant), Value::Object(params)) = (&interface.tenant, &mut params) {
        let tenant = || tenant.as_str().into();
        params.entry("tenant").or_insert_with(tenant);
    }
    complete(&mut params);
    let may_be_early = matches!(
        interface.protocol_version,
        ProtocolVersion::V0_2 | ProtocolVersion::V0_3
    );
    if name == "SendMessage" && may_be_early && run.is_instrumented {
        wait(&mut params);
    }
    let canonical = params.clone();
    let request = request(name, params).map_err(|problem| run.setup_failed(&problem))?;
    let id = step.id.as_ref().map(|id| run.fill(id)).transpose()?;
    let written = interface.write(request, id.as_ref());
    let (mut outgoing, envelope) = written.map_err(|error| match error {
        Error::NotSupported { .. } => StopReason::OperationNotInVersion,
        error => run.setup_failed(&error.to_string()),
    })?;
    let is_media_type = |name: &String| name.eq_ignore_ascii_case("content-type");
    outgoing.is_altered =
        step.alter.is_some() || step.envelope.is_some() || step.headers.keys().any(is_media_type);
    if step.alter.is_none() && step.envelope.is_none() {
        outgoing.params = as_sent(interface, canonical, &outgoing);
    }
    if let Some(patch) = &step.alter {
        alter(interface.binding, &mut outgoing, &run.fill(patch)?);
    }
    if let (Some(patch), Binding::JsonRpc) = (&step.envelope, interface.binding) {
        let patch = run.fill(patch)?;
        change(&mut outgoing.body, |whole| merge_patch(whole, &patch));
    }
    if interface.binding == Binding::Grpc {
        let json = outgoing.body.as_deref().unwrap_or_default();
        let frame = grpc::framed(path(&outgoing.url), json);
        outgoing.frame = Some(frame.map_err(|problem| {
            StopReason::NotApplicable(format!("gRPC has no such request: {problem}"))
        })?);
    }
    if let Some(verb) = &step.verb {
        outgoing.method.clone_from(verb);
        if verb == "GET" {
            outgoing.body = None;
            outgoing.headers.remove("content-type");
        }
    }
    add_headers(run, step, &mut outgoing.headers)?;
    outgoing.has_title_case_headers = has_capitals(run, step)?;
    Ok((outgoing, envelope))
}

/// Returns whether the step writes the name of a header with capitals.
fn has_capitals(run: &CaseRun<'_>, step: &Step) -> Result<bool, StopReason> {
    for name in step.headers.keys() {
        if run.fill_text(name)?.contains(char::is_uppercase) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn add_headers(run: &CaseRun<'_>, step: &Step, headers: &mut HeaderMap) -> Result<(), StopReason> {
    for (name, value) in &step.headers {
        let value = value.as_ref().map(|value| run.fill_text(value));
        let (name, value) = (run.fill_text(name)?, value.transpose()?);
        set_header(headers, &name, value.as_deref())
            .map_err(|problem| run.setup_failed(&problem))?;
    }
    Ok(())
}

/// Changes the params, in the body or the query.
fn alter(binding: Binding, outgoing: &mut WireRequest, patch: &Value) {
    match (binding, &outgoing.body) {
        (Binding::JsonRpc, _) => change(&mut outgoing.body, |whole| {
            if let Some(whole) = whole.as_object_mut() {
                let params = whole.entry("params").or_insert_with(|| json!({}));
                merge_patch(params, patch);
            }
        }),
        (_, Some(_)) => change(&mut outgoing.body, |whole| merge_patch(whole, patch)),
        (_, None) => {
            for (name, value) in patch.as_object().into_iter().flatten() {
                let sign = if outgoing.url.contains('?') { '&' } else { '?' };
                let value = match value {
                    Value::String(text) => percent_encoded(text),
                    other => percent_encoded(&other.to_string()),
                };
                outgoing.url.push_str(&format!("{sign}{name}={value}"));
            }
        }
    }
}

fn change(body: &mut Option<Vec<u8>>, change: impl FnOnce(&mut Value)) {
    let whole = body
        .as_deref()
        .and_then(|body| serde_json::from_slice(body).ok());
    if let Some(mut whole) = whole {
        change(&mut whole);
        *body = Some(whole.to_string().into_bytes());
    }
}

/// Returns the first event of a stream, which is the only one of a refusal.
fn first_event(headers: &Value, body: &[u8]) -> Option<Value> {
    if !is_event_stream(headers) {
        return None;
    }
    let mut decoder = Decoder::new(Bounds::default());
    let mut events = decoder.push(body).ok()?;
    events.extend(decoder.finish().ok()?);
    serde_json::from_slice(&events.first()?.data).ok()
}

/// Returns the envelope by which the answer to a raw request is read, and whether the request is one of
/// the version.
fn envelope_of(
    interface: &Interface,
    outgoing: &WireRequest,
    json: &Value,
) -> (ResponseContext, bool) {
    let operation = match interface.binding {
        Binding::JsonRpc => {
            let method = json["method"].as_str().and_then(ProtocolVersion::of_method);
            let method = method.filter(|method| {
                method
                    .protocol_versions
                    .contains(&interface.protocol_version)
            });
            method.map(|method| method.operation)
        }
        Binding::Grpc => {
            let at = grpc::operation_at(path(&outgoing.url));
            at.map(|(operation, _)| operation)
        }
        _ => {
            let path = outgoing.url.split('?').next().unwrap_or_default();
            let route = ROUTES
                .iter()
                .find(|(method, end, _)| *method == outgoing.method && path.ends_with(end));
            route.map(|(_, _, operation)| *operation)
        }
    };
    let id = serde_json::from_value(json["id"].clone());
    let operation_or_get = operation.unwrap_or(Operation::GetTask);
    let mut envelope = ResponseContext::new(
        interface.protocol_version,
        interface.binding,
        operation_or_get,
    );
    envelope.id = Some(id.unwrap_or(a2a_jsonrpc::Id::Null));
    (envelope, operation.is_some())
}

/// Routes of the raw requests in cases: method, end of the path, operation.
const ROUTES: &[(&str, &str, Operation)] = &[
    ("POST", "/message:send", Operation::SendMessage),
    ("GET", "/tasks", Operation::ListTasks),
];

/// Returns whether a request goes to the interface, and not to the card or another URL of the agent.
fn is_of_interface(interface: &Interface, outgoing: &WireRequest) -> bool {
    let path = outgoing.url.split('?').next().unwrap_or_default();
    let own = interface.url.split('?').next().unwrap_or_default();
    match interface.binding {
        Binding::JsonRpc => outgoing.method == "POST" && path == own,
        Binding::Grpc => outgoing.is_grpc,
        _ => path.starts_with(own) && !path.contains("/.well-known/"),
    }
}

/// Returns the params of a request as they were sent: in 0.1 callers name tasks and sessions.
fn as_sent(interface: &Interface, mut params: Value, outgoing: &WireRequest) -> Value {
    if let (ProtocolVersion::V0_1, Some(body)) = (interface.protocol_version, &outgoing.body)
        && params["message"].is_object()
        && let Ok(json) = serde_json::from_slice::<Value>(body)
    {
        for (name, own) in [("taskId", "id"), ("contextId", "sessionId")] {
            if let Some(id) = json["params"].get(own) {
                params["message"][name] = id.clone();
            }
        }
    }
    params
}

/// Adds the role and id of the message, which cases leave out.
fn complete(params: &mut Value) {
    if params.is_null() {
        *params = json!({});
    }
    if let Some(message) = params.get_mut("message").and_then(Value::as_object_mut) {
        message.entry("role").or_insert_with(|| "ROLE_USER".into());
        let id = || Value::from(Uuid::new_v4().to_string());
        message.entry("messageId").or_insert_with(id);
    }
}

/// Asks the agent to wait, unless the case has a `configuration`: the behaviour contract promises the
/// task at rest.
fn wait(params: &mut Value) {
    if let Some(params) = params.as_object_mut() {
        let waits = || json!({"returnImmediately": false});
        params.entry("configuration").or_insert_with(waits);
    }
}

/// Reads the params of an operation as a request.
fn request(name: &str, params: Value) -> Result<Request, String> {
    let bad = |error: serde_json::Error| format!("the params of {name}: {error}");
    macro_rules! read {
        ($($operation:ident)*) => {
            match name {
                $(stringify!($operation) => {
                    serde_json::from_value(params).map(Request::$operation).map_err(bad)
                })*
                _ => Err(format!("`{name}` is not an operation")),
            }
        };
    }
    read!(SendMessage SendStreamingMessage GetTask ListTasks CancelTask SubscribeToTask
        CreateTaskPushNotificationConfig GetTaskPushNotificationConfig
        ListTaskPushNotificationConfigs DeleteTaskPushNotificationConfig GetExtendedAgentCard)
}

/// Pause before a request is repeated.
const RETRY_PAUSE: Duration = Duration::from_millis(30);
