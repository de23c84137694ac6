//! Tasks in memory, gone when the process is.

mod log;
mod outbox;
mod receipt_cache;
mod task_table;

use crate::store::TaskKey;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_transport::{BoxFuture, TraceContext};
use a2a_types::{
    ConfigId, Message, MessageId, ProtocolVersion, TaskId, TaskPushNotificationConfig,
};
use tokio::time::Instant;

use self::log::{HeldLease, Log};
use self::outbox::{Outbox, QueuedNotification};
use self::receipt_cache::ReceiptCache;
use self::task_table::{Capacity, EvictedRecords, Record, TaskTable, lock};
use super::{
    Append, Appended, DeliveryResult, IdempotencyKey, IdempotencyRecord, ListCursor, ListQuery,
    LogPage, NewTask, Notification, Orphan, Outcome, Owner, Page, Retention, Snapshot, Store,
    StoreError, StoreFuture, TaskNotifier,
    limits::{self, LogUsage},
};

/// Store that keeps tasks in memory; the tasks that ended first make room for new ones.
///
/// Their bytes are the memory of events, tasks, webhooks, notifications, checkpoints and names of owners.
/// In addition, the last 100,000 messages are remembered, up to 64 MiB of names and answers.
#[derive(Debug)]
pub struct MemoryStore {
    capacity: Capacity,
    task_table: Mutex<TaskTable>,
    receipts: Mutex<ReceiptCache>,
    outbox: Mutex<Outbox>,
    task_notifier: TaskNotifier,
}

impl Default for MemoryStore {
    /// Creates a store of at most 10,000 tasks with 256 MiB in all.
    fn default() -> Self {
        Self::with_capacity(10_000, 256 << 20)
    }
}

// Locks are taken in this order: receipts, task table, log, outbox, wake hub.
impl MemoryStore {
    /// A store of at most `tasks` tasks with `bytes` bytes of memory in all.
    pub fn with_capacity(tasks: usize, bytes: usize) -> Self {
        Self {
            capacity: Capacity { tasks, bytes },
            task_table: Mutex::default(),
            receipts: Mutex::default(),
            outbox: Mutex::default(),
            task_notifier: TaskNotifier::default(),
        }
    }

    fn record(&self, owner: &Owner, task: &TaskId) -> Result<Arc<Record>, StoreError> {
        let task_table = lock(&self.task_table);
        task_table
            .find(owner, task)
            .cloned()
            .ok_or(StoreError::NoTask)
    }

    fn insert(&self, owner: &Owner, mut new: NewTask) -> Result<(), StoreError> {
        let key = (owner.clone(), new.task.id.clone());
        let trace = new.trace.clone();
        let first = new.split();
        let notified = first.as_ref().map(Append::notified).unwrap_or_default();
        let held_lease = HeldLease::taken(new.holder, 1, new.term);
        let webhook = new.config.map(|config| (config, new.protocol_version));
        // Held until the message is noted, so that no two take the same one.
        let mut receipts = new.receipt.as_ref().map(|_| lock(&self.receipts));
        if let (Some(receipt), Some(receipts)) = (&new.receipt, &receipts) {
            receipts.check(owner, receipt)?;
        }
        let mut log = Log::new(new.task, webhook, held_lease, limits::size_of_owner(owner))?;
        if let Some(first) = first {
            let growth = LogUsage::of(&first);
            log.add(first, &growth)?;
        }
        let webhooks = log.webhooks();
        let rows = size_of_notifications(webhooks.len(), &notified, &trace);
        let mut task_table = lock(&self.task_table);
        let (capacity, outbox) = (self.capacity, &self.outbox);
        let forgotten = task_table.insert(
            key.clone(),
            new.protocol_version,
            log,
            rows,
            capacity,
            outbox,
        )?;
        self.close_watches(&forgotten);
        self.enqueue(&key, &webhooks, &notified, &trace);
        drop(task_table);
        if let (Some(receipt), Some(receipts)) = (new.receipt, &mut receipts) {
            receipts.note(owner, receipt, Outcome::Task(key.1));
        }
        drop(receipts);
        drop(forgotten);
        Ok(())
    }

    fn add(&self, owner: &Owner, task: &TaskId, append: Append) -> Result<Appended, StoreError> {
        let receipt = append.receipt.clone();
        if receipt.is_some() {
            self.record(owner, task)?;
        }
        // Held until the message is noted, so that no two take the same one.
        let mut receipts = receipt.as_ref().map(|_| lock(&self.receipts));
        if let (Some(receipt), Some(receipts)) = (&receipt, &receipts) {
            receipts.check(owner, receipt)?;
        }
        let (notified, trace) = (append.notified(), append.trace.clone());
        let growth = LogUsage::of(&append);
        let (record, forgotten) = self.with_room(owner, task, &append, &growth, &notified)?;
        drop(forgotten);
        let mut log = lock(&record.log);
        log.add(append, &growth)?;
        let appended = Appended::new(log.sequence(), log.held_lease.epoch, log.messages);
        if !notified.is_empty() {
            self.enqueue(&record.key, &log.webhooks(), &notified, &trace);
        }
        drop(log);
        if let (Some(receipt), Some(receipts)) = (receipt, &mut receipts) {
            receipts.note(owner, receipt, Outcome::Task(task.clone()));
        }
        drop(receipts);
        lock(&self.task_table).note(&record);
        // Stored before anyone is woken.
        self.task_notifier.wake(owner, task, appended.sequence);
        Ok(appended)
    }

    /// Returns a record, and the records that were forgotten to make room for what is added to it. A task can
    /// always end.
    fn with_room(
        &self,
        owner: &Owner,
        task: &TaskId,
        append: &Append,
        growth: &LogUsage,
        notified: &[u64],
    ) -> Result<(Arc<Record>, EvictedRecords), StoreError> {
        let mut task_table = lock(&self.task_table);
        let record = Arc::clone(task_table.find(owner, task).ok_or(StoreError::NoTask)?);
        if append.ends() {
            return Ok((record, EvictedRecords::new()));
        }
        let log = lock(&record.log);
        let bytes = log.growth(append.events.len(), growth);
        let webhooks = log.configs.len();
        drop(log);
        let rows = size_of_notifications(webhooks, notified, &append.trace);
        let (capacity, outbox) = (self.capacity, &self.outbox);
        let forgotten = task_table.make_room(Some(&record), 0, bytes + rows, capacity, outbox)?;
        self.close_watches(&forgotten);
        Ok((record, forgotten))
    }

    /// Keeps a webhook, if there is room for it.
    fn add_config(
        &self,
        owner: &Owner,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> Result<(), StoreError> {
        let mut task_table = lock(&self.task_table);
        let record = task_table.find(owner, &config.task_id).cloned();
        let record = record.ok_or(StoreError::NoTask)?;
        let growth = lock(&record.log).admit_config(&config)?;
        let (capacity, outbox) = (self.capacity, &self.outbox);
        let forgotten = task_table.make_room(Some(&record), 0, growth, capacity, outbox)?;
        self.close_watches(&forgotten);
        let kept = lock(&record.log).put_config(config, protocol_version);
        task_table.note(&record);
        drop(task_table);
        drop(forgotten);
        kept
    }

    fn remove_config(&self, record: &Arc<Record>, config: &ConfigId) {
        let (owner, task) = &record.key;
        let mut log = lock(&record.log);
        log.delete_config(config);
        lock(&self.outbox).forget(owner, task, config);
        drop(log);
        lock(&self.task_table).note(record);
    }

    fn enqueue(
        &self,
        (owner, task): &TaskKey,
        webhooks: &[ConfigId],
        notified: &[u64],
        trace: &Option<TraceContext>,
    ) {
        for config in webhooks {
            let mut outbox = lock(&self.outbox);
            for sequence in notified {
                let key = (owner.clone(), task.clone(), config.clone(), *sequence);
                outbox.put(key, trace.clone());
            }
        }
    }

    /// Ends the watches of removed tasks. Called under the task table's lock: a task may be begun again
    /// under its id afterwards.
    fn close_watches(&self, forgotten: &[Arc<Record>]) {
        for record in forgotten {
            let (owner, task) = &record.key;
            self.task_notifier.remove(owner, task);
        }
    }

    fn clear_outbox(&self, forgotten: &[Arc<Record>]) {
        for record in forgotten {
            let (owner, task) = &record.key;
            lock(&self.outbox).forget_task(owner, task);
        }
    }

    /// Sorts the places first, and copies only the tasks of the page.
    fn page(&self, owner: &Owner, listing: &ListQuery) -> Page {
        let records: Vec<_> = {
            let task_table = lock(&self.task_table);
            let own = task_table.records().filter(|record| record.key.0 == *owner);
            own.cloned().collect()
        };
        let place = |record: &Arc<Record>| lock(&record.log).place(listing);
        let mut places: Vec<_> = records
            .iter()
            .filter_map(|record| Some((place(record)?, record)))
            .collect();
        places.sort_by(|(one, _), (other, _)| one.cmp(other));
        let total = places.len();
        let begin = listing.after.as_ref().map_or(0, |after| {
            places.partition_point(|(place, _)| place <= after)
        });
        let rest = &places[begin..];
        let (mut tasks, mut size, mut read) = (Vec::new(), limits::PageSize::default(), 0);
        for (_, record) in rest {
            if tasks.len() == listing.limit {
                break;
            }
            let mut log = lock(&record.log);
            if log.place(listing).is_some() {
                let task = log.task();
                drop(log);
                if !size.admit(limits::size_of_task(&task)) {
                    break;
                }
                tasks.push(Arc::unwrap_or_clone(task));
            }
            read += 1;
        }
        // Some may have changed since.
        tasks.sort_by_cached_key(ListCursor::of);
        Page::new(tasks, total, rest.len() > read)
    }

    fn abandoned(&self, limit: usize) -> Vec<Orphan> {
        let task_table = lock(&self.task_table);
        let orphaned = |record: &&Arc<Record>| {
            let log = lock(&record.log);
            limits::is_active(log.state(), log.turn, log.messages) && !log.held_lease.lasts()
        };
        let orphans = task_table
            .records()
            .filter(orphaned)
            .map(|record| Orphan::new(record.key.0.clone(), record.key.1.clone()));
        orphans.take(limit).collect()
    }

    fn prolong(&self, holder: &str, term: Duration) {
        let records: Vec<_> = lock(&self.task_table).records().cloned().collect();
        for record in records {
            let held_lease = &mut lock(&record.log).held_lease;
            if &*held_lease.holder == holder && held_lease.until.is_some() {
                held_lease.until = Some(Instant::now() + term);
            }
        }
    }

    /// Returns these notifications, as the sender takes them.
    fn describe(&self, queued: Vec<QueuedNotification>) -> Vec<Notification> {
        let notification = |queued: QueuedNotification| {
            let (owner, task, config, sequence) = queued.key;
            let record = self.record(&owner, &task).ok()?;
            let configs = &lock(&record.log).configs;
            let (config, protocol_version) = configs
                .iter()
                .find(|(known, _)| known.id == config)?
                .clone();
            Some(Notification {
                attempt: queued.attempt,
                trace: queued.trace,
                ..Notification::new(owner, config, protocol_version, sequence)
            })
        };
        queued.into_iter().filter_map(notification).collect()
    }
}

/// Estimates the bytes of the notifications for this number of webhooks.
fn size_of_notifications(webhooks: usize, notified: &[u64], trace: &Option<TraceContext>) -> usize {
    webhooks * notified.len() * limits::size_of_notification(trace.as_ref())
}

fn done<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl Store for MemoryStore {
    fn create<'a>(&'a self, owner: &'a Owner, new: NewTask) -> StoreFuture<'a, ()> {
        done(self.insert(owner, new))
    }

    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        append: Append,
    ) -> StoreFuture<'a, Appended> {
        done(self.add(owner, task, append))
    }

    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Option<Snapshot>> {
        let snapshot = self.record(owner, task).ok().map(|record| {
            let mut log = lock(&record.log);
            Snapshot {
                checkpoint: log.checkpoint.clone(),
                turn: log.turn,
                ..Snapshot::new(log.task(), log.sequence(), record.protocol_version)
            }
        });
        done(Ok(snapshot))
    }

    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        sequence: u64,
    ) -> StoreFuture<'a, LogPage> {
        let record = self.record(owner, task);
        done(record.map(|record| lock(&record.log).after(sequence)))
    }

    fn head<'a>(&'a self, owner: &'a Owner, task: &'a TaskId) -> StoreFuture<'a, u64> {
        let record = self.record(owner, task);
        done(record.map(|record| lock(&record.log).sequence()))
    }

    fn task_notifier(&self) -> &TaskNotifier {
        &self.task_notifier
    }

    fn list<'a>(&'a self, owner: &'a Owner, listing: ListQuery) -> StoreFuture<'a, Page> {
        done(Ok(self.page(owner, &listing)))
    }

    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> StoreFuture<'a, ()> {
        done(self.add_config(owner, config, protocol_version))
    }

    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Vec<TaskPushNotificationConfig>> {
        let record = self.record(owner, task);
        done(record.map(|record| {
            let configs = &lock(&record.log).configs;
            configs.iter().map(|(config, _)| config.clone()).collect()
        }))
    }

    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> StoreFuture<'a, ()> {
        let record = self.record(owner, task);
        done(record.map(|record| self.remove_config(&record, config)))
    }

    fn received<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
    ) -> StoreFuture<'a, Option<IdempotencyRecord>> {
        done(Ok(lock(&self.receipts).find(owner, message)))
    }

    fn store_response<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: IdempotencyKey,
        answer: Message,
    ) -> StoreFuture<'a, ()> {
        let mut receipts = lock(&self.receipts);
        done(receipts.check(owner, &receipt).map(|()| {
            receipts.note(owner, receipt, Outcome::Message(Box::new(answer)));
        }))
    }

    fn notifications(&self, limit: usize, term: Duration) -> StoreFuture<'_, Vec<Notification>> {
        let taken = lock(&self.outbox).take(limit, term);
        done(Ok(self.describe(taken)))
    }

    fn dead_letters(&self, limit: usize) -> StoreFuture<'_, Vec<Notification>> {
        let dead = lock(&self.outbox).dead(limit);
        done(Ok(self.describe(dead)))
    }

    fn undelivered(&self) -> StoreFuture<'_, usize> {
        done(Ok(lock(&self.outbox).waiting()))
    }

    fn record_delivery<'a>(
        &'a self,
        notification: &'a Notification,
        settlement: DeliveryResult,
    ) -> StoreFuture<'a, ()> {
        let Notification {
            owner,
            config,
            sequence,
            attempt,
            ..
        } = notification;
        let (task, config) = (config.task_id.clone(), config.id.clone());
        let key = (owner.clone(), task, config, *sequence);
        lock(&self.outbox).record_delivery(&key, *attempt, settlement);
        done(Ok(()))
    }

    fn renew<'a>(&'a self, holder: &'a str, term: Duration) -> StoreFuture<'a, ()> {
        self.prolong(holder, term);
        done(Ok(()))
    }

    fn orphans(&self, limit: usize) -> StoreFuture<'_, Vec<Orphan>> {
        done(Ok(self.abandoned(limit)))
    }

    fn sweep(&self, retention: Retention) -> StoreFuture<'_, usize> {
        lock(&self.receipts).sweep();
        let mut task_table = lock(&self.task_table);
        let swept = task_table.sweep(retention);
        self.close_watches(&swept);
        drop(task_table);
        self.clear_outbox(&swept);
        done(Ok(swept.len()))
    }
}
