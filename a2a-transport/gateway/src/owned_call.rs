//! A call at a gateway, and its translation for the agent.

use a2a_transport::{CallRequest, Context};
use a2a_types::{
    ContextId, Operation, ProtocolVersion, Request, SendMessageRequest, TaskId,
    TaskPushNotificationConfig,
};

use crate::owner::{Owner, Scope};
use crate::task_map::{KnownTask, TaskMap};

/// Number of messages that is more than any history has, and fits into 31 bits.
const WHOLE_HISTORY: u32 = i32::MAX as u32;

/// A call, its owner, and the owner's task that it names.
pub(crate) struct OwnedCall {
    pub(crate) call: CallRequest,
    pub(crate) owner: Owner,
    pub(crate) scope: Scope,
    /// The caller's id of the task.
    pub(crate) named: Option<TaskId>,
    pub(crate) known: Option<KnownTask>,
}

impl OwnedCall {
    pub(crate) fn new(mut call: CallRequest, tasks: &TaskMap, shared: bool) -> Self {
        let (owner, scope) = match shared {
            true => (Owner::everyone(), Scope::default()),
            false => {
                let owner = Owner::of(&call.request, &call.context);
                let scope = Scope::of(&owner);
                (owner, scope)
            }
        };
        let named = call.request.task_id().cloned();
        // The agent trusts the gateway, perhaps so far as to believe the user that it claims to act for.
        call.context.claims.user_id = None;
        let mut owned = Self {
            call,
            owner,
            scope,
            named,
            known: None,
        };
        owned.find(tasks);
        owned
    }

    /// Looks the task up.
    pub(crate) fn find(&mut self, tasks: &TaskMap) {
        let name = self.named.as_ref();
        self.known = name.and_then(|name| tasks.get(&self.owner, name));
        if let Some(known) = &self.known {
            let caller = &mut self.call.context.protocol_version;
            *caller = caller.about_task_of(known.protocol_version);
        }
    }

    /// Asks for the whole history, unless the caller says how much: an agent of this version leaves it out if it is
    /// not asked for, and the caller's version has it.
    pub(crate) fn ask_for_history(&mut self, agent: ProtocolVersion) {
        let (caller, agent) = (self.context().protocol_version.rules(), agent.rules());
        if !caller.history_when_not_asked || agent.history_when_not_asked {
            return;
        }
        let length = match &mut self.call.request {
            Request::SendMessage(params) | Request::SendStreamingMessage(params) => {
                let configuration = params.configuration.get_or_insert_default();
                &mut configuration.history_length
            }
            Request::GetTask(params) => &mut params.history_length,
            _ => return,
        };
        length.get_or_insert(WHOLE_HISTORY);
    }

    pub(crate) fn operation(&self) -> Operation {
        self.call.request.operation()
    }

    pub(crate) fn is_message(&self) -> bool {
        matches!(
            self.operation(),
            Operation::SendMessage | Operation::SendStreamingMessage
        )
    }

    pub(crate) fn context(&self) -> &Context {
        &self.call.context
    }

    /// Returns whether the call names a task that its owner does not have yet.
    pub(crate) fn names_unknown_task(&self) -> bool {
        self.named.is_some() && self.known.is_none()
    }

    /// Returns whether the call is a message that begins the task which it names, if there is none (0.1).
    pub(crate) fn may_begin_by_name(&self) -> bool {
        self.is_message() && self.context().protocol_version.rules().caller_names_tasks
    }

    /// Returns the caller's id of the task's conversation.
    pub(crate) fn known_context(&self, tasks: &TaskMap) -> Option<ContextId> {
        let context = self.known.as_ref()?.context.as_ref()?;
        let own = self.scope.to_caller(context.as_str());
        Some(own.map_or_else(
            || context.clone(),
            |own| {
                tasks
                    .long_id(&self.owner, own)
                    .unwrap_or_else(|| own.to_owned())
                    .into()
            },
        ))
    }

    /// Returns an id of the caller's as the agent sees it.
    fn agent_id(&self, id: &str, tasks: &TaskMap) -> String {
        if self.scope.is_long(id) {
            tasks.keep_long_id(&self.owner, Scope::hashed(id), id);
        }
        self.scope.to_agent(id)
    }

    /// Returns the agent's id of a conversation: the same for one that the agent named to this owner.
    pub(crate) fn agent_context(&self, context: &ContextId, tasks: &TaskMap) -> ContextId {
        let known = self.known.as_ref().and_then(|known| known.context.as_ref());
        match known == Some(context) || tasks.has_context(&self.owner, context) {
            true => context.clone(),
            false => self.agent_id(context.as_str(), tasks).into(),
        }
    }

    /// Returns the same call with the agent's ids.
    pub(crate) fn to_agent(&self, tasks: &TaskMap) -> CallRequest {
        let mut call = self.call.clone();
        if let Some(id) = self.agent_task() {
            call.request.set_task_id(Some(id));
        }
        match &mut call.request {
            Request::SendMessage(params) | Request::SendStreamingMessage(params) => {
                self.message_to_agent(params, tasks);
            }
            Request::ListTasks(params) => {
                let context = params.context_id.as_mut();
                context.into_iter().for_each(|context| {
                    *context = self.agent_context(context, tasks);
                });
            }
            _ => {}
        }
        call
    }

    /// Returns the agent's id of the task that the request names.
    pub(crate) fn agent_task(&self) -> Option<TaskId> {
        match &self.known {
            Some(known) => Some(known.id.clone()),
            None => {
                let task = self.call.request.task_id()?;
                Some(self.scope.to_agent(task.as_str()).into())
            }
        }
    }

    fn message_to_agent(&self, params: &mut SendMessageRequest, tasks: &TaskMap) {
        let message = &mut params.message;
        if !message.message_id.is_empty() {
            message.message_id = self.agent_id(message.message_id.as_str(), tasks).into();
        }
        if let Some(context) = &mut message.context_id {
            *context = self.agent_context(context, tasks);
        }
        // The agent shows the gateway every task.
        message.reference_task_ids.retain_mut(|id| {
            let known = tasks.get(&self.owner, id);
            known.map(|known| *id = known.id).is_some()
        });
        let config = params.configuration.as_mut();
        if let Some(config) = config.and_then(|it| it.task_push_notification_config.as_mut()) {
            // It is for the message's task, whatever task it names.
            **config = TaskPushNotificationConfig {
                task_id: message.task_id.clone().unwrap_or_default(),
                tenant: params.tenant.clone(),
                ..std::mem::take(config)
            };
        }
    }
}
