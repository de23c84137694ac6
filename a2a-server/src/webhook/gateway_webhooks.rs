//! Webhooks of the callers of a gateway.

use a2a_transport::http::TlsConfigError;
use a2a_transport::webhook::{NotificationBody, NotificationOutcome, NotificationSender};
use a2a_transport::{BoxFuture, TraceContext};
use a2a_types::TaskPushNotificationConfig;

use super::headers::headers_for;
use super::keys::WebhookKeys;
use super::outcome::DeliveryOutcome;
use super::refusal::Refusal;
use super::sender::{DeliveryRequest, WebhookSender};
use super::url_policy::WebhookPolicy;

/// Sender of the notifications that the gateway of `a2a-gateway` relays: one attempt for each, to the
/// URLs that a policy permits, with the token and credentials of the webhook.
pub struct GatewayWebhooks {
    sender: WebhookSender,
    keys: Option<WebhookKeys>,
}

impl GatewayWebhooks {
    /// Creates a sender to the URLs that this policy permits.
    ///
    /// Errors: there are no certificate authorities to check receivers by.
    pub fn new(policy: WebhookPolicy) -> Result<Self, TlsConfigError> {
        let sender = WebhookSender::new(policy).map_err(|error| error.0)?;
        Ok(Self { sender, keys: None })
    }

    /// Signs notifications with these keys. The gateway publishes them by
    /// [`HttpService::keys`](a2a_transport::http::HttpService::keys).
    pub fn keys(mut self, keys: WebhookKeys) -> Self {
        self.keys = Some(keys);
        self
    }
}

impl NotificationSender for GatewayWebhooks {
    fn check(&self, config: &TaskPushNotificationConfig) -> Result<(), String> {
        let checked = self.sender.policy.check(&config.url).map(drop);
        let checked = checked.and_then(|()| headers_for(config).map(drop));
        checked.map_err(|refusal: Refusal| refusal.to_string())
    }

    fn send<'a>(
        &'a self,
        config: &'a TaskPushNotificationConfig,
        id: &'a str,
        body: NotificationBody,
        trace: Option<&'a TraceContext>,
    ) -> BoxFuture<'a, NotificationOutcome> {
        let keys = self.keys.as_ref();
        let mut request = DeliveryRequest::new(config, keys, id.to_owned(), body);
        if let Some(trace) = trace {
            trace.write(&mut request.headers);
        }
        Box::pin(async move {
            match self.sender.attempt(request).await {
                DeliveryOutcome::Delivered => NotificationOutcome::Delivered,
                DeliveryOutcome::Gone => NotificationOutcome::Gone,
                DeliveryOutcome::Later { reason, .. } => {
                    tracing::warn!(%reason, "a webhook was not reached");
                    NotificationOutcome::Failed
                }
            }
        })
    }
}
