//! Stream events, 0.3 §7.2 as in the proto.

use super::one_message::one_message;
use super::task::{check_context, normalize_ids};
use super::{Artifact, Message, Task, TaskStatus};
use crate::pre_1_0::{self, both_ways, wire_types};
use crate::reading::{JsonPath, Normalizer, Violation, Wire, spelled};
use crate::{ContextId, Object, TaskId};

one_message! {
    /// One item of a stream: exactly one of these.
    pub enum StreamResponse = Event {
        /// The task in its current state.
        Task(Task) = "task";
        /// The agent's direct answer.
        Message(Message) = "message" | "msg";
        /// The task has a new status.
        StatusUpdate(TaskStatusUpdateEvent) = "statusUpdate" | "status_update";
        /// An artifact is new, replaced, or longer.
        ArtifactUpdate(TaskArtifactUpdateEvent) = "artifactUpdate" | "artifact_update";
    }
}

wire_types! {
    /// The task has a new status, 0.3 §7.2.2.
    pub struct TaskStatusUpdateEvent: Debug {
        /// The task.
        pub task_id: TaskId | "task_id",
        /// Its conversation.
        pub context_id: Option<ContextId> = unless_empty | "context_id",
        /// Its new status.
        pub status: TaskStatus,
        /// `true` if the stream ends with this event.
        #[serde(rename = "final")]
        pub last: bool = or_default,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// An artifact is new, replaced, or longer, 0.3 §7.2.3.
    pub struct TaskArtifactUpdateEvent: Debug {
        /// The task.
        pub task_id: TaskId | "task_id",
        /// Its conversation.
        pub context_id: Option<ContextId> = unless_empty | "context_id",
        /// The artifact, or the chunk of it.
        pub artifact: Artifact,
        /// `true` if the parts are appended to the artifact.
        pub append: bool = unless_default,
        /// `true` if the artifact is complete.
        pub last_chunk: bool = unless_default | "last_chunk",
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }
}

impl Wire for TaskStatusUpdateEvent {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.check_lenient(at)?;
        check_context(&self.context_id, at)?;
        self.status.check(&at.member("status"))
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.names("taskId", self.task_id.as_str())
    }

    fn normalize(event: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalize_ids(event, normalizer, &["taskId", "task_id"]);
        normalizer.member(event, "status", TaskStatus::normalize);
    }
}

impl Wire for TaskArtifactUpdateEvent {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.check_lenient(at)?;
        check_context(&self.context_id, at)?;
        self.artifact.check(&at.member("artifact"))
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.names("taskId", self.task_id.as_str())
    }

    fn normalize(event: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalize_ids(event, normalizer, &["taskId", "task_id"]);
        pre_1_0::normalize_append(event, &["artifactId", "artifact_id"]);
        normalizer.member(event, "artifact", Artifact::normalize);
    }
}

both_ways! {
    TaskStatusUpdateEvent = crate::TaskStatusUpdateEvent { task_id, context_id, status, metadata }
        wire computed { last = |event| event.status.state.ends_stream() };
    TaskArtifactUpdateEvent = crate::TaskArtifactUpdateEvent {
        task_id, context_id, artifact, append, last_chunk, metadata,
    };
}
