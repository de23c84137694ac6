//! Events of a task, as streams carry them.

use serde::{Deserialize, Serialize};

use crate::proto::{one_of, or_default, unless_empty};
use crate::{Artifact, ContextId, Message, Object, Task, TaskId, TaskStatus};

/// One item of a stream, of a task's log, or of a push notification: `StreamResponse` in
/// specification 1.0 §3.2.3. On the wire an object of exactly one member.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// The whole task in its current state.
    Task(Task),
    /// A message: the agent's direct answer on a stream, any message in a log.
    Message(Message),
    /// The task has a new status.
    StatusUpdate(TaskStatusUpdateEvent),
    /// An artifact is new, replaced, or longer.
    ArtifactUpdate(TaskArtifactUpdateEvent),
}

// The release notes of 1.0.0 and 1.0.1 put `task` before the names of the updates.
one_of!(Event as "StreamResponse" {
    Task(Task) = "task";
    Message(Message) = "message";
    StatusUpdate(TaskStatusUpdateEvent) = "statusUpdate" | "status_update" | "taskStatusUpdate";
    ArtifactUpdate(TaskArtifactUpdateEvent) = "artifactUpdate" | "artifact_update" | "taskArtifactUpdate";
});

impl Event {
    /// Returns the task that the event is about.
    pub fn task_id(&self) -> Option<&TaskId> {
        match self {
            Self::Task(task) => Some(&task.id),
            Self::Message(message) => message.task_id.as_ref(),
            Self::StatusUpdate(update) => Some(&update.task_id),
            Self::ArtifactUpdate(update) => Some(&update.task_id),
        }
    }

    /// Returns the status that the event brings.
    pub fn status(&self) -> Option<&TaskStatus> {
        match self {
            Self::Task(task) => Some(&task.status),
            Self::StatusUpdate(update) => Some(&update.status),
            Self::Message(_) | Self::ArtifactUpdate(_) => None,
        }
    }
}

/// The task has a new status. Specification 1.0 §4.2.1.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskStatusUpdateEvent {
    /// The task.
    #[serde(alias = "task_id")]
    pub task_id: TaskId,
    /// Its conversation. Absent only if the peer's protocol version does not carry it (0.1).
    #[serde(
        default,
        alias = "context_id",
        deserialize_with = "unless_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub context_id: Option<ContextId>,
    /// The new status.
    pub status: TaskStatus,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// An artifact is new, replaced, or longer. Specification 1.0 §4.2.2.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskArtifactUpdateEvent {
    /// The task.
    #[serde(alias = "task_id")]
    pub task_id: TaskId,
    /// Its conversation. Absent only if the peer's protocol version does not carry it (0.1).
    #[serde(
        default,
        alias = "context_id",
        deserialize_with = "unless_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub context_id: Option<ContextId>,
    /// The artifact, or the chunk of it.
    pub artifact: Artifact,
    /// `true` if the parts are added to the artifact of that id, instead of replacing it.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_false"
    )]
    pub append: bool,
    /// `true` if the artifact is complete.
    #[serde(
        default,
        alias = "last_chunk",
        deserialize_with = "or_default",
        skip_serializing_if = "is_false"
    )]
    pub last_chunk: bool,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}
