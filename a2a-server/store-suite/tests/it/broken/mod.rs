//! A store that keeps all promises but one.

mod push;
mod read;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_server::{
    Append, Appended, DeliveryResult, IdempotencyKey, IdempotencyRecord, ListCursor, ListQuery,
    LogPage, MemoryStore, NewTask, Notification, Orphan, Owner, Page, Retention, Snapshot, Store,
    StoreError, StoreFuture, TaskNotifier, TraceContext,
};
use a2a_types::{
    ConfigId, Message, MessageId, ProtocolVersion, TaskId, TaskPushNotificationConfig,
};
use tokio::sync::watch;

use crate::fault::Fault;

/// The store in memory, with a fault.
pub(crate) struct Broken {
    fault: Fault,
    inner: MemoryStore,
    notes: Mutex<FaultState>,
}

/// State that a fault needs.
#[derive(Default)]
struct FaultState {
    /// Every task, with all past holders of its lease.
    tasks: BTreeMap<TaskKey, BTreeSet<String>>,
    /// Holders that have handed a lease back.
    given_back: BTreeSet<(TaskKey, String)>,
    /// Tasks that are missing although they should be there.
    gone: BTreeSet<TaskKey>,
    channels: BTreeMap<TaskKey, watch::Sender<u64>>,
    messages: BTreeSet<MessageId>,
    configs: Vec<(Owner, TaskPushNotificationConfig)>,
    /// Extra notifications to give out in addition to the real ones.
    more: Vec<Notification>,
    /// The trace of the first notification that was given out.
    trace: Option<Option<TraceContext>>,
    /// Index of each task when it was listed.
    listed: BTreeMap<ListCursor, usize>,
    /// Every end of a task.
    ends: Vec<TaskKey>,
    count: u64,
}

type TaskKey = (Owner, TaskId);
type StoreResult<T> = Result<T, StoreError>;

impl Broken {
    pub(crate) fn new(fault: Fault) -> Self {
        Self {
            fault,
            inner: MemoryStore::default(),
            notes: Mutex::default(),
        }
    }

    fn notes(&self) -> MutexGuard<'_, FaultState> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the owner, as far as this store distinguishes owners.
    fn owner(&self, owner: &Owner) -> Owner {
        let mut owner = owner.clone();
        match self.fault {
            Fault::ForgetsPrincipal => owner.principal = None,
            Fault::ForgetsTenant => owner.tenant = None,
            Fault::NamesAnonymous if owner.principal.is_none() => owner.principal = Some("".into()),
            _ => {}
        }
        owner
    }

    /// The end of a log.
    async fn sequence(&self, owner: &Owner, task: &TaskId) -> StoreResult<u64> {
        let snapshot = self.inner.snapshot(owner, task).await?;
        Ok(snapshot.ok_or(StoreError::NoTask)?.sequence)
    }

    /// Finds the epoch of the present lease.
    async fn epoch(&self, owner: &Owner, task: &TaskId) -> StoreResult<u64> {
        for epoch in 1..1000 {
            let after = self.sequence(owner, task).await?;
            let probe = Append::held(after, epoch, Vec::new());
            if self.inner.append(owner, task, probe).await.is_ok() {
                return Ok(epoch);
            }
        }
        Err(StoreError::failed("no epoch below 1000"))
    }
}

impl Store for Broken {
    fn create<'a>(&'a self, owner: &'a Owner, new: NewTask) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.create_task(&self.owner(owner), new).await })
    }

    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        append: Append,
    ) -> StoreFuture<'a, Appended> {
        Box::pin(async move { self.append_to(&self.owner(owner), task, append).await })
    }

    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(async move { self.look(&self.owner(owner), task).await })
    }

    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        sequence: u64,
    ) -> StoreFuture<'a, LogPage> {
        Box::pin(async move { self.read(&self.owner(owner), task, sequence).await })
    }

    fn head<'a>(&'a self, owner: &'a Owner, task: &'a TaskId) -> StoreFuture<'a, u64> {
        Box::pin(async move { self.inner.head(&self.owner(owner), task).await })
    }

    fn task_notifier(&self) -> &TaskNotifier {
        self.inner.task_notifier()
    }

    fn watch<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, watch::Receiver<u64>> {
        Box::pin(async move { self.listen(&self.owner(owner), task).await })
    }

    fn list<'a>(&'a self, owner: &'a Owner, listing: ListQuery) -> StoreFuture<'a, Page> {
        Box::pin(async move { self.page(&self.owner(owner), listing).await })
    }

    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.keep_webhook(&self.owner(owner), config, protocol_version)
                .await
        })
    }

    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Vec<TaskPushNotificationConfig>> {
        Box::pin(async move { self.webhooks(&self.owner(owner), task).await })
    }

    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.drop_webhook(&self.owner(owner), task, config).await })
    }

    fn received<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
    ) -> StoreFuture<'a, Option<IdempotencyRecord>> {
        Box::pin(async move { self.recall(&self.owner(owner), message).await })
    }

    fn store_response<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: IdempotencyKey,
        answer: Message,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.answer(&self.owner(owner), receipt, answer).await })
    }

    fn notifications(&self, limit: usize, term: Duration) -> StoreFuture<'_, Vec<Notification>> {
        Box::pin(self.take(limit, term))
    }

    fn dead_letters(&self, limit: usize) -> StoreFuture<'_, Vec<Notification>> {
        match self.fault {
            Fault::HidesDeadLetters => Box::pin(async { Ok(Vec::new()) }),
            _ => self.inner.dead_letters(limit),
        }
    }

    fn undelivered(&self) -> StoreFuture<'_, usize> {
        match self.fault {
            Fault::CountsDeadLetters => Box::pin(self.all_letters()),
            _ => self.inner.undelivered(),
        }
    }

    fn record_delivery<'a>(
        &'a self,
        notification: &'a Notification,
        settlement: DeliveryResult,
    ) -> StoreFuture<'a, ()> {
        Box::pin(self.conclude(notification, settlement))
    }

    fn renew<'a>(&'a self, holder: &'a str, term: Duration) -> StoreFuture<'a, ()> {
        Box::pin(self.prolong(holder, term))
    }

    fn orphans(&self, limit: usize) -> StoreFuture<'_, Vec<Orphan>> {
        Box::pin(self.abandoned(limit))
    }

    fn sweep(&self, retention: Retention) -> StoreFuture<'_, usize> {
        Box::pin(self.clear(retention))
    }
}
