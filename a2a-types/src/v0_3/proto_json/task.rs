//! Tasks and artifacts, 0.3 §6.1–6.3 and §6.7 as in the proto.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::message::{normalize_message, normalize_parts};
use super::{Message, Part};
use crate::pre_1_0::{self, both_ways, same_words};
use crate::proto::{or_default, proto_enum, unless_empty};
use crate::reading::{JsonPath, Normalizer, Quirk, Violation, Wire, absent, spelled};
use crate::{ArtifactId, ContextId, Object, Role, TaskId, Timestamp};

/// A piece of work, 0.3 §6.1.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Identifier of the task, chosen by the server.
    pub id: TaskId,
    /// Conversation that the task belongs to.
    #[serde(default, alias = "context_id", deserialize_with = "unless_empty")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<ContextId>,
    /// Current status.
    pub status: TaskStatus,
    /// Artifacts produced so far.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Messages exchanged so far.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// Status of a task, 0.3 §6.2.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskStatus {
    /// The state.
    #[serde(default, deserialize_with = "or_default")]
    pub state: TaskState,
    /// Message of the agent about the status; `update` before 0.2.6, and in the proto's own spelling.
    #[serde(alias = "update", skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// Time at which the status was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// The states of a task, 0.3 §6.3.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TaskState {
    /// State not known.
    #[default]
    Unspecified,
    /// Accepted, not started.
    Submitted,
    /// Being worked on.
    Working,
    /// Done.
    Completed,
    /// Ended by an error.
    Failed,
    /// Canceled by the caller. The proto of 0.3 spells it with two `L`.
    Cancelled,
    /// Waiting for the caller.
    InputRequired,
    /// The agent will not do it.
    Rejected,
    /// Waiting for credentials.
    AuthRequired,
}

proto_enum!(TaskState {
    Unspecified = 0, "TASK_STATE_UNSPECIFIED";
    Submitted = 1, "TASK_STATE_SUBMITTED";
    Working = 2, "TASK_STATE_WORKING";
    Completed = 3, "TASK_STATE_COMPLETED";
    Failed = 4, "TASK_STATE_FAILED";
    Cancelled = 5, "TASK_STATE_CANCELLED" | "TASK_STATE_CANCELED";
    InputRequired = 6, "TASK_STATE_INPUT_REQUIRED";
    Rejected = 7, "TASK_STATE_REJECTED";
    AuthRequired = 8, "TASK_STATE_AUTH_REQUIRED";
});

/// A result, or a chunk of one, 0.3 §6.7.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Unique within the task.
    #[serde(alias = "artifact_id")]
    pub artifact_id: ArtifactId,
    /// Human-readable name.
    #[serde(default, deserialize_with = "unless_empty")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Human-readable description.
    #[serde(default, deserialize_with = "unless_empty")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The content.
    #[serde(default, deserialize_with = "or_default")]
    pub parts: Vec<Part>,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
    /// URIs of the extensions that contributed to the artifact.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
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

    fn normalize(task: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(task, normalizer, "id");
        note_no_context(task, normalizer);
        normalizer.member(task, "status", normalize_status);
        normalizer.items(task, "artifacts", normalize_artifact);
        normalizer.items(task, "history", |message, normalizer| {
            normalize_message(message, normalizer, Role::Agent)
        });
    }
}

impl Wire for TaskStatus {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.message
            .iter()
            .try_for_each(|message| message.check(&at.member("message")))
    }

    fn normalize(status: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        normalize_status(status, normalizer);
    }
}

impl Wire for Artifact {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.names("artifactId", self.artifact_id.as_str())
    }

    fn normalize(artifact: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        normalize_artifact(artifact, normalizer);
    }
}

/// Checks that a task or event has a conversation, 0.3 §6.1 and §7.2.
pub(super) fn check_context(id: &Option<ContextId>, at: &JsonPath<'_>) -> Result<(), Violation> {
    match id {
        None => Err(at.member("contextId").violation("missing or empty")),
        Some(_) => Ok(()),
    }
}

/// Notes a missing conversation, which stays missing.
pub(super) fn note_no_context(object: &Map<String, Value>, normalizer: &mut Normalizer<'_>) {
    let name = spelled(object, &["contextId", "context_id"]);
    if absent(object, name) || object[name] == "" {
        normalizer.note(Quirk::EmptyId, name);
    }
}

pub(super) fn normalize_status(status: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
    pre_1_0::normalize_time(status, normalizer);
    normalizer.change(status, "state", Quirk::UnknownWord, |state| {
        let known = match state {
            Value::String(word) => {
                let plain = word.to_ascii_uppercase().replace('-', "_");
                TaskState::from_text(&plain)
                    .or_else(|| TaskState::from_text(&format!("TASK_STATE_{plain}")))
            }
            Value::Number(_) => serde_json::from_value(state.clone()).ok(),
            _ => return None,
        };
        let written = state.as_str().and_then(TaskState::from_text);
        let right = state.is_number() && known.is_some() || written.is_some();
        (!right).then(|| known.unwrap_or_default().as_str().into())
    });
    let message = spelled(status, &["message", "update"]);
    normalizer.member(status, message, |message, normalizer| {
        normalize_message(message, normalizer, Role::Agent);
    });
}

pub(super) fn normalize_artifact(
    artifact: &mut Map<String, Value>,
    normalizer: &mut Normalizer<'_>,
) {
    let name = spelled(artifact, &["artifactId", "artifact_id"]);
    normalizer.drop_empty_id(artifact, name);
    let id = normalizer.artifact().cloned().unwrap_or_default();
    normalizer.supply(artifact, name, id.as_str(), Quirk::NoArtifactId);
    normalize_parts(artifact, normalizer, "parts");
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
