//! Webhooks, 0.2 §6.8–6.10.

use serde_json::{Map, Value};

use crate::pre_1_0::{self, both_ways, wire_types};
use crate::reading::{Normalizer, Wire};
use crate::secret::redacted_debug;
use crate::{ConfigId, TaskId};

wire_types! {
    /// A task's webhook, 0.2 §6.10.
    pub struct TaskPushNotificationConfig: Debug {
        /// The task.
        pub task_id: TaskId,
        /// Its webhook.
        pub push_notification_config: PushNotificationConfig,
    }

    /// Webhook for the changes of a task, 0.2 §6.8.
    pub struct PushNotificationConfig {
        /// Identifier of the webhook within its task (0.2.2).
        pub id: Option<ConfigId> = optional,
        /// URL to POST to.
        pub url: String,
        /// Secret by which the receiver recognises the sender.
        pub token: Option<String> = optional,
        /// Authentication of the sender.
        pub authentication: Option<PushNotificationAuthenticationInfo> = optional,
    }

    /// Authentication of the sender, 0.2 §6.9.
    pub struct PushNotificationAuthenticationInfo {
        /// Authentication schemes that the receiver accepts.
        pub schemes: Vec<String>,
        /// Credentials for the scheme.
        pub credentials: Option<String> = optional,
    }
}

redacted_debug!(PushNotificationConfig { id, authentication; token; url });
redacted_debug!(PushNotificationAuthenticationInfo { schemes; credentials });

impl Wire for TaskPushNotificationConfig {
    fn normalize(config: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(config, normalizer, "taskId");
        normalizer.member(
            config,
            "pushNotificationConfig",
            PushNotificationConfig::normalize,
        );
    }
}

impl Wire for PushNotificationConfig {
    fn normalize(config: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        normalizer.member(config, "authentication", pre_1_0::normalize_schemes);
    }
}

both_ways! {
    PushNotificationConfig = crate::TaskPushNotificationConfig {
        id as unless_empty, url, token, authentication as option,
    } canonical only { tenant, task_id };
    PushNotificationAuthenticationInfo = crate::AuthenticationInfo { credentials }
        renamed { schemes = scheme as schemes };
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
