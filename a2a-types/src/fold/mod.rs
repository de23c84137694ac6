//! Fold of a task's log: application of events to a task.

use crate::artifact::ArtifactIndex;
use crate::extension::usage::TokenUsage;
use crate::{Event, MessageId, Task, TaskArtifactUpdateEvent, TaskId, TaskState};

impl Task {
    /// Applies an event: a task is the fold of its log.
    ///
    /// - [`Event::Task`] replaces everything: it is a snapshot.
    /// - [`Event::Message`] joins the history, after the message of the present status.
    /// - [`Event::StatusUpdate`] replaces the status; the previous status' message joins the history. The
    ///   [usage](crate::extension::usage) in its metadata is kept in the task's.
    /// - [`Event::ArtifactUpdate`] creates, replaces (`append` false) or extends (`append` true) the
    ///   artifact of that id; appending to an unknown id creates it.
    ///
    /// An event that is refused changes nothing.
    pub fn apply(&mut self, event: &Event) -> Result<(), IllegalEvent> {
        self.apply_all(std::slice::from_ref(event))
    }

    /// Applies an event like [`apply`](Self::apply), with an index of this task that is kept between its events: the
    /// cost does not grow with the number of artifacts.
    pub fn apply_indexed(
        &mut self,
        event: &Event,
        index: &mut ArtifactIndex,
    ) -> Result<(), IllegalEvent> {
        self.state_after_one(self.status.state, event)?;
        self.take(event, index);
        Ok(())
    }

    /// Applies several events; if one of them is refused, none changes anything.
    pub fn apply_all(&mut self, events: &[Event]) -> Result<(), IllegalEvent> {
        self.state_after(self.status.state, events)?;
        let mut index = ArtifactIndex::default();
        events.iter().for_each(|event| self.take(event, &mut index));
        Ok(())
    }

    /// Applies events one after the other and skips events that are refused. The cost grows with the number
    /// of events, not with the number of artifacts that they are searched for in.
    pub fn fold<'e>(&mut self, events: impl IntoIterator<Item = &'e Event>) {
        self.fold_indexed(events, &mut ArtifactIndex::default());
    }

    fn fold_indexed<'e>(
        &mut self,
        events: impl IntoIterator<Item = &'e Event>,
        index: &mut ArtifactIndex,
    ) {
        for event in events {
            if self.state_after_one(self.status.state, event).is_ok() {
                self.take(event, index);
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
                if let Some(usage) = TokenUsage::of(update.metadata.as_ref()) {
                    usage.put_into(self.metadata.get_or_insert_default());
                }
            }
            Event::ArtifactUpdate(update) => self.assemble(update, index),
        }
    }

    /// Moves the message of the status to the history, unless the agent has put it there already.
    fn remember_status(&mut self) {
        let message = self.status.message.take();
        let last = self.history.last().map(|message| &message.message_id);
        // 0.1 has no ids; messages without an id are never equal.
        let is_known = |id: &MessageId| !id.is_empty() && last == Some(id);
        let message = message.filter(|message| !is_known(&message.message_id));
        self.history.extend(message.map(|message| *message));
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

#[cfg(test)]
mod tests;
