//! The two ends of a gateway that relays notifications: a receiver for the agent, a sender to the callers.

use a2a_types::TaskPushNotificationConfig;
use http::StatusCode;

use super::NotificationBody;
use crate::{BoxFuture, TraceContext};

/// Sender of a gateway's notifications, with a policy of the URLs that may be called.
pub trait NotificationSender: Send + Sync + 'static {
    /// Checks whether a webhook may be registered. Errors: the reason, for the caller.
    fn check(&self, config: &TaskPushNotificationConfig) -> Result<(), String>;

    /// Delivers a notification once, with the token and credentials of the config, as part of a trace. `id` is
    /// the same whenever the notification is delivered again.
    fn send<'a>(
        &'a self,
        config: &'a TaskPushNotificationConfig,
        id: &'a str,
        body: NotificationBody,
        trace: Option<&'a TraceContext>,
    ) -> BoxFuture<'a, NotificationOutcome>;
}

/// Outcome of a delivery.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NotificationOutcome {
    /// The receiver has the notification.
    Delivered,
    /// The receiver wants no more notifications.
    Gone,
    /// The receiver does not have it, as far as is known.
    Failed,
}

/// Receiver of the notifications that an agent sends to URLs of a gateway, each with a secret at its end.
pub trait NotificationReceiver: Send + Sync + 'static {
    /// Returns whether a URL has this secret.
    fn has(&self, secret: &str) -> bool;

    /// Delivers a notification; `None` if its body was too large. Returns the status of the answer.
    fn receive<'a>(
        &'a self,
        secret: &'a str,
        body: Option<&'a [u8]>,
        trace: Option<TraceContext>,
    ) -> BoxFuture<'a, StatusCode>;
}
