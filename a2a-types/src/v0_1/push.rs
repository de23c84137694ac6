//! Webhooks, 0.1 §6.8–6.10.

use crate::pre_1_0::{self, webhook_types, wire_types};
use crate::reading::{Normalizer, Wire};
use crate::{ConfigId, Object, TaskId};

wire_types! {
    /// A task's webhook, 0.1 §6.10.
    pub struct TaskPushNotificationConfig: Debug {
        /// The task.
        pub id: TaskId,
        /// Its webhook.
        pub push_notification_config: PushNotificationConfig,
    }
}

webhook_types! {
    text: optional, canonical only: { id };
    /// Webhook for the changes of a task, 0.1 §6.8.
    PushNotificationConfig {}
    /// Authentication of the sender, 0.1 §6.9.
    AuthenticationInfo { schemes }
}

impl Wire for TaskPushNotificationConfig {
    fn normalize(config: &mut Object, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(config, normalizer, "id");
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
            id: ConfigId::only(),
            task_id: config.id,
            ..config.push_notification_config.into()
        }
    }
}

impl From<crate::TaskPushNotificationConfig> for TaskPushNotificationConfig {
    fn from(config: crate::TaskPushNotificationConfig) -> Self {
        Self {
            id: config.task_id.clone(),
            push_notification_config: config.into(),
        }
    }
}
