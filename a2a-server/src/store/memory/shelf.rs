//! Where the logs stand, and which of them may go.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use a2a_types::{Dialect, TaskId};
use tokio::sync::watch;
use tokio::time::Instant;

use super::super::{Owner, Retention, StoreError};
use super::lock;
use super::log::Log;

pub(super) type Key = (Owner, TaskId);

/// All logs, and the order in which tasks ended.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pub(super) tasks: HashMap<Key, Arc<Record>>,
    /// Tasks that have ended, in the order in which they did last.
    ended: BTreeSet<(Instant, Key)>,
    /// How much all logs hold.
    bytes: usize,
}

/// A log, and who waits for it to grow.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) dialect: Dialect,
    pub(super) log: Mutex<Log>,
    /// Tells how long it is; most tasks have nobody who waits.
    pub(super) generation: OnceLock<watch::Sender<u64>>,
}

/// How much a shelf holds at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    pub(super) tasks: usize,
    pub(super) bytes: usize,
}

impl Shelf {
    pub(super) fn insert(
        &mut self,
        key: Key,
        record: Record,
        capacity: Capacity,
    ) -> Result<Vec<Key>, StoreError> {
        if self.tasks.contains_key(&key) {
            return Err(StoreError::TaskExists);
        }
        let bytes = lock(&record.log).bytes;
        let forgotten = self.make_room(&key, 1, bytes, capacity)?;
        self.bytes += bytes;
        self.tasks.insert(key, Arc::new(record));
        Ok(forgotten)
    }

    /// Forgets ended tasks, the first first, until so many more tasks and bytes have room; yields which.
    pub(super) fn make_room(
        &mut self,
        except: &Key,
        tasks: usize,
        bytes: usize,
        capacity: Capacity,
    ) -> Result<Vec<Key>, StoreError> {
        let mut forgotten = Vec::new();
        while self.tasks.len() + tasks > capacity.tasks || self.bytes + bytes > capacity.bytes {
            let next = self.ended.iter().find(|(_, key)| key != except).cloned();
            forgotten.extend(self.forget(next.ok_or(StoreError::Full)?));
        }
        Ok(forgotten)
    }

    /// Notes how much a log has grown, and whether its task has ended or begun again by that.
    pub(super) fn note(&mut self, key: Key, growth: usize) {
        // It may have been forgotten in between.
        let Some(record) = self.tasks.get(&key) else {
            return;
        };
        self.bytes += growth;
        let mut log = lock(&record.log);
        // Others may have written since: what they did is noted with this.
        if log.noted == log.ended {
            return;
        }
        if let Some(before) = log.noted {
            self.ended.remove(&(before, key.clone()));
        }
        log.noted = log.ended;
        self.ended.extend(log.noted.map(|since| (since, key)));
    }

    pub(super) fn sweep(&mut self, retention: Retention) -> Vec<Key> {
        let mut swept = Vec::new();
        while let Some(first) = self.ended.first()
            && (first.0.elapsed() > retention.age || self.ended.len() > retention.count)
        {
            let first = first.clone();
            swept.extend(self.forget(first));
        }
        let has_waited = |record: &Record| {
            let waits = lock(&record.log).waits;
            waits.is_some_and(|since| since.elapsed() > retention.patience)
        };
        let waiting = self.tasks.iter().filter(|(_, record)| has_waited(record));
        let waiting: Vec<_> = waiting.map(|(key, _)| key.clone()).collect();
        for key in waiting {
            // It may have been answered since.
            if self.remove(&key, |log| log.waits.is_some()) {
                swept.push(key);
            }
        }
        swept
    }

    /// Forgets a task that ended then, unless it has begun again and that is not noted yet.
    fn forget(&mut self, ended: (Instant, Key)) -> Option<Key> {
        self.ended.remove(&ended);
        let (since, key) = ended;
        let over = |log: &mut Log| {
            log.noted = None;
            log.ended == Some(since)
        };
        self.remove(&key, over).then_some(key)
    }

    /// Removes a task, if it is still as it should be for that.
    fn remove(&mut self, key: &Key, as_expected: impl FnOnce(&mut Log) -> bool) -> bool {
        let Some(record) = self.tasks.get(key) else {
            return false;
        };
        let mut log = lock(&record.log);
        if !as_expected(&mut log) {
            return false;
        }
        // Whoever has found it already does not write to what is forgotten.
        log.is_forgotten = true;
        self.bytes = self.bytes.saturating_sub(log.bytes);
        drop(log);
        self.tasks.remove(key);
        true
    }
}
