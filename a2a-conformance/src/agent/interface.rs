//! An interface of the agent under test: requests to it, and its answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use a2a_jsonrpc::Id;
use a2a_transport::binding::{OutgoingCall, write_call};
use a2a_transport::http::HttpClient;
use a2a_transport::{Binding, Error, ResponseContext};
use a2a_types::{Operation, ProtocolVersion, Request};
use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::callers::Callers;
use super::grpc;
use super::patience::{Awaited, Patience};
use super::title_case_headers;
use crate::case::Caller;
use crate::judge::{self, Judge, errors, response};
use crate::record::{Evidence, HttpMessage};
use crate::wire::exchange::{
    AgentResponse, Problem, ResponseBody, ResponseContent, WireRequest, add_body, boxed, causes,
    headers_as_json, headers_as_pairs, origin, path, percent_encoded,
};

/// An interface of the agent under test: one protocol version in one binding.
pub(crate) struct Interface {
    pub(crate) protocol_version: ProtocolVersion,
    pub(crate) binding: Binding,
    /// URL of the interface.
    pub(crate) url: String,
    /// Tenant that every request to it names.
    pub(crate) tenant: Option<String>,
    /// Extensions that the card requires, as the value of a header.
    pub(crate) extensions: Option<HeaderValue>,
    pub(crate) http: HttpClient,
    /// The client of callers without credentials, if that of the others has a client certificate.
    pub(crate) anonymous_http: Option<HttpClient>,
    pub(crate) callers: Arc<Callers>,
    /// Time within which the agent must answer.
    pub(crate) response_timeout: Duration,
    pub(crate) patience: Arc<Patience>,
    /// Time within which the agent must notify a webhook.
    pub(crate) delivery_timeout: Duration,
    pub(crate) judge: Judge,
    pub(crate) next_id: AtomicU64,
    /// `Ok` if the agent accepts the suite's webhooks, else its reason; requested once.
    pub(crate) webhooks: OnceCell<Result<(), String>>,
}

impl Interface {
    /// Writes a request for the version and binding; the envelope says how it will be answered.
    pub(crate) fn write(
        &self,
        request: Request,
        id: Option<&Value>,
    ) -> Result<(WireRequest, ResponseContext), Error> {
        let id = match id {
            Some(id) => serde_json::from_value(id.clone()).unwrap_or(Id::Null),
            None => Id::number(self.next_id.fetch_add(1, Ordering::Relaxed)),
        };
        let streams = request.operation().is_stream();
        let asking = write_call(request, self.protocol_version, self.binding, &id)?;
        let OutgoingCall {
            method,
            target,
            body,
            envelope,
            ..
        } = asking;
        let mut headers = self.usual_headers(body.is_some());
        if self.binding == Binding::Grpc {
            grpc::write_headers(&mut headers);
        }
        let accept = match (streams, self.binding, self.protocol_version) {
            (_, Binding::Grpc, _) => None,
            (true, ..) => Some("text/event-stream"),
            (false, Binding::HttpJson, ProtocolVersion::V1_0) => {
                Some("application/a2a+json, application/json")
            }
            (false, ..) => Some("application/json"),
        };
        if let Some(accept) = accept {
            headers.insert("accept", HeaderValue::from_static(accept));
        }
        let outgoing = WireRequest {
            method: method.to_string(),
            url: format!("{}{target}", self.base(&target)),
            headers,
            body,
            is_grpc: self.binding == Binding::Grpc,
            frame: None,
            params: Value::Null,
            is_altered: false,
            has_title_case_headers: false,
        };
        Ok((outgoing, envelope))
    }

    fn base(&self, target: &str) -> &str {
        match target.is_empty() {
            // A service of gRPC has its place at the root.
            _ if self.binding == Binding::Grpc => origin(&self.url),
            true => &self.url,
            false => self.url.trim_end_matches('/'),
        }
    }

    /// Returns the headers that every request of this version has.
    pub(crate) fn usual_headers(&self, has_body: bool) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if has_body {
            let media_type = match (self.binding, self.protocol_version) {
                (Binding::HttpJson, ProtocolVersion::V1_0) => "application/a2a+json",
                _ => "application/json",
            };
            headers.insert("content-type", HeaderValue::from_static(media_type));
        }
        if self.protocol_version == ProtocolVersion::V1_0 {
            headers.insert("a2a-version", HeaderValue::from_static("1.0"));
        }
        let name = match self.protocol_version {
            ProtocolVersion::V1_0 => "a2a-extensions",
            _ => "x-a2a-extensions",
        };
        if let Some(required) = &self.extensions {
            headers.insert(name, required.clone());
        }
        headers
    }

    /// Returns a request in the other form that 0.3 has for it by HTTP+JSON, where its text and its proto differ: a
    /// subscription is a POST or a GET; the id of a push notification config is next to the config or in
    /// the query.
    pub(super) fn in_other_form(
        &self,
        operation: Operation,
        written: &WireRequest,
    ) -> Option<WireRequest> {
        if (self.binding, self.protocol_version) != (Binding::HttpJson, ProtocolVersion::V0_3)
            || written.is_altered
        {
            return None;
        }
        match operation {
            Operation::SubscribeToTask => Some(WireRequest {
                method: "GET".to_owned(),
                ..written.clone()
            }),
            Operation::CreateTaskPushNotificationConfig => {
                let mut body: Value = serde_json::from_slice(written.body.as_deref()?).ok()?;
                let (task, mut config) = (body["parent"].take(), body["config"].take());
                let id = body["configId"].as_str();
                let query = id.map(|id| format!("?configId={}", percent_encoded(id)));
                if config.get("name").is_none() {
                    config["name"] = task;
                }
                Some(WireRequest {
                    url: format!("{}{}", written.url, query.unwrap_or_default()),
                    body: Some(config.to_string().into_bytes()),
                    ..written.clone()
                })
            }
            _ => None,
        }
    }

    /// Sends a request, and reads the whole answer.
    pub(crate) async fn exchange(
        &self,
        step: usize,
        outgoing: WireRequest,
        awaited: Awaited,
        caller: Caller,
    ) -> (AgentResponse, Bytes) {
        let began = Instant::now();
        let limit = self.patience.limit(awaited, self.response_timeout);
        let (mut evidence, response) = self.send(step, outgoing, limit, caller).await;
        let mut answered = AgentResponse {
            late: false,
            evidence: Evidence::default(),
            protocol_version: self.protocol_version,
            binding: self.binding,
            status: 0,
            headers: Value::Null,
            json: None,
            outcome: ResponseContent::Nothing(Problem::default()),
        };
        let mut body = Bytes::new();
        match response {
            Err(problem) => answered.outcome = ResponseContent::Nothing(problem),
            Ok(response) => {
                let (head, incoming) = response.into_parts();
                answered.status = head.status.as_u16();
                answered.headers = headers_as_json(&head.headers);
                let limited = http_body_util::Limited::new(incoming, MAX_BODY);
                let collected = tokio::time::timeout(limit, limited.collect()).await;
                match collected {
                    Ok(Ok(whole)) => body = whole.to_bytes(),
                    Ok(Err(error)) => {
                        answered.outcome = ResponseContent::Nothing(
                            format!("the answer broke off: {error}").into(),
                        );
                    }
                    Err(_) => {
                        answered.outcome =
                            ResponseContent::Nothing("the answer has no end".to_owned().into());
                    }
                }
                answered.json = serde_json::from_slice(&body).ok();
                if let Some(half) = &mut evidence.response {
                    add_body(half, &body);
                }
            }
        }
        if let ResponseContent::Nothing(problem) = &answered.outcome
            && !problem.text.is_empty()
        {
            evidence.failure = Some(problem.text.clone());
            answered.late = began.elapsed() >= limit;
        }
        match answered.late {
            true => self.patience.note_missed(awaited),
            false => self.patience.note_received(awaited),
        }
        answered.evidence = evidence;
        (answered, body)
    }

    /// Calls an operation that is answered once, and checks the answer.
    pub(crate) async fn ask(
        &self,
        step: usize,
        outgoing: WireRequest,
        envelope: &ResponseContext,
        caller: Caller,
    ) -> AgentResponse {
        let (params, is_altered) = (outgoing.params.clone(), outgoing.is_altered);
        self.judge.record_message(&params);
        let awaited = envelope.operation.name();
        let other = self.in_other_form(envelope.operation, &outgoing);
        let (mut answered, mut body) = self.exchange(step, outgoing, awaited, caller).await;
        if let Some(other) = other.filter(|_| answered.status == 400) {
            let again = self.exchange(step, other, awaited, caller).await;
            if again.0.status != answered.status {
                (answered, body) = again;
            }
        }
        if answered.evidence.failure.is_none() {
            answered.outcome = response::read(&self.judge, envelope, answered.status, &body);
            let findings = match is_altered {
                true => errors::internals(&answered).into_iter().collect(),
                false => response::check(&self.judge, envelope, &params, &answered),
            };
            self.judge.record(findings, &answered.evidence);
        }
        answered
    }

    pub(super) async fn send(
        &self,
        step: usize,
        outgoing: WireRequest,
        limit: Duration,
        caller: Caller,
    ) -> (Evidence, Result<http::Response<ResponseBody>, Problem>) {
        let WireRequest {
            method,
            url,
            mut headers,
            body,
            is_grpc,
            frame,
            has_title_case_headers,
            ..
        } = outgoing;
        for (name, value) in &self.callers.headers(caller) {
            headers.insert(name.clone(), value.clone());
        }
        let mut evidence = Evidence {
            step,
            request: HttpMessage {
                start: format!("{method} {url}"),
                headers: headers_as_pairs(&headers),
                ..HttpMessage::default()
            },
            ..Evidence::default()
        };
        add_body(&mut evidence.request, body.as_deref().unwrap_or_default());
        // The evidence does not have it: it is secret.
        let query = self.callers.query(caller);
        let separator = if url.contains('?') { "&" } else { "?" };
        let target = match query.as_str() {
            "" => url.clone(),
            query => format!("{url}{separator}{query}"),
        };
        let body = match (frame, is_grpc) {
            (Some(frame), _) => frame,
            (None, true) => match grpc::framed(path(&url), &body.unwrap_or_default()) {
                Ok(frame) => frame,
                Err(problem) => return (evidence, Err(problem.into())),
            },
            (None, false) => body.unwrap_or_default().into(),
        };
        let request = http::Request::builder()
            .method(method.as_str())
            .uri(&target)
            .version(match is_grpc {
                true => http::Version::HTTP_2,
                false => http::Version::HTTP_11,
            })
            .body(Full::from(body));
        let mut request = match request {
            Ok(request) => request,
            Err(error) => {
                let problem = format!("`{url}` cannot be reached: {error}");
                return (evidence, Err(problem.into()));
            }
        };
        *request.headers_mut() = headers;
        let fetching = async {
            let response = self
                .fetch(request, caller, has_title_case_headers && !is_grpc)
                .await?;
            if !is_grpc {
                return Ok((response, None));
            }
            let read = grpc::read(path(&url), response).await;
            let read = read.map(|(response, form)| (response, Some(form)));
            read.map_err(|error| format!("the answer broke off: {error}").into())
        };
        let sent = tokio::time::timeout(limit, fetching).await;
        let response: Result<_, Problem> =
            sent.unwrap_or_else(|_| Err(self.no_answer(limit).into()));
        let response = response.map(|(response, form)| {
            let (status, headers) = match &form {
                Some(form) => (form.status, &form.headers),
                None => (response.status(), response.headers()),
            };
            evidence.response = Some(HttpMessage {
                start: status.to_string(),
                headers: headers_as_pairs(headers),
                ..HttpMessage::default()
            });
            if let Some(form) = &form {
                self.judge.record(judge::grpc::check(form), &evidence);
            }
            response
        });
        if let Err(problem) = &response {
            evidence.failure = Some(problem.text.clone());
        }
        (evidence, response)
    }

    /// Says that nothing came within the time, and why that was short.
    pub(crate) fn no_answer(&self, limit: Duration) -> String {
        match limit < self.response_timeout {
            true => format!(
                "no answer within {limit:?}, after none within {:?} several times",
                self.response_timeout
            ),
            false => format!("no answer within {limit:?}"),
        }
    }

    async fn fetch(
        &self,
        request: http::Request<Full<Bytes>>,
        caller: Caller,
        has_title_case_headers: bool,
    ) -> Result<http::Response<ResponseBody>, Problem> {
        if has_title_case_headers
            && let Some(sender) = title_case_headers::connected(request.uri()).await
        {
            let response = title_case_headers::send(sender, request).await;
            let response = response.map_err(|error| causes(&error))?;
            return Ok(response.map(boxed));
        }
        let http = match (caller, &self.anonymous_http) {
            (Caller::Nobody | Caller::Wrong, Some(http)) => http,
            _ => &self.http,
        };
        let response = http.fetch(request).await;
        let response = response.map_err(|error| Problem::from(&error))?;
        Ok(response.map(boxed))
    }
}

/// Maximum bytes of an answer.
const MAX_BODY: usize = 32 << 20;
