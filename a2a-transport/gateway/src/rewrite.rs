//! An agent's answers in its caller's ids.

use std::sync::Arc;

use a2a_transport::{Error, Update};
use a2a_types::{
    ContextId, Error as A2aError, ErrorKind, Event, Message, ProtocolVersion, Request, Response,
    SendMessageResponse, Task, TaskId, TaskState, TaskStatus, TaskStatusUpdateEvent,
};

use crate::in_flight::NameInFlight;
use crate::owned_call::OwnedCall;
use crate::owner::{Owner, Scope};
use crate::task_map::{Foreign, KnownTask, TaskMap};

/// Rewriter of answers: restores the caller's ids, and records the caller as the owner of tasks that its
/// message started.
pub(crate) struct Rewrite {
    owner: Owner,
    scope: Scope,
    protocol_version: ProtocolVersion,
    /// The caller's id of the task.
    named: Option<TaskId>,
    conversation: Option<ContextId>,
    /// The conversation as it was named to the agent.
    sent_context: Option<ContextId>,
    /// `true` if the caller has sent a message, so that tasks of the answer are its own.
    begins: bool,
    /// The last task that was recorded for the caller.
    recorded: Option<TaskId>,
    /// Number of messages that the caller wants of a history.
    history_length: Option<u32>,
    /// Held until the task is recorded.
    name_in_flight: Option<NameInFlight>,
    /// Called with the agent's id of the task when it is recorded.
    on_task: Option<OnTask>,
    tasks: Arc<TaskMap>,
}

/// Parts of a message that wait for its task.
#[derive(Default)]
pub(crate) struct Beginning {
    /// The name that the caller gave to a new task.
    pub(crate) name: Option<NameInFlight>,
    /// Called with the agent's id of the task.
    pub(crate) on_task: Option<OnTask>,
}

/// A function of the agent's id of a task.
pub(crate) type OnTask = Box<dyn FnOnce(&TaskId) + Send>;

impl Rewrite {
    pub(crate) fn new(owned: &OwnedCall, tasks: Arc<TaskMap>) -> Self {
        let request = &owned.call.request;
        let rules = owned.context().protocol_version.rules();
        let conversation = match request {
            Request::SendMessage(params) | Request::SendStreamingMessage(params) => {
                params.message.context_id.clone()
            }
            _ => None,
        };
        let sent_context = conversation.as_ref();
        let sent_context = sent_context.map(|context| owned.agent_context(context, &tasks));
        Self {
            sent_context,
            owner: owned.owner.clone(),
            scope: owned.scope.clone(),
            protocol_version: owned.context().protocol_version,
            named: owned.named.clone(),
            conversation: conversation.or_else(|| owned.known_context(&tasks)),
            begins: owned.is_message(),
            recorded: None,
            history_length: match request.history_length() {
                None if !rules.history_when_not_asked => Some(0),
                wanted => wanted,
            },
            name_in_flight: None,
            on_task: None,
            tasks,
        }
    }

    /// Creates a rewriter of what the agent sends about a task of an owner, who calls it `named`.
    pub(crate) fn of_notification(
        (owner, scope): (Owner, Scope),
        named: Option<TaskId>,
        protocol_version: ProtocolVersion,
        tasks: Arc<TaskMap>,
    ) -> Self {
        Self {
            owner,
            scope,
            protocol_version,
            named,
            conversation: None,
            sent_context: None,
            begins: false,
            recorded: None,
            history_length: None,
            name_in_flight: None,
            on_task: None,
            tasks,
        }
    }

    /// Holds what a message has begun until the agent has answered with its task.
    pub(crate) fn holding(mut self, beginning: Beginning) -> Self {
        (self.name_in_flight, self.on_task) = (beginning.name, beginning.on_task);
        self
    }

    pub(crate) fn response(&mut self, response: &mut Response) -> Result<(), Error> {
        for task in response.tasks_mut() {
            self.task(task)?;
        }
        match response {
            Response::SendMessage(SendMessageResponse::Message(message)) => self.direct(message),
            Response::CreateTaskPushNotificationConfig(config)
            | Response::GetTaskPushNotificationConfig(config) => self.id(&mut config.task_id),
            Response::ListTaskPushNotificationConfigs(list) => {
                let configs = list.configs.iter_mut();
                configs.for_each(|config| self.id(&mut config.task_id));
            }
            _ => {}
        }
        Ok(())
    }

    /// Records the caller as the owner of a task, without rewriting it.
    pub(crate) fn claim(&mut self, task: &Task) -> Result<(), Error> {
        self.give(&task.id, task.context_id.as_ref())
    }

    /// Rewrites a task of a list, which the caller calls `name`.
    pub(crate) fn listed(&mut self, task: &mut Task, name: TaskId) -> Result<(), Error> {
        self.named = Some(name);
        self.task(task)
    }

    pub(crate) fn update(&mut self, update: Update) -> Result<Update, Error> {
        let event = self.event(update.event.into_event())?;
        Ok(Update::new(event, update.sequence))
    }

    pub(crate) fn event(&mut self, mut event: Event) -> Result<Event, Error> {
        match &mut event {
            Event::Task(task) => self.task(task)?,
            Event::Message(message) => self.direct(message),
            Event::StatusUpdate(status) => {
                self.give(&status.task_id, status.context_id.as_ref())?;
                self.id(&mut status.task_id);
                self.conversation(&mut status.context_id);
                let message = status.status.message.as_deref_mut();
                message
                    .into_iter()
                    .for_each(|message| self.message(message));
            }
            Event::ArtifactUpdate(artifact) => {
                self.give(&artifact.task_id, artifact.context_id.as_ref())?;
                self.id(&mut artifact.task_id);
                self.conversation(&mut artifact.context_id);
            }
        }
        Ok(event)
    }

    fn task(&mut self, task: &mut Task) -> Result<(), Error> {
        self.give(&task.id, task.context_id.as_ref())?;
        self.id(&mut task.id);
        self.conversation(&mut task.context_id);
        if let Some(length) = self.history_length {
            // Some agents send more than was asked for.
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let excess = task.history.len().saturating_sub(length);
            task.history.drain(..excess);
        }
        let messages = task.history.iter_mut();
        let messages = messages.chain(task.status.message.as_deref_mut());
        messages.for_each(|message| self.message(message));
        Ok(())
    }

    /// Replaces the agent's id of a task by the caller's.
    fn id(&self, id: &mut TaskId) {
        if let Some(named) = &self.named {
            id.clone_from(named);
        }
    }

    /// Rewrites the ids of a message that is the answer in place of a task.
    fn direct(&self, message: &mut Message) {
        if self.begins
            && let Some(context) = &message.context_id
        {
            self.give_context(context);
        }
        self.message(message);
    }

    fn message(&self, message: &mut Message) {
        if let Some(id) = self.callers_id(message.message_id.as_str()) {
            message.message_id = id.into();
        }
        for id in &mut message.reference_task_ids {
            if let Some(name) = self.tasks.name_of(&self.owner, id) {
                *id = name;
            }
        }
        if let Some(id) = &mut message.task_id {
            self.id(id);
            self.conversation(&mut message.context_id);
        } else if let Some(context) = &mut message.context_id {
            self.context(context);
        }
    }

    fn conversation(&self, context: &mut Option<ContextId>) {
        match context {
            Some(context) if !context.is_empty() => self.context(context),
            _ => context.clone_from(&self.conversation),
        }
    }

    fn context(&self, context: &mut ContextId) {
        if let Some(own) = self.callers_id(context.as_str()) {
            *context = own.into();
        }
    }

    /// Returns an id that the caller chose, or `None` if the agent did.
    fn callers_id(&self, id: &str) -> Option<String> {
        let own = self.scope.to_caller(id)?;
        let long = self.tasks.long_id(&self.owner, own);
        Some(long.unwrap_or_else(|| own.to_owned()))
    }

    /// Records the caller as the owner of a task that its message has started or continued.
    fn give(&mut self, id: &TaskId, context: Option<&ContextId>) -> Result<(), Error> {
        if !self.begins || self.recorded.as_ref() == Some(id) {
            return Ok(());
        }
        if let Some(context) = context {
            self.give_context(context);
        }
        let task = KnownTask {
            id: id.clone(),
            context: context.or(self.sent_context.as_ref()).cloned(),
            protocol_version: self.protocol_version,
        };
        let name = self.named.clone().unwrap_or_else(|| id.clone());
        self.tasks
            .give(&self.owner, name, task)
            .map_err(|Foreign| {
                let text = "the agent answered with a task that it began for another caller";
                A2aError::new(ErrorKind::InvalidAgentResponse, text)
            })?;
        self.recorded = Some(id.clone());
        self.name_in_flight = None;
        if let Some(on_task) = self.on_task.take() {
            on_task(id);
        }
        Ok(())
    }

    /// Gives the caller a conversation that the agent has named.
    fn give_context(&self, context: &ContextId) {
        let is_callers = self.scope.to_caller(context.as_str()).is_some();
        if !is_callers && !context.is_empty() {
            self.tasks.give_context(&self.owner, context.clone());
        }
    }
}

/// Returns the beginning of a stream of 1.0, a task or a message, whatever an older agent began with.
pub(crate) fn stream_beginning(first: Update) -> impl Iterator<Item = Update> {
    let task = |id: &TaskId, context: &Option<ContextId>, status: TaskStatus| {
        let task = Task {
            id: id.clone(),
            context_id: context.clone(),
            status,
            ..Task::default()
        };
        Update::new(Event::Task(task), None)
    };
    let (head, tail) = match &*first.event {
        Event::Task(_) | Event::Message(_) => (first, None),
        Event::StatusUpdate(update) => {
            let mut head = task(&update.task_id, &update.context_id, update.status.clone());
            head.sequence = first.sequence;
            (head, None)
        }
        Event::ArtifactUpdate(update) => {
            let status = TaskStatus::from(TaskState::Working);
            let head = task(&update.task_id, &update.context_id, status);
            (head, Some(first))
        }
    };
    std::iter::once(head).chain(tail)
}

/// Returns the event that following an ended task yields in older versions: its status, or the task.
pub(crate) fn last_word(task: Task, by_status: bool) -> Update {
    let event = match by_status {
        false => Event::Task(task),
        true => status_update(task),
    };
    Update::new(event, None)
}

/// Returns the status of a task as an event.
pub(crate) fn status_update(task: Task) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: task.id,
        context_id: task.context_id,
        status: task.status,
        metadata: None,
    })
}
