//! Writes whose outcome is unknown because the connection was lost.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::log_rows::LogRows;

/// The last write of each task whose outcome nobody knows. A writer that asks for it again is answered by what the
/// log says; anybody else who writes the same is refused as usual.
pub(crate) struct Doubts(Mutex<LruCache<Uuid, Doubt, ahash::RandomState>>);

#[derive(Eq, PartialEq)]
struct Doubt {
    after: u64,
    content: [u8; 32],
}

impl Doubt {
    fn of(after: u64, rows: &LogRows) -> Self {
        let mut hash = Sha256::new();
        for body in rows.bodies() {
            hash.update((body.len() as u64).to_be_bytes());
            hash.update(body);
        }
        let content = hash.finalize().into();
        Self { after, content }
    }
}

impl Default for Doubts {
    fn default() -> Self {
        let hasher = ahash::RandomState::new();
        Self(Mutex::new(LruCache::with_hasher(MAX_DOUBTS, hasher)))
    }
}

impl Doubts {
    /// Notes that nobody knows whether a task has these entries after a sequence number.
    pub(crate) fn note(&self, task: Uuid, after: u64, rows: &LogRows) {
        self.lock().put(task, Doubt::of(after, rows));
    }

    /// Returns whether that was noted of these entries.
    pub(crate) fn has(&self, task: &Uuid, after: u64, rows: &LogRows) -> bool {
        let mut doubts = self.lock();
        doubts
            .get(task)
            .is_some_and(|doubt| *doubt == Doubt::of(after, rows))
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
const MAX_DOUBTS: std::num::NonZeroUsize = std::num::NonZeroUsize::new(10_000).unwrap();
