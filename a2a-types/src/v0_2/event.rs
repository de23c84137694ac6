//! Stream events, 0.2 §7.2.2–7.2.3.

use super::task::{normalize_artifact, normalize_status};
use super::{Artifact, TaskStatus};
use crate::pre_1_0::{self, both_ways, constants, wire_types};
use crate::reading::{JsonPath, Normalizer, Quirk, Violation, Wire, absent};
use crate::{ContextId, Object, TaskId};

constants! {
    /// `"kind": "status-update"`.
    StatusUpdateKind = "status-update";
    /// `"kind": "artifact-update"`.
    ArtifactUpdateKind = "artifact-update";
}

wire_types! {
    /// The task has a new status, 0.2 §7.2.2.
    pub struct TaskStatusUpdateEvent: Debug {
        /// Always `status-update`.
        pub kind: StatusUpdateKind,
        /// The task.
        pub task_id: TaskId,
        /// Its conversation.
        pub context_id: ContextId,
        /// Its new status.
        pub status: TaskStatus,
        /// `true` if the stream ends with this event.
        #[serde(rename = "final")]
        pub last: bool,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// An artifact is new, replaced, or longer, 0.2 §7.2.3.
    pub struct TaskArtifactUpdateEvent: Debug {
        /// Always `artifact-update`.
        pub kind: ArtifactUpdateKind,
        /// The task.
        pub task_id: TaskId,
        /// Its conversation.
        pub context_id: ContextId,
        /// The artifact, or the chunk of it.
        pub artifact: Artifact,
        /// `true` if the parts are appended to the artifact.
        pub append: Option<bool> = optional,
        /// `true` if the artifact is complete.
        pub last_chunk: Option<bool> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }
}

impl Wire for TaskStatusUpdateEvent {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.status.check(&at.member("status"))
    }

    fn normalize(event: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalizer.supply(event, "kind", "status-update", Quirk::NoKind);
        pre_1_0::normalize_task_id(event, normalizer, "taskId");
        // By the text of 0.2.0 to 0.2.5 `final` is false when absent; the schema requires it.
        if absent(event, "final") {
            event.insert("final".to_owned(), false.into());
        }
        normalizer.member(event, "status", normalize_status);
    }
}

impl Wire for TaskArtifactUpdateEvent {
    fn normalize(event: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalizer.supply(event, "kind", "artifact-update", Quirk::NoKind);
        pre_1_0::normalize_task_id(event, normalizer, "taskId");
        pre_1_0::normalize_append(event, &["artifactId"]);
        normalizer.member(event, "artifact", normalize_artifact);
    }
}

both_ways! {
    TaskStatusUpdateEvent = crate::TaskStatusUpdateEvent {
        task_id, context_id as required, status, metadata,
    } wire only { kind } wire computed { last = |event| event.status.state.ends_stream() };
    TaskArtifactUpdateEvent = crate::TaskArtifactUpdateEvent {
        task_id, context_id as required, artifact, append as always, last_chunk as always, metadata,
    } wire only { kind };
}
