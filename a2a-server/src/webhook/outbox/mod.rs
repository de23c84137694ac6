//! The outbox: the notifications of a store on their way to webhooks, with retries and backoff.

use std::sync::{Arc, Weak};
use std::time::Duration;

use a2a_transport::binding::write_notification;
use a2a_transport::{BoxFuture, metric};
use a2a_types::steps::{hide_steps, is_step};
use a2a_types::{Event, ProtocolVersion, TaskState};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use uuid::Uuid;

use super::attempt::Attempt;
use super::keys::WebhookKeys;
use super::outcome::{DeliveryOutcome, Reason};
use super::sender::{DeliveryRequest, WebhookSender};
use crate::store::{DeliveryResult, LogPage, Notification, StoreError, TimedStore};

/// Worker that takes notifications out of the store, and has them delivered: each at least once, and in order
/// for each webhook.
///
/// A notification is in the store from the moment on in which its event is. One that a process has taken is
/// due again for every process if the first has not settled it in time.
pub(crate) struct Outbox {
    store: TimedStore,
    sender: Arc<dyn Delivery>,
    keys: Option<WebhookKeys>,
    /// Delays before further attempts.
    pauses: Arc<[Duration]>,
    /// Signal that a notification may have been added.
    filled: Arc<Notify>,
    closed: CancellationToken,
}

impl Outbox {
    pub(crate) fn new(
        store: TimedStore,
        sender: Arc<dyn Delivery>,
        keys: Option<WebhookKeys>,
        pauses: Arc<[Duration]>,
        filled: Arc<Notify>,
        closed: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            sender,
            keys,
            pauses,
            filled,
            closed,
        })
    }

    /// Delivers until the server closes, or is dropped.
    pub(crate) async fn run(self: Arc<Self>, server: Weak<impl Send + Sync>) {
        let mut deliveries = JoinSet::new();
        let mut counted: Option<Instant> = None;
        while server.strong_count() > 0 && !self.closed.is_cancelled() {
            let room = MAX_AT_ONCE - deliveries.len();
            let taken = match room {
                0 => Ok(Vec::new()),
                _ => self.store.notifications(room, TERM).await,
            };
            let taken = taken.unwrap_or_else(|error| {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "could not take notifications");
                Vec::new()
            });
            for notification in taken {
                let outbox = Arc::clone(&self);
                deliveries.spawn(async move { outbox.deliver(notification).await });
            }
            tokio::select! {
                // The next one of that webhook may go.
                Some(_) = deliveries.join_next(), if !deliveries.is_empty() => {}
                () = self.filled.notified(), if deliveries.len() < MAX_AT_ONCE => {}
                // Notifications that were put off, and notifications that other processes have left.
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                () = self.closed.cancelled() => {}
            }
            while deliveries.try_join_next().is_some() {}
            if counted.is_none_or(|last| last.elapsed() >= POLL_INTERVAL) {
                self.count().await;
                counted = Some(Instant::now());
            }
        }
    }

    /// Records how many notifications wait.
    async fn count(&self) {
        match self.store.undelivered().await {
            Ok(depth) => metric::OUTBOX_DEPTH.set([], depth),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "could not count the notifications that wait");
            }
        }
    }

    async fn deliver(&self, notification: Notification) {
        let begun = Instant::now();
        let settlement = match self.pack(&notification).await {
            Ok(Some(delivery)) => match self.attempt(&notification, delivery).await {
                DeliveryOutcome::Delivered => counted("delivered", DeliveryResult::Delivered),
                DeliveryOutcome::Gone => {
                    metric::DELIVERIES.count(["gone"]);
                    if self.forget(&notification).await {
                        return;
                    }
                    DeliveryResult::Deferred(Duration::ZERO)
                }
                DeliveryOutcome::Later { after, reason } => {
                    self.put_off(&notification, after, reason)
                }
            },
            // No notification in this protocol version.
            Ok(None) => DeliveryResult::Delivered,
            Err(StoreError::NoTask) => return,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "could not read the event of a notification");
                DeliveryResult::Retry(POLL_INTERVAL)
            }
        };
        if let Err(error) = self.store.record_delivery(&notification, settlement).await {
            let error = &error as &dyn std::error::Error;
            let task = &notification.config.task_id;
            tracing::warn!(%task, error, "could not note what became of a notification");
        }
        let (task, took) = (&notification.config.task_id, begun.elapsed());
        tracing::debug!(%task, sequence = notification.sequence, ?settlement, ?took, "a notification");
    }

    /// One attempt to deliver, as part of the trace that the event belongs to.
    async fn attempt(
        &self,
        notification: &Notification,
        mut delivery: DeliveryRequest,
    ) -> DeliveryOutcome {
        let attempt = Attempt::of(notification);
        if let Some(trace) = attempt.join(notification.trace.clone()) {
            trace.write(&mut delivery.headers);
        }
        let carried = self.sender.send(delivery);
        let outcome = carried.instrument(attempt.span()).await;
        attempt.end(outcome)
    }

    fn put_off(
        &self,
        notification: &Notification,
        after: Option<Duration>,
        reason: Reason,
    ) -> DeliveryResult {
        let task = &notification.config.task_id;
        if reason == Reason::Busy {
            tracing::debug!(%task, "a webhook's host is busy");
            return counted("untried", DeliveryResult::Deferred(with_jitter(BUSY)));
        }
        let attempt = usize::try_from(notification.attempt).unwrap_or(usize::MAX);
        match self.pauses.get(attempt) {
            Some(pause) => {
                // A receiver may ask for more time, and not use up its attempts at once.
                let pause = with_jitter(*pause).max(after.unwrap_or_default());
                tracing::debug!(%task, attempt, %reason, ?pause, "a notification is retried later");
                counted("later", DeliveryResult::Retry(pause))
            }
            None => {
                tracing::warn!(%task, attempt, %reason, "a notification was given up");
                counted("given_up", DeliveryResult::DeadLetter)
            }
        }
    }

    /// Deletes a webhook whose receiver is gone. `false` if it has changed meanwhile: then it is tried
    /// again.
    async fn forget(&self, notification: &Notification) -> bool {
        let Notification { owner, config, .. } = notification;
        let (task, id) = (&config.task_id, &config.id);
        let forgotten = match self.store.configs(owner, task).await {
            Ok(configs) if configs.iter().any(|it| it.id == *id && it != config) => return false,
            Ok(_) => self.store.delete_config(owner, task, id).await,
            Err(error) => Err(error),
        };
        tracing::info!(%task, "a webhook is gone");
        if let Err(error) = forgotten {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(%task, error, "could not forget a webhook");
        }
        true
    }

    /// Returns the webhook's request in its protocol version, or `None` if that has none for this event.
    async fn pack(
        &self,
        notification: &Notification,
    ) -> Result<Option<DeliveryRequest>, StoreError> {
        let Some(event) = self.event(notification).await? else {
            return Ok(None);
        };
        if is_step(&event) {
            return Ok(None);
        }
        let mut event = match notification.protocol_version {
            ProtocolVersion::V1_0 => event,
            _ => match self.whole(notification, event).await? {
                Some(task) => task,
                None => return Ok(None),
            },
        };
        if let Event::Task(task) = &mut event {
            hide_steps(task);
        }
        let Some(body) = write_notification(event, notification.protocol_version) else {
            return Ok(None);
        };
        let id = delivery_id(notification);
        let config = &notification.config;
        Ok(Some(DeliveryRequest::new(
            config,
            self.keys.as_ref(),
            id,
            body,
        )))
    }

    async fn event(&self, notification: &Notification) -> Result<Option<Event>, StoreError> {
        let Notification {
            owner,
            config,
            sequence,
            ..
        } = notification;
        let before = sequence.saturating_sub(1);
        let later = self
            .store
            .events_after(owner, &config.task_id, before)
            .await?;
        Ok(match later {
            LogPage::Events(events) => events
                .into_iter()
                .find(|logged| logged.sequence == *sequence)
                .map(|logged| logged.event.into_event()),
            LogPage::Unknown => None,
        })
    }

    /// The task as it stands, with the status that it had then: later events come with the next
    /// notification again. Of artifacts only whole ones are worth a notification.
    async fn whole(
        &self,
        notification: &Notification,
        event: Event,
    ) -> Result<Option<Event>, StoreError> {
        let is_notified = match &event {
            Event::ArtifactUpdate(update) => update.last_chunk || !update.append,
            Event::StatusUpdate(_) | Event::Task(_) => true,
            Event::Message(_) => false,
        };
        if !is_notified {
            return Ok(None);
        }
        let task = &notification.config.task_id;
        let snapshot = self.store.snapshot(&notification.owner, task).await?;
        let mut task = Arc::unwrap_or_clone(snapshot.ok_or(StoreError::NoTask)?.task);
        match event.status() {
            Some(status) => task.status = status.clone(),
            // It was still working then; the next notification has its end.
            None if task.status.state.is_settled() => task.status = TaskState::Working.into(),
            None => {}
        }
        Ok(Some(Event::Task(task)))
    }
}

/// Counts an attempt with this outcome, and returns its settlement.
fn counted(outcome: &'static str, settlement: DeliveryResult) -> DeliveryResult {
    metric::DELIVERIES.count([outcome]);
    settlement
}

/// Delivers a request to a webhook, once.
pub(crate) trait Delivery: Send + Sync + 'static {
    fn send(&self, delivery: DeliveryRequest) -> BoxFuture<'_, DeliveryOutcome>;
}

impl Delivery for WebhookSender {
    fn send(&self, delivery: DeliveryRequest) -> BoxFuture<'_, DeliveryOutcome> {
        Box::pin(self.attempt(delivery))
    }
}

/// Maximum number of deliveries at once.
const MAX_AT_ONCE: usize = 1024;
/// Time for which a notification is ours; an attempt takes less.
const TERM: Duration = Duration::from_secs(60);
/// Interval at which notifications that were put off are looked for.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The pauses between attempts unless a server has its own: eight attempts in about 28 hours.
pub(crate) const PAUSES: [Duration; 7] = [
    Duration::from_secs(5),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(2 * 3600),
    Duration::from_secs(5 * 3600),
    Duration::from_secs(10 * 3600),
    Duration::from_secs(10 * 3600),
];

/// Delay before an attempt after a host had too many requests.
const BUSY: Duration = Duration::from_secs(5);

/// Varies a delay by up to a fifth, so that attempts after an outage spread.
fn with_jitter(pause: Duration) -> Duration {
    let chance = f64::from(Uuid::new_v4().as_bytes()[0]) / 255.0;
    pause.mul_f64(0.8 + 0.4 * chance)
}

/// Names a notification: the same at every attempt, so that its receiver recognises it.
fn delivery_id(notification: &Notification) -> String {
    let Notification {
        owner,
        config,
        sequence,
        ..
    } = notification;
    let of = (owner.principal.as_deref(), owner.tenant.as_deref());
    let place = serde_json::json!([of, config.task_id, config.id, sequence]);
    let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, place.to_string().as_bytes());
    format!("msg_{}", id.simple())
}

#[cfg(test)]
mod tests;
