//! Reference model of a task: its messages, and the pieces of its artifacts.

use a2a_types::{
    Artifact, ArtifactId, ContextId, Event, IllegalEvent, Message, Object, Part, Task, TaskId,
    TaskState, TaskStatus, Timestamp,
};

/// A task as all of its messages and pieces of artifacts.
pub(crate) struct Model {
    id: TaskId,
    context_id: Option<ContextId>,
    metadata: Option<Object>,
    state: TaskState,
    since: Option<Timestamp>,
    /// All messages, in order.
    said: Vec<Message>,
    /// `true` if the last message of `said` is that of the status.
    is_latest: bool,
    /// The pieces of each artifact since it was last replaced, in order of first appearance.
    made: Vec<(ArtifactId, Vec<Artifact>)>,
}

/// Reason why an event cannot happen.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Refusal {
    OtherTask,
    Transition,
    AfterEnd,
}

impl Refusal {
    pub(crate) fn of(error: &IllegalEvent) -> Self {
        match error {
            IllegalEvent::OtherTask { .. } => Self::OtherTask,
            IllegalEvent::Transition { .. } => Self::Transition,
            IllegalEvent::ArtifactAfterEnd(_) | IllegalEvent::MessageAfterEnd(_) => Self::AfterEnd,
            other => panic!("unknown to this model: {other}"),
        }
    }
}

impl Model {
    pub(crate) fn of(task: &Task) -> Self {
        let said = task.history.iter().chain(task.status.message.as_deref());
        let made = task.artifacts.iter();
        Self {
            id: task.id.clone(),
            context_id: task.context_id.clone(),
            metadata: task.metadata.clone(),
            state: task.status.state,
            since: task.status.timestamp,
            said: said.cloned().collect(),
            is_latest: task.status.message.is_some(),
            made: made
                .map(|artifact| (artifact.artifact_id.clone(), vec![artifact.clone()]))
                .collect(),
        }
    }

    pub(crate) fn apply(&mut self, event: &Event) -> Result<(), Refusal> {
        let about = match event {
            Event::Task(task) => Some(&task.id),
            Event::Message(message) => message.task_id.as_ref(),
            Event::StatusUpdate(update) => Some(&update.task_id),
            Event::ArtifactUpdate(update) => Some(&update.task_id),
        };
        if about.is_some_and(|about| *about != self.id) {
            return Err(Refusal::OtherTask);
        }
        match event {
            Event::Task(task) => *self = Self::of(task),
            Event::StatusUpdate(update) => self.turn_to(&update.status)?,
            _ if self.is_over() => return Err(Refusal::AfterEnd),
            Event::Message(message) => {
                self.tell_once();
                self.said.push(message.clone());
                self.is_latest = false;
            }
            Event::ArtifactUpdate(update) => self.make(&update.artifact, update.append),
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        use TaskState::{Canceled, Completed, Failed, Rejected};
        [Completed, Failed, Canceled, Rejected].contains(&self.state)
    }

    fn turn_to(&mut self, status: &TaskStatus) -> Result<(), Refusal> {
        // Only a task that is over begins again, and it changes in no other way.
        let begins_again = status.state == TaskState::Submitted;
        if status.state == TaskState::Unspecified || begins_again != self.is_over() {
            return Err(Refusal::Transition);
        }
        self.state = status.state;
        self.since = status.timestamp;
        self.tell_once();
        self.said.extend(status.message.as_deref().cloned());
        self.is_latest = status.message.is_some();
        Ok(())
    }

    /// Removes the message of the status if the history of a snapshot has it already.
    fn tell_once(&mut self) {
        if let [.., before, latest] = self.said.as_slice()
            && self.is_latest
            && before.message_id == latest.message_id
            && !latest.message_id.is_empty()
        {
            self.said.pop();
        }
    }

    fn make(&mut self, piece: &Artifact, append: bool) {
        let known = self
            .made
            .iter()
            .position(|(id, _)| *id == piece.artifact_id);
        let Some(place) = known else {
            let id = piece.artifact_id.clone();
            return self.made.push((id, vec![piece.clone()]));
        };
        let pieces = &mut self.made[place].1;
        if !append {
            pieces.clear();
        }
        pieces.push(piece.clone());
    }

    /// Returns the task as the protocol represents it.
    pub(crate) fn task(&self) -> Task {
        let mut history = self.said.clone();
        let message = if self.is_latest { history.pop() } else { None };
        Task {
            id: self.id.clone(),
            context_id: self.context_id.clone(),
            status: TaskStatus {
                state: self.state,
                message: message.map(Box::new),
                timestamp: self.since,
            },
            artifacts: self
                .made
                .iter()
                .map(|(id, pieces)| whole(id, pieces))
                .collect(),
            history,
            metadata: self.metadata.clone(),
        }
    }
}

fn whole(id: &ArtifactId, pieces: &[Artifact]) -> Artifact {
    let last = |name: fn(&Artifact) -> Option<&String>| pieces.iter().rev().find_map(name).cloned();
    let parts: Vec<Part> = pieces
        .iter()
        .flat_map(|piece| piece.parts.clone())
        .collect();
    let members = pieces.iter().filter_map(|piece| piece.metadata.clone());
    let mut extensions = pieces[0].extensions.clone();
    for uri in pieces[1..].iter().flat_map(|piece| &piece.extensions) {
        if !extensions.contains(uri) {
            extensions.push(uri.clone());
        }
    }
    Artifact {
        artifact_id: id.clone(),
        name: last(|piece| piece.name.as_ref()),
        description: last(|piece| piece.description.as_ref()),
        parts,
        metadata: members.reduce(|mut all, more| {
            all.extend(more);
            all
        }),
        extensions,
    }
}
