//! Tasks and artifacts, 0.1 §6.1–6.3 and §6.7.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::message::{check_parts, normalize_message, normalize_parts};
use super::{Message, Part};
use crate::pre_1_0::{self, wire_types};
use crate::reading::{JsonPath, Normalizer, Quirk, Violation, Wire};
use crate::{ArtifactId, ContextId, MessageId, Object, TaskId, Timestamp};

wire_types! {
    /// A piece of work, 0.1 §6.1.
    pub struct Task: Debug {
        /// Identifier of the task, chosen by the caller.
        pub id: TaskId,
        /// Conversation that the task belongs to.
        pub session_id: Option<ContextId> = optional,
        /// Current status.
        pub status: TaskStatus,
        /// Artifacts produced so far.
        pub artifacts: Option<Vec<Artifact>> = optional,
        /// Messages exchanged so far.
        pub history: Option<Vec<Message>> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// Status of a task, 0.1 §6.2.
    pub struct TaskStatus: Debug {
        /// The state.
        pub state: TaskState,
        /// Message of the agent about the status.
        pub message: Option<Message> = optional,
        /// Time at which the status was set.
        pub timestamp: Option<Timestamp> = optional,
    }
}

/// The states of a task, 0.1 §6.3.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TaskState {
    /// Accepted, not started.
    Submitted,
    /// Being worked on.
    Working,
    /// Waiting for the caller.
    InputRequired,
    /// Done.
    Completed,
    /// Canceled by the caller.
    Canceled,
    /// Ended by an error.
    Failed,
    /// State not known.
    Unknown,
}

const STATES: &[&str] = &[
    "submitted",
    "working",
    "input-required",
    "completed",
    "canceled",
    "failed",
    "unknown",
];

wire_types! {
    /// A result, or a chunk of one, 0.1 §6.7.
    pub struct Artifact: Debug, Default {
        /// Human-readable name.
        pub name: Option<String> = optional,
        /// Human-readable description.
        pub description: Option<String> = optional,
        /// The content.
        pub parts: Vec<Part>,
        /// Number of the artifact within its task.
        pub index: u32 = or_default,
        /// `true` on a stream if the parts are appended to the artifact.
        pub append: Option<bool> = optional,
        /// `true` on a stream if the artifact is complete.
        pub last_chunk: Option<bool> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }
}

impl Wire for Task {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.each("history", self.history.iter().flatten(), Message::check)?;
        at.each(
            "artifacts",
            self.artifacts.iter().flatten(),
            |artifact, at| check_parts(&artifact.parts, &at.member("parts")),
        )?;
        self.status.check(&at.member("status"))
    }

    fn normalize(task: &mut Object, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(task, normalizer, "id");
        normalizer.member(task, "status", normalize_status);
        normalizer.items(task, "artifacts", normalize_parts);
        normalizer.items(task, "history", |message, normalizer| {
            normalize_message(message, normalizer, "agent")
        });
    }
}

impl Wire for TaskStatus {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.message
            .iter()
            .try_for_each(|message| message.check(&at.member("message")))
    }

    fn normalize(status: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalize_status(status, normalizer);
    }
}

pub(super) fn normalize_status(status: &mut Object, normalizer: &mut Normalizer<'_>) {
    pre_1_0::normalize_status(status, normalizer, true, STATES, |message, normalizer| {
        normalize_message(message, normalizer, "agent");
    });
}

impl From<Task> for crate::Task {
    /// Derives the ids of messages from their places in the task.
    fn from(task: Task) -> Self {
        let place = |(ordinal, message): (usize, Message)| crate::Message {
            message_id: MessageId::derived(&task.id, ordinal),
            ..message.into()
        };
        let history: Vec<_> = task
            .history
            .into_iter()
            .flatten()
            .enumerate()
            .map(place)
            .collect();
        let mut status = crate::TaskStatus::from(task.status);
        if let Some(message) = &mut status.message {
            message.message_id = MessageId::derived(&task.id, history.len());
        }
        Self {
            context_id: task.session_id,
            status,
            artifacts: task
                .artifacts
                .into_iter()
                .flatten()
                .map(Into::into)
                .collect(),
            history,
            metadata: task.metadata,
            id: task.id,
        }
    }
}

impl From<crate::Task> for Task {
    fn from(task: crate::Task) -> Self {
        let mut indices = ArtifactIndices::default();
        let artifacts = task
            .artifacts
            .into_iter()
            .map(|artifact| indices.number(artifact));
        Self {
            session_id: task.context_id,
            status: task.status.into(),
            artifacts: some_unless_empty(artifacts.collect()),
            history: some_unless_empty(task.history.into_iter().map(Into::into).collect()),
            metadata: task.metadata,
            id: task.id,
        }
    }
}

fn some_unless_empty<T>(items: Vec<T>) -> Option<Vec<T>> {
    (!items.is_empty()).then_some(items)
}

/// Metadata key of a status message for a state that 0.1 does not have.
const STATE: &str = "a2a-state";

impl From<TaskStatus> for crate::TaskStatus {
    fn from(status: TaskStatus) -> Self {
        let mut message = status.message.map(crate::Message::from).map(Box::new);
        let remembered = message
            .as_mut()
            .and_then(|message| pre_1_0::take(&mut message.metadata, STATE, Value::is_string));
        let state = match (status.state, remembered.as_ref().and_then(Value::as_str)) {
            (TaskState::Failed, Some("rejected")) => crate::TaskState::Rejected,
            (TaskState::InputRequired, Some("auth-required")) => crate::TaskState::AuthRequired,
            (state, _) => state.into(),
        };
        Self {
            state,
            message,
            timestamp: status.timestamp,
        }
    }
}

impl From<crate::TaskStatus> for TaskStatus {
    /// Writes rejected as failed and missing credentials as missing input; the message keeps the state.
    fn from(status: crate::TaskStatus) -> Self {
        let (state, remember) = match status.state {
            crate::TaskState::Rejected => (TaskState::Failed, Some("rejected")),
            crate::TaskState::AuthRequired => (TaskState::InputRequired, Some("auth-required")),
            crate::TaskState::Unspecified => (TaskState::Unknown, None),
            crate::TaskState::Submitted => (TaskState::Submitted, None),
            crate::TaskState::Working => (TaskState::Working, None),
            crate::TaskState::Completed => (TaskState::Completed, None),
            crate::TaskState::Failed => (TaskState::Failed, None),
            crate::TaskState::Canceled => (TaskState::Canceled, None),
            crate::TaskState::InputRequired => (TaskState::InputRequired, None),
        };
        let mut message = status.message;
        if let Some(word) = remember {
            let message = message.get_or_insert_with(|| crate::Message::agent(word).into());
            message
                .metadata
                .get_or_insert_default()
                .insert(STATE.to_owned(), word.into());
        }
        Self {
            state,
            message: message.map(|message| (*message).into()),
            timestamp: status.timestamp,
        }
    }
}

impl From<TaskState> for crate::TaskState {
    fn from(state: TaskState) -> Self {
        match state {
            TaskState::Submitted => Self::Submitted,
            TaskState::Working => Self::Working,
            TaskState::InputRequired => Self::InputRequired,
            TaskState::Completed => Self::Completed,
            TaskState::Canceled => Self::Canceled,
            TaskState::Failed => Self::Failed,
            TaskState::Unknown => Self::Unspecified,
        }
    }
}

impl From<Artifact> for crate::Artifact {
    /// Converts the number to the id `index-N`.
    fn from(artifact: Artifact) -> Self {
        Self {
            artifact_id: ArtifactId::from(format!("{NUMBERED}{}", artifact.index)),
            name: artifact.name,
            description: artifact.description,
            parts: artifact.parts.into_iter().map(Into::into).collect(),
            metadata: artifact.metadata,
            extensions: Vec::new(),
        }
    }
}

/// Prefix of the id of an artifact that was received with a number.
const NUMBERED: &str = "index-";

/// Numbers a task's artifacts in the order of their first appearance; an id that was made from a
/// number keeps it, if it is still free.
#[derive(Clone, Debug, Default)]
pub struct ArtifactIndices {
    known: BTreeMap<ArtifactId, u32>,
    taken: BTreeSet<u32>,
    /// Number below which none is free.
    lowest: u32,
}

impl ArtifactIndices {
    /// Returns the number of an artifact.
    pub fn index(&mut self, id: &ArtifactId) -> u32 {
        if let Some(index) = self.known.get(id) {
            return *index;
        }
        let digits = id.as_str().strip_prefix(NUMBERED);
        let own = digits.and_then(|digits| digits.parse().ok());
        let index = own.filter(|index| !self.taken.contains(index));
        let index = index.unwrap_or_else(|| {
            while self.taken.contains(&self.lowest) {
                self.lowest += 1;
            }
            self.lowest
        });
        self.taken.insert(index);
        self.known.insert(id.clone(), index);
        index
    }

    /// Returns the artifact with its number in place of its id.
    pub(super) fn number(&mut self, artifact: crate::Artifact) -> Artifact {
        Artifact {
            index: self.index(&artifact.artifact_id),
            name: artifact.name,
            description: artifact.description,
            parts: artifact.parts.into_iter().map(Into::into).collect(),
            metadata: artifact.metadata,
            ..Artifact::default()
        }
    }
}

/// Marks a chunk of a stream: 0.1 has inside the artifact the flags that later versions have next to it.
pub(super) fn chunk(mut artifact: Artifact, append: bool, last_chunk: bool) -> Artifact {
    artifact.append = Some(append);
    artifact.last_chunk = Some(last_chunk);
    artifact
}

/// Returns whether the artifact is a chunk to be appended, and whether it is the last.
pub(super) fn chunk_flags(artifact: &Artifact) -> (bool, bool) {
    (
        artifact.append == Some(true),
        artifact.last_chunk == Some(true),
    )
}

/// Notes an empty list of parts where at least one part is expected.
pub(super) fn note_empty_parts(object: &Object, normalizer: &mut Normalizer<'_>) {
    if object
        .get("parts")
        .and_then(Value::as_array)
        .is_some_and(Vec::is_empty)
    {
        normalizer.note(Quirk::EmptyParts, "parts");
    }
}
