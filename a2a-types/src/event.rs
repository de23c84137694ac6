//! Events of a task, as streams carry them.

use serde::Serialize;

use crate::proto::one_of;
use crate::wire_types::wire_types;
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
    /// Returns the text that the event brings: of the [task](Task::text), of the [message](Message::text), of the
    /// message in the status, or of the [artifact](crate::Artifact::text) or its chunk.
    pub fn text(&self) -> String {
        match self {
            Self::Task(task) => task.text(),
            Self::Message(message) => message.text(),
            Self::StatusUpdate(update) => update.status.text(),
            Self::ArtifactUpdate(update) => update.artifact.text(),
        }
    }

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

wire_types! {
    /// The task has a new status. Specification 1.0 §4.2.1.
    pub struct TaskStatusUpdateEvent: Debug {
        /// The task.
        pub task_id: TaskId | "task_id",
        /// Its conversation. Absent only if the peer's protocol version does not carry it (0.1).
        pub context_id: Option<ContextId> = unless_empty | "context_id",
        /// The new status.
        pub status: TaskStatus,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// An artifact is new, replaced, or longer. Specification 1.0 §4.2.2.
    pub struct TaskArtifactUpdateEvent: Debug {
        /// The task.
        pub task_id: TaskId | "task_id",
        /// Its conversation. Absent only if the peer's protocol version does not carry it (0.1).
        pub context_id: Option<ContextId> = unless_empty | "context_id",
        /// The artifact, or the chunk of it.
        pub artifact: Artifact,
        /// `true` if the parts are added to the artifact of that id, instead of replacing it.
        pub append: bool = unless_default,
        /// `true` if the artifact is complete.
        pub last_chunk: bool = unless_default | "last_chunk",
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }
}
