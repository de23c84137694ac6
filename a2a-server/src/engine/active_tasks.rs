//! Registry of active tasks, with the messages that wait for their next turn.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_types::TaskId;
use tokio::sync::{oneshot, watch};

use crate::engine::agent_call::ErasedAgent;
use crate::engine::pending_message::PendingMessage;
use crate::engine::task_writer::TaskWriter;
use crate::store::{NameMap, Owner, TaskKey};

/// The runs in progress, and the agent that they call.
pub(crate) struct ActiveTasks {
    pub(crate) agent: Arc<dyn ErasedAgent>,
    /// Time within which the agent must stop when asked to.
    pub(crate) cancel_grace: Duration,
    running: Mutex<RunTable>,
    /// Number of runs in progress; its receivers are woken when it falls to zero.
    count: watch::Sender<usize>,
}

impl ActiveTasks {
    pub(crate) fn new(agent: Arc<dyn ErasedAgent>, cancel_grace: Duration) -> Self {
        Self {
            agent,
            cancel_grace,
            running: Mutex::default(),
            count: watch::Sender::default(),
        }
    }

    /// Resolves when no run is in progress.
    pub(crate) async fn idle(&self) {
        // The sender is ours.
        drop(self.count.subscribe().wait_for(|count| *count == 0).await);
    }

    /// Stops every run in progress and every later one immediately; their tasks are left to the
    /// next writer.
    pub(crate) fn stop(&self) {
        self.lock().stop();
    }

    /// The writer of the task, if a run is in progress.
    pub(crate) fn running(&self, owner: &Owner, task: &TaskId) -> Option<Arc<TaskWriter>> {
        self.lock().find(owner, task).cloned()
    }

    /// Makes `writer` the writer of its task; if the task has a writer already, returns that one.
    pub(crate) fn claim(&self, writer: &Arc<TaskWriter>) -> Result<(), Arc<TaskWriter>> {
        self.lock().claim(writer)
    }

    /// Takes a place for a message in the queue of a busy task: the run does not end before the
    /// reservation is confirmed or dropped.
    pub(crate) fn queue(
        &self,
        writer: &TaskWriter,
        pending: Arc<PendingMessage>,
    ) -> Result<QueueReservation, QueueRefusal> {
        let mut running = self.lock();
        let busy = running.of(writer).ok_or(QueueRefusal::RunIsOver)?;
        if busy.waiting.len() >= MAX_WAITING {
            return Err(QueueRefusal::Full);
        }
        let (confirmed, reservation) = oneshot::channel();
        busy.waiting.push_back(QueuedMessage {
            pending,
            reservation: Ok(reservation),
        });
        Ok(QueueReservation(confirmed))
    }

    /// Counts a run that has begun.
    pub(crate) fn count_in(&self) {
        self.count.send_if_modified(|count| {
            *count += 1;
            false
        });
    }

    /// Counts a run that has ended.
    pub(crate) fn count_out(&self) {
        self.count.send_if_modified(|count| {
            *count -= 1;
            *count == 0 && self.count.receiver_count() > 0
        });
    }

    /// Returns whether a message waits for the next turn.
    pub(crate) fn is_awaited(&self, writer: &TaskWriter) -> bool {
        let mut running = self.lock();
        running.of(writer).is_some_and(|it| !it.waiting.is_empty())
    }

    /// Ends a run even if messages wait for its next turn: they are in the history, for the next run.
    pub(crate) fn forget(&self, writer: &TaskWriter) {
        self.lock().end(writer, |_| true);
    }

    /// The first message that waits and is in the history, with its number there.
    pub(crate) async fn next(&self, writer: &TaskWriter) -> Option<Arc<PendingMessage>> {
        loop {
            let mut first = self.lock().of(writer)?.waiting.pop_front()?;
            let number = match first.reservation {
                Ok(reservation) => reservation.await.ok(),
                Err(number) => Some(number),
            };
            if let Some(number) = number {
                Arc::make_mut(&mut first.pending).number = number;
                return Some(first.pending);
            }
        }
    }

    /// Puts a message back to the head of the queue.
    pub(crate) fn put_back(&self, writer: &TaskWriter, pending: Arc<PendingMessage>) {
        if let Some(run) = self.lock().of(writer) {
            let reservation = Err(pending.number);
            run.waiting.push_front(QueuedMessage {
                pending,
                reservation,
            });
        }
    }

    /// Ends the run, unless a message came in between.
    pub(crate) fn leave(&self, writer: &TaskWriter) -> bool {
        self.lock().end(writer, |run| run.waiting.is_empty())
    }

    /// No code under this lock panics half-way, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, RunTable> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the queue of a busy task; given up unless it is confirmed.
pub(crate) struct QueueReservation(oneshot::Sender<usize>);

impl QueueReservation {
    /// The message is in the history now, under this number.
    pub(crate) fn confirm(self, number: usize) {
        // A run that is over has no use for it.
        let _ = self.0.send(number);
    }
}

/// Reason why a message cannot wait for its turn.
pub(crate) enum QueueRefusal {
    /// The run ended in between.
    RunIsOver,
    /// Too many messages wait already.
    Full,
}

/// Maximum number of messages that wait for a task's next turn.
const MAX_WAITING: usize = 64;

/// The runs in progress, by owner and task id.
#[derive(Default)]
struct RunTable {
    runs: NameMap<TaskKey, ActiveRun>,
    /// `true` if runs are stopped when they begin.
    stopped: bool,
}

/// A run of turns on one task, and the messages that came meanwhile.
struct ActiveRun {
    writer: Arc<TaskWriter>,
    waiting: VecDeque<QueuedMessage>,
}

/// A queued message: reserved, or in the history of the task under a number.
struct QueuedMessage {
    pending: Arc<PendingMessage>,
    reservation: Result<oneshot::Receiver<usize>, usize>,
}

impl RunTable {
    /// Stops every run in progress and every later one.
    fn stop(&mut self) {
        self.stopped = true;
        self.runs.values().for_each(|running| running.writer.lose());
    }

    /// The writer of a task, if a run is in progress.
    fn find(&self, owner: &Owner, task: &TaskId) -> Option<&Arc<TaskWriter>> {
        let found = self.runs.get(&(owner.clone(), task.clone()))?;
        Some(&found.writer)
    }

    /// Makes `writer` the writer of its task; if the task has a writer already, returns that one.
    fn claim(&mut self, writer: &Arc<TaskWriter>) -> Result<(), Arc<TaskWriter>> {
        match self.runs.entry(key(writer)) {
            Entry::Occupied(busy) => Err(Arc::clone(&busy.get().writer)),
            Entry::Vacant(free) => {
                if self.stopped {
                    writer.lose();
                }
                free.insert(ActiveRun {
                    writer: Arc::clone(writer),
                    waiting: VecDeque::new(),
                });
                Ok(())
            }
        }
    }

    /// The run of this very writer, unless it is over.
    fn of(&mut self, writer: &TaskWriter) -> Option<&mut ActiveRun> {
        let run = self.runs.get_mut(&key(writer))?;
        run.is_of(writer).then_some(run)
    }

    /// Ends the run of this very writer if `if_so` holds; returns whether the run is over.
    fn end(&mut self, writer: &TaskWriter, if_so: impl FnOnce(&ActiveRun) -> bool) -> bool {
        match self.runs.entry(key(writer)) {
            Entry::Occupied(run) if run.get().is_of(writer) => {
                let ends = if_so(run.get());
                if ends {
                    run.remove();
                }
                ends
            }
            _ => true,
        }
    }
}

impl ActiveRun {
    fn is_of(&self, writer: &TaskWriter) -> bool {
        std::ptr::eq(&*self.writer, writer)
    }
}

fn key(writer: &TaskWriter) -> TaskKey {
    (writer.owner().clone(), writer.task_id().clone())
}

#[cfg(test)]
mod tests {
    use a2a_transport::Principal;
    use a2a_types::{ProtocolVersion, Task};

    use super::*;
    use crate::engine::store_handle::StoreHandle;
    use crate::store::{MemoryStore, Snapshot, TimedStore};

    #[test]
    fn a_run_that_begins_when_all_are_stopped_is_stopped_too() {
        let store = TimedStore::untimed(Arc::new(MemoryStore::default()));
        let store_handle = StoreHandle::new(store, Duration::ZERO, false, false, false);
        let known = Snapshot::new(
            Task::submitted("t".into(), "c".into()).into(),
            1,
            ProtocolVersion::V1_0,
        );
        let owner = Owner::from(Principal::named("ada"));
        let writer = Arc::new(TaskWriter::for_known(store_handle.into(), owner, &known));
        let mut runs = RunTable::default();
        runs.stop();
        runs.claim(&writer).expect("a free task");
        assert!(writer.is_lost());
    }
}
