//! Table of the logs, and eviction of ended tasks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_types::{ProtocolVersion, TaskId};

use super::super::{NameMap, Owner, Retention, StoreError, TaskKey};
use super::log::{End, Log};
use super::outbox::Outbox;

/// All logs, and the order in which tasks ended.
#[derive(Debug, Default)]
pub(super) struct TaskTable {
    records: NameMap<TaskKey, Arc<Record>>,
    /// Tasks that have ended, in the order in which they did last.
    ended: BTreeMap<End, Arc<Record>>,
    /// Number of ends that were noted.
    ends: u64,
    /// Bytes that all logs hold, as far as noted.
    bytes: usize,
}

/// A log and its place.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) key: TaskKey,
    pub(super) protocol_version: ProtocolVersion,
    pub(super) log: Mutex<Log>,
}

/// Maximum size of a task table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    pub(super) tasks: usize,
    pub(super) bytes: usize,
}

/// Records that are not in the task table any more: to be dropped when no lock is held.
pub(super) type EvictedRecords = Vec<Arc<Record>>;

impl TaskTable {
    pub(super) fn find(&self, owner: &Owner, task: &TaskId) -> Option<&Arc<Record>> {
        self.records.get(&(owner.clone(), task.clone()))
    }

    pub(super) fn records(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.records.values()
    }

    /// Adds a log with `rows` bytes of notifications; returns the records evicted for it.
    pub(super) fn insert(
        &mut self,
        key: TaskKey,
        protocol_version: ProtocolVersion,
        log: Log,
        rows: usize,
        capacity: Capacity,
        outbox: &Mutex<Outbox>,
    ) -> Result<EvictedRecords, StoreError> {
        if self.records.contains_key(&key) {
            return Err(StoreError::TaskExists);
        }
        let forgotten = self.make_room(None, 1, log.bytes() + rows, capacity, outbox)?;
        let record = Arc::new(Record {
            key: key.clone(),
            protocol_version,
            log: Mutex::new(log),
        });
        self.records.insert(key, Arc::clone(&record));
        self.note(&record);
        Ok(forgotten)
    }

    /// Evicts ended tasks, in the order in which they ended, and their notifications, until there is room for
    /// `tasks` more tasks and `bytes` more bytes; returns the evicted tasks.
    pub(super) fn make_room(
        &mut self,
        except: Option<&Arc<Record>>,
        tasks: usize,
        bytes: usize,
        capacity: Capacity,
        outbox: &Mutex<Outbox>,
    ) -> Result<EvictedRecords, StoreError> {
        let mut forgotten = Vec::new();
        let is_full = |task_table: &Self| {
            let held = task_table.bytes + lock(outbox).bytes();
            task_table.records.len() + tasks > capacity.tasks || held + bytes > capacity.bytes
        };
        while is_full(self) {
            let may_go = |record: &&Arc<Record>| except.is_none_or(|it| !Arc::ptr_eq(it, record));
            let next = self.ended.iter().find(|(_, record)| may_go(record));
            let end = *next.ok_or(StoreError::Full)?.0;
            let gone = self.forget(end);
            if let Some((owner, task)) = gone.as_ref().map(|record| &record.key) {
                lock(outbox).forget_task(owner, task);
            }
            forgotten.extend(gone);
        }
        Ok(forgotten)
    }

    /// Updates the size of a log, and whether its task has ended or begun again.
    pub(super) fn note(&mut self, record: &Arc<Record>) {
        let mut log = lock(&record.log);
        // The task may have been evicted in between.
        if log.is_forgotten {
            return;
        }
        let bytes = log.bytes();
        self.bytes = self.bytes - log.counted + bytes;
        log.counted = bytes;
        // Other threads may have written since; this notes their writes, too.
        if log.noted.map(|(since, _)| since) == log.ended {
            return;
        }
        if let Some(before) = log.noted {
            self.ended.remove(&before);
        }
        log.noted = log.ended.map(|since| (since, self.ends));
        self.ends += 1;
        let end = log.noted.map(|end| (end, Arc::clone(record)));
        self.ended.extend(end);
    }

    pub(super) fn sweep(&mut self, retention: Retention) -> EvictedRecords {
        let mut swept = Vec::new();
        while let Some((&end, _)) = self.ended.first_key_value()
            && (end.0.elapsed() > retention.age || self.ended.len() > retention.count)
        {
            swept.extend(self.forget(end));
        }
        let has_waited = |record: &&Arc<Record>| {
            let log = lock(&record.log);
            let since = log.waits.filter(|_| !log.held_lease.lasts());
            since.is_some_and(|since| since.elapsed() > retention.patience)
        };
        let waiting: Vec<_> = self.records().filter(has_waited).cloned().collect();
        for record in waiting {
            // It may have been answered since.
            if self.remove(&record, |log| {
                log.waits.is_some() && !log.held_lease.lasts()
            }) {
                swept.push(record);
            }
        }
        swept
    }

    /// Forgets a task that ended then, unless it has begun again and that is not noted yet.
    fn forget(&mut self, end: End) -> Option<Arc<Record>> {
        let record = self.ended.remove(&end)?;
        let over = |log: &mut Log| {
            log.noted = None;
            log.ended == Some(end.0)
        };
        self.remove(&record, over).then_some(record)
    }

    /// Removes a task, if it is still as it should be for that.
    fn remove(&mut self, record: &Arc<Record>, as_expected: impl FnOnce(&mut Log) -> bool) -> bool {
        let mut log = lock(&record.log);
        if log.is_forgotten || !as_expected(&mut log) {
            return false;
        }
        // A writer that has found it already does not write to it.
        log.is_forgotten = true;
        self.bytes -= log.counted;
        drop(log);
        self.records.remove(&record.key).is_some()
    }
}

/// No code under these locks panics half-way, so poisoning is ignored.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
