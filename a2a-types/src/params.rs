//! Params and results of each operation.

use serde::{Deserialize, Deserializer, Serialize};

use crate::event::is_false;
use crate::proto::{count, count_or_zero, one_of, or_default, unless_empty};
use crate::reading::{JsonPath, Violation};
use crate::{
    ConfigId, ContextId, Message, Object, Task, TaskId, TaskPushNotificationConfig, TaskState,
    Timestamp,
};

macro_rules! params {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field:meta])* $member:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// Tenant of the interface that is called.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub tenant: Option<String>,
            $($(#[$field])* pub $member: $type,)*
        }
    )*};
}

params! {
    /// A request to send a message. Specification 1.0 §3.2.1.
    SendMessageRequest {
        /// The message. Its `task_id` continues a task; without one a new task begins.
        message: Message,
        /// Settings of the reply.
        #[serde(skip_serializing_if = "Option::is_none")]
        configuration: Option<SendMessageConfiguration>,
        /// Custom key-value metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
    }
    /// A request to read one task. Specification 1.0 §3.1.3.
    GetTaskRequest {
        /// The task.
        id: TaskId,
        /// Number of most recent messages to include; if absent, the server decides.
        #[serde(default, alias = "history_length", deserialize_with = "count", skip_serializing_if = "Option::is_none")]
        history_length: Option<u32>,
    }
    /// A request to list tasks. Specification 1.0 §3.1.4.
    ListTasksRequest {
        /// Only those of this conversation.
        #[serde(default, alias = "context_id", deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
        context_id: Option<ContextId>,
        /// Only those in this state.
        #[serde(default, deserialize_with = "unless_unspecified", skip_serializing_if = "Option::is_none")]
        status: Option<TaskState>,
        /// Maximum number of tasks on a page, 1 to 100; 50 if absent.
        #[serde(default, alias = "page_size", deserialize_with = "count", skip_serializing_if = "Option::is_none")]
        page_size: Option<u32>,
        /// Page token: the previous page's `next_page_token`.
        #[serde(default, alias = "page_token", deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
        page_token: String,
        /// Number of most recent messages to include.
        #[serde(default, alias = "history_length", deserialize_with = "count", skip_serializing_if = "Option::is_none")]
        history_length: Option<u32>,
        /// Only those whose status is of this time or later.
        #[serde(alias = "status_timestamp_after", skip_serializing_if = "Option::is_none")]
        status_timestamp_after: Option<Timestamp>,
        /// `true` to include artifacts.
        #[serde(default, alias = "include_artifacts", deserialize_with = "or_default", skip_serializing_if = "is_false")]
        include_artifacts: bool,
    }
    /// A request to cancel a task. Specification 1.0 §3.1.5.
    CancelTaskRequest {
        /// The task.
        id: TaskId,
        /// Custom key-value metadata.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
    }
    /// A request to follow a task. Specification 1.0 §3.1.6.
    SubscribeToTaskRequest {
        /// The task.
        id: TaskId,
    }
    /// A request to read one push notification config. Specification 1.0 §3.1.8.
    GetTaskPushNotificationConfigRequest {
        /// The task.
        #[serde(alias = "task_id")]
        task_id: TaskId,
        /// The config; empty from versions that had one per task, or to let the server choose.
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "ConfigId::is_empty")]
        id: ConfigId,
    }
    /// A request to list a task's push notification configs. Specification 1.0 §3.1.9.
    ListTaskPushNotificationConfigsRequest {
        /// The task.
        #[serde(alias = "task_id")]
        task_id: TaskId,
        /// Maximum number of items on a page.
        #[serde(default, alias = "page_size", deserialize_with = "count", skip_serializing_if = "Option::is_none")]
        page_size: Option<u32>,
        /// Page token from the previous page.
        #[serde(default, alias = "page_token", deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
        page_token: String,
    }
    /// A request to delete a push notification config. Specification 1.0 §3.1.10.
    DeleteTaskPushNotificationConfigRequest {
        /// The task.
        #[serde(alias = "task_id")]
        task_id: TaskId,
        /// The config.
        id: ConfigId,
    }
    /// A request for the card of authenticated callers. Specification 1.0 §3.1.11.
    GetExtendedAgentCardRequest {}
}

/// Reads the number 0 of an enum as an absent member.
fn unless_unspecified<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<TaskState>, D::Error> {
    let state = Option::deserialize(deserializer)?;
    Ok(state.filter(|state| *state != TaskState::Unspecified))
}

impl From<Message> for SendMessageRequest {
    /// Returns a request without configuration: the agent decides how to reply.
    fn from(message: Message) -> Self {
        Self {
            message,
            ..Self::default()
        }
    }
}

impl From<&str> for SendMessageRequest {
    /// Returns a request with a user's message of one text part.
    fn from(text: &str) -> Self {
        Message::from(text).into()
    }
}

impl From<String> for SendMessageRequest {
    /// Returns a request with a user's message of one text part.
    fn from(text: String) -> Self {
        Message::from(text).into()
    }
}

impl SendMessageRequest {
    /// Checks a rule beyond the types: a message has at least one part (specification 1.0 §4.1.4).
    pub fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        match self.message.parts.is_empty() {
            true => Err(at
                .member("message")
                .member("parts")
                .violation("a message needs at least one part")),
            false => Ok(()),
        }
    }
}

/// Reply settings of a sent message. Specification 1.0 §3.2.2.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SendMessageConfiguration {
    /// Media types that the caller accepts; empty means any.
    #[serde(
        default,
        alias = "accepted_output_modes",
        deserialize_with = "or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub accepted_output_modes: Vec<String>,
    /// A webhook for the task.
    #[serde(
        alias = "task_push_notification_config",
        alias = "pushNotificationConfig",
        skip_serializing_if = "Option::is_none"
    )]
    pub task_push_notification_config: Option<Box<TaskPushNotificationConfig>>,
    /// Number of most recent messages to include.
    #[serde(
        default,
        alias = "history_length",
        deserialize_with = "count",
        skip_serializing_if = "Option::is_none"
    )]
    pub history_length: Option<u32>,
    /// `true` to answer as soon as there is a task, instead of when it ends or is interrupted.
    #[serde(
        default,
        alias = "return_immediately",
        deserialize_with = "or_default",
        skip_serializing_if = "is_false"
    )]
    pub return_immediately: bool,
}

/// Reply to a sent message. Specification 1.0 §3.2.3.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SendMessageResponse {
    /// The task, in progress or done.
    Task(Task),
    /// The agent answered directly; there is no task.
    Message(Message),
}

one_of!(SendMessageResponse as "SendMessageResponse" {
    Task(Task) = "task";
    Message(Message) = "message";
});

/// One page of tasks. Specification 1.0 §3.1.4.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListTasksResponse {
    /// The tasks, the latest change first.
    #[serde(default, deserialize_with = "or_default")]
    pub tasks: Vec<Task>,
    /// Token of the next page; empty on the last page.
    #[serde(default, alias = "next_page_token", deserialize_with = "or_default")]
    pub next_page_token: String,
    /// Page size used for this page.
    #[serde(default, alias = "page_size", deserialize_with = "count_or_zero")]
    pub page_size: u32,
    /// Number of matches on all pages.
    #[serde(default, alias = "total_size", deserialize_with = "count_or_zero")]
    pub total_size: u32,
}

/// One page of push notification configs. Specification 1.0 §3.1.9.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListTaskPushNotificationConfigsResponse {
    /// The configs, in order of creation.
    #[serde(default, deserialize_with = "or_default")]
    pub configs: Vec<TaskPushNotificationConfig>,
    /// Token of the next page; empty on the last page.
    #[serde(default, alias = "next_page_token", deserialize_with = "or_default")]
    pub next_page_token: String,
}
