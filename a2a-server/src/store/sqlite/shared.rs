//! State shared by the writer and the readers of a SQLite store: recent tasks, and followers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use super::super::{LogPage, Snapshot, TaskKey, TaskNotifier, limits};
use super::receipt_filter::ReceiptFilter;
use super::tables::FoldedTask;
use super::task_index::TaskIndex;

/// Tasks that were written not long ago, and the followers of tasks.
///
/// All of it is on the disk: the writer works on drafts, and puts them in when they are committed.
pub(super) struct Shared {
    pub(super) receipt_filter: ReceiptFilter,
    pub(super) task_index: TaskIndex,
    recent: Mutex<Recent>,
    pub(super) task_notifier: TaskNotifier,
}

struct Recent {
    tasks: LruCache<TaskKey, FoldedTask>,
    bytes: usize,
}

impl Shared {
    pub(super) fn new(receipt_filter: ReceiptFilter, task_index: TaskIndex) -> Self {
        Self {
            receipt_filter,
            task_index,
            recent: Mutex::new(Recent {
                tasks: LruCache::unbounded(),
                bytes: 0,
            }),
            task_notifier: TaskNotifier::default(),
        }
    }

    /// A task to write to.
    pub(super) fn draft(&self, key: &TaskKey) -> Option<FoldedTask> {
        Some(lock(&self.recent).tasks.peek(key)?.draft())
    }

    /// Puts tasks in as they were committed, and wakes their followers; returns the tasks that it removed to make
    /// room, because they were not used for long.
    pub(super) fn publish(
        &self,
        written: impl Iterator<Item = (TaskKey, FoldedTask)>,
    ) -> Vec<FoldedTask> {
        let mut recent = lock(&self.recent);
        let mut longer = Vec::new();
        for (key, later) in written {
            longer.push((key.clone(), later.sequence));
            recent.put(key, later);
        }
        let spent = recent.make_room();
        drop(recent);
        for ((owner, task), sequence) in &longer {
            self.task_notifier.wake(owner, task, *sequence);
        }
        spent
    }

    pub(super) fn snapshot(&self, key: &TaskKey) -> Option<Snapshot> {
        let mut recent = lock(&self.recent);
        // Folded after the lock is released.
        let draft = recent.tasks.get(key)?.draft();
        drop(recent);
        Some(draft.into())
    }

    pub(super) fn after(&self, key: &TaskKey, sequence: u64) -> Option<LogPage> {
        let mut recent = lock(&self.recent);
        let task = recent.tasks.get(key)?;
        match sequence == 0 || sequence > task.sequence {
            true => Some(LogPage::Unknown),
            false => task.after(sequence),
        }
    }

    pub(super) fn sequence(&self, key: &TaskKey) -> Option<u64> {
        Some(lock(&self.recent).tasks.peek(key)?.sequence)
    }

    /// Drops a removed task from the cache, and ends the watches of its followers.
    pub(super) fn forget(&self, key: &TaskKey) {
        let mut recent = lock(&self.recent);
        if let Some(gone) = recent.tasks.pop(key) {
            recent.bytes -= size(key, &gone);
        }
        drop(recent);
        self.task_notifier.remove(&key.0, &key.1);
    }
}

impl Recent {
    fn put(&mut self, key: TaskKey, later: FoldedTask) {
        match self.tasks.get_mut(&key) {
            Some(known) => {
                self.bytes -= size(&key, known);
                known.succeed(later);
                self.bytes += size(&key, known);
            }
            None => {
                self.bytes += size(&key, &later);
                self.tasks.put(key, later);
            }
        }
    }

    fn make_room(&mut self) -> Vec<FoldedTask> {
        let mut spent = Vec::new();
        while self.bytes > MAX_BYTES || self.tasks.len() > MAX_TASKS {
            let Some((key, oldest)) = self.tasks.pop_lru() else {
                break;
            };
            self.bytes -= size(&key, &oldest);
            spent.push(oldest);
        }
        spent
    }
}

/// Returns the bytes that a task holds here.
fn size((owner, _): &TaskKey, task: &FoldedTask) -> usize {
    limits::size_of_owner(owner) + task.held()
}

/// Maximum number of tasks kept, and of their bytes.
const MAX_TASKS: usize = 10_000;
const MAX_BYTES: usize = 64 << 20;

/// No code under these locks panics half-way, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
