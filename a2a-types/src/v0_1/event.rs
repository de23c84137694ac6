//! Stream events, 0.1 §7.2.2–7.2.3.

use serde::Serialize;

use super::message::{check_parts, normalize_parts};
use super::task::{chunk, chunk_flags, normalize_status, note_empty_parts};
use super::{Artifact, ArtifactIndices, TaskState, TaskStatus};
use crate::pre_1_0::{self, wire_types};
use crate::reading::{JsonPath, Normalizer, Violation, Wire};
use crate::{Event, Message, Object, TaskId};

/// One event of a stream, distinguished by its members.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(untagged)]
pub enum TaskEvent {
    /// The task has a new status.
    Status(TaskStatusUpdateEvent),
    /// An artifact is new, replaced, or longer.
    Artifact(TaskArtifactUpdateEvent),
}

wire_types! {
    /// The task has a new status, 0.1 §7.2.2.
    pub struct TaskStatusUpdateEvent: Debug {
        /// The task.
        pub id: TaskId,
        /// Its new status.
        pub status: TaskStatus,
        /// `true` if the stream ends with this event.
        #[serde(rename = "final")]
        pub last: bool = or_default,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// An artifact is new, replaced, or longer, 0.1 §7.2.3.
    pub struct TaskArtifactUpdateEvent: Debug {
        /// The task.
        pub id: TaskId,
        /// The artifact, or the chunk of it.
        pub artifact: Artifact,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }
}

impl Wire for TaskStatusUpdateEvent {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.status.check(&at.member("status"))
    }

    fn normalize(event: &mut Object, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(event, normalizer, "id");
        normalizer.member(event, "status", normalize_status);
    }
}

impl Wire for TaskArtifactUpdateEvent {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        check_parts(&self.artifact.parts, &at.member("artifact").member("parts"))
    }

    fn normalize(event: &mut Object, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(event, normalizer, "id");
        normalizer.member(event, "artifact", |artifact, normalizer| {
            note_empty_parts(artifact, normalizer);
            normalize_parts(artifact, normalizer);
        });
    }
}

impl From<TaskStatusUpdateEvent> for Event {
    fn from(event: TaskStatusUpdateEvent) -> Self {
        Self::StatusUpdate(crate::TaskStatusUpdateEvent {
            task_id: event.id,
            context_id: None,
            status: event.status.into(),
            metadata: event.metadata,
        })
    }
}

impl From<TaskArtifactUpdateEvent> for Event {
    fn from(event: TaskArtifactUpdateEvent) -> Self {
        let (append, last_chunk) = chunk_flags(&event.artifact);
        Self::ArtifactUpdate(crate::TaskArtifactUpdateEvent {
            task_id: event.id,
            context_id: None,
            artifact: event.artifact.into(),
            append,
            last_chunk,
            metadata: event.metadata,
        })
    }
}

/// Writes the events of one stream: artifacts are numbered as they come.
#[derive(Clone, Debug)]
pub struct EventWriter {
    task: TaskId,
    indices: ArtifactIndices,
}

impl EventWriter {
    /// Returns a writer for the answer to a request about `task`.
    pub fn new(task: TaskId) -> Self {
        Self {
            task,
            indices: ArtifactIndices::default(),
        }
    }

    /// Converts one event to 0.1 events, usually one.
    ///
    /// 0.1 has no event for a whole task, which becomes its status and each of its artifacts. It has
    /// no direct answer, which becomes a task completed with the message. Artifacts are known to be
    /// complete only when their task has ended.
    pub fn write(&mut self, event: Event) -> Vec<TaskEvent> {
        match event {
            Event::StatusUpdate(update) => vec![TaskEvent::Status(TaskStatusUpdateEvent {
                id: update.task_id,
                last: update.status.state.ends_stream(),
                status: update.status.into(),
                metadata: update.metadata,
            })],
            Event::ArtifactUpdate(update) => {
                let artifact = chunk(
                    self.indices.number(update.artifact),
                    update.append,
                    update.last_chunk,
                );
                let (id, metadata) = (update.task_id, update.metadata);
                vec![TaskEvent::Artifact(TaskArtifactUpdateEvent {
                    id,
                    artifact,
                    metadata,
                })]
            }
            Event::Task(task) => {
                let last = task.status.state.ends_stream();
                let complete = task.status.state.is_terminal();
                let id = task.id;
                let artifacts = task.artifacts.into_iter().map(|artifact| {
                    let artifact = chunk(self.indices.number(artifact), false, complete);
                    TaskEvent::Artifact(TaskArtifactUpdateEvent {
                        id: id.clone(),
                        artifact,
                        metadata: None,
                    })
                });
                let artifacts: Vec<_> = artifacts.collect();
                let status = TaskEvent::Status(TaskStatusUpdateEvent {
                    id,
                    status: task.status.into(),
                    last,
                    metadata: None,
                });
                // No event may follow the last one, so the artifacts precede it.
                match last {
                    true => artifacts.into_iter().chain([status]).collect(),
                    false => [status].into_iter().chain(artifacts).collect(),
                }
            }
            Event::Message(message) => vec![self.direct_answer(message)],
        }
    }

    fn direct_answer(&self, message: Message) -> TaskEvent {
        TaskEvent::Status(TaskStatusUpdateEvent {
            id: message.task_id.clone().unwrap_or_else(|| self.task.clone()),
            status: TaskStatus {
                state: TaskState::Completed,
                message: Some(message.into()),
                timestamp: None,
            },
            last: true,
            metadata: None,
        })
    }
}
