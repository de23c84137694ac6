//! Mirror of a task, built from its events.

use a2a_types::size::{size_of_event, size_of_task};
use a2a_types::{
    ArtifactIndex, ContextId, Event, IllegalEvent, Message, Role, Task, TaskState, TaskStatus,
};

use crate::task_diff::diff;

/// The task that results from the events so far.
#[derive(Debug, Default)]
pub(crate) struct TaskMirror {
    task: Option<Task>,
    /// Set if the events began with the task, or a snapshot was seen.
    is_complete: bool,
    /// Set if the agent answered by a message: there is no task to follow.
    answered: bool,
    /// Upper bound of the task's bytes of memory.
    mem_size: usize,
    /// Places of the task's artifacts.
    index: ArtifactIndex,
    /// Context that the caller named. Events of 0.1 name none.
    context: Option<ContextId>,
}

/// Answer to whether a snapshot contains an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Containment {
    Yes,
    No,
    /// The snapshot has this event or an identical one.
    Maybe,
}

impl TaskMirror {
    /// Creates an empty mirror of a task that may just begin.
    pub(crate) fn from_the_beginning() -> Self {
        Self {
            is_complete: true,
            ..Self::default()
        }
    }

    /// Sets the context of a task whose events name none.
    pub(crate) fn in_context(self, context: Option<ContextId>) -> Self {
        Self { context, ..self }
    }

    pub(crate) fn task(&self) -> Option<&Task> {
        self.task.as_ref()
    }

    /// Returns whether the task takes more memory than `limit` bytes.
    pub(crate) fn exceeds(&mut self, limit: usize) -> bool {
        if self.mem_size > limit {
            // Events may have replaced earlier content: measures again.
            self.mem_size = self.task.as_ref().map_or(0, size_of_task);
        }
        self.mem_size > limit
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
        self.answered || self.state().is_some_and(TaskState::is_settled)
    }

    /// Returns whether the task is in a state that the version does not have.
    pub(crate) fn is_unknown(&self) -> bool {
        self.state() == Some(TaskState::Unspecified)
    }

    /// Returns whether a task is this one.
    pub(crate) fn knows(&self, task: &Task) -> bool {
        self.task.as_ref().is_some_and(|known| known.id == task.id)
    }

    /// Returns whether an event ends the task while neither it nor the events before it have any answer.
    pub(crate) fn lacks_answer(&self, event: &Event) -> bool {
        let Event::StatusUpdate(update) = event else {
            return false;
        };
        let is_end = update.status.state == TaskState::Completed && update.status.message.is_none();
        is_end
            && self.task.as_ref().is_some_and(|task| {
                let mut history = task.history.iter();
                let said = history.any(|message| message.role == Role::Agent);
                task.artifacts.is_empty() && task.status.message.is_none() && !said
            })
    }

    /// Applies an event, even one that the rules do not allow.
    pub(crate) fn apply(&mut self, event: &Event) {
        self.mem_size = self.mem_size.saturating_add(size_of_event(event));
        match event {
            Event::Task(task) => {
                self.is_complete = true;
                self.mem_size = size_of_event(event);
                self.task = Some(task.clone());
                self.index = ArtifactIndex::default();
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
            context_id: self.context.clone(),
            ..Task::default()
        });
        if let Event::StatusUpdate(update) = event
            && update.context_id.is_some()
        {
            task.context_id.clone_from(&update.context_id);
        }
        let state = task.status.state;
        match task.apply_indexed(event, &mut self.index) {
            Ok(()) | Err(IllegalEvent::OtherTask { .. }) => {}
            Err(IllegalEvent::Transition { to, .. }) => {
                let Event::StatusUpdate(update) = event else {
                    return;
                };
                let message = task.status.message.take();
                task.history.extend(message.map(|message| *message));
                task.status = TaskStatus {
                    state: to,
                    ..update.status.clone()
                };
            }
            // After the end of the task: applied as if it had come in time.
            Err(_) => {
                task.status.state = TaskState::Working;
                drop(task.apply_indexed(event, &mut self.index));
                task.status.state = state;
            }
        }
    }

    /// Returns the fewest events that lead from here to a snapshot.
    pub(crate) fn diff(&self, snapshot: &Task) -> Vec<Event> {
        match &self.task {
            Some(task) if task.id == snapshot.id => diff(task, snapshot, self.is_complete),
            _ => vec![Event::Task(snapshot.clone())],
        }
    }

    /// Copies from a snapshot the members that no event carries, once the missing events were returned.
    pub(crate) fn adopt(&mut self, snapshot: Task) {
        self.is_complete = true;
        self.mem_size = self.mem_size.saturating_add(size_of_task(&snapshot));
        let Some(task) = self.task.as_mut().filter(|task| task.id == snapshot.id) else {
            self.task = Some(snapshot);
            self.index = ArtifactIndex::default();
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
    pub(crate) fn contains(&self, event: &Event) -> Containment {
        let Some(task) = &self.task else {
            return Containment::No;
        };
        match event {
            Event::Task(_) => Containment::Maybe,
            Event::Message(message) => match has_message(task, message) {
                true => Containment::Yes,
                false => Containment::No,
            },
            Event::StatusUpdate(update) => contains_status(&task.status, &update.status),
            Event::ArtifactUpdate(update) => {
                let id = &update.artifact.artifact_id;
                let artifact = task.artifacts.iter().find(|known| known.artifact_id == *id);
                // Compares the first few parts only: searching for all of them would take too long.
                let streamed = &update.artifact.parts;
                let streamed = streamed.get(..MAX_COMPARED_PARTS).unwrap_or(streamed);
                match artifact {
                    None => Containment::No,
                    Some(_) if !update.append || streamed.is_empty() => Containment::Maybe,
                    Some(known)
                        if known
                            .parts
                            .windows(streamed.len())
                            .any(|some| some == streamed) =>
                    {
                        Containment::Maybe
                    }
                    Some(_) => Containment::No,
                }
            }
        }
    }
}

/// Number of parts of a chunk that are compared.
const MAX_COMPARED_PARTS: usize = 16;

fn contains_status(known: &TaskStatus, streamed: &TaskStatus) -> Containment {
    if streamed.state.is_terminal() && !known.state.is_terminal() {
        return Containment::No;
    }
    match (known.timestamp, streamed.timestamp) {
        (Some(known), Some(streamed)) if streamed < known => Containment::Yes,
        (Some(known), Some(streamed)) if streamed > known => Containment::No,
        (Some(_), Some(_)) if known == streamed => Containment::Yes,
        _ => Containment::Maybe,
    }
}

fn has_message(task: &Task, message: &Message) -> bool {
    let mut messages = task.history.iter().chain(task.status.message.as_deref());
    messages.any(|known| known.message_id == message.message_id)
}

#[cfg(test)]
mod tests {
    use a2a_types::{Artifact, Part, TaskArtifactUpdateEvent};

    use super::*;

    #[test]
    fn a_running_task_does_not_contain_an_end() {
        let at = |state: TaskState, time: &str| TaskStatus {
            timestamp: time.parse().ok(),
            ..state.into()
        };
        let known = at(TaskState::Working, "2026-01-01T00:00:05.9Z");
        let check = |state, expected| {
            let streamed = at(state, "2026-01-01T00:00:05Z");
            assert_eq!(contains_status(&known, &streamed), expected, "{state:?}");
        };
        check(TaskState::Completed, Containment::No);
        check(TaskState::InputRequired, Containment::Yes);
    }

    #[test]
    fn small_chunks_count_what_they_take() {
        let mut mirror = TaskMirror::from_the_beginning();
        let chunk = Event::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: "t".into(),
            context_id: None,
            artifact: Artifact {
                artifact_id: "a".into(),
                parts: vec![Part::text("x")],
                ..Artifact::default()
            },
            append: true,
            last_chunk: false,
            metadata: None,
        });
        for _ in 0..20_000 {
            mirror.apply(&chunk);
        }
        // A part and its text take 150 bytes at least, and up to 270 in a list that has grown.
        assert!(mirror.exceeds(3_000_000) && !mirror.exceeds(5_400_000));
    }
}
