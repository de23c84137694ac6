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

use a2a_types::{Message, ProtocolVersion};
use tokio::sync::Notify;
use uuid::Uuid;

/// Progress of the work on a task.
#[derive(Debug, Default)]
pub(crate) struct RunState {
    /// The answer to the first message: a task, or a message without one.
    pub(crate) progress: Progress,
    /// Number of times that the agent let waiting callers go.
    pub(crate) detached: u64,
    /// Sequence number at which the task was last settled here; 0 if it was not.
    pub(crate) settled: u64,
    /// The correlation id of a failure of the store, for as long as that keeps the end of a turn from being
    /// written.
    pub(crate) stuck: Option<Uuid>,
    pub(crate) phase: Phase,
    /// Reason for the turn to stop; `None` while it may go on.
    pub(crate) stop: Option<StopReason>,
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
pub(crate) enum StopReason {
    /// The caller canceled the task.
    Canceled,
    /// Another writer has the lease, or the server shuts down.
    Lost,
}

/// Progress of the answer to the first message.
#[derive(Clone, Debug, Default)]
pub(crate) enum Progress {
    /// Nothing yet.
    #[default]
    Pending,
    /// There is a task, begun in this protocol version.
    Open(ProtocolVersion),
    /// The agent answered with a message, there will be no task.
    Answered(Arc<Message>),
}

/// The state that a writer shares with its waiters. They are few, mostly one: to change it costs no more
/// than to wake them.
#[derive(Debug, Default)]
pub(crate) struct SharedRunState {
    run: Mutex<RunState>,
    changed: Notify,
}

impl SharedRunState {
    /// Changes it, and wakes its waiters.
    pub(crate) fn change(&self, change: impl FnOnce(&mut RunState)) {
        change(&mut self.lock());
        self.changed.notify_waiters();
    }

    /// Returns what `look` finds in the state.
    pub(crate) fn is<T>(&self, look: impl FnOnce(&RunState) -> T) -> T {
        look(&self.lock())
    }

    /// Has the turn stop, for this reason or a later one.
    pub(crate) fn stop(&self, reason: StopReason) {
        self.change(|run| run.stop = run.stop.max(Some(reason)));
    }

    /// Resolves when `is_so` holds.
    pub(crate) async fn until(&self, is_so: impl Fn(&RunState) -> bool) {
        loop {
            // Subscribes to changes before it checks the state.
            let changed = self.changed.notified();
            if is_so(&self.lock()) {
                return;
            }
            changed.await;
        }
    }

    /// No code under this lock panics half-way, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, RunState> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
