//! Where a caller wants to be told about a task's changes.

use serde::{Deserialize, Serialize};

use crate::proto::{or_default, unless_empty};
use crate::secret::hides;
use crate::{ConfigId, TaskId};

/// A webhook for one task. Specification 1.0 §4.3.1.
#[derive(Clone, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskPushNotificationConfig {
    /// The tenant that the task belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Names the config among those of its task; made by the server when absent.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "ConfigId::is_empty"
    )]
    pub id: ConfigId,
    /// The task; absent inside a send request, which names it otherwise.
    #[serde(
        default,
        alias = "task_id",
        deserialize_with = "or_default",
        skip_serializing_if = "TaskId::is_empty"
    )]
    pub task_id: TaskId,
    /// Where to POST to.
    pub url: String,
    /// A secret that the receiver recognises the sender by.
    #[serde(
        default,
        deserialize_with = "unless_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub token: Option<String>,
    /// How the sender authenticates to the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
}

hides!(TaskPushNotificationConfig { tenant, id, task_id, authentication; token; url });

/// How the sender of push notifications authenticates. Specification 1.0 §4.3.2.
#[derive(Clone, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuthenticationInfo {
    /// The HTTP authentication scheme, like `Bearer`.
    pub scheme: String,
    /// What follows the scheme in the `Authorization` header.
    #[serde(
        default,
        deserialize_with = "unless_empty",
        skip_serializing_if = "Option::is_none"
    )]
    pub credentials: Option<String>,
}

hides!(AuthenticationInfo { scheme; credentials });
