//! Params of operations, 0.1 §7.

use super::message::normalize_message;
use super::{Message, PushNotificationConfig};
use crate::pre_1_0::{self, both_ways, wire_types};
use crate::reading::{JsonPath, Normalizer, Violation, Wire};
use crate::{
    CancelTaskRequest, ContextId, GetTaskPushNotificationConfigRequest, GetTaskRequest, Object,
    SendMessageConfiguration, SendMessageRequest, SubscribeToTaskRequest, TaskId,
};

wire_types! {
    /// A message to a new or existing task, 0.1 §7.1.1.
    pub struct TaskSendParams: Debug {
        /// Identifier of the task; an unknown one creates a task.
        pub id: TaskId,
        /// Identifier of the conversation.
        pub session_id: Option<ContextId> = optional,
        /// The message.
        pub message: Message,
        /// A webhook for the task.
        pub push_notification: Option<PushNotificationConfig> = optional,
        /// Number of most recent messages to include; none if not given.
        pub history_length: Option<u32> = optional,
        /// Media types that the caller accepts; sent by the Python samples, in no document.
        pub accepted_output_modes: Option<Vec<String>> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// A task, 0.1 §7.4.1.
    pub struct TaskIdParams: Debug {
        /// The task.
        pub id: TaskId,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// A task and the length of its history, 0.1 §7.3.1.
    pub struct TaskQueryParams: Debug {
        /// The task.
        pub id: TaskId,
        /// Number of most recent messages to include; none if not given.
        pub history_length: Option<u32> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }
}

impl Wire for TaskSendParams {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.check_lenient(at)?;
        self.message.check(&at.member("message"))
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        if self.id.is_empty() {
            return Err(at
                .member("id")
                .violation("the caller names its task, and not by the empty string"));
        }
        let at = at.member("message");
        pre_1_0::check_has_parts(&self.message.parts, &at.member("parts"))
    }

    fn normalize(params: &mut Object, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(params, normalizer, "id");
        normalizer.drop_empty_id(params, "sessionId");
        normalizer.member(params, "message", |message, normalizer| {
            normalize_message(message, normalizer, "user")
        });
        normalizer.member(
            params,
            "pushNotification",
            PushNotificationConfig::normalize,
        );
    }
}

impl Wire for TaskIdParams {
    fn normalize(params: &mut Object, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(params, normalizer, "id");
    }
}

impl Wire for TaskQueryParams {
    fn normalize(params: &mut Object, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(params, normalizer, "id");
    }
}

impl From<TaskSendParams> for SendMessageRequest {
    fn from(params: TaskSendParams) -> Self {
        let configuration = SendMessageConfiguration {
            accepted_output_modes: params.accepted_output_modes.unwrap_or_default(),
            task_push_notification_config: params
                .push_notification
                .map(|config| Box::new(config.into())),
            history_length: params.history_length,
            return_immediately: false,
        };
        Self {
            tenant: None,
            message: crate::Message {
                task_id: Some(params.id),
                context_id: params.session_id,
                ..params.message.into()
            },
            configuration: (configuration != SendMessageConfiguration::default())
                .then_some(configuration),
            metadata: params.metadata,
        }
    }
}

impl From<SendMessageRequest> for TaskSendParams {
    /// Chooses a task id for a request without one: in 0.1 the caller names the task.
    fn from(request: SendMessageRequest) -> Self {
        let configuration = request.configuration.unwrap_or_default();
        let modes = configuration.accepted_output_modes;
        Self {
            id: request
                .message
                .task_id
                .clone()
                .unwrap_or_else(TaskId::random),
            session_id: request.message.context_id.clone(),
            message: request.message.into(),
            push_notification: configuration
                .task_push_notification_config
                .map(|config| (*config).into()),
            history_length: configuration.history_length,
            accepted_output_modes: (!modes.is_empty()).then_some(modes),
            metadata: request.metadata,
        }
    }
}

both_ways! {
    TaskQueryParams = GetTaskRequest { id, history_length }
        wire only { metadata } canonical only { tenant };
    TaskQueryParams = SubscribeToTaskRequest { id }
        wire only { history_length, metadata } canonical only { tenant };
    TaskIdParams = CancelTaskRequest { id, metadata } canonical only { tenant };
    TaskIdParams = GetTaskPushNotificationConfigRequest {} renamed { id = task_id }
        wire only { metadata } canonical only { id, tenant };
}
