//! In-doubt writes: their outcome is unknown because the connection was lost.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use a2a_server::Lease;
use lru::LruCache;
use uuid::Uuid;

use crate::lock::lock;

/// The last in-doubt write of each task. The next write of the same writer is compared with the log; other writers are
/// refused as usual. Until then the task's lease is not renewed, so that the task is abandoned if its writer has given
/// up. A write is no longer in doubt once another writer has the task.
pub(crate) struct Doubts(Mutex<LruCache<Uuid, Doubt>>);

/// A write whose outcome is unknown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Doubt {
    /// Length of the log before it; 0 for a new task.
    pub(crate) after: u64,
    /// Number of its events.
    pub(crate) count: u64,
    /// The writer's right to write.
    lease: Lease,
    noted: Instant,
}

impl Default for Doubts {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_DOUBTS)))
    }
}

impl Doubts {
    /// Records a write whose outcome is unknown.
    pub(crate) fn note(&self, task: Uuid, after: u64, count: usize, lease: &Lease) {
        let doubt = Doubt {
            after,
            count: count as u64,
            lease: lease.clone(),
            noted: Instant::now(),
        };
        let evicted = lock(&self.0).push(task, doubt);
        if evicted.is_some_and(|(oldest, _)| oldest != task) {
            tracing::warn!("too many writes are in doubt: the oldest is forgotten");
        }
    }

    /// Returns the in-doubt write of a task.
    pub(crate) fn get(&self, task: &Uuid) -> Option<Doubt> {
        lock(&self.0).peek(task).cloned()
    }

    /// Returns the tasks with an in-doubt write.
    pub(crate) fn tasks(&self) -> Vec<Uuid> {
        self.older_than(Duration::ZERO)
    }

    pub(crate) fn older_than(&self, age: Duration) -> Vec<Uuid> {
        let doubts = lock(&self.0);
        let old = doubts
            .iter()
            .filter(|(_, doubt)| doubt.noted.elapsed() >= age);
        old.map(|(task, _)| *task).collect()
    }

    /// Removes the in-doubt write of a task once its outcome is known.
    pub(crate) fn record_delivery(&self, task: &Uuid) {
        let mut doubts = lock(&self.0);
        if !doubts.is_empty() {
            doubts.pop(task);
        }
    }

    /// Removes the in-doubt writes of the given tasks that are gone or have another writer.
    pub(crate) fn review(&self, tasks: &[Uuid], leases: &HashMap<Uuid, (u64, &str)>) {
        let mut doubts = lock(&self.0);
        for task in tasks {
            let lease = leases.get(task);
            let is_own =
                |doubt: &Doubt| lease.is_some_and(|(epoch, of)| is_own(&doubt.lease, *epoch, of));
            if doubts.peek(task).is_some_and(|doubt| !is_own(doubt)) {
                doubts.pop(task);
            }
        }
    }
}

/// Returns whether the last lease of a task is that of a writer. The epoch of a lease that a write takes is not known.
pub(crate) fn is_own(lease: &Lease, epoch: u64, holder: &str) -> bool {
    match lease {
        Lease::Held { epoch: own } => *own == epoch,
        Lease::Acquire { holder: own, .. } | Lease::TakeOver { holder: own, .. } => {
            **own == *holder
        }
    }
}

/// Maximum number of tasks with a write of unknown outcome: far more than a server works on at once.
const MAX_DOUBTS: NonZeroUsize = NonZeroUsize::new(100_000).unwrap();
/// Age from which on a write is reviewed: longer than the database may still take to finish it.
pub(crate) const REVIEW_AFTER: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_is_no_longer_in_doubt_once_another_writer_has_the_task() {
        let doubts = Doubts::default();
        let tasks: Vec<_> = (0..6).map(Uuid::from_u128).collect();
        let held = Lease::Held { epoch: 3 };
        let taken = Lease::Acquire {
            holder: "h".into(),
            term: Duration::ZERO,
        };
        let leases = [&held, &held, &held, &taken, &taken, &held];
        for (task, lease) in tasks.iter().zip(leases) {
            doubts.note(*task, 1, 1, lease);
        }
        // The third is gone.
        let found = [(0, (3, "h")), (1, (4, "h")), (3, (9, "h")), (4, (9, "i"))];
        let found = found.map(|(task, lease)| (tasks[task], lease)).into();
        let (asked, later) = tasks.split_at(5);
        doubts.review(asked, &found);
        let mut left = doubts.tasks();
        left.sort();
        assert_eq!(left, [tasks[0], tasks[3], later[0]]);
    }

    #[test]
    fn every_active_task_of_a_server_may_be_in_doubt() {
        let doubts = Doubts::default();
        for task in 0..20_000 {
            doubts.note(Uuid::from_u128(task), 1, 1, &Lease::Held { epoch: 1 });
        }
        assert!(doubts.get(&Uuid::from_u128(0)).is_some());
    }
}
