//! Tasks and artifacts, 0.2 §6.1–6.3 and §6.7.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::message::{normalize_message, normalize_parts};
use super::{Message, Part};
use crate::pre_1_0::{self, both_ways, constants, same_words, wire_types};
use crate::reading::{JsonPath, Normalizer, Quirk, Violation, Wire};
use crate::timestamp::zone_optional;
use crate::{ArtifactId, ContextId, Object, TaskId, Timestamp};

constants! {
    /// `"kind": "task"`.
    TaskKind = "task";
}

wire_types! {
    /// A piece of work, 0.2 §6.1.
    pub struct Task: Debug {
        /// Always `task`.
        pub kind: TaskKind,
        /// Identifier of the task, chosen by the server.
        pub id: TaskId,
        /// Conversation that the task belongs to.
        pub context_id: ContextId,
        /// Current status.
        pub status: TaskStatus,
        /// Artifacts produced so far.
        pub artifacts: Option<Vec<Artifact>> = optional,
        /// Messages exchanged so far.
        pub history: Option<Vec<Message>> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// Status of a task, 0.2 §6.2.
    pub struct TaskStatus: Debug {
        /// The state.
        pub state: TaskState,
        /// Message of the agent about the status.
        pub message: Option<Message> = optional,
        /// Time at which the status was set; in UTC if it has no zone.
        #[serde(
            default,
            deserialize_with = "zone_optional",
            skip_serializing_if = "Option::is_none"
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
        pub timestamp: Option<Timestamp>,
    }
}

/// The states of a task, 0.2 §6.3.
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
    /// The agent will not do it.
    Rejected,
    /// Waiting for credentials.
    AuthRequired,
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
    "rejected",
    "auth-required",
    "unknown",
];

wire_types! {
    /// A result, or a chunk of one, 0.2 §6.7.
    pub struct Artifact: Debug {
        /// Unique within the task.
        pub artifact_id: ArtifactId,
        /// Human-readable name.
        pub name: Option<String> = optional,
        /// Human-readable description.
        pub description: Option<String> = optional,
        /// The content.
        pub parts: Vec<Part>,
        /// URIs of the extensions that contributed to the artifact (0.2.2).
        pub extensions: Option<Vec<String>> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }
}

impl Wire for Task {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.each("history", self.history.iter().flatten(), Message::check)?;
        self.status.check(&at.member("status"))
    }

    fn normalize(task: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalizer.supply(task, "kind", "task", Quirk::NoKind);
        pre_1_0::normalize_task_id(task, normalizer, "id");
        normalizer.member(task, "status", normalize_status);
        normalizer.items(task, "artifacts", normalize_artifact);
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
    pre_1_0::normalize_status(status, normalizer, false, STATES, |message, normalizer| {
        normalize_message(message, normalizer, "agent");
    });
}

pub(super) fn normalize_artifact(artifact: &mut Object, normalizer: &mut Normalizer<'_>) {
    let id = normalizer.artifact().cloned().unwrap_or_default();
    normalizer.supply(artifact, "artifactId", id.as_str(), Quirk::NoArtifactId);
    normalize_parts(artifact, normalizer);
    if artifact
        .get("parts")
        .and_then(Value::as_array)
        .is_some_and(Vec::is_empty)
    {
        normalizer.note(Quirk::EmptyParts, "parts");
    }
}

both_ways! {
    Task = crate::Task {
        id, context_id as required, status, artifacts as optional_list, history as optional_list, metadata,
    } wire only { kind };
    TaskStatus = crate::TaskStatus { state, message as boxed, timestamp };
    Artifact = crate::Artifact {
        artifact_id, name, description, parts as list, extensions as unless_empty, metadata,
    };
}

same_words! {
    TaskState = crate::TaskState {
        Submitted, Working, InputRequired, Completed, Canceled, Failed, Rejected, AuthRequired,
    } renamed { Unknown = Unspecified }
}
