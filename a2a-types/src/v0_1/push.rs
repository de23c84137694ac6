//! Webhooks, 0.1 §6.8–6.10.

use serde_json::{Map, Value};

use crate::pre_1_0::{self, both_ways, wire_types};
use crate::reading::{Normalizer, Wire};
use crate::secret::redacted_debug;
use crate::{ConfigId, TaskId};

wire_types! {
    /// A task's webhook, 0.1 §6.10.
    pub struct TaskPushNotificationConfig: Debug {
        /// The task.
        pub id: TaskId,
        /// Its webhook.
        pub push_notification_config: PushNotificationConfig,
    }

    /// Webhook for the changes of a task, 0.1 §6.8.
    pub struct PushNotificationConfig {
        /// URL to POST to.
        pub url: String,
        /// Secret by which the receiver recognises the sender.
        pub token: Option<String> = optional,
        /// Authentication of the sender.
        pub authentication: Option<AuthenticationInfo> = optional,
    }

    /// Authentication of the sender, 0.1 §6.9.
    pub struct AuthenticationInfo {
        /// Authentication schemes that the receiver accepts.
        pub schemes: Vec<String>,
        /// Credentials for the scheme.
        pub credentials: Option<String> = optional,
    }
}

redacted_debug!(PushNotificationConfig { authentication; token; url });
redacted_debug!(AuthenticationInfo { schemes; credentials });

impl Wire for TaskPushNotificationConfig {
    fn normalize(config: &mut Map<String, Value>, normalizer: &mut Normalizer<'_>) {
        pre_1_0::normalize_task_id(config, normalizer, "id");
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
        url, token, authentication as option,
    } canonical only { tenant, id, task_id };
    AuthenticationInfo = crate::AuthenticationInfo { credentials }
        renamed { schemes = scheme as schemes };
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
