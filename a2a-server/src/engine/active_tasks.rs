//! Tasks that are being worked on, and the messages that wait for their next turn.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_types::TaskId;
use ahash::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use tokio::sync::{oneshot, watch};

use crate::engine::pending_message::Heard;
use crate::engine::task_writer::Runner;
use crate::store::Owner;

/// The runs in progress, and how many there are.
#[derive(Default)]
pub(crate) struct ActiveTasks {
    running: Mutex<Runs>,
    /// How many runs are in progress; tells when there is none.
    count: watch::Sender<usize>,
}

impl ActiveTasks {
    /// Resolves when no run is in progress.
    pub(crate) async fn idle(&self) {
        // The sender is ours.
        drop(self.count.subscribe().wait_for(|count| *count == 0).await);
    }

    /// Stops every run where it stands, and those to come; their tasks are left to whoever comes next.
    pub(crate) fn stop(&self) {
        self.lock().stop();
    }

    /// The runner of the task, if a run is in progress.
    pub(crate) fn running(&self, owner: &Owner, task: &TaskId) -> Option<Arc<Runner>> {
        self.lock().find(owner, task).cloned()
    }

    /// Makes `runner` the one of its task; if there is one already, yields that instead.
    pub(crate) fn claim(&self, runner: &Arc<Runner>) -> Result<(), Arc<Runner>> {
        self.lock().claim(runner)
    }

    /// Takes a place for a message in the queue of a busy task: the run does not end before the
    /// ticket is confirmed or dropped.
    pub(crate) fn queue(&self, runner: &Runner, heard: Arc<Heard>) -> Result<Ticket, NoPlace> {
        let mut running = self.lock();
        let busy = running.of(runner).ok_or(NoPlace::RunIsOver)?;
        if busy.waiting.len() >= MOST_WAITING {
            return Err(NoPlace::Crowded);
        }
        let (confirmed, ticket) = oneshot::channel();
        busy.waiting.push_back(Waiting { heard, ticket });
        Ok(Ticket(confirmed))
    }

    /// One more run is in progress.
    pub(crate) fn count_in(&self) {
        self.count.send_if_modified(|count| {
            *count += 1;
            false
        });
    }

    /// One less is.
    pub(crate) fn count_out(&self) {
        self.count.send_if_modified(|count| {
            *count -= 1;
            *count == 0 && self.count.receiver_count() > 0
        });
    }

    /// Whether a message waits for the next turn.
    pub(crate) fn is_awaited(&self, runner: &Runner) -> bool {
        let mut running = self.lock();
        running.of(runner).is_some_and(|it| !it.waiting.is_empty())
    }

    /// Ends a run, whoever waits for its next turn: they are in the history.
    pub(crate) fn forget(&self, runner: &Runner) {
        self.lock().end(runner, |_| true);
    }

    /// The first message that waits and is in the history.
    pub(crate) async fn next(&self, runner: &Runner) -> Option<Arc<Heard>> {
        loop {
            let first = self.lock().of(runner)?.waiting.pop_front()?;
            if first.ticket.await.is_ok() {
                return Some(first.heard);
            }
        }
    }

    /// Ends the run, unless a message came in between.
    pub(crate) fn leave(&self, runner: &Runner) -> bool {
        self.lock().end(runner, |run| run.waiting.is_empty())
    }

    /// Nothing that is done under the lock can panic half-way.
    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the queue of a busy task; given up unless it is confirmed.
pub(crate) struct Ticket(oneshot::Sender<()>);

impl Ticket {
    /// The message is in the history now.
    pub(crate) fn confirm(self) {
        // A run that is over has no use for it.
        let _ = self.0.send(());
    }
}

/// Why a message cannot wait for its turn.
pub(crate) enum NoPlace {
    /// The run ended in between.
    RunIsOver,
    /// Too many wait already.
    Crowded,
}

/// How many messages may wait for a task's next turn.
const MOST_WAITING: usize = 64;

/// The runs in progress, found by whose tasks they work on and by the names of those.
#[derive(Default)]
struct Runs {
    hasher: RandomState,
    runs: HashTable<Running>,
    /// Whether runs are stopped when they begin.
    stopped: bool,
}

/// A run of turns on one task, and the messages that came meanwhile.
struct Running {
    runner: Arc<Runner>,
    waiting: VecDeque<Waiting>,
}

/// A message that will be in the task's history when its ticket says so.
struct Waiting {
    heard: Arc<Heard>,
    ticket: oneshot::Receiver<()>,
}

impl Runs {
    /// Stops every run, and those to come.
    fn stop(&mut self) {
        self.stopped = true;
        self.runs.iter().for_each(|running| running.runner.lose());
    }

    /// The runner of a task, if a run is in progress.
    fn find(&self, owner: &Owner, task: &TaskId) -> Option<&Arc<Runner>> {
        let hash = self.hasher.hash_one((owner, task));
        let found = self.runs.find(hash, |it| it.works_on(owner, task))?;
        Some(&found.runner)
    }

    /// Makes `runner` the one of its task; if there is one already, yields that instead.
    fn claim(&mut self, runner: &Arc<Runner>) -> Result<(), Arc<Runner>> {
        let (owner, task) = (runner.owner(), runner.task_id());
        let of_task = |running: &Running| running.works_on(owner, task);
        let hasher = &self.hasher;
        let rehash = |it: &Running| hash(hasher, &it.runner);
        match self.runs.entry(hash(hasher, runner), of_task, rehash) {
            Entry::Occupied(busy) => Err(Arc::clone(&busy.get().runner)),
            Entry::Vacant(free) => {
                if self.stopped {
                    runner.lose();
                }
                free.insert(Running {
                    runner: Arc::clone(runner),
                    waiting: VecDeque::new(),
                });
                Ok(())
            }
        }
    }

    /// The run of this very runner, unless it is over.
    fn of(&mut self, runner: &Runner) -> Option<&mut Running> {
        let hash = hash(&self.hasher, runner);
        self.runs.find_mut(hash, |it| it.is_of(runner))
    }

    /// Ends the run of this very runner, if that is right; whether it is over.
    fn end(&mut self, runner: &Runner, if_so: impl FnOnce(&Running) -> bool) -> bool {
        let hash = hash(&self.hasher, runner);
        match self.runs.find_entry(hash, |it| it.is_of(runner)) {
            Ok(running) if !if_so(running.get()) => false,
            Ok(running) => {
                running.remove();
                true
            }
            Err(_) => true,
        }
    }
}

impl Running {
    fn works_on(&self, owner: &Owner, task: &TaskId) -> bool {
        self.runner.task_id() == task && self.runner.owner() == owner
    }

    fn is_of(&self, runner: &Runner) -> bool {
        std::ptr::eq(&*self.runner, runner)
    }
}

fn hash(hasher: &RandomState, runner: &Runner) -> u64 {
    hasher.hash_one((runner.owner(), runner.task_id()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use a2a_transport::Principal;
    use a2a_types::{Dialect, Task};

    use super::*;
    use crate::engine::store_handle::Ledger;
    use crate::store::{MemoryStore, Snapshot, TaskShare};

    #[test]
    fn a_run_that_begins_when_all_are_stopped_is_stopped_too() {
        let store = Arc::new(MemoryStore::default());
        let ledger = Ledger::new(store, Duration::ZERO, false, false, false);
        let known = Snapshot {
            task: Task::submitted("t".into(), "c".into()).into(),
            generation: 1,
            dialect: Dialect::V1_0,
            checkpoint: None,
            share: TaskShare::default(),
        };
        let owner = Owner::from(Principal::named("ada"));
        let runner = Arc::new(Runner::for_known(ledger.into(), owner, &known));
        let mut runs = Runs::default();
        runs.stop();
        runs.claim(&runner).expect("a free task");
        assert!(runner.is_lost());
    }
}
