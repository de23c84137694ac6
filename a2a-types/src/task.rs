//! Tasks and their state machine.

use serde::de::{Error as _, IntoDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::artifact::ArtifactIndex;
use crate::proto::{or_default, proto_enum, unless_empty};
use crate::timestamp::zone_optional;
use crate::{
    Artifact, ContextId, Event, Message, MessageId, Object, TaskArtifactUpdateEvent, TaskId,
    Timestamp,
};

/// A piece of work that an agent does for a caller. Specification 1.0 §4.1.1.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Identifier of the task.
    pub id: TaskId,
    /// Conversation that the task belongs to.
    #[serde(
        default,
        alias = "context_id",
        deserialize_with = "unless_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub context_id: Option<ContextId>,
    /// Current status.
    pub status: TaskStatus,
    /// Artifacts produced so far, in order of first appearance.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub artifacts: Vec<Artifact>,
    /// Messages exchanged so far, in order, without that of the current status.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub history: Vec<Message>,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// State of a task, its time, and the agent's message about it. Specification 1.0 §4.1.2.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// The state; an unknown one is read as unspecified. The words of 0.3 are understood: agents that
    /// came from it still use them.
    #[serde(deserialize_with = "known_state")]
    pub state: TaskState,
    /// Message of the agent about the status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Box<Message>>,
    /// Time at which the status was set. A time without a zone is in UTC.
    #[serde(
        default,
        deserialize_with = "zone_optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub timestamp: Option<Timestamp>,
}

/// Reads a state; one of a later minor version is unspecified (specification 1.0 §5.7).
fn known_state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TaskState, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => {
            Ok(TaskState::from_text(&text).unwrap_or_else(|| older_state(&text)))
        }
        other => TaskState::deserialize(other).map_err(D::Error::custom),
    }
}

/// Returns the state that 0.2 and 0.3 call by this word.
fn older_state(word: &str) -> TaskState {
    let word: Result<_, serde::de::value::Error> =
        crate::v0_2::TaskState::deserialize(word.into_deserializer());
    word.map_or(TaskState::Unspecified, TaskState::from)
}

/// State of a task. Specification 1.0 §4.1.3.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum TaskState {
    /// Not stated by the peer, or unknown to us. Never the target of an update.
    Unspecified,
    /// Accepted, not started.
    #[default]
    Submitted,
    /// Being worked on.
    Working,
    /// Done.
    Completed,
    /// Ended by an error.
    Failed,
    /// Canceled by the caller.
    Canceled,
    /// Waiting for the caller's next message.
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
    Canceled = 5, "TASK_STATE_CANCELED" | "TASK_STATE_CANCELLED";
    InputRequired = 6, "TASK_STATE_INPUT_REQUIRED";
    Rejected = 7, "TASK_STATE_REJECTED";
    AuthRequired = 8, "TASK_STATE_AUTH_REQUIRED";
});

impl TaskState {
    /// Returns whether the task has ended.
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected
        )
    }

    /// Returns whether the agent waits for the caller.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// Returns whether the agent does nothing more until the caller does: terminal or interrupted.
    pub fn is_settled(self) -> bool {
        self.is_terminal() || self.is_interrupted()
    }

    /// Returns whether a stream ends here: at a terminal state, and when the agent asks for input. Missing
    /// credentials usually arrive by another way, so that stream stays open (1.0 §7.6.1).
    pub fn ends_stream(self) -> bool {
        self.is_terminal() || self == Self::InputRequired
    }

    /// Returns whether an update may take a task from this state to `next`.
    ///
    /// No protocol version publishes the table. Ours: everything goes from a state that is not terminal,
    /// except back to submitted; nothing goes from a terminal one, except that version 0.1
    /// reopens a finished task, which makes it submitted again.
    pub fn may_become(self, next: Self) -> bool {
        match next {
            Self::Unspecified => false,
            Self::Submitted => self.is_terminal(),
            _ => !self.is_terminal(),
        }
    }
}

impl From<TaskState> for TaskStatus {
    fn from(state: TaskState) -> Self {
        Self {
            state,
            ..Self::default()
        }
    }
}

/// Reason for which an event cannot be applied to a task.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalEvent {
    /// The event is about another task.
    #[error("the event is about task `{event}`, not `{task}`")]
    OtherTask {
        /// The task it was applied to.
        task: TaskId,
        /// The task it names.
        event: TaskId,
    },
    /// The task cannot go from its state to that of the event.
    #[error("a task that is {} cannot become {}", from.as_str(), to.as_str())]
    Transition {
        /// Current state of the task.
        from: TaskState,
        /// State that the event sets.
        to: TaskState,
    },
    /// A finished task produces nothing more.
    #[error("a task that is {} produces no more artifacts", .0.as_str())]
    ArtifactAfterEnd(TaskState),
    /// A finished task takes no more messages.
    #[error("a task that is {} takes no more messages", .0.as_str())]
    MessageAfterEnd(TaskState),
}

impl Task {
    /// Returns a task that has just been accepted.
    pub fn submitted(id: TaskId, context_id: ContextId) -> Self {
        Self {
            id,
            context_id: Some(context_id),
            status: TaskStatus {
                timestamp: Some(Timestamp::now()),
                ..TaskState::Submitted.into()
            },
            ..Self::default()
        }
    }

    /// Applies an event: a task is the fold of its log.
    ///
    /// - [`Event::Task`] replaces everything: it is a snapshot.
    /// - [`Event::Message`] joins the history, after the message of the present status.
    /// - [`Event::StatusUpdate`] replaces the status; the previous status' message joins the history.
    /// - [`Event::ArtifactUpdate`] creates, replaces (`append` false) or extends (`append` true) the
    ///   artifact of that id; appending to an unknown id creates it.
    ///
    /// An event that is refused changes nothing.
    pub fn apply(&mut self, event: &Event) -> Result<(), IllegalEvent> {
        self.apply_all(std::slice::from_ref(event))
    }

    /// Applies several events; if one of them is refused, none changes anything.
    pub fn apply_all(&mut self, events: &[Event]) -> Result<(), IllegalEvent> {
        self.state_after(self.status.state, events)?;
        let mut index = ArtifactIndex::default();
        events.iter().for_each(|event| self.take(event, &mut index));
        Ok(())
    }

    /// Applies events one after the other and skips those that are refused. The cost grows with the number
    /// of events, not with the number of artifacts that they are searched for in.
    pub fn fold<'e>(&mut self, events: impl IntoIterator<Item = &'e Event>) {
        let mut index = ArtifactIndex::default();
        for event in events {
            if self.state_after_one(self.status.state, event).is_ok() {
                self.take(event, &mut index);
            }
        }
    }

    /// Returns the state after several events that are applied one after the other, beginning in the
    /// state `from`. Errors: the first illegal one; nothing but the state decides what is legal.
    pub fn state_after(
        &self,
        from: TaskState,
        events: &[Event],
    ) -> Result<TaskState, IllegalEvent> {
        let after = |state, event| self.state_after_one(state, event);
        events.iter().try_fold(from, after)
    }

    fn state_after_one(&self, from: TaskState, event: &Event) -> Result<TaskState, IllegalEvent> {
        if let Some(other) = event.task_id().filter(|id| **id != self.id) {
            return Err(IllegalEvent::OtherTask {
                task: self.id.clone(),
                event: other.clone(),
            });
        }
        match event {
            Event::Task(task) => Ok(task.status.state),
            Event::Message(_) if from.is_terminal() => Err(IllegalEvent::MessageAfterEnd(from)),
            Event::ArtifactUpdate(_) if from.is_terminal() => {
                Err(IllegalEvent::ArtifactAfterEnd(from))
            }
            Event::Message(_) | Event::ArtifactUpdate(_) => Ok(from),
            Event::StatusUpdate(update) => match update.status.state {
                to if from.may_become(to) => Ok(to),
                to => Err(IllegalEvent::Transition { from, to }),
            },
        }
    }

    fn take(&mut self, event: &Event, index: &mut ArtifactIndex) {
        match event {
            Event::Task(task) => {
                self.clone_from(task);
                *index = ArtifactIndex::default();
            }
            Event::Message(message) => {
                self.remember_status();
                self.history.push(message.clone());
            }
            Event::StatusUpdate(update) => {
                self.remember_status();
                self.status = update.status.clone();
            }
            Event::ArtifactUpdate(update) => self.assemble(update, index),
        }
    }

    /// Moves the message of the status to the history, unless the agent has put it there already.
    fn remember_status(&mut self) {
        let said = self.status.message.take();
        let last = self.history.last().map(|message| &message.message_id);
        // 0.1 has no ids: what has none is never the same.
        let is_known = |id: &MessageId| !id.is_empty() && last == Some(id);
        let said = said.filter(|said| !is_known(&said.message_id));
        self.history.extend(said.map(|message| *message));
    }

    /// Keeps the last `length` messages of the history, or all of them if `length` is `None`.
    pub fn trim_history(&mut self, length: Option<u32>) {
        let Some(length) = length else { return };
        let keep = usize::try_from(length).unwrap_or(usize::MAX);
        let surplus = self.history.len().saturating_sub(keep);
        self.history.drain(..surplus);
    }

    fn assemble(&mut self, update: &TaskArtifactUpdateEvent, index: &mut ArtifactIndex) {
        let chunk = &update.artifact;
        let place = index.find(&self.artifacts, &chunk.artifact_id);
        match place.and_then(|place| self.artifacts.get_mut(place)) {
            Some(artifact) if update.append => artifact.append(chunk),
            Some(artifact) => artifact.clone_from(chunk),
            None => self.artifacts.push(chunk.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
