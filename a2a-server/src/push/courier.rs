//! Who brings a notification to its webhook.

use std::time::Duration;

use a2a_transport::BoxFuture;
use a2a_types::{Dialect, TaskPushNotificationConfig};
use bytes::Bytes;

/// Brings a notification to its webhook, once.
pub(crate) trait Courier: Send + Sync + 'static {
    fn deliver(&self, parcel: Parcel) -> BoxFuture<'_, Outcome>;
}

/// A notification, packed.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    /// The webhook.
    pub(crate) config: TaskPushNotificationConfig,
    /// The generation of the protocol in which it was asked for.
    pub(crate) dialect: Dialect,
    /// Names the notification, at every attempt alike.
    pub(crate) delivery: String,
    pub(crate) media_type: &'static str,
    pub(crate) body: Bytes,
}

/// What became of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The webhook took it.
    Delivered,
    /// The webhook wants nothing any more.
    Gone,
    /// It is to be tried again.
    Later {
        /// When the webhook wants that.
        after: Option<Duration>,
        /// Why, in a word that shows nothing of what the webhook has said.
        reason: String,
    },
}
