//! A task, and what may happen to it.

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
    /// Names the task.
    pub id: TaskId,
    /// The conversation it belongs to.
    #[serde(
        default,
        alias = "context_id",
        deserialize_with = "unless_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub context_id: Option<ContextId>,
    /// Where it stands.
    pub status: TaskStatus,
    /// What it has produced, in order of first appearance.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub artifacts: Vec<Artifact>,
    /// What was said, in order, without the message of the present status.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub history: Vec<Message>,
    /// Whatever the two sides agreed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// The state of a task, since when, and what the agent says about it. Specification 1.0 §4.1.2.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// The state; one that we do not know is read as unspecified. Agents that came from 0.3 and still
    /// use its words are understood.
    #[serde(deserialize_with = "known_state")]
    pub state: TaskState,
    /// What the agent says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Box<Message>>,
    /// Since when. Agents that write no zone mean UTC.
    #[serde(
        default,
        deserialize_with = "zone_optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub timestamp: Option<Timestamp>,
}

/// A later minor version may have states that this one has not (specification 1.0 §5.7).
fn known_state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TaskState, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => {
            Ok(TaskState::from_text(&text).unwrap_or_else(|| older_state(&text)))
        }
        other => TaskState::deserialize(other).map_err(D::Error::custom),
    }
}

/// The state that 0.2 and 0.3 call by this word.
fn older_state(word: &str) -> TaskState {
    let word: Result<_, serde::de::value::Error> =
        crate::v0_2::TaskState::deserialize(word.into_deserializer());
    word.map_or(TaskState::Unspecified, TaskState::from)
}

/// Where a task stands in its life. Specification 1.0 §4.1.3.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum TaskState {
    /// The peer did not say, or said something we do not know. Never the target of an update.
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
    /// Ended by the caller's wish.
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
    /// Nothing can follow.
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected
        )
    }

    /// The agent waits for the caller.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// The agent does nothing more until the caller does: terminal or interrupted.
    pub fn is_settled(self) -> bool {
        self.is_terminal() || self.is_interrupted()
    }

    /// A stream ends here: at a terminal state, and when the agent asks for input. Missing
    /// credentials usually arrive by another way, so that stream stays open (1.0 §7.6.1).
    pub fn ends_stream(self) -> bool {
        self.is_terminal() || self == Self::InputRequired
    }

    /// Whether an update may take a task from this state to `next`.
    ///
    /// No generation publishes the table. Ours: everything goes from a state that is not terminal,
    /// except back to submitted; nothing goes from a terminal one, except that generation 0.1
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

/// An event that cannot happen to the task as it stands.
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
    /// The task cannot go there from where it stands.
    #[error("a task that is {} cannot become {}", from.as_str(), to.as_str())]
    Transition {
        /// Where the task stands.
        from: TaskState,
        /// Where the event would take it.
        to: TaskState,
    },
    /// A finished task produces nothing more.
    #[error("a task that is {} produces no more artifacts", .0.as_str())]
    ArtifactAfterEnd(TaskState),
    /// A finished task hears nothing more.
    #[error("a task that is {} takes no more messages", .0.as_str())]
    MessageAfterEnd(TaskState),
}

impl Task {
    /// A task that has just been accepted.
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

    /// The next state of the task: the fold of its log is the task.
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

    /// The state of the task after several events; if one of them is refused, none changes anything.
    pub fn apply_all(&mut self, events: &[Event]) -> Result<(), IllegalEvent> {
        self.state_after(self.status.state, events)?;
        let mut index = ArtifactIndex::default();
        events.iter().for_each(|event| self.take(event, &mut index));
        Ok(())
    }

    /// Applies events one after the other; one that is refused changes nothing. The effort grows with the
    /// number of events, not with that of the artifacts that they are searched for in.
    pub fn fold<'e>(&mut self, events: impl IntoIterator<Item = &'e Event>) {
        let mut index = ArtifactIndex::default();
        for event in events {
            if self.state_after_one(self.status.state, event).is_ok() {
                self.take(event, &mut index);
            }
        }
    }

    /// The state in which several events leave the task if they may happen to it, one after the other, in
    /// the state `from`: nothing but the state decides what is legal.
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

    /// What the agent has said about its status is history once there is another; some agents have it
    /// there before.
    fn remember_status(&mut self) {
        let said = self.status.message.take();
        let last = self.history.last().map(|message| &message.message_id);
        // 0.1 has no ids: what has none is never the same.
        let is_known = |id: &MessageId| !id.is_empty() && last == Some(id);
        let said = said.filter(|said| !is_known(&said.message_id));
        self.history.extend(said.map(|message| *message));
    }

    /// Keeps the last `length` messages of the history; all of them if the caller did not say.
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
