//! Stores of tasks: each task is a log of events, and the fold of its log.
//!
//! A [`Store`] keeps logs: [`MemoryStore`] until the process ends, [`SqliteStore`] in a file. A store of
//! your own shows that it keeps its promises by passing the cases of the crate `agent2agent-store-suite`.

mod budget;
#[cfg(feature = "webhooks")]
mod encrypted_store;
#[cfg(feature = "webhooks")]
mod encryption_keys;
mod error;
pub mod fold;
pub mod limits;
pub mod log_rows;
mod memory;
mod owner;
mod read;
mod shared;
#[cfg(feature = "sqlite")]
mod sqlite;
mod task_notifier;
mod timed_store;
mod write;

use std::time::Duration;

use a2a_types::{
    ConfigId, Message, MessageId, ProtocolVersion, TaskId, TaskPushNotificationConfig,
};
use tokio::sync::watch;

pub use budget::{TaskBudget, TaskShare};
#[cfg(feature = "webhooks")]
pub use encrypted_store::EncryptedStore;
#[cfg(feature = "webhooks")]
pub use encryption_keys::{EncryptionKeyError, EncryptionKeys};
pub use error::{StoreError, StoreFuture};
pub use memory::MemoryStore;
pub use owner::Owner;
pub(crate) use owner::{NameMap, TaskKey};
pub use read::{
    IdempotencyRecord, ListCursor, ListQuery, LogEntry, LogPage, Notification, Orphan, Outcome,
    Page, Snapshot,
};
pub use shared::{CommandContent, MAX_COMMANDS, SharedStore, TaskCommand};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteReport, SqliteStore};
pub use task_notifier::TaskNotifier;
pub(crate) use timed_store::TimedStore;
pub use write::{Append, Appended, DeliveryResult, IdempotencyKey, Lease, NewTask, Retention};

/// Keeps the logs of tasks.
///
/// Every method about one task takes its owner: a task of another owner is not found. A log is only ever
/// appended to; its length is the task's *sequence number*. A durable store has written an
/// effect before its method returns.
///
/// A server makes its additions to a log one after the other, and waits for the end of each even if its own
/// caller is gone. Other calls may be dropped at any time. A task holds at most 1,000 messages of its caller, 64 MiB
/// of events, 1 MiB more of events that end it, and 16 webhooks of 64 KiB.
pub trait Store: Send + Sync + 'static {
    /// Begins the log of a new task with the task itself, sequence number 1, and what has happened to it
    /// since, and leases it: epoch 1. All of that or nothing.
    ///
    /// Errors: [`StoreError::TaskExists`], [`StoreError::DuplicateMessage`], [`StoreError::Full`],
    /// [`StoreError::ConfigTooLong`], [`StoreError::InvalidTransition`].
    fn create<'a>(&'a self, owner: &'a Owner, new: NewTask) -> StoreFuture<'a, ()>;

    /// Adds events to a log, all or none.
    ///
    /// Errors: [`StoreError::NoTask`]; [`StoreError::SequenceConflict`] if the log does not end at the sequence number
    /// that the writer knows; [`StoreError::Fenced`] and [`StoreError::Leased`] if another writer has the
    /// lease; [`StoreError::InvalidTransition`] if an event cannot happen to the task as it stands;
    /// [`StoreError::DuplicateMessage`]; [`StoreError::TooManyMessages`], [`StoreError::TooManyArtifacts`],
    /// [`StoreError::TooLong`].
    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        append: Append,
    ) -> StoreFuture<'a, Appended>;

    /// The task as it stands.
    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Option<Snapshot>>;

    /// Returns the events after a sequence number, in order: all of them, or the first ones,
    /// never none if there are any.
    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        sequence: u64,
    ) -> StoreFuture<'a, LogPage>;

    /// Returns the log's last sequence number.
    ///
    /// Errors: [`StoreError::NoTask`].
    fn head<'a>(&'a self, owner: &'a Owner, task: &'a TaskId) -> StoreFuture<'a, u64>;

    /// The hub that this store wakes: when it has stored an addition to a log, and when it has removed a task.
    fn task_notifier(&self) -> &TaskNotifier;

    /// Returns a watch of the log's last sequence number; closed when the task is gone. It is woken
    /// by the store's [`task_notifier`](Self::task_notifier).
    ///
    /// Errors: [`StoreError::NoTask`].
    fn watch<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, watch::Receiver<u64>> {
        Box::pin(async move {
            // First waited for, then looked at: nothing is missed in between.
            let changes = self.task_notifier().subscribe(owner, task);
            let head = self.head(owner, task).await?;
            self.task_notifier().wake(owner, task, head);
            Ok(changes)
        })
    }

    /// One page of the owner's tasks, those with the latest status first.
    fn list<'a>(&'a self, owner: &'a Owner, listing: ListQuery) -> StoreFuture<'a, Page>;

    /// Keeps a webhook of a task, in place of one with the same id, and the protocol version in which it
    /// was asked for; one that came with a new task has that task's.
    ///
    /// Errors: [`StoreError::NoTask`], [`StoreError::TooManyConfigs`], [`StoreError::ConfigTooLong`],
    /// [`StoreError::Full`].
    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> StoreFuture<'a, ()>;

    /// The webhooks of a task, in order of creation.
    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Vec<TaskPushNotificationConfig>>;

    /// Deletes a webhook; succeeds if there is none.
    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> StoreFuture<'a, ()>;

    /// Returns the outcome of a message that the owner sent before, or `None` if it is not known any more.
    /// It may be known longer than its task is kept.
    fn received<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
    ) -> StoreFuture<'a, Option<IdempotencyRecord>>;

    /// Keeps an answer to a message that began no task.
    ///
    /// Errors: [`StoreError::DuplicateMessage`].
    fn store_response<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: IdempotencyKey,
        answer: Message,
    ) -> StoreFuture<'a, ()>;

    /// Takes at most `limit` notifications that are due, and hides them from other callers for `term`. Only the
    /// first undelivered notification of a webhook is ever due.
    fn notifications(&self, limit: usize, term: Duration) -> StoreFuture<'_, Vec<Notification>>;

    /// Returns at most `limit` notifications that were given up, in that order: they are kept with their task.
    fn dead_letters(&self, limit: usize) -> StoreFuture<'_, Vec<Notification>>;

    /// Counts the notifications that are neither delivered nor given up.
    fn undelivered(&self) -> StoreFuture<'_, usize>;

    /// Records the outcome of a notification. Succeeds if the notification does not exist any more. Another caller
    /// may have taken it again meanwhile: then only [`DeliveryResult::Delivered`] counts.
    fn record_delivery<'a>(
        &'a self,
        notification: &'a Notification,
        settlement: DeliveryResult,
    ) -> StoreFuture<'a, ()>;

    /// Prolongs every lease that a holder has not given back or lost, and its reservations, for `term` from now
    /// by the store's clock.
    fn renew<'a>(&'a self, holder: &'a str, term: Duration) -> StoreFuture<'a, ()>;

    /// Tasks that an agent has to work on, by [`limits::is_active`], and that no server has a lease of; at most `limit`.
    fn orphans(&self, limit: usize) -> StoreFuture<'_, Vec<Orphan>>;

    /// Removes ended tasks that are too old or too many, the oldest first, and tasks that have waited too long for
    /// their caller and that no server has a lease of, with everything that belongs to them; returns their number.
    fn sweep(&self, retention: Retention) -> StoreFuture<'_, usize>;

    /// Returns what several servers need to share this store, or `None` if only one may use it.
    fn shared(&self) -> Option<&dyn SharedStore> {
        None
    }
}
