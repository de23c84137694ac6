//! Stream events, 0.3 §7.2 as in the proto.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::message::normalize_message;
use super::task::{check_context, normalize_artifact, normalize_status, note_no_context};
use super::{Artifact, Message, Task, TaskStatus};
use crate::event::is_false;
use crate::pre_1_0::{self, both_ways, boxed_variants};
use crate::proto::{one_of, or_default, unless_empty};
use crate::reading::{JsonPath, Normalizer, Violation, Wire, spelled};
use crate::{ContextId, Event, Object, Role, TaskId};

/// One item of a stream: exactly one of these.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum StreamResponse {
    /// The task in its current state.
    Task(Box<Task>),
    /// The agent's direct answer.
    Message(Box<Message>),
    /// The task has a new status.
    StatusUpdate(Box<TaskStatusUpdateEvent>),
    /// An artifact is new, replaced, or longer.
    ArtifactUpdate(Box<TaskArtifactUpdateEvent>),
}

one_of!(StreamResponse {
    Task(Box<Task>) = "task";
    Message(Box<Message>) = "message" | "msg";
    StatusUpdate(Box<TaskStatusUpdateEvent>) = "statusUpdate" | "status_update";
    ArtifactUpdate(Box<TaskArtifactUpdateEvent>) = "artifactUpdate" | "artifact_update";
});

/// The task has a new status, 0.3 §7.2.2.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskStatusUpdateEvent {
    /// The task.
    #[serde(alias = "task_id")]
    pub task_id: TaskId,
    /// Its conversation.
    #[serde(default, alias = "context_id", deserialize_with = "unless_empty")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<ContextId>,
    /// Its new status.
    pub status: TaskStatus,
    /// `true` if the stream ends with this event.
    #[serde(default, rename = "final", deserialize_with = "or_default")]
    pub last: bool,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// An artifact is new, replaced, or longer, 0.3 §7.2.3.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskArtifactUpdateEvent {
    /// The task.
    #[serde(alias = "task_id")]
    pub task_id: TaskId,
    /// Its conversation.
    #[serde(default, alias = "context_id", deserialize_with = "unless_empty")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<ContextId>,
    /// The artifact, or the chunk of it.
    pub artifact: Artifact,
    /// `true` if the parts are appended to the artifact.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "is_false")]
    pub append: bool,
    /// `true` if the artifact is complete.
    #[serde(default, alias = "last_chunk", deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "is_false")]
    pub last_chunk: bool,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

impl Wire for StreamResponse {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        match self {
            Self::Task(task) => task.check(&at.member("task")),
            Self::Message(message) => message.check(&at.member("message")),
            Self::StatusUpdate(update) => update.check(&at.member("statusUpdate")),
            Self::ArtifactUpdate(update) => update.check(&at.member("artifactUpdate")),
        }
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        match self {
            Self::Task(task) => task.check_lenient(&at.member("task")),
            Self::Message(_) => Ok(()),
            Self::StatusUpdate(update) => update.check_lenient(&at.member("statusUpdate")),
            Self::ArtifactUpdate(update) => update.check_lenient(&at.member("artifactUpdate")),
        }
    }

    fn normalize(event: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        normalizer.member(event, "task", Task::normalize);
        let message = spelled(event, &["message", "msg"]);
        normalizer.member(event, message, |message, normalizer| {
            normalize_message(message, normalizer, Role::Agent);
        });
        let status = spelled(event, &["statusUpdate", "status_update"]);
        normalizer.member(event, status, TaskStatusUpdateEvent::normalize);
        let artifact = spelled(event, &["artifactUpdate", "artifact_update"]);
        normalizer.member(event, artifact, TaskArtifactUpdateEvent::normalize);
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

    fn normalize(event: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        let task = spelled(event, &["taskId", "task_id"]);
        pre_1_0::normalize_task_id(event, normalizer, task);
        note_no_context(event, normalizer);
        normalizer.member(event, "status", normalize_status);
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

    fn normalize(event: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        let task = spelled(event, &["taskId", "task_id"]);
        pre_1_0::normalize_task_id(event, normalizer, task);
        note_no_context(event, normalizer);
        pre_1_0::normalize_append(event, &["artifactId", "artifact_id"]);
        normalizer.member(event, "artifact", normalize_artifact);
    }
}

impl From<TaskStatusUpdateEvent> for crate::TaskStatusUpdateEvent {
    fn from(event: TaskStatusUpdateEvent) -> Self {
        Self {
            task_id: event.task_id,
            context_id: event.context_id,
            status: event.status.into(),
            metadata: event.metadata,
        }
    }
}

impl From<crate::TaskStatusUpdateEvent> for TaskStatusUpdateEvent {
    fn from(event: crate::TaskStatusUpdateEvent) -> Self {
        Self {
            task_id: event.task_id,
            context_id: event.context_id,
            last: event.status.state.ends_stream(),
            status: event.status.into(),
            metadata: event.metadata,
        }
    }
}

boxed_variants! { StreamResponse = Event { Task, Message, StatusUpdate, ArtifactUpdate } }

both_ways! {
    TaskArtifactUpdateEvent = crate::TaskArtifactUpdateEvent {
        task_id, context_id, artifact, append, last_chunk, metadata,
    };
}
