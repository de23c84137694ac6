//! Tasks and artifacts, 0.3 §6.1–6.3 and §6.7 as in the proto.

use serde::Deserialize;

use super::message::normalize_parts;
use super::{Message, Part};
use crate::pre_1_0::{self, both_ways, same_words, wire_types};
use crate::proto::proto_enum;
use crate::reading::{JsonPath, Normalizer, Quirk, Violation, Wire, absent, spelled};
use crate::{ArtifactId, ContextId, Object, TaskId, Timestamp};

wire_types! {
    /// A piece of work, 0.3 §6.1.
    pub struct Task: Debug {
        /// Identifier of the task, chosen by the server.
        pub id: TaskId,
        /// Conversation that the task belongs to.
        pub context_id: Option<ContextId> = unless_empty | "context_id",
        /// Current status.
        pub status: TaskStatus,
        /// Artifacts produced so far.
        pub artifacts: Vec<Artifact> = unless_default,
        /// Messages exchanged so far.
        pub history: Vec<Message> = unless_default,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// Status of a task, 0.3 §6.2.
    pub struct TaskStatus: Debug {
        /// The state.
        pub state: TaskState = or_default,
        /// Message of the agent about the status; `update` before 0.2.6, and in the proto's own spelling.
        pub message: Option<Message> = optional | "update",
        /// Time at which the status was set.
        pub timestamp: Option<Timestamp> = optional,
    }

    /// A result, or a chunk of one, 0.3 §6.7.
    pub struct Artifact: Debug {
        /// Unique within the task.
        pub artifact_id: ArtifactId | "artifact_id",
        /// Human-readable name.
        pub name: Option<String> = unless_empty,
        /// Human-readable description.
        pub description: Option<String> = unless_empty,
        /// The content.
        pub parts: Vec<Part> = or_default,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
        /// URIs of the extensions that contributed to the artifact.
        pub extensions: Vec<String> = unless_default,
    }
}

proto_enum! {
    /// The states of a task, 0.3 §6.3.
    pub enum TaskState {
        /// State not known.
        #[default]
        Unspecified = 0, "TASK_STATE_UNSPECIFIED";
        /// Accepted, not started.
        Submitted = 1, "TASK_STATE_SUBMITTED";
        /// Being worked on.
        Working = 2, "TASK_STATE_WORKING";
        /// Done.
        Completed = 3, "TASK_STATE_COMPLETED";
        /// Ended by an error.
        Failed = 4, "TASK_STATE_FAILED";
        /// Canceled by the caller. The proto of 0.3 spells it with two `L`.
        Cancelled = 5, "TASK_STATE_CANCELLED" | "TASK_STATE_CANCELED";
        /// Waiting for the caller.
        InputRequired = 6, "TASK_STATE_INPUT_REQUIRED";
        /// The agent will not do it.
        Rejected = 7, "TASK_STATE_REJECTED";
        /// Waiting for credentials.
        AuthRequired = 8, "TASK_STATE_AUTH_REQUIRED";
    }
}

impl Wire for Task {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.check_lenient(at)?;
        check_context(&self.context_id, at)?;
        at.each("artifacts", &self.artifacts, Artifact::check)?;
        at.each("history", &self.history, Message::check)?;
        self.status.check(&at.member("status"))
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.names("id", self.id.as_str())
    }

    fn normalize(task: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalize_ids(task, normalizer, &["id"]);
        normalizer.member(task, "status", TaskStatus::normalize);
        normalizer.items(task, "artifacts", Artifact::normalize);
        normalizer.items(task, "history", Message::normalize);
    }
}

impl Wire for TaskStatus {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        let mut message = self.message.iter();
        message.try_for_each(|message| message.check(&at.member("message")))
    }

    fn normalize(status: &mut Object, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_time(status, normalizer);
        normalizer.change(status, "state", Quirk::UnknownWord, |state| {
            let word = state.is_string() || state.is_number();
            let plain = state.as_str().unwrap_or_default().to_ascii_uppercase();
            let plain = plain.replace('-', "_");
            let known = TaskState::from_text(&plain)
                .or_else(|| TaskState::from_text(&format!("TASK_STATE_{plain}")));
            let unknown = word && TaskState::deserialize(state).is_err();
            unknown.then(|| known.unwrap_or_default().as_str().into())
        });
        let message = spelled(status, &["message", "update"]);
        normalizer.member(status, message, Message::normalize);
    }
}

impl Wire for Artifact {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.names("artifactId", self.artifact_id.as_str())
    }

    fn normalize(artifact: &mut Object, normalizer: &mut Normalizer<'_>) {
        let name = spelled(artifact, &["artifactId", "artifact_id"]);
        normalizer.drop_empty_id(artifact, name);
        let id = normalizer.artifact().cloned().unwrap_or_default();
        normalizer.supply(artifact, name, id.as_str(), Quirk::NoArtifactId);
        normalize_parts(artifact, normalizer, "parts");
    }
}

/// Checks that a task or event has a conversation, 0.3 §6.1 and §7.2.
pub(super) fn check_context(id: &Option<ContextId>, at: &JsonPath<'_>) -> Result<(), Violation> {
    let missing = || at.member("contextId").violation("missing or empty");
    id.as_ref().map(drop).ok_or_else(missing)
}

/// Repairs the task of an object, and notes a missing conversation, which stays missing.
pub(super) fn normalize_ids(object: &mut Object, normalizer: &mut Normalizer<'_>, task: &[&str]) {
    pre_1_0::normalize_task_id(object, normalizer, spelled(object, task));
    let name = spelled(object, &["contextId", "context_id"]);
    if absent(object, name) || object[name] == "" {
        normalizer.note(Quirk::EmptyId, name);
    }
}

both_ways! {
    Task = crate::Task { id, context_id, status, artifacts as list, history as list, metadata };
    TaskStatus = crate::TaskStatus { state, message as boxed, timestamp };
    Artifact = crate::Artifact {
        artifact_id, name, description, parts as list, metadata, extensions,
    };
}

same_words! {
    TaskState = crate::TaskState {
        Unspecified, Submitted, Working, Completed, Failed, InputRequired, Rejected, AuthRequired,
    } renamed { Cancelled = Canceled }
}
