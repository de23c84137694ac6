//! What an agent says, as a gateway tells it to its caller.

use std::sync::Arc;

use a2a_types::{
    ContextId, Event, Message, SendMessageResponse, Task, TaskId, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};

use super::Asked;
use super::known::{Known, KnownTask, Place};
use crate::{Context, SharedEvent, Update};

/// Gives what an agent says the ids that the caller knows, and remembers the task that it is about.
pub(super) struct Told {
    context: Context,
    /// What the caller calls the task.
    named: Option<TaskId>,
    conversation: Option<ContextId>,
    begins: bool,
    without_history: bool,
    known: Arc<Known>,
}

impl Told {
    pub(super) fn new(asked: &Asked, known: Arc<Known>) -> Self {
        let request = &asked.call.request;
        let rules = asked.context().dialect.rules();
        let conversation = match request {
            a2a_types::Request::SendMessage(params)
            | a2a_types::Request::SendStreamingMessage(params) => params.message.context_id.clone(),
            _ => None,
        };
        let known_conversation = asked.known.as_ref().and_then(|known| known.context.clone());
        Self {
            context: asked.context().clone(),
            named: asked.place.as_ref().map(|place| place.task.clone()),
            conversation: conversation.or(known_conversation),
            begins: asked.is_message(),
            without_history: request.history_length().is_none() && !rules.history_when_not_asked,
            known,
        }
    }

    /// The id of a task: the agent's becomes the caller's.
    pub(super) fn id(&self, id: &mut TaskId) {
        if let Some(named) = &self.named {
            id.clone_from(named);
        }
    }

    pub(super) fn task(&mut self, task: &mut Task) {
        self.remember(&task.id, task.context_id.as_ref());
        self.id(&mut task.id);
        self.conversation(&mut task.context_id);
        if self.without_history {
            task.history.clear();
        }
        let said = task
            .history
            .iter_mut()
            .chain(task.status.message.as_deref_mut());
        said.for_each(|message| self.message(message));
    }

    pub(super) fn message_of(&self, sent: &mut SendMessageResponse) {
        if let SendMessageResponse::Message(message) = sent {
            self.message(message);
        }
    }

    pub(super) fn update(&mut self, update: Update) -> Update {
        let mut event = update.event.into_event();
        match &mut event {
            Event::Task(task) => self.task(task),
            Event::Message(message) => self.message(message),
            Event::StatusUpdate(status) => {
                self.remember(&status.task_id, status.context_id.as_ref());
                self.id(&mut status.task_id);
                self.conversation(&mut status.context_id);
                status
                    .status
                    .message
                    .iter_mut()
                    .for_each(|message| self.message(message));
            }
            Event::ArtifactUpdate(artifact) => {
                self.remember(&artifact.task_id, artifact.context_id.as_ref());
                self.id(&mut artifact.task_id);
                self.conversation(&mut artifact.context_id);
            }
        }
        Update {
            event: event.into(),
            generation: update.generation,
        }
    }

    fn message(&self, message: &mut Message) {
        if let Some(id) = &mut message.task_id {
            self.id(id);
        }
        if message.task_id.is_some() {
            self.conversation(&mut message.context_id);
        }
    }

    fn conversation(&self, context: &mut Option<ContextId>) {
        if context.as_ref().is_none_or(ContextId::is_empty) {
            context.clone_from(&self.conversation);
        }
    }

    fn remember(&mut self, id: &TaskId, context: Option<&ContextId>) {
        if !std::mem::take(&mut self.begins) {
            return;
        }
        let named = self.named.clone().unwrap_or_else(|| id.clone());
        let task = KnownTask {
            id: id.clone(),
            context: context.or(self.conversation.as_ref()).cloned(),
            dialect: self.context.dialect,
        };
        self.known.remember(Place::new(&self.context, named), task);
    }
}

/// The beginning of a stream of 1.0, whatever an older agent began with: a task or a message.
pub(super) fn begun(first: Update) -> impl Iterator<Item = Update> {
    let task = |id: &TaskId, context: &Option<ContextId>, status: TaskStatus| Update {
        event: SharedEvent::from(Event::Task(Task {
            id: id.clone(),
            context_id: context.clone(),
            status,
            ..Task::default()
        })),
        generation: None,
    };
    let (head, tail) = match &*first.event {
        Event::Task(_) | Event::Message(_) => (first, None),
        Event::StatusUpdate(update) => {
            let head = task(&update.task_id, &update.context_id, update.status.clone());
            let generation = first.generation;
            (Update { generation, ..head }, None)
        }
        Event::ArtifactUpdate(update) => {
            let status = TaskStatus::from(TaskState::Working);
            let head = task(&update.task_id, &update.context_id, status);
            (head, Some(first))
        }
    };
    std::iter::once(head).chain(tail)
}

/// What following an ended task yields in older generations: its status, or the task.
pub(super) fn last_word(task: Task, by_status: bool) -> Update {
    let event = match by_status {
        false => Event::Task(task),
        true => Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: task.id,
            context_id: task.context_id,
            status: task.status,
            metadata: None,
        }),
    };
    Update {
        event: event.into(),
        generation: None,
    }
}
