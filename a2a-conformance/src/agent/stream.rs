//! A stream, as it is read.

use std::time::Instant;

use a2a_jsonrpc::Limits;
use a2a_transport::binding::EventReader;
use a2a_transport::sse::{Bounds, Decoder, ServerSentEvent};
use a2a_transport::{Binding, Envelope, Error};
use a2a_types::reading::Mode;
use a2a_types::{Dialect, Event, Task, TaskState};
use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::lane::{AnyBody, Lane, Outcome, headers_as_json, shown};
use super::observed::unless;
use crate::case::Until;
use crate::run::Evidence;

/// A stream, as it is read.
pub(crate) struct Streaming {
    pub(crate) evidence: Evidence,
    pub(crate) status: u16,
    pub(crate) headers: Value,
    /// What came instead of a stream.
    pub(crate) refused: Option<Outcome>,
    /// The events so far, in protocol 1.0.
    pub(crate) events: Vec<Value>,
    /// The task as the events make it.
    pub(crate) folded: Option<Task>,
    /// Whether the agent closed it.
    pub(crate) closed: bool,
    /// The generation.
    pub(crate) dialect: Dialect,
    /// The id of the last event of Server-Sent Events that had one.
    pub(crate) last_id: String,
    body: Option<AnyBody>,
    decoder: Decoder,
    ready: Vec<ServerSentEvent>,
    envelope: Envelope,
    reader: EventReader,
    began: Instant,
    /// The task has ended, or the agent answered by a message.
    ended: bool,
    last: Option<bool>,
    /// It goes on where another one broke off.
    resumes: bool,
    begun_artifacts: Vec<String>,
}

impl Streaming {
    pub(super) async fn begin(
        lane: &Lane,
        envelope: Envelope,
        evidence: Evidence,
        response: Result<http::Response<AnyBody>, String>,
        began: Instant,
    ) -> Self {
        let reader = EventReader::new(envelope.clone(), Mode::Lenient, Limits::default());
        let mut headers = evidence.request.headers.iter();
        let resumes = headers.any(|(name, _)| name == "last-event-id");
        let mut stream = Self {
            evidence,
            status: 0,
            headers: Value::Null,
            refused: None,
            events: Vec::new(),
            folded: None,
            closed: false,
            dialect: lane.dialect,
            last_id: String::new(),
            body: None,
            decoder: Decoder::new(Bounds::default()),
            ready: Vec::new(),
            envelope,
            reader,
            began,
            ended: false,
            last: None,
            resumes,
            begun_artifacts: Vec::new(),
        };
        let response = match response {
            Ok(response) => response,
            Err(problem) => {
                stream.refused = Some(Outcome::Nothing(problem));
                return stream;
            }
        };
        let (head, body) = response.into_parts();
        stream.status = head.status.as_u16();
        stream.headers = headers_as_json(&head.headers);
        let media_type = stream.headers["content-type"].as_str().unwrap_or_default();
        if media_type.starts_with("text/event-stream") {
            lane.observed
                .see("stream.media-type", None, &stream.evidence);
            stream.body = Some(body);
            return stream;
        }
        let limited = http_body_util::Limited::new(body, 1 << 20);
        let whole = tokio::time::timeout(lane.patience, limited.collect()).await;
        let whole = whole
            .ok()
            .and_then(Result::ok)
            .map(http_body_util::Collected::to_bytes);
        let whole: Bytes = whole.unwrap_or_default();
        if let Some(half) = &mut stream.evidence.response {
            half.body = shown(&whole);
        }
        let mut envelope = stream.envelope.clone();
        envelope.operation = a2a_types::Operation::GetTask;
        let outcome = lane.read(&envelope, stream.status, &whole);
        if !matches!(outcome, Outcome::Error { .. }) {
            let found = unless(false, "Content-Type", "text/event-stream", media_type);
            lane.observed
                .see("stream.media-type", found, &stream.evidence);
        }
        stream.refused = Some(outcome);
        stream.closed = true;
        stream
    }

    /// Reads on; yields the events that came, and a problem if they did not come in time.
    pub(crate) async fn read(
        &mut self,
        lane: &Lane,
        until: &Until,
    ) -> (Vec<Value>, Option<String>) {
        let before = self.events.len();
        let deadline = tokio::time::Instant::now() + lane.patience;
        let enough = |stream: &Self| match until {
            Until::Events(count) => stream.events.len() - before >= *count,
            Until::Status(state) => {
                let folded = stream.folded.as_ref();
                folded.is_some_and(|task| task.status.state.as_str() == state)
            }
            Until::End => false,
        };
        let mut problem = None;
        while !enough(self) && !self.closed {
            if let Some(event) = (!self.ready.is_empty()).then(|| self.ready.remove(0)) {
                self.take(lane, &event);
                continue;
            }
            let Some(body) = &mut self.body else { break };
            let frame = match tokio::time::timeout_at(deadline, body.frame()).await {
                Ok(frame) => frame,
                Err(_) => {
                    problem = Some(format!("nothing more came within {:?}", lane.patience));
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
                    self.closed = true;
                    problem = Some(format!("the stream broke off: {error}"));
                    continue;
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.decoder.push(&data),
                    Err(_) => continue,
                },
            };
            match decoded {
                Ok(events) => {
                    self.ready.extend(events);
                    if self.closed {
                        for event in std::mem::take(&mut self.ready) {
                            self.take(lane, &event);
                        }
                    }
                }
                Err(error) => {
                    let found = unless(false, "the stream", "Server-Sent Events", &error);
                    lane.observed.see("stream.framing", found, &self.evidence);
                    self.closed = true;
                    problem = Some(error.to_string());
                }
            }
        }
        self.judge_end(lane, until, problem.is_some());
        (self.events[before..].to_vec(), problem)
    }

    fn judge_end(&mut self, lane: &Lane, until: &Until, late: bool) {
        if *until != Until::End || self.refused.is_some() {
            return;
        }
        if self.ended {
            let told = if late {
                "it stays open"
            } else {
                "it was closed"
            };
            let found = unless(
                self.closed,
                "the stream",
                "closed after the last event",
                told,
            );
            lane.observed.see("stream.closes", found, &self.evidence);
            if lane.dialect != Dialect::V1_0
                && let Some(last) = self.last
            {
                let found = unless(last, "the last status", "`final: true`", "`final: false`");
                lane.observed.see("stream.final", found, &self.evidence);
            }
        }
    }

    fn take(&mut self, lane: &Lane, event: &ServerSentEvent) {
        if let Some(id) = &event.id {
            self.last_id.clone_from(id);
        }
        let text = String::from_utf8_lossy(&event.data).into_owned();
        let after = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(half) = &mut self.evidence.response
            && half.events.len() < MOST_EVENTS
        {
            half.events
                .push((after, text.chars().take(LONGEST_EVENT).collect()));
        }
        let number = self.events.len() + 1;
        let place = format!("event {number}");
        let see = |check, found| lane.observed.see(check, found, &self.evidence);
        let Ok(json) = serde_json::from_slice::<Value>(&event.data) else {
            return see("stream.framing", unless(false, &place, "JSON", &text));
        };
        see("stream.framing", None);
        if lane.binding == Binding::JsonRpc {
            let id = self
                .envelope
                .id
                .as_ref()
                .and_then(|id| serde_json::to_value(id).ok());
            let id = id.unwrap_or_default();
            let sealed = json["jsonrpc"] == "2.0" && json.get("id") == Some(&id);
            let expected = format!("`jsonrpc: \"2.0\"` and `id: {id}`");
            see("stream.envelope", unless(sealed, &place, expected, &json));
        }
        if lane.binding == Binding::HttpJson {
            let bare = json.get("jsonrpc").is_none() && json.get("result").is_none();
            let expected = "an event, without `jsonrpc` and `result`";
            see("rest.stream-frames", unless(bare, &place, expected, &json));
        }
        let operation = self.envelope.operation;
        if json.get("error").is_none() {
            see(
                "stream.event-shapes",
                lane.against_schema(operation, &json, &place),
            );
        }
        lane.judge_content(&json, &self.evidence);
        match self.reader.read(&event.data) {
            Ok(read) => self.apply(lane, &read.value.event, read.value.last, &place),
            Err(Error::Agent(error)) => {
                self.ended = true;
                self.events
                    .push(json!({"error": format!("{:?}", error.kind)}));
            }
            Err(error) => {
                let found = unless(false, &place, "an event of this generation", &error);
                lane.observed
                    .see("stream.event-shapes", found, &self.evidence);
                self.events.push(json!({"unreadable": text}));
            }
        }
    }

    fn apply(&mut self, lane: &Lane, event: &Event, last: bool, place: &str) {
        let see = |check, found| lane.observed.see(check, found, &self.evidence);
        let told = serde_json::to_value(event).unwrap_or_default();
        if lane.dialect == Dialect::V1_0 && self.events.is_empty() && !self.resumes {
            let begins = matches!(event, Event::Task(_) | Event::Message(_));
            let expected = "a task or a message";
            see(
                "stream.begins-with-task",
                unless(begins, place, expected, &told),
            );
        }
        see(
            "stream.closes",
            unless(!self.ended, place, "nothing", &told),
        );
        let ids = |task: &Task| (task.id.clone(), task.context_id.clone());
        if let Some(known) = &self.folded {
            let (id, context) = ids(known);
            let other_id = event.task_id().is_some_and(|other| *other != id);
            let event_context = match event {
                Event::Task(task) => task.context_id.clone(),
                Event::Message(message) => message.context_id.clone(),
                Event::StatusUpdate(update) => update.context_id.clone(),
                Event::ArtifactUpdate(update) => update.context_id.clone(),
            };
            let other_context =
                context.is_some() && event_context.is_some() && event_context != context;
            let expected = format!("task {id}, conversation {context:?}");
            let same = !other_id && !other_context;
            see("stream.event-shapes", unless(same, place, expected, &told));
            if let Some(status) = event.status() {
                let before = known.status.state;
                let legal = !before.is_terminal() || status.state == before;
                let expected = format!("still {}", before.as_str());
                see(
                    "task.ended-stays",
                    unless(legal, place, expected, status.state.as_str()),
                );
            }
        }
        if let Event::ArtifactUpdate(update) = event {
            let id = update.artifact.artifact_id.to_string();
            let known = self.begun_artifacts.contains(&id);
            let begun = !update.append || self.resumes || known || self.folded_has(&id);
            see(
                "stream.chunks",
                unless(begun, place, "an artifact that was begun", &told),
            );
            self.begun_artifacts.push(id);
        }
        let state = event.status().map(|status| status.state);
        if let (Event::StatusUpdate(_), Some(state), true) =
            (event, state, lane.dialect != Dialect::V1_0)
        {
            self.last = Some(last);
            if last {
                let settled = state.is_settled() || state == TaskState::Unspecified;
                let found = unless(settled, place, "final only at the end", state.as_str());
                lane.observed.see("stream.final", found, &self.evidence);
            }
        }
        let ends =
            state.is_some_and(|state| state.is_terminal() || state == TaskState::InputRequired);
        self.ended |= ends || last || matches!(event, Event::Message(_));
        match (&mut self.folded, event) {
            (_, Event::Task(task)) => self.folded = Some(task.clone()),
            (Some(folded), event) => {
                let _ = folded.apply(event);
            }
            (None, event) => {
                if let Some(id) = event.task_id() {
                    let mut task = Task {
                        id: id.clone(),
                        ..Task::default()
                    };
                    let _ = task.apply(event);
                    self.folded = Some(task);
                }
            }
        }
        self.events.push(told);
    }

    fn folded_has(&self, id: &str) -> bool {
        let artifacts = self.folded.iter().flat_map(|task| &task.artifacts);
        artifacts
            .into_iter()
            .any(|artifact| artifact.artifact_id.as_str() == id)
    }
}

/// How many events are shown.
const MOST_EVENTS: usize = 200;
/// How much of an event is shown.
const LONGEST_EVENT: usize = 4000;
