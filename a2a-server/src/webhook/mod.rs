//! Notifications of webhooks: taken from the outbox, and delivered to permitted receivers.
//!
//! ```text
//! Store ── notifications ──► Outbox ── in its webhook's version ───► WebhookSender
//!                              ▲                                          │ guard: may it be called?
//!                              │ delivered, later, gone                   │ dial: resolved once
//!                              └───────────────── Outcome ◄───────────────┘ one attempt, 15 s
//! ```

mod address_ranges;
mod attempt;
mod challenge;
mod concurrency;
mod connector;
mod exchange;
#[cfg(test)]
mod fixture;
mod gateway_webhooks;
mod headers;
mod keys;
mod outbox;
mod outcome;
mod refusal;
mod sender;
mod url_policy;

pub use self::gateway_webhooks::GatewayWebhooks;
pub use self::keys::WebhookKeys;
pub(crate) use self::outbox::PAUSES;
pub use self::refusal::Refusal;
pub use self::url_policy::WebhookPolicy;

use std::sync::{Arc, Weak};
use std::time::Duration;

use a2a_types::{ProtocolVersion, TaskPushNotificationConfig};
use tokio_util::sync::CancellationToken;

use self::headers::headers_for;
use self::outbox::Outbox;
use self::sender::{NoAuthorities, WebhookSender};
use crate::engine::store_handle::StoreHandle;

/// Rule by which a webhook has to repeat a random text before it is registered, as 0.1 would have it: only
/// its owner can have it do so.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Challenge {
    /// Never, because many receivers do not support it.
    #[default]
    Never,
    /// If it is registered in 0.1.
    OfOldCallers,
    /// Always.
    Always,
}

/// Delivery of notifications to webhooks.
pub(crate) struct Webhooks {
    policy: WebhookPolicy,
    challenge: Challenge,
    sender: Arc<WebhookSender>,
    keys: Option<WebhookKeys>,
    pauses: Arc<[Duration]>,
}

impl Webhooks {
    pub(crate) fn new(
        policy: WebhookPolicy,
        challenge: Challenge,
        keys: Option<WebhookKeys>,
        pauses: Arc<[Duration]>,
    ) -> Result<Self, NoAuthorities> {
        let sender = WebhookSender::new(policy.clone())?;
        Ok(Self {
            policy,
            challenge,
            sender: Arc::new(sender),
            keys,
            pauses,
        })
    }

    /// Checks whether a webhook may be registered.
    pub(crate) async fn check(
        &self,
        config: &TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> Result<(), Refusal> {
        self.policy.check(&config.url)?;
        headers_for(config)?;
        match (self.challenge, protocol_version) {
            (Challenge::Always, _) | (Challenge::OfOldCallers, ProtocolVersion::V0_1) => {
                self.sender.challenge(&config.url).await
            }
            (Challenge::Never | Challenge::OfOldCallers, _) => Ok(()),
        }
    }

    /// The keys by which notifications are signed.
    pub(crate) fn keys(&self) -> Option<WebhookKeys> {
        self.keys.clone()
    }

    /// Delivers the store's notifications until the server is closed or dropped.
    pub(crate) fn begin(
        &self,
        store_handle: &StoreHandle,
        closed: CancellationToken,
        engine: Weak<impl Send + Sync + 'static>,
    ) {
        let outbox = Outbox::new(
            store_handle.store.clone(),
            Arc::clone(&self.sender) as Arc<_>,
            self.keys.clone(),
            Arc::clone(&self.pauses),
            Arc::clone(&store_handle.filled),
            closed,
        );
        tokio::spawn(outbox.run(engine));
    }
}
