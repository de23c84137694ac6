//! Timing of a store's methods.

use std::time::Duration;

use a2a_transport::metric;
use a2a_types::{ConfigId, Dialect, Message, MessageId, TaskId, TaskPushNotificationConfig};
use tokio::sync::watch;
use tokio::time::Instant;

use super::{
    Append, Appended, Listing, NewTask, Notification, Orphan, Owner, Page, Receipt, Received,
    Retention, Settlement, SharedStore, Snapshot, Store, StoreError, StoreFuture, Tail, WakeHub,
};

/// A store that records the duration of each method as a metric.
pub(crate) struct TimedStore<S>(pub(crate) S);

impl<S: Store> Store for TimedStore<S> {
    fn create<'a>(&'a self, owner: &'a Owner, new: NewTask) -> StoreFuture<'a, ()> {
        timed("create", self.0.create(owner, new))
    }

    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        append: Append,
    ) -> StoreFuture<'a, Appended> {
        timed("append", self.0.append(owner, task, append))
    }

    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Option<Snapshot>> {
        timed("snapshot", self.0.snapshot(owner, task))
    }

    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        sequence: u64,
    ) -> StoreFuture<'a, Tail> {
        timed("events_after", self.0.events_after(owner, task, sequence))
    }

    fn head<'a>(&'a self, owner: &'a Owner, task: &'a TaskId) -> StoreFuture<'a, u64> {
        timed("head", self.0.head(owner, task))
    }

    fn wake_hub(&self) -> &WakeHub {
        self.0.wake_hub()
    }

    fn watch<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, watch::Receiver<u64>> {
        timed("watch", self.0.watch(owner, task))
    }

    fn list<'a>(&'a self, owner: &'a Owner, listing: Listing) -> StoreFuture<'a, Page> {
        timed("list", self.0.list(owner, listing))
    }

    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
        dialect: Dialect,
    ) -> StoreFuture<'a, ()> {
        timed("put_config", self.0.put_config(owner, config, dialect))
    }

    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Vec<TaskPushNotificationConfig>> {
        timed("configs", self.0.configs(owner, task))
    }

    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> StoreFuture<'a, ()> {
        timed("delete_config", self.0.delete_config(owner, task, config))
    }

    fn received<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
    ) -> StoreFuture<'a, Option<Received>> {
        timed("received", self.0.received(owner, message))
    }

    fn keep_answer<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: Receipt,
        answer: Message,
    ) -> StoreFuture<'a, ()> {
        timed("keep_answer", self.0.keep_answer(owner, receipt, answer))
    }

    fn notifications(&self, limit: usize, term: Duration) -> StoreFuture<'_, Vec<Notification>> {
        timed("notifications", self.0.notifications(limit, term))
    }

    fn dead_letters(&self, limit: usize) -> StoreFuture<'_, Vec<Notification>> {
        timed("dead_letters", self.0.dead_letters(limit))
    }

    fn undelivered(&self) -> StoreFuture<'_, usize> {
        timed("undelivered", self.0.undelivered())
    }

    fn settle<'a>(
        &'a self,
        notification: &'a Notification,
        settlement: Settlement,
    ) -> StoreFuture<'a, ()> {
        timed("settle", self.0.settle(notification, settlement))
    }

    fn renew<'a>(&'a self, holder: &'a str, term: Duration) -> StoreFuture<'a, ()> {
        timed("renew", self.0.renew(holder, term))
    }

    fn orphans(&self, limit: usize) -> StoreFuture<'_, Vec<Orphan>> {
        timed("orphans", self.0.orphans(limit))
    }

    fn sweep(&self, retention: Retention) -> StoreFuture<'_, usize> {
        timed("sweep", self.0.sweep(retention))
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        self.0.shared()
    }
}

fn timed<'a, T: Send + 'a>(method: &'static str, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
    Box::pin(async move {
        let begun = Instant::now();
        let answer = answer.await;
        let took = begun.elapsed().as_secs_f64();
        metric::STORE_SECONDS.record([method, outcome(&answer)], took);
        answer
    })
}

fn outcome<T>(answer: &Result<T, StoreError>) -> &'static str {
    match answer {
        Ok(_) => "ok",
        Err(StoreError::Failed(_) | StoreError::Full | StoreError::Unavailable(_)) => "failed",
        Err(_) => "refused",
    }
}
