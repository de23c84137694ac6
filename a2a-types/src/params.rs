//! What each operation is asked with and answered by.

use serde::{Deserialize, Deserializer, Serialize};

use crate::event::is_false;
use crate::proto::{one_of, or_default, unless_empty, whole, whole_or_zero};
use crate::reading::{At, Violation};
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
            /// The tenant of the interface that is called.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub tenant: Option<String>,
            $($(#[$field])* pub $member: $type,)*
        }
    )*};
}

params! {
    /// Sends a message. Specification 1.0 §3.2.1.
    SendMessageRequest {
        /// The message. Its `task_id` continues a task; without one a new task begins.
        message: Message,
        /// How the caller wants to be answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        configuration: Option<SendMessageConfiguration>,
        /// Whatever the two sides agreed on.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
    }
    /// Reads one task. Specification 1.0 §3.1.3.
    GetTaskRequest {
        /// The task.
        id: TaskId,
        /// How many of the last messages to include; none given leaves it to the server.
        #[serde(default, alias = "history_length", deserialize_with = "whole", skip_serializing_if = "Option::is_none")]
        history_length: Option<u32>,
    }
    /// Lists tasks. Specification 1.0 §3.1.4.
    ListTasksRequest {
        /// Only those of this conversation.
        #[serde(default, alias = "context_id", deserialize_with = "unless_empty", skip_serializing_if = "Option::is_none")]
        context_id: Option<ContextId>,
        /// Only those in this state.
        #[serde(default, deserialize_with = "unless_unspecified", skip_serializing_if = "Option::is_none")]
        status: Option<TaskState>,
        /// How many to a page, 1 to 100; 50 if not given.
        #[serde(default, alias = "page_size", deserialize_with = "whole", skip_serializing_if = "Option::is_none")]
        page_size: Option<u32>,
        /// Where to go on: the previous page's `next_page_token`.
        #[serde(default, alias = "page_token", deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
        page_token: String,
        /// How many of the last messages to include.
        #[serde(default, alias = "history_length", deserialize_with = "whole", skip_serializing_if = "Option::is_none")]
        history_length: Option<u32>,
        /// Only those whose status is of this time or later.
        #[serde(alias = "status_timestamp_after", skip_serializing_if = "Option::is_none")]
        status_timestamp_after: Option<Timestamp>,
        /// Whether to include artifacts.
        #[serde(default, alias = "include_artifacts", deserialize_with = "or_default", skip_serializing_if = "is_false")]
        include_artifacts: bool,
    }
    /// Asks the agent to stop. Specification 1.0 §3.1.5.
    CancelTaskRequest {
        /// The task.
        id: TaskId,
        /// Whatever the two sides agreed on.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Object>,
    }
    /// Follows a task. Specification 1.0 §3.1.6.
    SubscribeToTaskRequest {
        /// The task.
        id: TaskId,
    }
    /// Reads one push notification config. Specification 1.0 §3.1.8.
    GetTaskPushNotificationConfigRequest {
        /// The task.
        #[serde(alias = "task_id")]
        task_id: TaskId,
        /// The config; empty from generations that had one to a task, or let the server choose.
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "ConfigId::is_empty")]
        id: ConfigId,
    }
    /// Lists a task's push notification configs. Specification 1.0 §3.1.9.
    ListTaskPushNotificationConfigsRequest {
        /// The task.
        #[serde(alias = "task_id")]
        task_id: TaskId,
        /// How many to a page.
        #[serde(default, alias = "page_size", deserialize_with = "whole", skip_serializing_if = "Option::is_none")]
        page_size: Option<u32>,
        /// Where to go on.
        #[serde(default, alias = "page_token", deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
        page_token: String,
    }
    /// Deletes a push notification config. Specification 1.0 §3.1.10.
    DeleteTaskPushNotificationConfigRequest {
        /// The task.
        #[serde(alias = "task_id")]
        task_id: TaskId,
        /// The config.
        id: ConfigId,
    }
    /// Reads the card for callers who authenticate. Specification 1.0 §3.1.11.
    GetExtendedAgentCardRequest {}
}

/// The number 0 of an enum says the same as an absent member.
fn unless_unspecified<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<TaskState>, D::Error> {
    let state = Option::deserialize(deserializer)?;
    Ok(state.filter(|state| *state != TaskState::Unspecified))
}

impl From<Message> for SendMessageRequest {
    /// A message, answered as the agent likes.
    fn from(message: Message) -> Self {
        Self {
            message,
            ..Self::default()
        }
    }
}

impl From<&str> for SendMessageRequest {
    /// A user's message of one text part.
    fn from(text: &str) -> Self {
        Message::from(text).into()
    }
}

impl From<String> for SendMessageRequest {
    /// A user's message of one text part.
    fn from(text: String) -> Self {
        Message::from(text).into()
    }
}

impl SendMessageRequest {
    /// Checks what the types cannot say: a message has at least one part (specification 1.0 §4.1.4).
    pub fn check(&self, at: &At<'_>) -> Result<(), Violation> {
        match self.message.parts.is_empty() {
            true => Err(at
                .member("message")
                .member("parts")
                .violation("a message needs at least one part")),
            false => Ok(()),
        }
    }
}

/// How a caller wants its message to be answered. Specification 1.0 §3.2.2.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SendMessageConfiguration {
    /// Media types the caller can take; empty means any.
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
    /// How many of the last messages to include.
    #[serde(
        default,
        alias = "history_length",
        deserialize_with = "whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub history_length: Option<u32>,
    /// Answer as soon as there is a task, instead of when it ends or is interrupted.
    #[serde(
        default,
        alias = "return_immediately",
        deserialize_with = "or_default",
        skip_serializing_if = "is_false"
    )]
    pub return_immediately: bool,
}

/// What a sent message is answered by. Specification 1.0 §3.2.3.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SendMessageResponse {
    /// A task is under way, or done.
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
    /// Where to go on; empty on the last page.
    #[serde(default, alias = "next_page_token", deserialize_with = "or_default")]
    pub next_page_token: String,
    /// How many were asked for.
    #[serde(default, alias = "page_size", deserialize_with = "whole_or_zero")]
    pub page_size: u32,
    /// How many match, on all pages.
    #[serde(default, alias = "total_size", deserialize_with = "whole_or_zero")]
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
    /// Where to go on; empty on the last page.
    #[serde(default, alias = "next_page_token", deserialize_with = "or_default")]
    pub next_page_token: String,
}
