//! The store of a server, and the time that its methods take.

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::metric;
use a2a_types::{
    ConfigId, Message, MessageId, ProtocolVersion, TaskId, TaskPushNotificationConfig,
};
use tokio::sync::watch;
use tokio::time::Instant;

use super::{
    Append, Appended, IdempotencyKey, IdempotencyRecord, ListQuery, LogPage, NewTask, Orphan,
    Owner, Page, Retention, SharedStore, Snapshot, Store, StoreError, StoreFuture,
};
#[cfg(feature = "webhooks")]
use super::{DeliveryResult, Notification};

/// A [`Store`] whose methods record their duration as a metric.
#[derive(Clone)]
pub(crate) struct TimedStore {
    store: Arc<dyn Store>,
    /// `false` for the default store in memory.
    is_timed: bool,
}

impl TimedStore {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let is_timed = true;
        Self { store, is_timed }
    }

    /// A store that records nothing.
    pub(crate) fn untimed(store: Arc<dyn Store>) -> Self {
        let is_timed = false;
        Self { store, is_timed }
    }

    pub(crate) fn shared(&self) -> Option<&dyn SharedStore> {
        self.store.shared()
    }

    async fn timed<'a, T>(
        &'a self,
        method: &'static str,
        answer: StoreFuture<'a, T>,
    ) -> Result<T, StoreError> {
        if !self.is_timed {
            return answer.await;
        }
        let begun = Instant::now();
        let answer = answer.await;
        let took = begun.elapsed().as_secs_f64();
        metric::STORE_SECONDS.record([method, outcome(&answer)], took);
        answer
    }
}

/// Methods of [`Store`].
macro_rules! timed {
    ($($method:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl TimedStore {
            $(pub(crate) fn $method<'a>(
                &'a self,
                $($name: $type),*
            ) -> impl Future<Output = Result<$answer, StoreError>> + Send + 'a {
                self.timed(stringify!($method), self.store.$method($($name),*))
            })*
        }
    };
}

timed! {
    create(owner: &'a Owner, new: NewTask) -> ();
    append(owner: &'a Owner, task: &'a TaskId, append: Append) -> Appended;
    snapshot(owner: &'a Owner, task: &'a TaskId) -> Option<Snapshot>;
    events_after(owner: &'a Owner, task: &'a TaskId, sequence: u64) -> LogPage;
    watch(owner: &'a Owner, task: &'a TaskId) -> watch::Receiver<u64>;
    list(owner: &'a Owner, listing: ListQuery) -> Page;
    received(owner: &'a Owner, message: &'a MessageId) -> Option<IdempotencyRecord>;
    store_response(owner: &'a Owner, receipt: IdempotencyKey, answer: Message) -> ();
    renew(holder: &'a str, term: Duration) -> ();
    orphans(limit: usize) -> Vec<Orphan>;
    sweep(retention: Retention) -> usize;
    delete_config(owner: &'a Owner, task: &'a TaskId, config: &'a ConfigId) -> ();
    put_config(owner: &'a Owner, config: TaskPushNotificationConfig, protocol_version: ProtocolVersion) -> ();
    configs(owner: &'a Owner, task: &'a TaskId) -> Vec<TaskPushNotificationConfig>;
}

#[cfg(feature = "webhooks")]
timed! {
    notifications(limit: usize, term: Duration) -> Vec<Notification>;
    dead_letters(limit: usize) -> Vec<Notification>;
    undelivered() -> usize;
    record_delivery(notification: &'a Notification, settlement: DeliveryResult) -> ();
}

fn outcome<T>(answer: &Result<T, StoreError>) -> &'static str {
    match answer {
        Ok(_) => "ok",
        Err(StoreError::Failed(_) | StoreError::Full | StoreError::Unavailable(_)) => "failed",
        Err(_) => "refused",
    }
}
