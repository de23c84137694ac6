//! Mirror of a task, built from its events.

use a2a_types::size::{size_of_event, size_of_task};
use a2a_types::{Event, IllegalEvent, Message, Task, TaskState, TaskStatus};

use crate::missing::missing;

/// The task that results from the events so far.
#[derive(Debug, Default)]
pub(crate) struct Known {
    task: Option<Task>,
    /// Set if the events began with the task, or a snapshot was seen.
    whole: bool,
    /// Set if the agent answered by a message: there is no task to follow.
    answered: bool,
    /// Upper bound of the task's bytes of memory.
    weight: usize,
}

/// Answer to the question if a snapshot contains an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Held {
    Yes,
    No,
    /// The snapshot has it, or one just like it.
    Perhaps,
}

impl Known {
    /// Creates an empty mirror of a task that may just begin.
    pub(crate) fn from_the_beginning() -> Self {
        Self {
            whole: true,
            ..Self::default()
        }
    }

    pub(crate) fn task(&self) -> Option<&Task> {
        self.task.as_ref()
    }

    /// Returns whether the task takes more memory than `limit` bytes.
    pub(crate) fn is_heavier_than(&mut self, limit: usize) -> bool {
        if self.weight > limit {
            // Events may have replaced earlier content: measure again.
            self.weight = self.task.as_ref().map_or(0, size_of_task);
        }
        self.weight > limit
    }

    /// Returns whether an event belongs to another task.
    pub(crate) fn is_of_another(&self, event: &Event) -> bool {
        match (&self.task, event.task_id()) {
            (Some(task), Some(id)) => task.id != *id,
            _ => false,
        }
    }

    fn state(&self) -> Option<TaskState> {
        self.task.as_ref().map(|task| task.status.state)
    }

    /// Returns whether no more events are due.
    pub(crate) fn is_over(&self) -> bool {
        self.answered || self.state().is_some_and(TaskState::is_terminal)
    }

    /// Returns whether the agent waits for its caller, or is done.
    pub(crate) fn waits(&self) -> bool {
        self.is_over() || self.state().is_some_and(TaskState::ends_stream)
    }

    /// Returns whether a stream may end in this state without a missing event.
    pub(crate) fn may_end(&self) -> bool {
        // Up to 0.3, an unknown state counts as an end.
        let settled = |state: TaskState| state.is_settled() || state == TaskState::Unspecified;
        self.answered || self.state().is_some_and(settled)
    }

    /// Applies an event, even one that the rules do not allow.
    pub(crate) fn hear(&mut self, event: &Event) {
        self.weight = self.weight.saturating_add(size_of_event(event));
        match event {
            Event::Task(task) => {
                self.whole = true;
                self.weight = size_of_event(event);
                self.task = Some(task.clone());
                return;
            }
            // Without a task, the message is the answer.
            Event::Message(_) if self.task.is_none() => {
                self.answered = true;
                return;
            }
            _ => {}
        }
        let Some(id) = event.task_id() else {
            return;
        };
        let task = self.task.get_or_insert_with(|| Task {
            id: id.clone(),
            ..Task::default()
        });
        if let Event::StatusUpdate(update) = event
            && update.context_id.is_some()
        {
            task.context_id.clone_from(&update.context_id);
        }
        let state = task.status.state;
        match task.apply(event) {
            Ok(()) | Err(IllegalEvent::OtherTask { .. }) => {}
            Err(IllegalEvent::Transition { to, .. }) => {
                let Event::StatusUpdate(update) = event else {
                    return;
                };
                let said = task.status.message.take();
                task.history.extend(said.map(|message| *message));
                task.status = TaskStatus {
                    state: to,
                    ..update.status.clone()
                };
            }
            // After the end of the task: applied as if it had come in time.
            Err(_) => {
                task.status.state = TaskState::Working;
                drop(task.apply(event));
                task.status.state = state;
            }
        }
    }

    /// Returns the fewest events that lead from here to a snapshot.
    pub(crate) fn missing(&self, snapshot: &Task) -> Vec<Event> {
        match &self.task {
            Some(task) if task.id == snapshot.id => missing(task, snapshot, self.whole),
            _ => vec![Event::Task(snapshot.clone())],
        }
    }

    /// Copies from a snapshot the members that no event carries, once the missing events were returned.
    pub(crate) fn settle(&mut self, snapshot: Task) {
        self.whole = true;
        self.weight = self.weight.saturating_add(size_of_task(&snapshot));
        let Some(task) = self.task.as_mut().filter(|task| task.id == snapshot.id) else {
            self.task = Some(snapshot);
            return;
        };
        if snapshot.history.len() > task.history.len() {
            task.history = snapshot.history;
        }
        task.context_id = snapshot.context_id.or(task.context_id.take());
        task.metadata = snapshot.metadata.or(task.metadata.take());
        if task.status.state == snapshot.status.state && snapshot.status.timestamp.is_some() {
            task.status.timestamp = snapshot.status.timestamp;
        }
    }

    /// Returns whether the mirror, last updated from a snapshot, contains an event of a stream.
    pub(crate) fn holds(&self, event: &Event) -> Held {
        let Some(task) = &self.task else {
            return Held::No;
        };
        match event {
            Event::Task(_) => Held::Perhaps,
            Event::Message(message) => match has_message(task, message) {
                true => Held::Yes,
                false => Held::No,
            },
            Event::StatusUpdate(update) => status_held(&task.status, &update.status),
            Event::ArtifactUpdate(update) => {
                let id = &update.artifact.artifact_id;
                let held = task.artifacts.iter().find(|known| known.artifact_id == *id);
                // Compares the first few parts only: searching for all of them would take too long.
                let told = &update.artifact.parts;
                let told = told.get(..A_FEW).unwrap_or(told);
                match held {
                    None => Held::No,
                    Some(_) if !update.append || told.is_empty() => Held::Perhaps,
                    Some(known) if known.parts.windows(told.len()).any(|some| some == told) => {
                        Held::Perhaps
                    }
                    Some(_) => Held::No,
                }
            }
        }
    }
}

/// Number of parts of a chunk that are compared.
const A_FEW: usize = 16;

fn status_held(known: &TaskStatus, told: &TaskStatus) -> Held {
    if told.state.is_terminal() && !known.state.is_terminal() {
        return Held::No;
    }
    match (known.timestamp, told.timestamp) {
        (Some(known), Some(told)) if told < known => Held::Yes,
        (Some(known), Some(told)) if told > known => Held::No,
        (Some(_), Some(_)) if known == told => Held::Yes,
        _ => Held::Perhaps,
    }
}

fn has_message(task: &Task, message: &Message) -> bool {
    let mut said = task.history.iter().chain(task.status.message.as_deref());
    said.any(|known| known.message_id == message.message_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_not_held_by_what_has_not_ended() {
        let at = |state: TaskState, time: &str| TaskStatus {
            timestamp: time.parse().ok(),
            ..state.into()
        };
        let known = at(TaskState::Working, "2026-01-01T00:00:05.9Z");
        let check = |state, expected| {
            let told = at(state, "2026-01-01T00:00:05Z");
            assert_eq!(status_held(&known, &told), expected, "{state:?}");
        };
        check(TaskState::Completed, Held::No);
        check(TaskState::InputRequired, Held::Yes);
    }
}
