//! Push notification configs: webhooks for the changes of a task.

use crate::secret::redacted_debug;
use crate::wire_types::wire_types;
use crate::{ConfigId, TaskId};

wire_types! {
    /// A webhook for one task. Specification 1.0 §4.3.1.
    pub struct TaskPushNotificationConfig: Default {
        /// The tenant that the task belongs to.
        pub tenant: Option<String> = optional,
        /// Identifier of the config within its task; the server chooses one if absent.
        pub id: ConfigId = unless_default,
        /// The task; absent inside a send request, which names it elsewhere.
        pub task_id: TaskId = unless_default | "task_id",
        /// URL to POST to.
        pub url: String,
        /// Secret by which the receiver recognises the sender.
        pub token: Option<String> = unless_empty,
        /// Authentication of the sender to the receiver.
        pub authentication: Option<AuthenticationInfo> = optional,
    }
}

redacted_debug!(TaskPushNotificationConfig { tenant, id, task_id, authentication; token; url });

wire_types! {
    /// Authentication of the sender of push notifications. Specification 1.0 §4.3.2.
    pub struct AuthenticationInfo: Default {
        /// The HTTP authentication scheme, like `Bearer`.
        pub scheme: String,
        /// Credentials, which follow the scheme in the `Authorization` header.
        pub credentials: Option<String> = unless_empty,
    }
}

redacted_debug!(AuthenticationInfo { scheme; credentials });
