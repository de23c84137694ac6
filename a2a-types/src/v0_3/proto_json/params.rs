//! Params and results of operations, 0.3 §7 as in the proto.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::message::normalize_message;
use super::resource_name::{agree, task_of};
use super::{Message, PushNotificationConfig, Task};
use crate::pre_1_0::{self, both_ways, boxed_variants};
use crate::proto::{one_of, or_default, unless_empty};
use crate::reading::{JsonPath, Normalizer, Quirk, Violation, Wire, spelled};
use crate::{Object, Role, TaskId};

/// A message, 0.3 §7.1.1.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SendMessageRequest {
    /// The message; `request` before 0.3.0, and in the proto's own spelling.
    #[serde(alias = "request")]
    pub message: Message,
    /// Settings of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<SendMessageConfiguration>,
    /// Custom key-value metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
}

/// Reply settings of a sent message, 0.3 §7.1.2.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SendMessageConfiguration {
    /// Media types that the caller accepts; empty means any.
    #[serde(default, deserialize_with = "or_default")]
    #[serde(alias = "accepted_output_modes", skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// A webhook for the task.
    #[serde(alias = "push_notification", skip_serializing_if = "Option::is_none")]
    pub push_notification: Option<PushNotificationConfig>,
    /// Number of most recent messages to include; 0 is the same as absent, and so means all.
    #[serde(default, alias = "history_length", deserialize_with = "unless_empty")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
    /// `true` to answer only when the task ends or is interrupted; `false` if absent.
    #[serde(default, deserialize_with = "or_default")]
    pub blocking: bool,
}

/// Reply to a sent message: exactly one of these, 0.3 §7.1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum SendMessageResponse {
    /// The task, in progress or done.
    Task(Box<Task>),
    /// The agent answered directly; there is no task.
    Message(Box<Message>),
}

one_of!(SendMessageResponse {
    Task(Box<Task>) = "task";
    Message(Box<Message>) = "message" | "msg";
});

/// A request to cancel a task, 0.3 §7.4.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CancelTaskRequest {
    /// The task, `tasks/{task}`.
    pub name: String,
}

/// One page of tasks, in the main line of 0.3.
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
    /// Number of matches on all pages.
    #[serde(default, alias = "total_size", deserialize_with = "or_default")]
    pub total_size: u32,
    /// Page size used for this page.
    #[serde(default, alias = "page_size", deserialize_with = "or_default")]
    pub page_size: u32,
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
        if let Some(name) = self.name.filter(|name| !name.is_empty()) {
            let at = at.member("name");
            let named = task_of(&name).ok_or_else(|| at.violation("expected `tasks/{task}`"))?;
            agree(&mut known, named, &at)?;
        }
        if let Some(id) = self.id.filter(|id| !id.is_empty()) {
            agree(&mut known, id, &at.member("id"))?;
        }
        Ok(crate::CancelTaskRequest {
            tenant: None,
            id: known.ok_or_else(|| at.violation("no task is named"))?,
            metadata: self.metadata,
        })
    }
}

impl Wire for CancelBody {
    fn normalize(body: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(body, normalizer, "id");
    }
}

impl Wire for SendMessageRequest {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.message.check(&at.member("message"))
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        self.message.check_user_message(&at.member("message"))
    }

    fn normalize(request: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        let message = spelled(request, &["message", "request"]);
        pre_1_0::normalize_message_id(request, normalizer, message, &["messageId", "message_id"]);
        normalizer.member(request, message, |message, normalizer| {
            normalize_message(message, normalizer, Role::User)
        });
        normalizer.member(request, "configuration", |configuration, normalizer| {
            let push = spelled(configuration, &["pushNotification", "push_notification"]);
            let plain = "pushNotificationConfig";
            normalizer.rename(configuration, plain, push, Quirk::OtherFlavour);
            normalizer.member(configuration, push, PushNotificationConfig::normalize);
        });
    }
}

impl Wire for SendMessageResponse {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        match self {
            Self::Task(task) => task.check(&at.member("task")),
            Self::Message(message) => message.check(&at.member("message")),
        }
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        match self {
            Self::Task(task) => task.check_lenient(&at.member("task")),
            Self::Message(_) => Ok(()),
        }
    }

    fn normalize(response: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        normalizer.member(response, "task", Task::normalize);
        let message = spelled(response, &["message", "msg"]);
        normalizer.member(response, message, Message::normalize);
    }
}

impl Wire for ListTasksResponse {
    fn check(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.each("tasks", &self.tasks, Task::check)
    }

    fn check_lenient(&self, at: &JsonPath<'_>) -> Result<(), Violation> {
        at.each("tasks", &self.tasks, Task::check_lenient)
    }

    fn normalize(response: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        normalizer.items(response, "tasks", Task::normalize);
    }
}

impl From<crate::CancelTaskRequest> for CancelTaskRequest {
    /// Drops the metadata: 0.3 has none here.
    fn from(request: crate::CancelTaskRequest) -> Self {
        Self {
            name: format!("tasks/{}", request.id),
        }
    }
}

boxed_variants! { SendMessageResponse = crate::SendMessageResponse { Task, Message } }

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
