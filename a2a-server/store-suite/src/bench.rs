//! Test bench: a fresh store, and operations that many cases need.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2a_server::{NewTask, Notification, Orphan, Owner, Store, StoreError};
use a2a_types::{Message, MessageId, ProtocolVersion};
use tokio::time::MissedTickBehavior;

use crate::observation::{Checked, Observation};
use crate::sample;
use crate::writer::Writer;

/// A fresh store, with operations that many cases need.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) store: Arc<dyn Store>,
}

impl Bench {
    /// Creates a task; returns its writer.
    pub(crate) async fn create(&self, owner: &Owner, new: NewTask) -> Result<Writer, StoreError> {
        let task = new.task.id.clone();
        self.store.create(owner, new).await?;
        Ok(Writer {
            store: Arc::clone(&self.store),
            owner: owner.clone(),
            task,
            sequence: 1,
            epoch: 1,
        })
    }

    /// Ada's new task.
    pub(crate) async fn begin(&self, id: &str) -> Checked<Writer> {
        Ok(self.create(&sample::ada(), sample::new(id)).await?)
    }

    /// Ada's new task with a webhook.
    pub(crate) async fn watched(&self, id: &str) -> Checked<Writer> {
        let writer = self.begin(id).await?;
        let config = sample::config(&writer.task, "c");
        let put = self
            .store
            .put_config(&writer.owner, config, ProtocolVersion::V1_0);
        put.await?;
        Ok(writer)
    }

    pub(crate) async fn orphans(&self) -> Checked<BTreeSet<(Owner, String)>> {
        let orphans = self.store.orphans(1000).await?;
        let name = |orphan: Orphan| (orphan.owner, orphan.task.into());
        Ok(orphans.into_iter().map(name).collect())
    }

    /// Takes the notifications that are due now, and hides them for long.
    pub(crate) async fn due(&self) -> Checked<Vec<Notification>> {
        Ok(self.store.notifications(1000, sample::LONG).await?)
    }

    /// Forgets every task that has ended.
    pub(crate) async fn sweep_all(&self) -> Checked<usize> {
        let retention = sample::retention(sample::LONG, 0, sample::LONG);
        Ok(self.store.sweep(retention).await?)
    }

    /// Waits until the store's clock has gone on by some milliseconds.
    pub(crate) async fn tick(&self) -> Checked {
        let clock = sample::owner("clock");
        let message = MessageId::random();
        let receipt = sample::receipt_for(message.as_str(), Duration::from_millis(5));
        let answer = Message::agent("tick");
        self.store.store_response(&clock, receipt, answer).await?;
        eventually("a receipt runs out", || async {
            let received = self.store.received(&clock, &message).await?;
            Ok(received.is_none().then_some(()))
        })
        .await
    }
}

/// Polls until there is a value.
#[track_caller]
pub(crate) fn eventually<T, F>(
    what: &str,
    mut look: impl FnMut() -> F,
) -> impl Future<Output = Checked<T>>
where
    F: Future<Output = Checked<Option<T>>>,
{
    let too_late = Observation::new(format!("{what}: not within {PATIENCE:?}"));
    async move {
        let begun = Instant::now();
        let mut beat = tokio::time::interval(Duration::from_millis(2));
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            // A look that takes long is not the last one.
            let is_last = begun.elapsed() > PATIENCE;
            if let Some(seen) = look().await? {
                return Ok(seen);
            }
            if is_last {
                return Err(too_late);
            }
        }
    }
}

/// Waits for what should happen soon.
#[track_caller]
pub(crate) fn soon<T>(
    what: &str,
    happens: impl Future<Output = T>,
) -> impl Future<Output = Checked<T>> {
    let too_late = Observation::new(format!("{what}: not within {PATIENCE:?}"));
    async move {
        let timely = tokio::time::timeout(PATIENCE, happens).await;
        timely.map_err(|_| too_late)
    }
}

/// Time that a store may take to notice something.
const PATIENCE: Duration = Duration::from_secs(3);
