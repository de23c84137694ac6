//! What the writer and the readers of a SQLite store have in common: recent tasks, and who waits.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_types::{Dialect, Object, Task, TaskId};
use lru::LruCache;
use tokio::sync::watch;

use super::super::{Logged, Owner, Snapshot, Tail, limits};
use super::seen::Seen;

pub(super) type Key = (Owner, TaskId);

/// Tasks that were written not long ago, and who waits for tasks to be written.
///
/// The writer takes a task out for as long as it has written what is not yet committed: whoever looks
/// for it then finds it in the tables, as it was.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) seen: Seen,
    recent: Mutex<Recent>,
    watched: Mutex<HashMap<Key, watch::Sender<u64>>>,
}

#[derive(Debug)]
struct Recent {
    tasks: LruCache<Key, Folded>,
    bytes: usize,
}

/// A task that is the fold of its log, and the end of the log.
#[derive(Debug)]
pub(super) struct Folded {
    /// The task's number in the tables.
    pub(super) seq: i64,
    pub(super) task: Arc<Task>,
    pub(super) generation: u64,
    pub(super) dialect: Dialect,
    pub(super) checkpoint: Option<Arc<Object>>,
    pub(super) epoch: u64,
    pub(super) messages: usize,
    pub(super) bytes: usize,
    /// At which generation the task was last written down as a whole.
    pub(super) written: u64,
    pub(super) has_configs: bool,
    /// The last events.
    pub(super) tail: VecDeque<Logged>,
}

impl Folded {
    /// Notes an event that was written.
    pub(super) fn remember(&mut self, logged: Logged) {
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(logged);
    }

    /// What comes after a generation, if that is known here.
    fn after(&self, generation: u64) -> Option<Tail> {
        if generation == 0 || generation > self.generation {
            return Some(Tail::Unknown);
        }
        let first = self
            .tail
            .front()
            .map_or(self.generation + 1, |first| first.generation);
        let later = self
            .tail
            .iter()
            .filter(|logged| logged.generation > generation);
        (first <= generation + 1).then(|| limits::Batch::of(later.cloned()))
    }
}

impl Shared {
    pub(super) fn new(seen: Seen) -> Self {
        Self {
            seen,
            recent: Mutex::new(Recent {
                tasks: LruCache::unbounded(),
                bytes: 0,
            }),
            watched: Mutex::default(),
        }
    }

    /// Takes a task out.
    pub(super) fn take(&self, key: &Key) -> Option<Folded> {
        let mut recent = lock(&self.recent);
        let folded = recent.tasks.pop(key)?;
        recent.bytes -= folded.bytes;
        Some(folded)
    }

    /// Puts a task in as it was committed; those not used for long make room.
    pub(super) fn put(&self, key: Key, folded: Folded) {
        let mut recent = lock(&self.recent);
        recent.bytes += folded.bytes;
        if let Some(before) = recent.tasks.put(key, folded) {
            recent.bytes -= before.bytes;
        }
        while recent.bytes > MOST_BYTES || recent.tasks.len() > MOST_TASKS {
            let Some((_, oldest)) = recent.tasks.pop_lru() else {
                break;
            };
            recent.bytes -= oldest.bytes;
        }
    }

    pub(super) fn snapshot(&self, key: &Key) -> Option<Snapshot> {
        let mut recent = lock(&self.recent);
        let folded = recent.tasks.get(key)?;
        let (task, checkpoint) = (Arc::clone(&folded.task), folded.checkpoint.clone());
        let (generation, dialect) = (folded.generation, folded.dialect);
        drop(recent);
        Some(Snapshot {
            task,
            generation,
            dialect,
            checkpoint: checkpoint.map(Arc::unwrap_or_clone),
        })
    }

    pub(super) fn after(&self, key: &Key, generation: u64) -> Option<Tail> {
        lock(&self.recent).tasks.get(key)?.after(generation)
    }

    pub(super) fn generation(&self, key: &Key) -> Option<u64> {
        Some(lock(&self.recent).tasks.peek(key)?.generation)
    }

    /// Whoever waits for the task, from now on.
    pub(super) fn subscribe(&self, key: &Key) -> watch::Receiver<u64> {
        let mut watched = lock(&self.watched);
        if watched.len() >= 1024 && watched.len().is_power_of_two() {
            watched.retain(|_, sender| sender.receiver_count() > 0);
        }
        let sender = watched.entry(key.clone());
        sender.or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// Tells who waits that the log has so many entries.
    pub(super) fn wake(&self, key: &Key, generation: u64) {
        let mut watched = lock(&self.watched);
        let Some(sender) = watched.get(key) else {
            return;
        };
        if sender.receiver_count() == 0 {
            watched.remove(key);
            return;
        }
        sender.send_if_modified(|known| {
            let newer = generation > *known;
            *known = generation.max(*known);
            newer
        });
    }

    /// Forgets a task that is gone; who waits for it is told.
    pub(super) fn forget(&self, key: &Key) {
        self.take(key);
        lock(&self.watched).remove(key);
    }
}

/// How many events are kept beside a task.
const TAIL: usize = 64;
/// How many tasks are kept, and how much they hold together.
const MOST_TASKS: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// Nothing that is done under these locks can panic half-way.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
