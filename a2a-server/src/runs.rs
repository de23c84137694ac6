//! Which tasks are being worked on, and what waits for that.

use std::collections::VecDeque;
use std::sync::Arc;

use a2a_types::TaskId;
use ahash::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use tokio::sync::oneshot;

use crate::runner::Runner;
use crate::store::Owner;
use crate::turns::Heard;

/// The runs in progress, found by whose tasks they work on and by the names of those.
#[derive(Default)]
pub(crate) struct Runs {
    hasher: RandomState,
    runs: HashTable<Running>,
    /// Whether runs are stopped when they begin.
    stopped: bool,
}

/// A run of turns on one task, and the messages that came meanwhile.
pub(crate) struct Running {
    runner: Arc<Runner>,
    pub(crate) waiting: VecDeque<Waiting>,
}

/// A message that will be in the task's history when its ticket says so.
pub(crate) struct Waiting {
    pub(crate) heard: Arc<Heard>,
    pub(crate) ticket: oneshot::Receiver<()>,
}

impl Runs {
    /// Stops every run, and those to come.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
        self.runs.iter().for_each(|running| running.runner.lose());
    }

    /// The runner of a task, if a run is in progress.
    pub(crate) fn find(&self, owner: &Owner, task: &TaskId) -> Option<&Arc<Runner>> {
        let hash = self.hasher.hash_one((owner, task));
        let found = self.runs.find(hash, |it| it.works_on(owner, task))?;
        Some(&found.runner)
    }

    /// Makes `runner` the one of its task; if there is one already, yields that instead.
    pub(crate) fn claim(&mut self, runner: &Arc<Runner>) -> Result<(), Arc<Runner>> {
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
    pub(crate) fn of(&mut self, runner: &Runner) -> Option<&mut Running> {
        let hash = hash(&self.hasher, runner);
        self.runs.find_mut(hash, |it| it.is_of(runner))
    }

    /// Ends the run of this very runner, if that is right; whether it is over.
    pub(crate) fn end(&mut self, runner: &Runner, if_so: impl FnOnce(&Running) -> bool) -> bool {
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
    use crate::ledger::Ledger;
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
