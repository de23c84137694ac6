//! Journal of the messages sent to a server, and of its answers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_types::{
    Artifact, ArtifactId, Event, Message, MessageId, Part, ProtocolVersion, SendMessageRequest,
    Task, TaskId, TaskState,
};

/// Record of all callers: the messages they sent and what the server answered.
#[derive(Default)]
pub(crate) struct Journal {
    entries: Mutex<Entries>,
}

/// The contents of a journal.
#[derive(Default)]
pub(crate) struct Entries {
    pub(crate) messages: HashMap<MessageId, SentMessage>,
    pub(crate) reports: HashMap<TaskId, ReportedTask>,
    /// Messages recorded since the last audit.
    pub(crate) new_messages: BTreeSet<MessageId>,
    pub(crate) new_reports: BTreeSet<TaskId>,
    /// Tasks that wait for an answer of their caller.
    pub(crate) waiting: Vec<(TaskId, ProtocolVersion)>,
    /// Number of answers and events received.
    pub(crate) acknowledged: usize,
    /// Contradictions between two answers.
    pub(crate) contradictions: Vec<String>,
}

/// A message, and its outcome as far as the sender knows.
pub(crate) struct SentMessage {
    pub(crate) request: SendMessageRequest,
    pub(crate) protocol_version: ProtocolVersion,
    pub(crate) outcome: MessageOutcome,
    /// It was sent again to a later server although it had been answered.
    pub(crate) repeated: bool,
}

/// Outcome of a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MessageOutcome {
    /// The connection broke before an answer came.
    Unknown,
    /// It is in the history of this task.
    Task(TaskId),
    /// It was answered by this message.
    Reply(MessageId),
    /// The server did not take it.
    Refused,
}

/// Reported state of a task.
pub(crate) struct ReportedTask {
    pub(crate) protocol_version: ProtocolVersion,
    /// Events by sequence number, in short.
    pub(crate) events: BTreeMap<u64, String>,
    /// Artifacts, in short.
    pub(crate) artifacts: BTreeMap<ArtifactId, String>,
    /// The state that it ended in.
    pub(crate) ended: Option<TaskState>,
}

impl Journal {
    pub(crate) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// A message is about to be sent.
    pub(crate) fn sends(
        &mut self,
        request: &SendMessageRequest,
        protocol_version: ProtocolVersion,
    ) {
        let id = request.message.message_id.clone();
        self.new_messages.insert(id.clone());
        self.messages.entry(id).or_insert_with(|| SentMessage {
            request: request.clone(),
            protocol_version,
            outcome: MessageOutcome::Unknown,
            repeated: false,
        });
    }

    /// A message was answered.
    pub(crate) fn answered(&mut self, message: &MessageId, outcome: MessageOutcome) {
        self.acknowledged += usize::from(outcome != MessageOutcome::Refused);
        let Some(sent) = self.messages.get_mut(message) else {
            return;
        };
        match &sent.outcome {
            MessageOutcome::Unknown => sent.outcome = outcome,
            known if *known == outcome => {}
            known => self.contradictions.push(format!(
                "message {message} came to {known:?}, and to {outcome:?}"
            )),
        }
    }

    /// Records a task that the server sent as a whole.
    pub(crate) fn task(&mut self, task: &Task, protocol_version: ProtocolVersion) {
        let report = self.report(&task.id, protocol_version);
        for artifact in &task.artifacts {
            report
                .artifacts
                .insert(artifact.artifact_id.clone(), text(artifact));
        }
        report.ends(task.status.state);
    }

    /// Records an event of a stream.
    pub(crate) fn event(
        &mut self,
        event: &Event,
        sequence: Option<u64>,
        protocol_version: ProtocolVersion,
    ) {
        self.acknowledged += 1;
        if let Event::Task(task) = event {
            return self.task(task, protocol_version);
        }
        let Some(task) = event.task_id() else { return };
        let report = self.report(task, protocol_version);
        if let Some(sequence) = sequence {
            report.events.insert(sequence, in_short(event));
        }
        if let Some(status) = event.status() {
            report.ends(status.state);
        }
    }

    fn report(&mut self, task: &TaskId, protocol_version: ProtocolVersion) -> &mut ReportedTask {
        self.new_reports.insert(task.clone());
        self.reports
            .entry(task.clone())
            .or_insert_with(|| ReportedTask {
                protocol_version,
                events: BTreeMap::new(),
                artifacts: BTreeMap::new(),
                ended: None,
            })
    }
}

impl ReportedTask {
    fn ends(&mut self, state: TaskState) {
        if state.is_terminal() {
            self.ended = Some(state);
        }
    }

    /// Returns the first difference of a task from this report, or `None`.
    pub(crate) fn contradiction(&self, task: &Task) -> Option<String> {
        let state = task.status.state;
        if let Some(ended) = self.ended.filter(|ended| *ended != state) {
            return Some(format!("it was {ended:?} and is {state:?}"));
        }
        self.artifacts.iter().find_map(|(id, reported)| {
            let current = task
                .artifacts
                .iter()
                .find(|artifact| artifact.artifact_id == *id);
            let current = current.map(text);
            (current.as_ref() != Some(reported))
                .then(|| format!("artifact {id} was {reported:?}, is {current:?}"))
        })
    }
}

/// An event in a form that every protocol version reports alike.
pub(crate) fn in_short(event: &Event) -> String {
    match event {
        Event::ArtifactUpdate(update) => {
            format!("{} {}", update.artifact.artifact_id, text(&update.artifact))
        }
        Event::StatusUpdate(update) => {
            let text = update.status.message.as_deref().map(Message::text);
            format!("{:?} {}", update.status.state, text.unwrap_or_default())
        }
        Event::Message(message) => format!("message {}", message.message_id),
        Event::Task(task) => format!("task {}", task.id),
    }
}

fn text(artifact: &Artifact) -> String {
    artifact.parts.iter().filter_map(Part::as_text).collect()
}
