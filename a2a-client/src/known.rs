//! A task as it was told so far.

use a2a_types::size::{size_of_event, size_of_task};
use a2a_types::{Event, IllegalEvent, Message, Task, TaskState, TaskStatus};

use crate::missing::missing;

/// A task as it was told so far: the fold of the events.
#[derive(Debug, Default)]
pub(crate) struct Known {
    task: Option<Task>,
    /// It was told from its beginning, or as a whole at some time.
    whole: bool,
    /// The agent has answered directly: there is nothing to follow.
    answered: bool,
    /// What the task weighs at most.
    weight: usize,
}

/// Whether a snapshot of a task has an event in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Held {
    Yes,
    No,
    /// It may be in it, or be another like one that is.
    Perhaps,
}

impl Known {
    /// Nothing yet, of a task that may just begin.
    pub(crate) fn from_the_beginning() -> Self {
        Self {
            whole: true,
            ..Self::default()
        }
    }

    pub(crate) fn task(&self) -> Option<&Task> {
        self.task.as_ref()
    }

    /// Whether the task takes more memory than this.
    pub(crate) fn is_heavier_than(&mut self, limit: usize) -> bool {
        if self.weight > limit {
            // Much of what was told may have taken the place of something else.
            self.weight = self.task.as_ref().map_or(0, size_of_task);
        }
        self.weight > limit
    }

    /// Whether an event is one of a task that nobody asked for.
    pub(crate) fn is_of_another(&self, event: &Event) -> bool {
        match (&self.task, event.task_id()) {
            (Some(task), Some(id)) => task.id != *id,
            _ => false,
        }
    }

    fn state(&self) -> Option<TaskState> {
        self.task.as_ref().map(|task| task.status.state)
    }

    /// Nothing more is to come.
    pub(crate) fn is_over(&self) -> bool {
        self.answered || self.state().is_some_and(TaskState::is_terminal)
    }

    /// The agent does nothing more until its caller does.
    pub(crate) fn waits(&self) -> bool {
        self.is_over() || self.state().is_some_and(TaskState::ends_stream)
    }

    /// An agent that ends a stream here has said all that there is to say.
    pub(crate) fn may_end(&self) -> bool {
        // Up to 0.3, a state that nobody knows counts as an end.
        let settled = |state: TaskState| state.is_settled() || state == TaskState::Unspecified;
        self.answered || self.state().is_some_and(settled)
    }

    /// Takes in an event, whether it may happen by the rules or not: it was told.
    pub(crate) fn hear(&mut self, event: &Event) {
        self.weight = self.weight.saturating_add(size_of_event(event));
        match event {
            Event::Task(task) => {
                self.whole = true;
                self.weight = size_of_event(event);
                self.task = Some(task.clone());
                return;
            }
            // Without a task, it is the answer.
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
            // Late, but part of the task: as if it had come in time.
            Err(_) => {
                task.status.state = TaskState::Working;
                drop(task.apply(event));
                task.status.state = state;
            }
        }
    }

    /// The fewest events that lead from here to a snapshot.
    pub(crate) fn missing(&self, snapshot: &Task) -> Vec<Event> {
        match &self.task {
            Some(task) if task.id == snapshot.id => missing(task, snapshot, self.whole),
            _ => vec![Event::Task(snapshot.clone())],
        }
    }

    /// Takes over what no event tells, once what was missing is told.
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

    /// Whether what is known, which a snapshot said last, has an event in it that came by a stream.
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
                // The first few tell enough: all of them, anywhere, would take too long.
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

/// How many parts of a chunk are looked for.
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
