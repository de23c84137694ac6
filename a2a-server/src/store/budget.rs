//! The budget of memory for large tasks that are read or copied for answers.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::StoreError;

/// Number of bytes that large tasks may have together, from when they are read or copied until their answers
/// are written. A task that has the budget to itself may be larger. Small tasks are not counted.
#[derive(Debug)]
pub struct TaskBudget(Arc<Semaphore>);

/// A task's share of a budget; none if the task is small. It is given back when all clones are dropped.
#[derive(Clone, Debug, Default)]
pub struct TaskShare(Option<Arc<OwnedSemaphorePermit>>);

impl Default for TaskBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MEBIBYTES as usize)))
    }
}

impl TaskBudget {
    /// Bytes up to which a task is not counted.
    pub const SMALL: usize = 1 << 20;

    /// Waits until there is room for `bytes` bytes.
    ///
    /// Errors: [`StoreError::Busy`] if there is none for ten seconds.
    pub async fn take(&self, bytes: usize) -> Result<TaskShare, StoreError> {
        if bytes <= Self::SMALL {
            return Ok(TaskShare::default());
        }
        let mebibytes = u32::try_from(bytes.div_ceil(1 << 20)).unwrap_or(MEBIBYTES);
        let room = Arc::clone(&self.0).acquire_many_owned(mebibytes.min(MEBIBYTES));
        match tokio::time::timeout(MAX_BUDGET_WAIT, room).await {
            Ok(Ok(permit)) => Ok(TaskShare(Some(Arc::new(permit)))),
            Ok(Err(_)) | Err(_) => Err(StoreError::Busy),
        }
    }
}

impl TaskShare {
    /// The share, to be kept by a reply.
    pub(crate) fn held(self) -> Option<Arc<dyn Send + Sync>> {
        Some(self.0?)
    }

    /// Returns whether nothing is counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// As much as the events of the largest task.
const MEBIBYTES: u32 = 64;

/// Time that a caller waits for room.
const MAX_BUDGET_WAIT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn large_tasks_wait_for_each_other_and_small_ones_do_not() {
        let budget = TaskBudget::default();
        let whole = budget.take(usize::MAX).await.unwrap();
        assert!(matches!(budget.take(2 << 20).await, Err(StoreError::Busy)));
        assert!(budget.take(TaskBudget::SMALL).await.unwrap().is_empty());
        let clone = whole.clone();
        drop(whole);
        assert!(budget.take(2 << 20).await.is_err());
        drop(clone);
        let (one, other) = (budget.take(30 << 20).await, budget.take(34 << 20).await);
        assert!(one.is_ok() && other.is_ok());
        assert!(budget.take(2 << 20).await.is_err());
    }
}
