//! Maintenance: leases renewed, orphans recovered, old tasks removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use a2a_transport::Context;
use a2a_types::{SendMessageRequest, TaskState};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::engine::active_tasks::ActiveTasks;
use crate::engine::limiter::Limiter;
use crate::engine::pending_message::{PendingMessage, Resumed};
use crate::engine::renewals::Renewals;
use crate::engine::store_handle::StoreHandle;
use crate::engine::task_run::TaskRun;
use crate::engine::task_writer::TaskWriter;
use crate::engine::turn_end::close;
use crate::engine::update::UpdateError;
use crate::store::limits::is_active;
use crate::store::{Orphan, Owner, Retention, Snapshot, StoreError};

/// Treatment of tasks whose process ended before they did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Recovery {
    /// They fail, and their status says why. Side effects of the agent are not repeated without a
    /// request.
    #[default]
    Fail,
    /// The agent takes the turn again; [`Turn::resumed`](crate::Turn::resumed) shows that.
    Resume,
}

/// Periodic work, and whether it has begun.
pub(crate) struct Maintenance {
    pub(crate) store_handle: Arc<StoreHandle>,
    pub(crate) active: Arc<ActiveTasks>,
    pub(crate) limiter: Arc<Limiter>,
    pub(crate) recovery: Recovery,
    pub(crate) retention: Retention,
    pub(crate) renewals: Renewals,
    /// No more turns begin.
    pub(crate) closing: CancellationToken,
    pub(crate) closed: CancellationToken,
    pub(crate) begun: AtomicBool,
}

impl Maintenance {
    /// Begins the work, unless it has begun; returns whether it begins now. It ends when the server closes
    /// or is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> bool {
        if self.begun.swap(true, Ordering::Relaxed) {
            return false;
        }
        let part_of_term =
            |part: u32| (self.store_handle.term / part).max(Duration::from_millis(10));
        // Three renewals per term, so that one may be late.
        self.repeat(part_of_term(3), Self::renew_leases);
        // A task is taken over at most six fifths of a term after the last renewal of its lease.
        self.repeat(part_of_term(5), Self::recover_orphans);
        self.repeat(SWEEP_EVERY, Self::forget_old_tasks);
        true
    }

    /// Runs a function at an interval in its own tokio task, so that slow work does not delay other
    /// work.
    fn repeat<F>(self: &Arc<Self>, period: Duration, job: fn(Arc<Self>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let maintenance = Arc::downgrade(self);
        let mut beat = interval(period);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tokio::spawn(async move {
            loop {
                beat.tick().await;
                match maintenance.upgrade().filter(|it| !it.closed.is_cancelled()) {
                    Some(it) => job(it).await,
                    None => return,
                }
            }
        });
    }

    async fn renew_leases(self: Arc<Self>) {
        let StoreHandle {
            store,
            holder,
            term,
            ..
        } = &*self.store_handle;
        match store.renew(holder, *term).await {
            Ok(()) => self.renewals.note(*term),
            Err(error) => warn(&error, "could not prolong leases"),
        }
    }

    async fn recover_orphans(self: Arc<Self>) {
        if self.closing.is_cancelled() {
            return;
        }
        let asked = Instant::now();
        let orphans = self.store_handle.store.orphans(MAX_ORPHANS_AT_ONCE).await;
        match orphans {
            Ok(_) if !self.finds_abandoned_tasks(asked) => {}
            Ok(orphans) => {
                for orphan in orphans {
                    self.recover(orphan).await;
                }
            }
            Err(error) => warn(&error, "could not look for abandoned tasks"),
        }
    }

    /// Returns whether tasks are abandoned whose leases had expired by an answer of the store to a query sent at `asked`.
    /// No other server holds leases in a store that is not shared.
    pub(crate) fn finds_abandoned_tasks(&self, asked: Instant) -> bool {
        let StoreHandle { store, term, .. } = &*self.store_handle;
        store.shared().is_none() || self.renewals.are_steady(asked, *term)
    }

    async fn forget_old_tasks(self: Arc<Self>) {
        match self.store_handle.store.sweep(self.retention).await {
            Ok(0) => {}
            Ok(count) => tracing::debug!(count, "forgot old tasks"),
            Err(error) => warn(&error, "could not forget old tasks"),
        }
    }

    /// Takes over an abandoned task, unless it is worked on here, is settled, or another process is faster.
    pub(crate) async fn recover(self: &Arc<Self>, orphan: Orphan) {
        // The lease expired between two renewals, but the task is still active here.
        let Orphan { owner, task, .. } = &orphan;
        if self.active.running(owner, task).is_some() {
            return;
        }
        let snapshot = match self.store_handle.store.snapshot(owner, task).await {
            Ok(Some(snapshot)) if needs_agent(&snapshot) => snapshot,
            // It has ended meanwhile, or waits for its caller.
            Ok(_) => return,
            Err(error) => return warn(&error, "could not read an abandoned task"),
        };
        let store_handle = Arc::clone(&self.store_handle);
        let writer = TaskWriter::for_known(store_handle, owner.clone(), &snapshot);
        let writer = Arc::new(writer);
        let Ok(run) = TaskRun::claim(&self.active, &writer) else {
            return;
        };
        match writer.take_over().await {
            Ok(()) => {
                tracing::info!(%task, recovery = ?self.recovery, "found an abandoned task")
            }
            Err(error) => {
                // Another writer was faster.
                return tracing::debug!(%task, %error, "did not take an abandoned task");
            }
        }
        let pending = match self.recovery {
            // Its turn is over: another one begins, which repeats nothing.
            _ if snapshot.task.status.state.is_interrupted() => match run.next_turn().await {
                Ok(Some(pending)) => pending,
                Ok(None) | Err(_) => return drop(writer.hand_back().await),
            },
            Recovery::Fail => {
                let text = failure(&snapshot);
                let failed = close(&writer, TaskState::Failed, Some(&text)).await;
                if let Err(UpdateError::Store(error)) = failed {
                    warn(&error, "could not end an abandoned task");
                }
                return;
            }
            Recovery::Resume => Arc::new(resumed(owner, snapshot)),
        };
        let limiter = Arc::clone(&self.limiter);
        // It may take long until there is room for another turn; the task is not held meanwhile.
        tokio::spawn(async move {
            let permit = limiter.wait(None).await;
            run.start(pending, permit);
        });
    }
}

/// Returns whether an agent has to work on a task.
fn needs_agent(snapshot: &Snapshot) -> bool {
    let state = snapshot.task.status.state;
    is_active(state, snapshot.turn, snapshot.messages())
}

/// Returns the message whose turn was interrupted. The messages after it get their turns when that one is over.
fn resumed(owner: &Owner, snapshot: Snapshot) -> PendingMessage {
    let pending = PendingMessage::from_history(owner, &snapshot, snapshot.turn);
    let pending = pending.unwrap_or_else(|| {
        let context = Context::new(snapshot.protocol_version);
        PendingMessage::new(SendMessageRequest::default(), context)
    });
    let checkpoint = snapshot.checkpoint;
    PendingMessage {
        resumed: Some(Resumed { checkpoint }.into()),
        ..pending
    }
}

/// Message of a task that fails because its turn was interrupted.
fn failure(snapshot: &Snapshot) -> String {
    let text = "The agent's process ended before it had answered, and the task was not resumed.";
    match snapshot.messages() - snapshot.turn.min(snapshot.messages()) {
        0 => text.to_owned(),
        1 => format!("{text} The last message was not worked on."),
        waiting => format!("{text} The last {waiting} messages were not worked on."),
    }
}

/// Maximum number of abandoned tasks recovered in one go.
const MAX_ORPHANS_AT_ONCE: usize = 1000;
/// Interval at which old tasks are removed. They may be kept that much longer than configured, and the
/// number kept may exceed its limit by the tasks that end meanwhile.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

fn warn(error: &StoreError, what: &str) {
    tracing::warn!(error = error as &dyn std::error::Error, "{what}");
}
