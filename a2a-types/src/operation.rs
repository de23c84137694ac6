//! The eleven operations of the protocol.

use crate::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, Task, TaskId, TaskPushNotificationConfig,
};

macro_rules! operations {
    (
        once { $($(#[$doc:meta])* $once:ident($once_params:ty) -> $result:ty;)* }
        stream { $($(#[$stream_doc:meta])* $stream:ident($stream_params:ty);)* }
    ) => {
        /// An operation of an agent. Specification 1.0 §3.1.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum Operation { $($(#[$doc])* $once,)* $($(#[$stream_doc])* $stream,)* }

        impl Operation {
            /// Every operation.
            pub const ALL: &[Self] = &[$(Self::$once,)* $(Self::$stream,)*];

            /// Returns the name in protocol 1.0.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$once => stringify!($once),)*
                    $(Self::$stream => stringify!($stream),)*
                }
            }

            /// Returns whether the answer is a stream of events.
            pub fn is_stream(self) -> bool {
                matches!(self, $(Self::$stream)|*)
            }
        }

        /// An operation with its params.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Request {
            $($(#[$doc])* $once($once_params),)*
            $($(#[$stream_doc])* $stream($stream_params),)*
        }

        impl Request {
            /// Returns the operation that is called.
            pub fn operation(&self) -> Operation {
                match self {
                    $(Self::$once(_) => Operation::$once,)*
                    $(Self::$stream(_) => Operation::$stream,)*
                }
            }
        }

        /// The answer to an operation that is answered once.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Response { $($(#[$doc])* $once($result),)* }

        impl Response {
            /// Returns the operation that it answers.
            pub fn operation(&self) -> Operation {
                match self { $(Self::$once(_) => Operation::$once,)* }
            }
        }

        $(impl From<$once_params> for Request {
            fn from(params: $once_params) -> Self { Self::$once(params) }
        })*
    };
}

operations! {
    once {
        /// Send a message and wait for the answer. §3.1.1
        SendMessage(SendMessageRequest) -> SendMessageResponse;
        /// Read one task. §3.1.3
        GetTask(GetTaskRequest) -> Task;
        /// List tasks. §3.1.4
        ListTasks(ListTasksRequest) -> ListTasksResponse;
        /// Ask the agent to stop. §3.1.5
        CancelTask(CancelTaskRequest) -> Task;
        /// Register a webhook for a task. §3.1.7
        CreateTaskPushNotificationConfig(TaskPushNotificationConfig) -> TaskPushNotificationConfig;
        /// Read one webhook. §3.1.8
        GetTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest) -> TaskPushNotificationConfig;
        /// List the webhooks of a task. §3.1.9
        ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest) -> ListTaskPushNotificationConfigsResponse;
        /// Delete one webhook. §3.1.10
        DeleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest) -> ();
        /// Read the card for authenticated callers. §3.1.11
        GetExtendedAgentCard(GetExtendedAgentCardRequest) -> AgentCard;
    }
    stream {
        /// Send a message and follow what comes of it. §3.1.2
        SendStreamingMessage(SendMessageRequest);
        /// Follow a task that exists. §3.1.6
        SubscribeToTask(SubscribeToTaskRequest);
    }
}

/// Evaluates one expression for the params of any operation.
macro_rules! on_params {
    ($request:expr, $params:ident => $what:expr) => {
        match $request {
            Request::SendMessage($params) | Request::SendStreamingMessage($params) => $what,
            Request::GetTask($params) => $what,
            Request::ListTasks($params) => $what,
            Request::CancelTask($params) => $what,
            Request::SubscribeToTask($params) => $what,
            Request::CreateTaskPushNotificationConfig($params) => $what,
            Request::GetTaskPushNotificationConfig($params) => $what,
            Request::ListTaskPushNotificationConfigs($params) => $what,
            Request::DeleteTaskPushNotificationConfig($params) => $what,
            Request::GetExtendedAgentCard($params) => $what,
        }
    };
}

impl Request {
    /// Returns the tenant that the caller named.
    pub fn tenant(&self) -> Option<&str> {
        on_params!(self, params => params.tenant.as_deref())
    }

    /// Sets the tenant.
    pub fn set_tenant(&mut self, tenant: Option<String>) {
        on_params!(self, params => params.tenant = tenant);
    }

    /// Returns the number of history messages that the caller asked for, or `None`.
    pub fn history_length(&self) -> Option<u32> {
        match self {
            Self::SendMessage(params) | Self::SendStreamingMessage(params) => {
                params.configuration.as_ref()?.history_length
            }
            Self::GetTask(params) => params.history_length,
            Self::ListTasks(params) => params.history_length,
            _ => None,
        }
    }

    /// Returns the task that the request names, if it names one.
    pub fn task_id(&self) -> Option<&TaskId> {
        match self {
            Self::SendMessage(params) | Self::SendStreamingMessage(params) => {
                params.message.task_id.as_ref()
            }
            Self::GetTask(params) => Some(&params.id),
            Self::CancelTask(params) => Some(&params.id),
            Self::SubscribeToTask(params) => Some(&params.id),
            Self::CreateTaskPushNotificationConfig(params) => Some(&params.task_id),
            Self::GetTaskPushNotificationConfig(params) => Some(&params.task_id),
            Self::ListTaskPushNotificationConfigs(params) => Some(&params.task_id),
            Self::DeleteTaskPushNotificationConfig(params) => Some(&params.task_id),
            Self::ListTasks(_) | Self::GetExtendedAgentCard(_) => None,
        }
    }
}

impl Request {
    /// Sets the task, in requests that are about one.
    pub fn set_task_id(&mut self, id: Option<TaskId>) {
        let named = match self {
            Self::SendMessage(params) | Self::SendStreamingMessage(params) => {
                params.message.task_id = id;
                return;
            }
            Self::GetTask(params) => &mut params.id,
            Self::CancelTask(params) => &mut params.id,
            Self::SubscribeToTask(params) => &mut params.id,
            Self::CreateTaskPushNotificationConfig(params) => &mut params.task_id,
            Self::GetTaskPushNotificationConfig(params) => &mut params.task_id,
            Self::ListTaskPushNotificationConfigs(params) => &mut params.task_id,
            Self::DeleteTaskPushNotificationConfig(params) => &mut params.task_id,
            Self::ListTasks(_) | Self::GetExtendedAgentCard(_) => return,
        };
        *named = id.unwrap_or_default();
    }
}

impl Response {
    /// Returns the tasks in the response.
    pub fn tasks_mut(&mut self) -> impl Iterator<Item = &mut Task> {
        let (one, several) = match self {
            Self::SendMessage(SendMessageResponse::Task(task))
            | Self::GetTask(task)
            | Self::CancelTask(task) => (Some(task), None),
            Self::ListTasks(list) => (None, Some(&mut list.tasks)),
            _ => (None, None),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }
}
