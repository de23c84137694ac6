//! Checks of the events of a stream, each by itself and against those before it.

use a2a_jsonrpc::Limits;
use a2a_transport::binding::EventReader;
use a2a_transport::sse::ServerSentEvent;
use a2a_transport::{Binding, Error, ResponseContext};
use a2a_types::reading::Mode;
use a2a_types::{ErrorKind, Event, ProtocolVersion, Task, TaskState};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::answer::{history_length, kept_context, time};
use super::invariants::{Finding, Findings, unless};
use super::response::{form, id_of, is_unread};
use super::{Judge, errors, tasks};
use crate::wire::exchange::has_code;

/// The events of a stream so far.
pub(crate) struct StreamRecord {
    pub(crate) envelope: ResponseContext,
    /// Params of the request in protocol 1.0; null if the case altered them.
    params: Value,
    /// `true` if the events may begin in the middle of a task.
    resumes: bool,
    reader: EventReader,
    /// The events, in protocol 1.0.
    pub(crate) events: Vec<Value>,
    /// The task as assembled from the events.
    pub(crate) folded: Option<Task>,
    /// The id of the last event of Server-Sent Events that had one.
    pub(crate) last_id: String,
    /// Number of events up to that one.
    pub(crate) last_id_at: usize,
    /// Kind of the error that came as an event.
    pub(crate) failed: Option<ErrorKind>,
    /// `true` if the error that came names a code of JSON-RPC.
    pub(crate) is_coded: bool,
    /// `true` once the task has ended, or the agent answered by an error, or by a message that ends the stream.
    ended: bool,
    /// `true` if the agent answered by a message.
    answered: bool,
    /// The member `final` of the last status update, before 1.0.
    last: Option<bool>,
    begun_artifacts: Vec<String>,
    /// Artifacts of which the last chunk came.
    whole_artifacts: Vec<String>,
    /// Time of the last status.
    since: Option<Timestamp>,
}

/// State in which a stream was left.
pub(crate) struct StreamEnd {
    /// `true` if the stream has ended, by the agent or by an error.
    pub(crate) closed: bool,
    /// `true` if the agent left the connection open after its last event.
    pub(crate) stays_open: bool,
    /// `true` if the stream stalled or broke off.
    pub(crate) late: bool,
}

impl StreamRecord {
    pub(crate) fn new(envelope: ResponseContext, params: Value, resumes: bool) -> Self {
        Self {
            reader: EventReader::new(envelope.clone(), Mode::Lenient, Limits::default()),
            envelope,
            params,
            resumes,
            events: Vec::new(),
            folded: None,
            last_id: String::new(),
            last_id_at: 0,
            failed: None,
            is_coded: true,
            ended: false,
            answered: false,
            last: None,
            begun_artifacts: Vec::new(),
            whole_artifacts: Vec::new(),
            since: None,
        }
    }

    /// Returns whether the case altered the request, so that its params are not known.
    pub(crate) fn is_altered(&self) -> bool {
        self.params.is_null()
    }

    /// Returns whether the last status said that no more events come, as it does before 1.0.
    pub(crate) fn is_final(&self) -> bool {
        self.envelope.protocol_version != ProtocolVersion::V1_0 && self.last == Some(true)
    }

    /// Reads an event of a response with this HTTP status, and checks it.
    pub(crate) fn receive(
        &mut self,
        judge: &Judge,
        status: u16,
        event: &ServerSentEvent,
    ) -> Findings {
        if let Some(id) = &event.id {
            self.last_id.clone_from(id);
            self.last_id_at = self.events.len() + 1;
        }
        let place = format!("event {}", self.events.len() + 1);
        let text = String::from_utf8_lossy(&event.data);
        let Ok(json) = serde_json::from_slice::<Value>(&event.data) else {
            return vec![("stream.framing", unless(false, &place, "JSON", text))];
        };
        let mut findings = vec![("stream.framing", None)];
        findings.extend(frame(judge, self, &json, &place));
        match self.reader.read(&event.data) {
            Ok(read) => {
                findings.extend(self.apply(judge, &read.value.event, read.value.last, &place));
            }
            Err(Error::Agent(error)) => {
                if let (Binding::JsonRpc, Some(reported)) = (judge.binding, json.get("error")) {
                    findings.extend(errors::object(judge, reported, error.kind));
                }
                // An error in place of a stream has a status of its own (1.0 §5.4, §11.6; 0.3 §3.2.3).
                let is_refusal = judge.binding == Binding::HttpJson && self.events.is_empty();
                if is_refusal && error.kind != ErrorKind::Internal {
                    let expected = error.kind.http_status_in(judge.protocol_version);
                    let expected = format!("{expected} for {:?}", error.kind);
                    let found = unless(false, "HTTP status", expected, status);
                    findings.push(("error.status", found));
                }
                self.is_coded = has_code(&json);
                self.fail(error.kind);
            }
            Err(error) => {
                let found = unless(false, &place, "an event of this version", &error);
                findings.push(("stream.event-shapes", found));
                self.events.push(json!({"unreadable": text}));
            }
        }
        findings
    }

    /// Records the error by which the agent ended the stream.
    pub(crate) fn fail(&mut self, kind: ErrorKind) {
        self.ended = true;
        self.failed = Some(kind);
        self.events.push(json!({"error": format!("{kind:?}")}));
    }

    fn apply(&mut self, judge: &Judge, event: &Event, last: bool, place: &str) -> Findings {
        let value = serde_json::to_value(event).unwrap_or_default();
        let mut findings = Findings::new();
        if !self.is_altered() {
            findings.extend(order(judge, self, event, &value, place));
            findings.extend(ids(judge, self, event, &value, place));
            findings.extend(chunk(self, event, &value, place));
            self.note_chunk(event);
            let at = status_time(&value);
            findings.extend(at.and_then(|at| clock(self.since, at, place)));
            self.since = at.or(self.since);
        }
        let state = event.status().map(|status| status.state);
        if let (Event::StatusUpdate(_), Some(state), true) = (
            event,
            state,
            judge.protocol_version != ProtocolVersion::V1_0,
        ) {
            self.last = Some(last);
            // 0.1 names the states at which a stream ends (§7.2.1), later versions do not.
            if last && judge.protocol_version == ProtocolVersion::V0_1 {
                let settled = state.is_settled() || state == TaskState::Unspecified;
                let found = unless(settled, place, "final only at the end", state.as_str());
                findings.push(("stream.final", found));
            }
        }
        // A stream may stay open while the task waits for input; in 0.1 it ends there (documentation at launch).
        let asks = |state: TaskState| {
            state == TaskState::InputRequired && judge.protocol_version == ProtocolVersion::V0_1
        };
        let ends = state.is_some_and(|state| state.is_terminal() || asks(state));
        // Before 1.0 no text says that nothing follows a message.
        let is_message = matches!(event, Event::Message(_));
        self.answered |= is_message;
        self.ended |= ends
            || last && !is_message
            || is_message && judge.protocol_version == ProtocolVersion::V1_0;
        fold(&mut self.folded, event);
        if let Some(id) = event.task_id().filter(|_| !self.is_altered()) {
            judge.own.add(id.as_str());
        }
        self.events.push(value);
        findings
    }

    /// Records which artifact an event begins or completes.
    fn note_chunk(&mut self, event: &Event) {
        let Event::ArtifactUpdate(update) = event else {
            return;
        };
        let id = update.artifact.artifact_id.to_string();
        self.whole_artifacts.retain(|whole| *whole != id);
        if update.last_chunk {
            self.whole_artifacts.push(id.clone());
        }
        self.begun_artifacts.push(id);
    }
}

/// Checks the end of a stream that was read until then.
pub(crate) fn end(judge: &Judge, stream: &StreamRecord, end: &StreamEnd) -> Findings {
    let mut findings = Findings::new();
    let state = stream.folded.as_ref().map(|task| task.status.state);
    // A task may wait for authorization elsewhere, and 1.0 leaves open what a question does.
    let ended = stream.ended || stream.answered;
    if let (true, false, false, Some(state)) = (end.closed, ended, end.late, state)
        && !state.is_interrupted()
    {
        let expected = "more, until the task has ended";
        let found = unless(false, "the stream", expected, state.as_str());
        findings.push(("stream.closes", found));
    }
    if stream.is_final() {
        let expected = "closed after the final status";
        let found = unless(!end.stays_open, "the connection", expected, "it stays open");
        findings.push(("stream.connection-closed", found));
    }
    if stream.ended {
        let text = match end.late {
            true => "it stays open",
            false => "it was closed",
        };
        let expected = "closed after the last event";
        let found = unless(end.closed, "the stream", expected, text);
        findings.push(("stream.closes", found));
        if judge.protocol_version != ProtocolVersion::V1_0
            && let Some(last) = stream.last
        {
            let found = unless(last, "the last status", "`final: true`", "`final: false`");
            findings.push(("stream.final", found));
        }
    }
    findings
}

/// Checks the envelope of an event, and its content against the schema.
fn frame(judge: &Judge, stream: &StreamRecord, json: &Value, place: &str) -> Findings {
    // In 0.1 an event may have `error: null` (§7.2.1).
    let may_be_null = judge.protocol_version == ProtocolVersion::V0_1;
    let error = json.get("error");
    // By HTTP+JSON no text says what an error in a stream looks like.
    let is_bare_error = judge.binding == Binding::HttpJson
        && json["code"].is_number()
        && json["message"].is_string();
    let has_error = error.is_some_and(|error| !(may_be_null && error.is_null())) || is_bare_error;
    let mut findings = vec![match judge.binding {
        Binding::JsonRpc => {
            let id = id_of(&stream.envelope);
            let one = json.get("result").is_some() != has_error;
            let has_id = json.get("id") == Some(&id) || is_unread(json);
            let sealed = json["jsonrpc"] == "2.0" && has_id && one;
            let expected =
                format!("`jsonrpc: \"2.0\"`, `id: {id}`, and either `result` or `error`");
            ("stream.envelope", unless(sealed, place, expected, json))
        }
        _ => {
            let bare = json.get("jsonrpc").is_none() && json.get("result").is_none();
            let expected = "an event, without `jsonrpc` and `result`";
            ("rest.stream-frames", unless(bare, place, expected, json))
        }
    }];
    // The answer to a request that the case altered may hold the alteration.
    if !has_error && !stream.is_altered() {
        let (check, operation) = ("stream.event-shapes", stream.envelope.operation);
        findings.extend(form(judge, check, operation, json.clone(), place));
    }
    findings
}

/// Checks the first event of a stream, and that none changes or follows its end.
fn order(
    judge: &Judge,
    stream: &StreamRecord,
    event: &Event,
    value: &Value,
    place: &str,
) -> Findings {
    let mut findings = Findings::new();
    if judge.protocol_version == ProtocolVersion::V1_0
        && stream.events.is_empty()
        && !stream.resumes
    {
        let begins = matches!(event, Event::Task(_) | Event::Message(_));
        let found = unless(begins, place, "a task or a message", value);
        findings.push(("stream.begins-with-task", found));
    }
    let may_follow = !stream.ended
        || judge.protocol_version == ProtocolVersion::V1_0 && repeats_ended_task(stream, event);
    findings.push(("stream.closes", unless(may_follow, place, "nothing", value)));
    if let (Some(known), Some(status)) = (&stream.folded, event.status()) {
        let before = known.status.state;
        let legal = !before.is_terminal() || status.state == before;
        let expected = format!("still {}", before.as_str());
        let found = unless(legal, place, expected, status.state.as_str());
        findings.push(("task.ended-stays", found));
    }
    findings
}

/// Returns whether an event repeats the task as it ended, after its last status (1.0 §11.7).
fn repeats_ended_task(stream: &StreamRecord, event: &Event) -> bool {
    let (Event::Task(task), Some(known)) = (event, &stream.folded) else {
        return false;
    };
    let ended = known.status.state;
    let last = stream.events.last();
    let is_new = last.is_some_and(|last| last.get("task").is_none());
    ended.is_terminal() && task.status.state == ended && is_new
}

/// Checks that an event is about the task that was asked for, or else the one of the first event.
fn ids(
    judge: &Judge,
    stream: &StreamRecord,
    event: &Event,
    value: &Value,
    place: &str,
) -> Findings {
    let text = |id: &dyn ToString| Value::from(id.to_string());
    let id = event.task_id().map(|id| text(id));
    let context = match event {
        Event::Task(task) => task.context_id.as_ref(),
        Event::Message(message) => message.context_id.as_ref(),
        Event::StatusUpdate(update) => update.context_id.as_ref(),
        Event::ArtifactUpdate(update) => update.context_id.as_ref(),
    };
    let context = context.map(|context| text(context));
    let folded = stream.folded.as_ref();
    let message = &stream.params["message"];
    let ids = [
        folded.map(|task| text(&task.id)),
        message.get("taskId").cloned(),
        stream.params.get("id").cloned(),
    ];
    let contexts = [
        folded.and_then(|task| Some(text(task.context_id.as_ref()?))),
        kept_context(judge.protocol_version, message).cloned(),
    ];
    let same = |found: &Option<Value>, expected: &[Option<Value>]| {
        let mut expected = expected.iter().flatten();
        found
            .as_ref()
            .is_none_or(|found| expected.all(|expected| expected == found))
    };
    let holds = same(&id, &ids) && same(&context, &contexts);
    let [ids, contexts] = [ids.as_slice(), contexts.as_slice()].map(|expected| {
        let first = expected.iter().flatten().next();
        first.map_or_else(|| "any".to_owned(), Value::to_string)
    });
    let expected = format!("task {ids}, conversation {contexts}");
    let mut findings = vec![("stream.event-shapes", unless(holds, place, expected, value))];
    let task = &value["task"];
    findings.extend(tasks::history(judge, task));
    let length = stream.params["configuration"].get("historyLength");
    findings.extend(history_length(
        judge,
        "send.history-length",
        length,
        task,
        place,
    ));
    findings
}

/// Checks that a chunk is appended only to an artifact that was begun and is not complete.
fn chunk(stream: &StreamRecord, event: &Event, value: &Value, place: &str) -> Option<Finding> {
    let Event::ArtifactUpdate(update) = event else {
        return None;
    };
    let id = update.artifact.artifact_id.as_str();
    let is_in = |ids: &[String]| ids.iter().any(|one| one == id);
    let mut folded = stream.folded.iter().flat_map(|task| &task.artifacts);
    let is_begun = !update.append
        || stream.resumes
        || is_in(&stream.begun_artifacts)
        || folded.any(|artifact| artifact.artifact_id.as_str() == id);
    let is_whole = update.append && is_in(&stream.whole_artifacts);
    let expected = "an artifact that was begun, and whose last chunk did not come";
    let found = unless(is_begun && !is_whole, place, expected, value);
    Some(("stream.chunks", found))
}

/// Checks that the time of a status is not before that of an earlier one.
fn clock(since: Option<Timestamp>, at: Timestamp, place: &str) -> Option<Finding> {
    let since = since?;
    let later = at.duration_since(since) > -ROUNDED;
    let found = unless(later, place, format!("{since} or later"), at);
    Some(("task.timestamps", found))
}

/// Returns the time of the status in an event.
fn status_time(event: &Value) -> Option<Timestamp> {
    let of = |member: &str| time(&event[member]["status"]["timestamp"]);
    of("task").or_else(|| of("statusUpdate"))
}

/// Applies an event to the task that the events before it make up.
pub(super) fn fold(task: &mut Option<Task>, event: &Event) {
    if let Event::Task(whole) = event {
        *task = Some(whole.clone());
        return;
    }
    let context = match event {
        Event::StatusUpdate(update) => update.context_id.clone(),
        Event::ArtifactUpdate(update) => update.context_id.clone(),
        _ => None,
    };
    if task.is_none() {
        *task = event.task_id().map(|id| Task {
            id: id.clone(),
            context_id: context,
            ..Task::default()
        });
    }
    if let Some(task) = task {
        // An event that is not legal has a check of its own.
        let _ = task.apply(event);
    }
}

/// Tolerance between times, as some are rounded to seconds.
const ROUNDED: SignedDuration = SignedDuration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use a2a_types::Operation;

    use super::super::invariants::broken;
    use super::*;

    /// Judges a stream of 1.0 by HTTP+JSON that the agent closes.
    #[track_caller]
    fn check(events: &[&Value], expected: &[&str]) {
        let judge = Judge::new(ProtocolVersion::V1_0, Binding::HttpJson, Arc::default());
        let operation = Operation::SendStreamingMessage;
        let envelope = ResponseContext::new(judge.protocol_version, judge.binding, operation);
        let mut stream = StreamRecord::new(envelope, json!({}), false);
        let mut findings = Findings::new();
        for event in events {
            let event = ServerSentEvent {
                data: event.to_string().into_bytes(),
                ..ServerSentEvent::default()
            };
            findings.extend(stream.receive(&judge, 200, &event));
        }
        let closed = StreamEnd {
            closed: true,
            stays_open: false,
            late: false,
        };
        findings.extend(end(&judge, &stream, &closed));
        assert_eq!(broken(findings), expected);
    }

    #[test]
    fn events_are_judged_by_the_events_before_them() {
        let status = |id: &str, state: &str| {
            let status = json!({"state": state});
            json!({"statusUpdate": {"taskId": id, "contextId": "c", "status": status}})
        };
        let chunk = |append: bool| {
            let artifact = json!({"artifactId": "a", "parts": [{"text": "x"}]});
            json!({"artifactUpdate": {
                "taskId": "t", "contextId": "c", "artifact": artifact, "append": append,
            }})
        };
        let status_now = json!({"state": "TASK_STATE_WORKING"});
        let task = json!({"task": {"id": "t", "contextId": "c", "status": status_now}});
        let completed = status("t", "TASK_STATE_COMPLETED");
        check(&[&task, &chunk(false), &chunk(true), &completed], &[]);
        check(&[&task, &chunk(true), &completed], &["stream.chunks"]);
        check(&[&completed], &["stream.begins-with-task"]);
        check(&[&task], &["stream.closes"]);
        check(&[&task, &completed, &chunk(false)], &["stream.closes"]);
        let other = status("u", "TASK_STATE_COMPLETED");
        check(&[&task, &other], &["stream.event-shapes"]);
    }
}
