//! Stores of tasks: each task is a log of events, and the fold of its log.
//!
//! A [`Store`] keeps logs: [`MemoryStore`] until the process ends, [`SqliteStore`] in a file. A store of
//! your own shows that it keeps its promises by passing [`suite`].

mod budget;
mod error;
pub mod limits;
mod memory;
mod owner;
mod read;
mod shared;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "suite")]
pub mod suite;
mod timed_store;
mod wake_hub;
mod write;

use std::time::Duration;

use a2a_transport::BoxFuture;
use a2a_types::{ConfigId, Dialect, Message, MessageId, TaskId, TaskPushNotificationConfig};
use tokio::sync::watch;

pub use budget::{TaskBudget, TaskShare};
pub use error::StoreError;
pub use memory::MemoryStore;
pub use owner::Owner;
pub(crate) use owner::TaskKey;
pub use read::{
    Listing, Logged, Notification, Orphan, Outcome, Page, Place, Received, Snapshot, Tail,
};
pub use shared::{MAX_MAIL, Mail, MailContent, SharedStore};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteReport, SqliteStore};
pub(crate) use timed_store::TimedStore;
pub use wake_hub::WakeHub;
pub use write::{Append, Appended, Lease, NewTask, Receipt, Retention, Settlement};

/// Keeps the logs of tasks.
///
/// Every method about one task takes its owner: a task of another owner is not found. A log is only ever
/// appended to; its length is the task's *sequence number*. A durable store has written an
/// effect before its method returns.
///
/// A server makes its additions to a log one after the other, and waits for the end of each even if its own
/// caller is gone. Other calls may be dropped at any time. A task holds at most 1,000 messages of its caller, 64 MiB
/// of events, 1 MiB more of those that end it, and 16 webhooks of 64 KiB.
pub trait Store: Send + Sync + 'static {
    /// Begins the log of a new task with the task itself, sequence number 1, and what has happened to it
    /// since, and leases it: epoch 1. All of that or nothing.
    ///
    /// Errors: [`StoreError::TaskExists`], [`StoreError::Received`], [`StoreError::Full`],
    /// [`StoreError::ConfigTooLong`], [`StoreError::Illegal`].
    fn create<'a>(
        &'a self,
        owner: &'a Owner,
        new: NewTask,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Adds events to a log, all or none.
    ///
    /// Errors: [`StoreError::NoTask`]; [`StoreError::Behind`] if the log does not end at the sequence number
    /// that the writer knows; [`StoreError::Fenced`] and [`StoreError::Leased`] if another writer has the
    /// lease; [`StoreError::Illegal`] if an event cannot happen to the task as it stands;
    /// [`StoreError::Received`]; [`StoreError::TooManyMessages`], [`StoreError::TooManyArtifacts`],
    /// [`StoreError::TooLong`].
    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        append: Append,
    ) -> BoxFuture<'a, Result<Appended, StoreError>>;

    /// The task as it stands.
    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, StoreError>>;

    /// Returns the events after a sequence number, in order: all of them, or the first ones,
    /// never none if there are any.
    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        sequence: u64,
    ) -> BoxFuture<'a, Result<Tail, StoreError>>;

    /// Returns the log's last sequence number.
    ///
    /// Errors: [`StoreError::NoTask`].
    fn head<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<u64, StoreError>>;

    /// The hub that this store wakes: when it has stored an addition to a log, and when it has removed a task.
    fn wake_hub(&self) -> &WakeHub;

    /// Returns a watch of the log's last sequence number; closed when the task is gone. It is woken
    /// by the store's [`wake_hub`](Self::wake_hub).
    ///
    /// Errors: [`StoreError::NoTask`].
    fn watch<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<watch::Receiver<u64>, StoreError>> {
        Box::pin(async move {
            // First waited for, then looked at: nothing is missed in between.
            let changes = self.wake_hub().subscribe(owner, task);
            let head = self.head(owner, task).await?;
            self.wake_hub().wake(owner, task, head);
            Ok(changes)
        })
    }

    /// One page of the owner's tasks, those with the latest status first.
    fn list<'a>(
        &'a self,
        owner: &'a Owner,
        listing: Listing,
    ) -> BoxFuture<'a, Result<Page, StoreError>>;

    /// Keeps a webhook of a task, in place of one with the same id, and the protocol version in which it
    /// was asked for; one that came with a new task has that task's.
    ///
    /// Errors: [`StoreError::NoTask`], [`StoreError::TooManyConfigs`], [`StoreError::ConfigTooLong`],
    /// [`StoreError::Full`].
    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
        dialect: Dialect,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The webhooks of a task, in order of creation.
    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<Vec<TaskPushNotificationConfig>, StoreError>>;

    /// Forgets a webhook; one that is not there is forgotten already.
    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns the outcome of a message that the owner sent before, or `None` if it is not known any more.
    /// It may be known longer than its task is kept.
    fn received<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
    ) -> BoxFuture<'a, Result<Option<Received>, StoreError>>;

    /// Keeps an answer to a message that began no task.
    ///
    /// Errors: [`StoreError::Received`].
    fn keep_answer<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: Receipt,
        answer: Message,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Takes notifications that are due, at most so many, and hides them from other callers for `term`. Of
    /// each webhook only the first that is not delivered is ever due.
    fn notifications(
        &self,
        limit: usize,
        term: Duration,
    ) -> BoxFuture<'_, Result<Vec<Notification>, StoreError>>;

    /// Notifications that were given up, the first first, at most so many: they are kept with their task.
    fn dead_letters(&self, limit: usize) -> BoxFuture<'_, Result<Vec<Notification>, StoreError>>;

    /// Counts the notifications that are not delivered yet, without those that were given up.
    fn undelivered(&self) -> BoxFuture<'_, Result<usize, StoreError>>;

    /// Records the outcome of a notification. One that is gone is settled already. Somebody else may have taken it again
    /// meanwhile: then only [`Settlement::Delivered`] counts.
    fn settle<'a>(
        &'a self,
        notification: &'a Notification,
        settlement: Settlement,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Prolongs every lease that a holder has not given back or lost, and its reservations, for `term` from now
    /// by the store's clock.
    fn renew<'a>(
        &'a self,
        holder: &'a str,
        term: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Tasks that nobody works on: neither ended nor interrupted, with a lease that ran out; at most so
    /// many.
    fn orphans(&self, limit: usize) -> BoxFuture<'_, Result<Vec<Orphan>, StoreError>>;

    /// Forgets ended tasks that are too old or too many, the oldest first, and those that have waited
    /// too long for their caller and that nobody has a lease of, with all that belongs to them; yields how many.
    fn sweep(&self, retention: Retention) -> BoxFuture<'_, Result<usize, StoreError>>;

    /// Returns what several servers need to share this store, or `None` if only one may use it.
    fn shared(&self) -> Option<&dyn SharedStore> {
        None
    }
}
