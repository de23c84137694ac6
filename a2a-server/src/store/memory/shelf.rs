//! Where the logs stand, and which of them may go.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use a2a_types::{Dialect, TaskId};
use tokio::sync::watch;

use super::super::{Owner, Retention, StoreError};
use super::lock;
use super::log::Log;

pub(super) type Key = (Owner, TaskId);

/// All logs, and the order in which tasks ended.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pub(super) tasks: HashMap<Key, Arc<Record>>,
    /// Tasks that ended, in that order; one that was reopened since may be among them.
    ended: VecDeque<(Key, Instant)>,
    /// How much all logs hold.
    bytes: usize,
}

/// A log, and who waits for it to grow.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) dialect: Dialect,
    pub(super) log: Mutex<Log>,
    pub(super) generation: watch::Sender<u64>,
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
            let mut ended = self.ended.iter();
            let next = ended.position(|(key, _)| key != except);
            let next = next.and_then(|index| self.ended.remove(index));
            let (key, _) = next.ok_or(StoreError::Full)?;
            forgotten.extend(self.forget(key));
        }
        Ok(forgotten)
    }

    /// Notes how much a log has grown, and whether its task ended by that.
    pub(super) fn note(&mut self, key: Key, growth: usize, ends: bool) {
        // It may have been forgotten in between.
        if !self.tasks.contains_key(&key) {
            return;
        }
        self.bytes += growth;
        if ends {
            self.ended.push_back((key, Instant::now()));
        }
    }

    pub(super) fn sweep(&mut self, retention: Retention) -> Vec<Key> {
        let mut swept = Vec::new();
        while let Some((_, since)) = self.ended.front()
            && (since.elapsed() > retention.age || self.ended.len() > retention.count)
            && let Some((key, _)) = self.ended.pop_front()
        {
            swept.extend(self.forget(key));
        }
        swept
    }

    /// Forgets a task if it has ended.
    fn forget(&mut self, key: Key) -> Option<Key> {
        let record = self.tasks.get(&key)?;
        let log = lock(&record.log);
        if !log.task.status.state.is_terminal() {
            return None;
        }
        self.bytes = self.bytes.saturating_sub(log.bytes);
        drop(log);
        self.tasks.remove(&key);
        Some(key)
    }
}
