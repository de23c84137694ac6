//! Webhooks, 0.2 §6.8–6.10.

use crate::pre_1_0::{self, webhook_types, wire_types};
use crate::reading::{Normalizer, Wire};
use crate::{Object, TaskId};

wire_types! {
    /// A task's webhook, 0.2 §6.10.
    pub struct TaskPushNotificationConfig: Debug {
        /// The task.
        pub task_id: TaskId,
        /// Its webhook.
        pub push_notification_config: PushNotificationConfig,
    }
}

webhook_types! {
    text: optional, canonical only: {};
    /// Webhook for the changes of a task, 0.2 §6.8.
    PushNotificationConfig {
        /// Identifier of the webhook within its task (0.2.2).
        id,
    }
    /// Authentication of the sender, 0.2 §6.9.
    PushNotificationAuthenticationInfo { schemes }
}

impl Wire for TaskPushNotificationConfig {
    fn normalize(config: &mut Object, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(config, normalizer, "taskId");
        normalizer.member(
            config,
            "pushNotificationConfig",
            PushNotificationConfig::normalize,
        );
    }
}

impl From<TaskPushNotificationConfig> for crate::TaskPushNotificationConfig {
    fn from(config: TaskPushNotificationConfig) -> Self {
        Self {
            task_id: config.task_id,
            ..config.push_notification_config.into()
        }
    }
}

impl From<crate::TaskPushNotificationConfig> for TaskPushNotificationConfig {
    fn from(config: crate::TaskPushNotificationConfig) -> Self {
        Self {
            task_id: config.task_id.clone(),
            push_notification_config: config.into(),
        }
    }
}
