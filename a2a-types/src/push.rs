//! Push notification configs: webhooks for the changes of a task.

use serde::{Deserialize, Serialize};

use crate::proto::{or_default, unless_empty};
use crate::secret::redacted_debug;
use crate::{ConfigId, TaskId};

/// A webhook for one task. Specification 1.0 §4.3.1.
#[derive(Clone, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskPushNotificationConfig {
    /// The tenant that the task belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Identifier of the config within its task; the server chooses one if absent.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "ConfigId::is_empty"
    )]
    pub id: ConfigId,
    /// The task; absent inside a send request, which names it elsewhere.
    #[serde(
        default,
        alias = "task_id",
        deserialize_with = "or_default",
        skip_serializing_if = "TaskId::is_empty"
    )]
    pub task_id: TaskId,
    /// URL to POST to.
    pub url: String,
    /// Secret by which the receiver recognises the sender.
    #[serde(
        default,
        deserialize_with = "unless_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub token: Option<String>,
    /// Authentication of the sender to the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
}

redacted_debug!(TaskPushNotificationConfig { tenant, id, task_id, authentication; token; url });

/// Authentication of the sender of push notifications. Specification 1.0 §4.3.2.
#[derive(Clone, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuthenticationInfo {
    /// The HTTP authentication scheme, like `Bearer`.
    pub scheme: String,
    /// Credentials, which follow the scheme in the `Authorization` header.
    #[serde(
        default,
        deserialize_with = "unless_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub credentials: Option<String>,
}

redacted_debug!(AuthenticationInfo { scheme; credentials });
