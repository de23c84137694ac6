//! One attempt to deliver a notification to a receiver.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use a2a_transport::http::{TlsConfigError, retry_after};
use a2a_transport::webhook::{NotificationBody, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP};
use a2a_types::TaskPushNotificationConfig;
use bytes::Bytes;
use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::time::{Instant, timeout, timeout_at};

use super::concurrency::{RequestSlots, SlotLimits};
use super::connector::{Connector, Network, Resolve, SystemNetwork};
use super::exchange::post;
use super::headers::headers_for;
use super::keys::{WebhookKeys, seconds};
use super::outcome::{DeliveryOutcome, Reason};
use super::url_policy::WebhookPolicy;

/// Sender of notifications to webhooks. Every request has a connection of its own, whose address was
/// checked.
pub(crate) struct WebhookSender {
    pub(super) policy: WebhookPolicy,
    pub(super) connector: Connector,
    pub(super) slots: RequestSlots,
}

/// A request to be delivered. It cannot be printed: it is full of secrets.
pub(crate) struct DeliveryRequest {
    /// URL of the webhook.
    pub(crate) url: String,
    /// Headers by which the receiver knows the sender, and the like.
    pub(crate) headers: HeaderMap,
    /// Media type of the body.
    pub(crate) content_type: HeaderValue,
    /// The notification.
    pub(crate) body: Bytes,
}

impl DeliveryRequest {
    /// Creates the request that delivers a notification to a webhook, signed with these keys.
    pub(super) fn new(
        config: &TaskPushNotificationConfig,
        keys: Option<&WebhookKeys>,
        id: String,
        body: NotificationBody,
    ) -> Self {
        let NotificationBody {
            media_type, body, ..
        } = body;
        let url = config.url.clone();
        // Values that cannot be a header were refused when the webhook was registered.
        let mut headers = headers_for(config).unwrap_or_default();
        let system = || seconds(SystemTime::now());
        let now = keys.map_or_else(system, WebhookKeys::now);
        let mut put = |name: HeaderName, value: Option<String>| {
            let value = value.and_then(|value| HeaderValue::from_str(&value).ok());
            if let Some(value) = value {
                // Credentials that the webhook was registered with have precedence.
                headers.entry(name).or_insert(value);
            }
        };
        if let Some(keys) = keys {
            let token = keys.token(&body, &id, &url, now);
            put(AUTHORIZATION, token.map(|token| format!("Bearer {token}")));
            put(WEBHOOK_SIGNATURE, keys.signatures(&body, &id, now));
        }
        put(WEBHOOK_TIMESTAMP, Some(now.to_string()));
        put(WEBHOOK_ID, Some(id));
        Self {
            url,
            headers,
            content_type: HeaderValue::from_static(media_type),
            body: body.into(),
        }
    }
}

/// The authorities that certificates are checked by could not be read.
#[derive(Debug, thiserror::Error)]
#[error("there are no certificate authorities to check receivers by")]
pub(crate) struct NoAuthorities(#[source] pub(super) TlsConfigError);

impl WebhookSender {
    /// Makes a sender to all that the policy permits, through the sockets of this machine.
    pub(crate) fn new(policy: WebhookPolicy) -> Result<Self, NoAuthorities> {
        Self::through(policy, Arc::new(SystemNetwork), Arc::new(SystemNetwork))
    }

    /// Makes a sender through another network.
    pub(super) fn through(
        policy: WebhookPolicy,
        names: Arc<dyn Resolve>,
        network: Arc<dyn Network>,
    ) -> Result<Self, NoAuthorities> {
        let connector = Connector::new(&policy, names, network).map_err(NoAuthorities)?;
        Ok(Self {
            policy,
            connector,
            slots: RequestSlots::new(SLOT_LIMITS),
        })
    }

    /// Makes one attempt, which takes at most [`MAX_SLOT_WAIT`] and [`MAX_ATTEMPT_TIME`] together: deliveries to many
    /// hosts must run at once, not in turn.
    pub(crate) async fn attempt(&self, delivery: DeliveryRequest) -> DeliveryOutcome {
        let failed = |reason| DeliveryOutcome::Later {
            after: None,
            reason,
        };
        self.deliver(delivery).await.unwrap_or_else(failed)
    }

    async fn deliver(&self, delivery: DeliveryRequest) -> Result<DeliveryOutcome, Reason> {
        let target = self.policy.check(&delivery.url)?;
        let slot = timeout(MAX_SLOT_WAIT, self.slots.take(&target.host)).await;
        let slot = slot.ok().flatten().ok_or(Reason::Busy)?;
        let deadline = Instant::now() + MAX_ATTEMPT_TIME;

        let mut request = post(delivery.body);
        *request.headers_mut() = delivery.headers;
        request
            .headers_mut()
            .insert(CONTENT_TYPE, delivery.content_type);
        let answer = timeout_at(deadline, self.connector.ask(&target, request)).await;
        let answer = answer.unwrap_or(Err(Reason::Timeout));
        slot.answered(!matches!(answer, Err(Reason::Timeout)));
        let mut answer = answer?;

        let response = &answer.response;
        let outcome = judge(response.status(), response.headers(), SystemTime::now());
        // The head of the answer counts, however the body goes on.
        let _ = timeout_at(
            deadline.min(Instant::now() + MAX_BODY_WAIT),
            answer.drain(MAX_BODY),
        )
        .await;
        Ok(outcome)
    }
}

/// Returns the outcome that an answer means.
fn judge(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> DeliveryOutcome {
    match status {
        status if status.is_success() => DeliveryOutcome::Delivered,
        StatusCode::GONE => DeliveryOutcome::Gone,
        status => DeliveryOutcome::Later {
            after: retry_after(headers, now).map(|after| after.min(MAX_RETRY_AFTER)),
            reason: Reason::Status(status.as_u16()),
        },
    }
}

/// Time that one attempt may take once it has begun.
pub(super) const MAX_ATTEMPT_TIME: Duration = Duration::from_secs(15);

/// Time that one attempt waits for others.
pub(super) const MAX_SLOT_WAIT: Duration = Duration::from_secs(15);

/// Time that a receiver may take to finish its answer after the head.
const MAX_BODY_WAIT: Duration = Duration::from_secs(2);

/// Bytes of the answer's body that are read.
const MAX_BODY: usize = 64 << 10;

/// Maximum numbers of requests at once.
const SLOT_LIMITS: SlotLimits = SlotLimits {
    all: 256,
    doubtful: 64,
    per_host: 4,
    line: 16,
};

/// The longest `Retry-After` that is obeyed.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests;
