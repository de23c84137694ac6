//! In-doubt writes: their outcome is unknown because the connection was lost.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use uuid::Uuid;

/// The last in-doubt write of each task. The next write of the same writer is compared with the log; other writers are
/// refused as usual. Until then the task's lease is not renewed, so that the task is abandoned if its writer has given
/// up.
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
    /// Records a write whose outcome is unknown.
    pub(crate) fn note(&self, task: Uuid, after: u64, count: usize) {
        let count = count as u64;
        self.lock().put(task, Doubt { after, count });
    }

    /// Returns the in-doubt write of a task.
    pub(crate) fn get(&self, task: &Uuid) -> Option<Doubt> {
        self.lock().peek(task).copied()
    }

    /// Returns the tasks with an in-doubt write.
    pub(crate) fn tasks(&self) -> Vec<Uuid> {
        self.lock().iter().map(|(task, _)| *task).collect()
    }

    /// Removes the in-doubt write of a task once its outcome is known.
    pub(crate) fn settle(&self, task: &Uuid) {
        let mut doubts = self.lock();
        if !doubts.is_empty() {
            doubts.pop(task);
        }
    }

    /// Locks a mutex. No code that holds it panics half-way, so a poisoned one is still consistent.
    fn lock(&self) -> MutexGuard<'_, LruCache<Uuid, Doubt, ahash::RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maximum number of tasks with a write of unknown outcome.
const MAX_DOUBTS: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();
