//! Writes whose outcome is unknown because the connection was lost.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use uuid::Uuid;

/// The last write of each task whose outcome nobody knows. The next write of the same writer is judged by what the log
/// says; anybody else is refused as usual. Until then the task's lease is not prolonged: if the writer has given up,
/// the task is abandoned.
pub(crate) struct Doubts(Mutex<LruCache<Uuid, Doubt, ahash::RandomState>>);

/// A write whose outcome is unknown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Doubt {
    /// Length of the log before it; 0 for a new task.
    pub(crate) after: u64,
    /// Number of its events.
    pub(crate) count: u64,
}

impl Default for Doubts {
    fn default() -> Self {
        let hasher = ahash::RandomState::new();
        Self(Mutex::new(LruCache::with_hasher(MAX_DOUBTS, hasher)))
    }
}

impl Doubts {
    /// Notes that nobody knows whether a write was done.
    pub(crate) fn note(&self, task: Uuid, after: u64, count: usize) {
        let count = count as u64;
        self.lock().put(task, Doubt { after, count });
    }

    /// Returns the write of a task whose outcome is unknown.
    pub(crate) fn get(&self, task: &Uuid) -> Option<Doubt> {
        self.lock().peek(task).copied()
    }

    /// Returns the tasks with such a write.
    pub(crate) fn tasks(&self) -> Vec<Uuid> {
        self.lock().iter().map(|(task, _)| *task).collect()
    }

    /// Forgets what was noted of a task: its outcome is known.
    pub(crate) fn settle(&self, task: &Uuid) {
        let mut doubts = self.lock();
        if !doubts.is_empty() {
            doubts.pop(task);
        }
    }

    /// Nothing that is done under this lock can panic half-way.
    fn lock(&self) -> MutexGuard<'_, LruCache<Uuid, Doubt, ahash::RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maximum number of tasks with a write of unknown outcome.
const MAX_DOUBTS: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();
