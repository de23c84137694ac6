//! The engine: from an accepted message to the end of its task.
//!
//! ```text
//! admission ──► idempotency (message_digest), limiter, new_task
//!     │
//!     ▼
//! task_run ──► agent_call: the agent's code, one turn at a time
//!     │  └───► turn_end: what is written between turns
//!     ▼
//! active_tasks ──► task_writer (run_state, chunk_buffer) ──► log_writer ──► store_handle ──► Store
//!
//! outcome ──► task_writer          the answer to a caller that waits
//! follower ──► fanout ──► Store    the events of a task, for its followers
//! cancellation ──► task_writer     here, or by a command to the server that works on the task
//! maintenance ──► task_run         leases, orphans, retention
//! received_messages, remote_tasks ──► SharedStore   messages and tasks that another server has
//! command_queue ──► admission      commands of other servers
//! ```
//!
//! Imports point one way: the tests of the repository find circles. A task is written by its `task_writer` alone.

pub(crate) mod active_tasks;
pub(crate) mod admission;
pub(crate) mod agent_call;
pub(crate) mod cancellation;
pub(crate) mod chunk_buffer;
pub(crate) mod command_queue;
mod error;
pub(crate) mod fanout;
pub(crate) mod follower;
pub(crate) mod idempotency;
pub(crate) mod limiter;
pub(crate) mod log_writer;
pub(crate) mod maintenance;
pub(crate) mod message_digest;
pub(crate) mod new_task;
pub(crate) mod outcome;
pub(crate) mod pending_message;
pub(crate) mod received_messages;
pub(crate) mod remote_tasks;
pub(crate) mod renewals;
pub(crate) mod run_state;
pub(crate) mod store_handle;
pub(crate) mod task_run;
pub(crate) mod task_writer;
pub(crate) mod turn_end;
pub(crate) mod update;

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::{Error, Update};
use a2a_types::{Error as A2aError, ErrorKind, TaskId, TaskState};
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::engine::active_tasks::ActiveTasks;
use crate::engine::follower::{FirstUpdate, follow, stuck};
use crate::engine::idempotency::InFlightSends;
use crate::engine::limiter::Limiter;
use crate::engine::maintenance::Maintenance;
use crate::engine::outcome::{Accepted, LogPosition};
use crate::engine::run_state::{Phase, RunState};
use crate::engine::store_handle::StoreHandle;
use crate::store::limits::size_of_task;
use crate::store::{Owner, Snapshot, TaskBudget, TaskShare, TimedStore};

/// The parts of the engine, and how long it waits.
pub(crate) struct Engine {
    pub(crate) store_handle: Arc<StoreHandle>,
    /// Large tasks that are copied for answers.
    pub(crate) copies: TaskBudget,
    pub(crate) active: Arc<ActiveTasks>,
    pub(crate) limiter: Arc<Limiter>,
    pub(crate) in_flight_sends: InFlightSends,
    pub(crate) maintenance: Arc<Maintenance>,
    /// No more messages are taken.
    pub(crate) closing: CancellationToken,
    /// Streams end.
    pub(crate) closed: CancellationToken,
    pub(crate) blocking_timeout: Duration,
    pub(crate) first_event_timeout: Duration,
}

impl Engine {
    pub(crate) fn store(&self) -> &TimedStore {
        &self.store_handle.store
    }

    pub(crate) async fn find(
        &self,
        task: &TaskId,
        owner: &Owner,
    ) -> Result<Option<Snapshot>, A2aError> {
        let found = self.store().snapshot(owner, task).await?;
        // The snapshot may be used for long, so it holds no share of the budget; `snapshot_to_copy`
        // keeps one for answers.
        Ok(found.map(|snapshot| Snapshot {
            share: TaskShare::default(),
            ..snapshot
        }))
    }

    /// A task of which an answer has a copy: a large one waits until the copies of others have been written.
    pub(crate) async fn snapshot_to_copy(
        &self,
        task: &TaskId,
        owner: &Owner,
    ) -> Result<Snapshot, A2aError> {
        let snapshot = self.store().snapshot(owner, task).await?;
        let snapshot = snapshot.ok_or_else(|| A2aError::from(ErrorKind::TaskNotFound))?;
        let bytes = size_of_task(&snapshot.task);
        if bytes <= TaskBudget::SMALL || !snapshot.share.is_empty() {
            return Ok(snapshot);
        }
        // The task changes while the caller waits, so the caller holds no snapshot.
        drop(snapshot);
        let again = async {
            let share = self.copies.take(bytes).await?;
            let snapshot = self.snapshot(task, owner).await?;
            Ok(Snapshot { share, ..snapshot })
        };
        // Rare. Boxed, so that it does not enlarge the future of every answer.
        Box::pin(again).await
    }

    pub(crate) async fn snapshot(
        &self,
        task: &TaskId,
        owner: &Owner,
    ) -> Result<Snapshot, A2aError> {
        self.find(task, owner)
            .await?
            .ok_or_else(|| ErrorKind::TaskNotFound.into())
    }

    /// Streams the first update, then all events of a task after a sequence number (`after`).
    pub(crate) async fn follow(
        &self,
        task: TaskId,
        first: Option<FirstUpdate>,
        after: u64,
        owner: &Owner,
        ends: fn(TaskState) -> bool,
    ) -> Result<impl Stream<Item = Result<Update, Error>> + Send + 'static, A2aError> {
        let store = self.store_handle.store.clone();
        let running = self.active.running(owner, &task);
        if let Some(failure) = running.and_then(|writer| writer.run_state().is(|run| run.stuck)) {
            return Err(stuck(failure));
        }
        let changes = store.watch(owner, &task).await?;
        let fanouts = &self.store_handle.fanouts;
        let fanout = fanouts.join(owner.clone(), task, &changes);
        let closed = self.closed.clone();
        Ok(follow(store, fanout, changes, first, after, ends, closed))
    }

    /// Waits until `enough` holds, here or, if the run is over before that, until the log settles the task.
    pub(crate) async fn wait(
        &self,
        accepted: &Accepted,
        from: &LogPosition,
        owner: &Owner,
        enough: impl Fn(&RunState) -> bool,
    ) -> Result<(), A2aError> {
        match accepted {
            Accepted::Run { writer, .. } => {
                let run_state = writer.run_state();
                let over = |run: &RunState| {
                    enough(run) || run.phase == Phase::Ended || run.stuck.is_some()
                };
                run_state.until(over).await;
                if accepted.stuck().is_some() {
                    return Ok(());
                }
                if run_state.is(enough) {
                    return Ok(());
                }
            }
            Accepted::Known(_) if from.is_settled => return Ok(()),
            Accepted::Known(_) => {}
        }
        let id = from.task.clone();
        let updates = self
            .follow(id, None, from.sequence, owner, TaskState::is_settled)
            .await?;
        let mut updates = std::pin::pin!(updates);
        while let Some(Ok(update)) = updates.next().await {
            let state = update.event.status().map(|status| status.state);
            if state.is_some_and(TaskState::is_settled) {
                break;
            }
        }
        Ok(())
    }
}
