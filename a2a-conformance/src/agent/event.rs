//! Checks of the events of a stream, each by itself and against those before it.

use a2a_transport::sse::ServerSentEvent;
use a2a_transport::{Binding, Error};
use a2a_types::{Dialect, ErrorKind, Event, Task, TaskState};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::event_stream::EventStream;
use crate::judge::Judge;
use crate::judge::invariants::unless;
use crate::judge::is_unread;
use crate::judge::time;
use crate::wire::exchange::has_code;

impl EventStream {
    /// Reads an event, and checks it.
    pub(super) fn record_event(&mut self, judge: &Judge, event: &ServerSentEvent) {
        if let Some(id) = &event.id {
            self.last_id.clone_from(id);
            self.last_id_at = self.events.len() + 1;
        }
        let text = String::from_utf8_lossy(&event.data).into_owned();
        self.show(&text);
        let place = format!("event {}", self.events.len() + 1);
        let observe = |check, found| judge.observations.record(check, found, &self.evidence);
        let Ok(json) = serde_json::from_slice::<Value>(&event.data) else {
            return observe("stream.framing", unless(false, &place, "JSON", &text));
        };
        observe("stream.framing", None);
        self.judge_frame(judge, &json, &place);
        let observe = |check, found| judge.observations.record(check, found, &self.evidence);
        match self.reader.read(&event.data) {
            Ok(read) => self.apply(judge, &read.value.event, read.value.last, &place),
            Err(Error::Agent(error)) => {
                if let (Binding::JsonRpc, Some(reported)) = (judge.binding, json.get("error")) {
                    judge.judge_object(reported, error.kind, &self.evidence);
                    if judge.dialect == Dialect::V1_0 {
                        judge.judge_details(reported, error.kind, &self.evidence);
                    }
                }
                // An error in place of a stream has a status of its own (1.0 §5.4, §11.6; 0.3 §3.2.3).
                let is_refusal = judge.binding == Binding::HttpJson && self.events.is_empty();
                if is_refusal && error.kind != ErrorKind::Internal {
                    let status = error.kind.http_status_in(judge.dialect);
                    let expected = format!("{status} for {:?}", error.kind);
                    let found = unless(false, "HTTP status", expected, self.status);
                    observe("error.status", found);
                }
                self.ended = true;
                self.is_coded = has_code(&json);
                self.failed = Some(error.kind);
                self.events
                    .push(json!({"error": format!("{:?}", error.kind)}));
            }
            Err(error) => {
                let found = unless(false, &place, "an event of this version", &error);
                observe("stream.event-shapes", found);
                self.events.push(json!({"unreadable": text}));
            }
        }
    }

    /// Checks the envelope of an event, and its content against the schema.
    fn judge_frame(&self, judge: &Judge, json: &Value, place: &str) {
        let observe = |check, found| judge.observations.record(check, found, &self.evidence);
        // In 0.1 an event may have `error: null` (§7.2.1).
        let may_be_null = judge.dialect == Dialect::V0_1;
        let error = json.get("error");
        // By HTTP+JSON no text says what an error in a stream looks like.
        let is_bare_error = judge.binding == Binding::HttpJson
            && json["code"].is_number()
            && json["message"].is_string();
        let has_error =
            error.is_some_and(|error| !(may_be_null && error.is_null())) || is_bare_error;
        match judge.binding {
            Binding::JsonRpc => {
                let id = self.envelope.id.as_ref();
                let id = id.and_then(|id| serde_json::to_value(id).ok());
                let id = id.unwrap_or_default();
                let one = json.get("result").is_some() != has_error;
                let has_id = json.get("id") == Some(&id) || is_unread(json);
                let sealed = json["jsonrpc"] == "2.0" && has_id && one;
                let expected =
                    format!("`jsonrpc: \"2.0\"`, `id: {id}`, and either `result` or `error`");
                observe("stream.envelope", unless(sealed, place, expected, json));
            }
            _ => {
                let bare = json.get("jsonrpc").is_none() && json.get("result").is_none();
                let expected = "an event, without `jsonrpc` and `result`";
                observe("rest.stream-frames", unless(bare, place, expected, json));
            }
        }
        // The answer to a request that the case altered may hold the alteration.
        if !has_error && !self.is_altered() {
            let readable = judge.readable(json.clone());
            let found = judge.against_schema(self.envelope.operation, &readable, place);
            observe("stream.event-shapes", found);
            let content = match judge.binding {
                Binding::JsonRpc => &readable["result"],
                _ => &readable,
            };
            judge.judge_content(content, &self.evidence);
        }
    }

    fn apply(&mut self, judge: &Judge, event: &Event, last: bool, place: &str) {
        let value = serde_json::to_value(event).unwrap_or_default();
        if !self.is_altered() {
            self.judge_order(judge, event, &value, place);
            self.judge_ids(judge, event, &value, place);
            self.judge_chunk(judge, event, &value, place);
            self.judge_time(judge, &value, place);
        }
        let observe = |check, found| judge.observations.record(check, found, &self.evidence);
        let state = event.status().map(|status| status.state);
        if let (Event::StatusUpdate(_), Some(state), true) =
            (event, state, judge.dialect != Dialect::V1_0)
        {
            self.last = Some(last);
            // 0.1 names the states at which a stream ends (§7.2.1), later versions do not.
            if last && judge.dialect == Dialect::V0_1 {
                let settled = state.is_settled() || state == TaskState::Unspecified;
                let found = unless(settled, place, "final only at the end", state.as_str());
                observe("stream.final", found);
            }
        }
        // A stream may stay open while the task waits for input; in 0.1 it ends there (documentation at launch).
        let asks =
            |state: TaskState| state == TaskState::InputRequired && judge.dialect == Dialect::V0_1;
        let ends = state.is_some_and(|state| state.is_terminal() || asks(state));
        // Before 1.0 no text says that nothing follows a message.
        let is_message = matches!(event, Event::Message(_));
        self.answered |= is_message;
        self.ended |= ends || last && !is_message || is_message && judge.dialect == Dialect::V1_0;
        self.fold(event);
        if let Some(id) = event.task_id().filter(|_| !self.is_altered()) {
            judge.own.add(id.as_str());
        }
        self.events.push(value);
    }

    /// Checks the first event of a stream, and that none changes or follows its end.
    fn judge_order(&self, judge: &Judge, event: &Event, value: &Value, place: &str) {
        let observe = |check, found| judge.observations.record(check, found, &self.evidence);
        if judge.dialect == Dialect::V1_0 && self.events.is_empty() && !self.resumes {
            let begins = matches!(event, Event::Task(_) | Event::Message(_));
            let expected = "a task or a message";
            observe(
                "stream.begins-with-task",
                unless(begins, place, expected, value),
            );
        }
        let may_follow =
            !self.ended || judge.dialect == Dialect::V1_0 && self.repeats_ended_task(event);
        observe("stream.closes", unless(may_follow, place, "nothing", value));
        if let (Some(known), Some(status)) = (&self.folded, event.status()) {
            let before = known.status.state;
            let legal = !before.is_terminal() || status.state == before;
            let expected = format!("still {}", before.as_str());
            observe(
                "task.ended-stays",
                unless(legal, place, expected, status.state.as_str()),
            );
        }
    }

    /// Returns whether an event repeats the task as it ended, after its last status (1.0 §11.7).
    fn repeats_ended_task(&self, event: &Event) -> bool {
        let (Event::Task(task), Some(known)) = (event, &self.folded) else {
            return false;
        };
        let ended = known.status.state;
        let is_new = self
            .events
            .last()
            .is_some_and(|last| last.get("task").is_none());
        ended.is_terminal() && task.status.state == ended && is_new
    }

    /// Checks that an event is about the task that was asked for, or else the one of the first event.
    fn judge_ids(&self, judge: &Judge, event: &Event, value: &Value, place: &str) {
        let text = |id: &dyn ToString| Value::from(id.to_string());
        let id = event.task_id().map(|id| text(id));
        let context = match event {
            Event::Task(task) => task.context_id.as_ref(),
            Event::Message(message) => message.context_id.as_ref(),
            Event::StatusUpdate(update) => update.context_id.as_ref(),
            Event::ArtifactUpdate(update) => update.context_id.as_ref(),
        };
        let context = context.map(|context| text(context));
        let folded = self.folded.as_ref();
        let message = &self.params["message"];
        let ids = [
            folded.map(|task| text(&task.id)),
            message.get("taskId").cloned(),
            self.params.get("id").cloned(),
        ];
        let contexts = [
            folded.and_then(|task| Some(text(task.context_id.as_ref()?))),
            // In 0.2 and 0.3 the agent may replace a `contextId` that comes without a `taskId`.
            message.get("contextId").cloned().filter(|_| {
                let is_known = message.get("taskId").is_some();
                is_known || matches!(judge.dialect, Dialect::V0_1 | Dialect::V1_0)
            }),
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
        let found = unless(holds, place, expected, value);
        judge
            .observations
            .record("stream.event-shapes", found, &self.evidence);
        judge.judge_history_messages(&value["task"], &self.evidence);
        let length = self.params["configuration"].get("historyLength");
        let task = &value["task"];
        judge.judge_history("send.history-length", length, task, place, &self.evidence);
    }

    /// Checks that a chunk is appended only to an artifact that was begun and is not complete.
    fn judge_chunk(&mut self, judge: &Judge, event: &Event, value: &Value, place: &str) {
        let Event::ArtifactUpdate(update) = event else {
            return;
        };
        let id = update.artifact.artifact_id.to_string();
        let is_known = self.begun_artifacts.contains(&id);
        let is_begun = !update.append || self.resumes || is_known || self.folded_has(&id);
        let is_whole = update.append && self.whole_artifacts.contains(&id);
        let expected = "an artifact that was begun, and whose last chunk did not come";
        let found = unless(is_begun && !is_whole, place, expected, value);
        judge
            .observations
            .record("stream.chunks", found, &self.evidence);
        self.whole_artifacts.retain(|whole| *whole != id);
        if update.last_chunk {
            self.whole_artifacts.push(id.clone());
        }
        self.begun_artifacts.push(id);
    }

    /// Checks that the time of a status is not before that of an earlier one.
    fn judge_time(&mut self, judge: &Judge, value: &Value, place: &str) {
        let of = |member: &str| time(&value[member]["status"]["timestamp"]);
        let Some(at) = of("task").or_else(|| of("statusUpdate")) else {
            return;
        };
        if let Some(before) = self.since {
            let later = at.duration_since(before) > -ROUNDED;
            let expected = format!("{before} or later");
            let found = unless(later, place, expected, at);
            judge
                .observations
                .record("task.timestamps", found, &self.evidence);
        }
        self.since = Some(at);
    }

    fn fold(&mut self, event: &Event) {
        match (&mut self.folded, event) {
            (_, Event::Task(task)) => self.folded = Some(task.clone()),
            (Some(folded), event) => {
                let _ = folded.apply(event);
            }
            (None, event) => {
                let context = match event {
                    Event::StatusUpdate(update) => update.context_id.clone(),
                    Event::ArtifactUpdate(update) => update.context_id.clone(),
                    _ => None,
                };
                if let Some(id) = event.task_id() {
                    let mut task = Task {
                        id: id.clone(),
                        context_id: context,
                        ..Task::default()
                    };
                    let _ = task.apply(event);
                    self.folded = Some(task);
                }
            }
        }
    }

    fn folded_has(&self, id: &str) -> bool {
        let artifacts = self.folded.iter().flat_map(|task| &task.artifacts);
        artifacts
            .into_iter()
            .any(|artifact| artifact.artifact_id.as_str() == id)
    }
}

/// Tolerance between times, as some are rounded to seconds.
const ROUNDED: SignedDuration = SignedDuration::from_secs(1);
