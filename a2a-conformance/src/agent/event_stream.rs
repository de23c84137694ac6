//! An event stream of the agent, as the suite reads it.

use std::time::{Duration, Instant};

use a2a_transport::sse::{Bounds, Decoder, ServerSentEvent};
use a2a_transport::{Binding, Error, ResponseContext};
use a2a_types::{ErrorKind, Operation, ProtocolVersion};
use bytes::Bytes;
use http::header::HeaderMap;
use http_body_util::BodyExt;
use serde_json::Value;

use super::interface::Interface;
use super::patience::END_OF_STREAM;
use crate::case::{Caller, StopCondition};
use crate::judge::invariants::unless;
use crate::judge::stream::{self, StreamEnd, StreamRecord};
use crate::judge::{self, errors, response};
use crate::record::{Evidence, MismatchKind};
use crate::wire::exchange::{
    AgentResponse, Problem, ResponseBody, ResponseContent, WireRequest, add_body, has_code,
    headers_as_json, headers_as_pairs,
};

/// An event stream of the agent, as the suite reads it.
pub(crate) struct EventStream {
    pub(crate) evidence: Evidence,
    pub(crate) status: u16,
    pub(crate) headers: Value,
    /// The answer that came instead of a stream.
    pub(crate) refused: Option<ResponseContent>,
    /// The events so far.
    pub(crate) record: StreamRecord,
    /// `true` once the stream has ended, by the agent or by an error.
    pub(crate) closed: bool,
    body: Option<ResponseBody>,
    decoder: Decoder,
    ready: Vec<ServerSentEvent>,
    began: Instant,
    /// `true` if the agent left the connection open after its last event.
    stays_open: bool,
}

impl EventStream {
    /// Opens a stream.
    pub(crate) async fn open(
        interface: &Interface,
        step: usize,
        outgoing: WireRequest,
        envelope: ResponseContext,
        caller: Caller,
    ) -> Self {
        let began = Instant::now();
        let params = outgoing.params.clone();
        interface.judge.record_message(&params);
        let awaited = envelope.operation.name();
        let limit = interface
            .patience
            .limit(awaited, interface.response_timeout);
        let other = interface.in_other_form(envelope.operation, &outgoing);
        let (mut evidence, mut response) = interface.send(step, outgoing, limit, caller).await;
        let has_no_route = |response: &http::Response<_>| response.status() == 405;
        if let Some(other) = other.filter(|_| response.as_ref().is_ok_and(has_no_route)) {
            (evidence, response) = interface.send(step, other, limit, caller).await;
        }
        if began.elapsed() >= limit {
            interface.patience.note_missed(awaited);
        }
        let mut stream = Self::new(interface, envelope, params, evidence, began);
        stream.begin(interface, response).await;
        stream
    }

    fn new(
        interface: &Interface,
        envelope: ResponseContext,
        params: Value,
        evidence: Evidence,
        began: Instant,
    ) -> Self {
        let mut headers = evidence.request.headers.iter();
        // Before 1.0 a follower of a task need not get earlier events.
        let follows = envelope.operation == Operation::SubscribeToTask
            && interface.protocol_version != ProtocolVersion::V1_0;
        let resumes = follows || headers.any(|(name, _)| name == "last-event-id");
        Self {
            evidence,
            status: 0,
            headers: Value::Null,
            refused: None,
            record: StreamRecord::new(envelope, params, resumes),
            closed: false,
            body: None,
            decoder: Decoder::new(Bounds::default()),
            ready: Vec::new(),
            began,
            stays_open: false,
        }
    }

    /// Reads the head of the response, and its body if it is not a stream.
    async fn begin(
        &mut self,
        interface: &Interface,
        response: Result<http::Response<ResponseBody>, Problem>,
    ) {
        let response = match response {
            Ok(response) => response,
            Err(problem) => {
                self.refused = Some(ResponseContent::Nothing(problem));
                return;
            }
        };
        let (head, body) = response.into_parts();
        self.status = head.status.as_u16();
        self.headers = headers_as_json(&head.headers);
        if is_event_stream(&self.headers) {
            let found = unless(self.status == 200, "HTTP status", "200", self.status);
            let findings = [("stream.media-type", None), ("stream.status", found)];
            interface.judge.record(findings, &self.evidence);
            self.body = Some(body);
            return;
        }
        let limited = http_body_util::Limited::new(body, 1 << 20);
        let awaited = self.record.envelope.operation.name();
        let limit = interface
            .patience
            .limit(awaited, interface.response_timeout);
        let whole = tokio::time::timeout(limit, limited.collect()).await;
        match &whole {
            Ok(_) => interface.patience.note_received(awaited),
            Err(_) => interface.patience.note_missed(awaited),
        }
        let whole = whole
            .ok()
            .and_then(Result::ok)
            .map(http_body_util::Collected::to_bytes);
        let whole: Bytes = whole.unwrap_or_default();
        if let Some(half) = &mut self.evidence.response {
            add_body(half, &whole);
        }
        let mut envelope = self.record.envelope.clone();
        envelope.operation = Operation::GetTask;
        let answered = AgentResponse {
            late: false,
            evidence: self.evidence.clone(),
            protocol_version: interface.protocol_version,
            binding: interface.binding,
            status: self.status,
            headers: self.headers.clone(),
            json: serde_json::from_slice(&whole).ok(),
            outcome: response::read(&interface.judge, &envelope, self.status, &whole),
        };
        self.record.is_coded = answered.json.as_ref().is_some_and(has_code);
        // 0.1 §7.2, §7.7: the body of an HTTP error may be anything.
        let is_bare = interface.protocol_version == ProtocolVersion::V0_1
            && self.status >= 400
            && matches!(answered.outcome, ResponseContent::Unreadable(_));
        if is_bare {
            self.refused = Some(ResponseContent::Error {
                kind: ErrorKind::Other(i64::from(self.status)),
                message: format!("HTTP {}", self.status),
            });
            self.closed = true;
            return;
        }
        if matches!(answered.outcome, ResponseContent::Error { .. }) {
            let judge = &interface.judge;
            let findings = match self.record.is_altered() {
                true => errors::internals(&answered).into_iter().collect(),
                false => response::check(judge, &envelope, &Value::Null, &answered),
            };
            judge.record(findings, &self.evidence);
        } else if (200..300).contains(&self.status) && !self.record.is_altered() {
            let media_type = self.headers["content-type"].as_str().unwrap_or_default();
            let found = unless(false, "Content-Type", "text/event-stream", media_type);
            interface
                .judge
                .record([("stream.media-type", found)], &self.evidence);
        }
        self.refused = Some(answered.outcome);
        self.closed = true;
    }

    /// Returns the error of a refusal that came as the only event, after the head of a stream.
    pub(super) fn refusal(&self) -> Option<ErrorKind> {
        let is_only = self.closed && self.record.events.len() == 1;
        self.record.failed.filter(|_| is_only)
    }

    /// Reads on; returns the events that came, and a problem if the stream stalled or broke off.
    pub(crate) async fn read(
        &mut self,
        interface: &Interface,
        until: &StopCondition,
    ) -> (Vec<Value>, Option<Problem>) {
        let before = self.record.events.len();
        let began = tokio::time::Instant::now();
        let awaited = match until {
            StopCondition::End => END_OF_STREAM,
            _ => self.record.envelope.operation.name(),
        };
        let limit = interface
            .patience
            .limit(awaited, interface.response_timeout);
        let longest = match interface.patience.is_spent() {
            true => limit,
            false => limit * MAX_TIMEOUTS,
        };
        let (mut deadline, last) = (began + limit, began + longest);
        let enough = |stream: &Self| match until {
            StopCondition::Events(count) => stream.record.events.len() - before >= *count,
            StopCondition::Status(state) => {
                let folded = stream.record.folded.as_ref();
                folded.is_some_and(|task| task.status.state.as_str() == state)
            }
            StopCondition::End => false,
        };
        let mut problem = None;
        while !enough(self) && !self.closed {
            if let Some(event) = (!self.ready.is_empty()).then(|| self.ready.remove(0)) {
                self.receive(interface, &event);
                deadline = last.min(tokio::time::Instant::now() + limit);
                continue;
            }
            let is_final = self.record.is_final();
            let Some(body) = &mut self.body else { break };
            let deadline = match is_final {
                true => deadline.min(tokio::time::Instant::now() + FINAL_GRACE),
                false => deadline,
            };
            let frame = match tokio::time::timeout_at(deadline, body.frame()).await {
                Ok(frame) => frame,
                // The final status ends the stream, whether or not the agent closes the connection.
                Err(_) if is_final => {
                    (self.closed, self.stays_open) = (true, true);
                    break;
                }
                Err(_) => {
                    interface.patience.note_missed(awaited);
                    let text = match deadline == last {
                        true => format!("the stream goes on after {longest:?}"),
                        false => format!("nothing more came within {limit:?}"),
                    };
                    problem = Some(text.into());
                    break;
                }
            };
            let decoded = match frame {
                None => {
                    self.closed = true;
                    self.decoder
                        .finish()
                        .map(|event| event.into_iter().collect())
                }
                Some(Err(error)) => {
                    if interface.binding == Binding::Grpc && !matches!(error, Error::Connection(_))
                    {
                        let found = unless(false, "the stream", "messages in frames", &error);
                        let findings = [("grpc.messages", found)];
                        interface.judge.record(findings, &self.evidence);
                    }
                    self.closed = true;
                    problem = Some(Problem {
                        text: format!("the stream broke off: {error}"),
                        kind: MismatchKind::BrokenStream,
                    });
                    continue;
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.decoder.push(&data),
                    Err(frame) => {
                        self.take_trailers(interface, frame.into_trailers().ok());
                        continue;
                    }
                },
            };
            match decoded {
                Ok(events) => {
                    self.ready.extend(events);
                    if self.closed {
                        for event in std::mem::take(&mut self.ready) {
                            self.receive(interface, &event);
                        }
                    }
                }
                Err(error) => {
                    let found = unless(false, "the stream", "Server-Sent Events", &error);
                    interface
                        .judge
                        .record([("stream.framing", found)], &self.evidence);
                    self.closed = true;
                    problem = Some(error.to_string().into());
                }
            }
        }
        match (&problem, self.closed) {
            (None, true) if self.body.is_some() => interface.patience.note_received(awaited),
            (None, false) => interface.patience.note_part(awaited),
            _ => {}
        }
        if *until == StopCondition::End && self.refused.is_none() {
            let end = StreamEnd {
                closed: self.closed,
                stays_open: self.stays_open,
                late: problem.is_some(),
            };
            let findings = stream::end(&interface.judge, &self.record, &end);
            interface.judge.record(findings, &self.evidence);
        }
        (self.record.events[before..].to_vec(), problem)
    }

    /// Takes the trailers, which have the status of gRPC.
    fn take_trailers(&mut self, interface: &Interface, trailers: Option<HeaderMap>) {
        let trailers = trailers.unwrap_or_default();
        if let Some(half) = &mut self.evidence.response {
            half.headers.extend(headers_as_pairs(&trailers));
        }
        if interface.binding == Binding::Grpc {
            let findings = judge::grpc::end(&trailers);
            interface.judge.record(findings, &self.evidence);
            if let Some(kind) = judge::grpc::failure(&trailers) {
                self.record.is_coded = false;
                self.record.fail(kind);
            }
        }
    }

    /// Reads an event, and checks it.
    fn receive(&mut self, interface: &Interface, event: &ServerSentEvent) {
        self.show(&String::from_utf8_lossy(&event.data));
        let judge = &interface.judge;
        let findings = self.record.receive(judge, self.status, event);
        judge.record(findings, &self.evidence);
    }

    /// Adds an event to the evidence, with the time since the request.
    fn show(&mut self, text: &str) {
        let after = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(half) = &mut self.evidence.response
            && half.events.len() < MAX_EVENTS
        {
            half.events
                .push((after, text.chars().take(MAX_EVENT).collect()));
        }
    }
}

/// Returns whether the headers of a response announce a stream of events.
pub(super) fn is_event_stream(headers: &Value) -> bool {
    let media_type = headers["content-type"].as_str().unwrap_or_default();
    media_type
        .to_ascii_lowercase()
        .starts_with("text/event-stream")
}

/// Time for which a connection may stay open after the final status before it counts as left open.
const FINAL_GRACE: Duration = Duration::from_secs(1);
/// Limit on reading a whole stream, in times of the limit for one event.
const MAX_TIMEOUTS: u32 = 2;
/// Number of events that the evidence keeps.
const MAX_EVENTS: usize = 200;
/// Characters of an event that the evidence keeps.
const MAX_EVENT: usize = 4000;
