//! Params and results of each operation.

use serde::{Deserialize, Deserializer, Serialize};

use crate::proto::{count_or_zero, one_of};
use crate::reading::{JsonPath, Violation};
use crate::wire_types::wire_types;
use crate::{
    ConfigId, ContextId, Message, Object, Task, TaskId, TaskPushNotificationConfig, TaskState,
    Timestamp,
};

/// Defines the params of operations, which all name a tenant.
macro_rules! params {
    ($($(#[$doc:meta])* $name:ident { $($members:tt)* })*) => {
        wire_types! {$(
            $(#[$doc])*
            pub struct $name: Debug, Default {
                /// Tenant of the interface that is called.
                pub tenant: Option<String> = optional,
                $($members)*
            }
        )*}
    };
}

params! {
    /// A request to send a message. Specification 1.0 §3.2.1.
    SendMessageRequest {
        /// The message. Its `task_id` continues a task; without one a new task begins.
        pub message: Message,
        /// Settings of the reply.
        pub configuration: Option<SendMessageConfiguration> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }
    /// A request to read one task. Specification 1.0 §3.1.3.
    GetTaskRequest {
        /// The task.
        pub id: TaskId,
        /// Number of most recent messages to include; if absent, the server decides.
        pub history_length: Option<u32> = count | "history_length",
    }
    /// A request to list tasks. Specification 1.0 §3.1.4.
    ListTasksRequest {
        /// Only tasks of this conversation.
        pub context_id: Option<ContextId> = unless_empty | "context_id",
        /// Only tasks in this state.
        #[serde(default, deserialize_with = "unless_unspecified", skip_serializing_if = "Option::is_none")]
        pub status: Option<TaskState>,
        /// Maximum number of tasks on a page, 1 to 100; 50 if absent.
        pub page_size: Option<u32> = count | "page_size",
        /// Page token: the previous page's `next_page_token`.
        pub page_token: String = unless_default | "page_token",
        /// Number of most recent messages to include.
        pub history_length: Option<u32> = count | "history_length",
        /// Only tasks whose status is of this time or later.
        pub status_timestamp_after: Option<Timestamp> = optional | "status_timestamp_after",
        /// `true` to include artifacts.
        pub include_artifacts: bool = unless_default | "include_artifacts",
    }
    /// A request to cancel a task. Specification 1.0 §3.1.5.
    CancelTaskRequest {
        /// The task.
        pub id: TaskId,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }
    /// A request to follow a task. Specification 1.0 §3.1.6.
    SubscribeToTaskRequest {
        /// The task.
        pub id: TaskId,
    }
    /// A request to read one push notification config. Specification 1.0 §3.1.8.
    GetTaskPushNotificationConfigRequest {
        /// The task.
        pub task_id: TaskId | "task_id",
        /// The config; empty from versions that had one per task, or to let the server choose.
        pub id: ConfigId = unless_default,
    }
    /// A request to list a task's push notification configs. Specification 1.0 §3.1.9.
    ListTaskPushNotificationConfigsRequest {
        /// The task.
        pub task_id: TaskId | "task_id",
        /// Maximum number of items on a page.
        pub page_size: Option<u32> = count | "page_size",
        /// Page token from the previous page.
        pub page_token: String = unless_default | "page_token",
    }
    /// A request to delete a push notification config. Specification 1.0 §3.1.10.
    DeleteTaskPushNotificationConfigRequest {
        /// The task.
        pub task_id: TaskId | "task_id",
        /// The config.
        pub id: ConfigId,
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
    /// Checks rules beyond the types: a message has an identifier and at least one part (specification 1.0
    /// §4.1.4).
    pub fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        let at = at.member("message");
        at.names("messageId", self.message.message_id.as_str())?;
        match self.message.parts.is_empty() {
            true => Err(at
                .member("parts")
                .violation("a message needs at least one part")),
            false => Ok(()),
        }
    }
}

wire_types! {
    /// Reply settings of a sent message. Specification 1.0 §3.2.2.
    pub struct SendMessageConfiguration: Debug, Default {
        /// Media types that the caller accepts; empty means any.
        pub accepted_output_modes: Vec<String> = unless_default | "accepted_output_modes",
        /// A webhook for the task.
        pub task_push_notification_config: Option<Box<TaskPushNotificationConfig>> = optional
            | "task_push_notification_config" | "pushNotificationConfig",
        /// Number of most recent messages to include.
        pub history_length: Option<u32> = count | "history_length",
        /// `true` to answer as soon as there is a task, instead of when it ends or is interrupted.
        pub return_immediately: bool = unless_default | "return_immediately",
    }
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

impl SendMessageResponse {
    /// Returns the text of the answer: that of the [task](Task::text) or of the [message](Message::text).
    pub fn text(&self) -> String {
        match self {
            Self::Task(task) => task.text(),
            Self::Message(message) => message.text(),
        }
    }

    /// Returns the task, unless the agent answered with a message.
    pub fn task(&self) -> Option<&Task> {
        match self {
            Self::Task(task) => Some(task),
            Self::Message(_) => None,
        }
    }
}

one_of!(SendMessageResponse as "SendMessageResponse" {
    Task(Task) = "task";
    Message(Message) = "message";
});

wire_types! {
    /// One page of tasks. Specification 1.0 §3.1.4.
    pub struct ListTasksResponse: Debug, Default {
        /// The tasks, the latest change first.
        pub tasks: Vec<Task> = or_default,
        /// Token of the next page; empty on the last page.
        pub next_page_token: String = or_default | "next_page_token",
        /// Page size used for this page.
        #[serde(default, deserialize_with = "count_or_zero")]
        pub page_size: u32 | "page_size",
        /// Number of matches on all pages.
        #[serde(default, deserialize_with = "count_or_zero")]
        pub total_size: u32 | "total_size",
    }

    /// One page of push notification configs. Specification 1.0 §3.1.9.
    pub struct ListTaskPushNotificationConfigsResponse: Debug, Default {
        /// The configs, in order of creation.
        pub configs: Vec<TaskPushNotificationConfig> = or_default,
        /// Token of the next page; empty on the last page.
        pub next_page_token: String = or_default | "next_page_token",
    }
}
