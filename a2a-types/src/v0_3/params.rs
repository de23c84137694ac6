//! Params and results of operations, 0.3 §7 as in the proto.

use serde::{Deserialize, Serialize};

use super::message::normalize_message;
use super::one_message::one_message;
use super::resource_name::{agree, agree_on_name, resource};
use super::{Message, PushNotificationConfig, Task};
use crate::pre_1_0::{self, both_ways, wire_types};
use crate::reading::{JsonPath, Normalizer, Quirk, Violation, Wire, spelled};
use crate::{Object, Role, TaskId};

wire_types! {
    /// A message, 0.3 §7.1.1.
    pub struct SendMessageRequest: Debug {
        /// The message; `request` before 0.3.0, and in the proto's own spelling.
        pub message: Message | "request",
        /// Settings of the reply.
        pub configuration: Option<SendMessageConfiguration> = optional,
        /// Custom key-value metadata.
        pub metadata: Option<Object> = optional,
    }

    /// Reply settings of a sent message, 0.3 §7.1.2.
    pub struct SendMessageConfiguration: Debug, Default {
        /// Media types that the caller accepts; empty means any.
        pub accepted_output_modes: Vec<String> = unless_default | "accepted_output_modes",
        /// A webhook for the task.
        pub push_notification: Option<PushNotificationConfig> = optional | "push_notification",
        /// Number of most recent messages to include; 0 is the same as absent, and so means all.
        pub history_length: Option<u32> = unless_empty | "history_length",
        /// `true` to answer only when the task ends or is interrupted; `false` if absent.
        pub blocking: bool = or_default,
    }
}

one_message! {
    /// Reply to a sent message: exactly one of these, 0.3 §7.1.
    pub enum SendMessageResponse = SendMessageResponse {
        /// The task, in progress or done.
        Task(Task) = "task";
        /// The agent answered directly; there is no task.
        Message(Message) = "message" | "msg";
    }
}

wire_types! {
    /// A request to cancel a task, 0.3 §7.4.
    pub struct CancelTaskRequest: Debug, Default {
        /// The task, `tasks/{task}`.
        pub name: String,
    }

    /// One page of tasks, in the main line of 0.3.
    pub struct ListTasksResponse: Debug, Default {
        /// The tasks, the latest change first.
        pub tasks: Vec<Task> = or_default,
        /// Token of the next page; empty on the last page.
        pub next_page_token: String = or_default | "next_page_token",
        /// Number of matches on all pages.
        pub total_size: u32 = or_default | "total_size",
        /// Page size used for this page.
        pub page_size: u32 = or_default | "page_size",
    }
}

/// Body of a request to cancel, which may repeat the task of the path: as `name` in ProtoJSON, as
/// `id` in the plain JSON.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct CancelBody {
    name: Option<String>,
    id: Option<TaskId>,
    metadata: Option<Object>,
}

impl CancelBody {
    /// Returns the request. Errors: the body names another task than the path, or none is named.
    pub(super) fn resolve(
        self,
        task: Option<&TaskId>,
        at: &JsonPath<'_>,
    ) -> Result<crate::CancelTaskRequest, Violation> {
        let mut known = task.cloned();
        let (name, expected) = (self.name.as_deref(), "expected `tasks/{task}`");
        agree_on_name(&mut known, name, expected, &at.member("name"))?;
        agree(&mut known, self.id, &at.member("id"))?;
        Ok(crate::CancelTaskRequest {
            tenant: None,
            id: known.ok_or_else(|| at.violation("no task is named"))?,
            metadata: self.metadata,
        })
    }
}

impl Wire for CancelBody {
    fn normalize(body: &mut Object, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(body, normalizer, "id");
    }
}

impl Wire for SendMessageRequest {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.message.check(&at.member("message"))
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        let at = at.member("message");
        pre_1_0::check_has_parts(&self.message.content, &at.member("content"))
    }

    fn normalize(request: &mut Object, normalizer: &mut Normalizer<'_>) {
        let message = spelled(request, &["message", "request"]);
        pre_1_0::normalize_message_id(request, normalizer, message, &["messageId", "message_id"]);
        normalizer.member(request, message, |message, normalizer| {
            normalize_message(message, normalizer, Role::User)
        });
        normalizer.member(request, "configuration", |configuration, normalizer| {
            let push = spelled(configuration, &["pushNotification", "push_notification"]);
            normalizer.rename(
                configuration,
                "pushNotificationConfig",
                push,
                Quirk::OtherFlavour,
            );
            normalizer.member(configuration, push, PushNotificationConfig::normalize);
        });
    }
}

impl Wire for ListTasksResponse {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.each("tasks", &self.tasks, Task::check)
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.each("tasks", &self.tasks, Task::check_lenient)
    }

    fn normalize(response: &mut Object, normalizer: &mut Normalizer<'_>) {
        normalizer.items(response, "tasks", Task::normalize);
    }
}

impl From<crate::CancelTaskRequest> for CancelTaskRequest {
    /// Drops the metadata: 0.3 has none here.
    fn from(request: crate::CancelTaskRequest) -> Self {
        let name = resource(request.id.as_str(), "");
        Self { name }
    }
}

both_ways! {
    // Without `blocking` a request does not wait: so it always has a configuration.
    SendMessageRequest = crate::SendMessageRequest {
        message, configuration as or_default, metadata,
    } canonical only { tenant };
    // A length of 0 is dropped: 0.3 cannot ask for no messages at all.
    SendMessageConfiguration = crate::SendMessageConfiguration {
        accepted_output_modes, history_length as unless_zero,
    } renamed {
        push_notification = task_push_notification_config as boxed,
        blocking = return_immediately as opposite,
    };
    ListTasksResponse = crate::ListTasksResponse {
        tasks as list, next_page_token, total_size, page_size,
    };
}
