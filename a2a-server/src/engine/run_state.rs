//! State of an active task, shared with the callers that wait for it.
//!
//! ```text
//! phase   Claimed ── first turn begins ──► Running ── last turn ends ──► Ended
//!            └──────────── dropped before a turn, or in a panic ───────────┘
//! stop    none ── the caller cancels ──► Canceled ── another writer has the lease ──► Lost
//!            └───────────────────────────────────────────────────────────────────────┘
//! answer  Pending ──► Open (a task is stored) | Answered (a message, and no task)
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_types::{Dialect, Message};
use tokio::sync::Notify;
use uuid::Uuid;

/// How far the work on a task is.
#[derive(Debug, Default)]
pub(crate) struct RunState {
    /// Whether there is a task, or an answer without one.
    pub(crate) progress: Progress,
    /// How often the agent let waiting callers go.
    pub(crate) detached: u64,
    /// The generation in which the task was last settled here; none yet if that is 0.
    pub(crate) settled: u64,
    /// The correlation id of a failure of the store, for as long as that keeps the end of a turn from being
    /// written.
    pub(crate) stuck: Option<Uuid>,
    pub(crate) phase: Phase,
    /// Reason for the turn to stop; `None` while it may go on.
    pub(crate) stop: Option<Stop>,
}

/// Phase of an active task.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Phase {
    /// A writer has the task, and its first turn has not begun.
    #[default]
    Claimed,
    /// Turns run.
    Running,
    /// The writer appends no more.
    Ended,
}

/// Reason for a turn to stop. The later one outranks the earlier.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Stop {
    /// The caller canceled the task.
    Canceled,
    /// Another writer has the lease, or the server shuts down.
    Lost,
}

/// How far the answer to the first message is.
#[derive(Clone, Debug, Default)]
pub(crate) enum Progress {
    /// Nothing yet.
    #[default]
    Pending,
    /// There is a task, begun by a caller who speaks this.
    Open(Dialect),
    /// The agent answered with a message, there will be no task.
    Answered(Arc<Message>),
}

/// The state that a writer shares with those who wait. It has few readers, mostly one: to change it costs no more than
/// to wake them.
#[derive(Debug, Default)]
pub(crate) struct SharedRunState {
    run: Mutex<RunState>,
    changed: Notify,
}

impl SharedRunState {
    /// Changes it, and has those look who wait.
    pub(crate) fn change(&self, change: impl FnOnce(&mut RunState)) {
        change(&mut self.lock());
        self.changed.notify_waiters();
    }

    /// What it says of something.
    pub(crate) fn is<T>(&self, look: impl FnOnce(&RunState) -> T) -> T {
        look(&self.lock())
    }

    /// Resolves when it is so.
    pub(crate) async fn until(&self, is_so: impl Fn(&RunState) -> bool) {
        loop {
            // Hears of changes from here on, before it looks.
            let changed = self.changed.notified();
            if is_so(&self.lock()) {
                return;
            }
            changed.await;
        }
    }

    /// Nothing that is done under the lock can panic half-way.
    fn lock(&self) -> MutexGuard<'_, RunState> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
