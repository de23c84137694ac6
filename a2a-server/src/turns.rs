//! The turns in progress: who runs them, and how each ends.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_transport::Principal;
use a2a_types::{Message, SendMessageConfiguration, TaskId, TaskState};

use crate::agent::ErasedAgent;
use crate::runner::Runner;
use crate::turn::{Turn, UpdateError};

/// Runs the agent's turns, apart from any caller: nobody's disconnecting stops one.
pub(crate) struct Turns {
    agent: Arc<dyn ErasedAgent>,
    cancel_grace: Duration,
    running: Mutex<HashMap<Key, Running>>,
}

type Key = (Principal, TaskId);

/// A run of turns on one task, and the messages that came meanwhile.
struct Running {
    runner: Arc<Runner>,
    waiting: Vec<Heard>,
}

/// A message that is in the task's history, and how its sender wants to be answered.
pub(crate) struct Heard {
    pub(crate) message: Message,
    pub(crate) configuration: SendMessageConfiguration,
}

impl Turns {
    pub(crate) fn new(agent: Arc<dyn ErasedAgent>, cancel_grace: Duration) -> Self {
        Self {
            agent,
            cancel_grace,
            running: Mutex::default(),
        }
    }

    /// The runner of the task, if a run is in progress.
    pub(crate) fn running(&self, owner: &Principal, task: &TaskId) -> Option<Arc<Runner>> {
        let key = (owner.clone(), task.clone());
        self.lock()
            .get(&key)
            .map(|running| Arc::clone(&running.runner))
    }

    /// Makes `runner` the one of its task; if there is one already, yields that instead.
    pub(crate) fn claim(&self, runner: &Arc<Runner>) -> Result<(), Arc<Runner>> {
        match self.lock().entry(key(runner)) {
            Entry::Occupied(busy) => Err(Arc::clone(&busy.get().runner)),
            Entry::Vacant(free) => {
                free.insert(Running {
                    runner: Arc::clone(runner),
                    waiting: Vec::new(),
                });
                Ok(())
            }
        }
    }

    /// Gives up a claim that came to nothing.
    pub(crate) fn release(&self, runner: &Runner) {
        self.lock().remove(&key(runner));
        runner.end();
    }

    /// Whether the task's run has no room for another message to wait.
    pub(crate) fn is_crowded(&self, runner: &Runner) -> bool {
        self.lock()
            .get(&key(runner))
            .is_some_and(|running| running.waiting.len() >= MOST_WAITING)
    }

    /// Leaves a message for the turn after the present one; gives it back if the run is over.
    pub(crate) fn leave(&self, runner: &Runner, heard: Heard) -> Result<(), Heard> {
        match self.lock().get_mut(&key(runner)) {
            Some(running) => {
                running.waiting.push(heard);
                Ok(())
            }
            None => Err(heard),
        }
    }

    /// Runs a turn, and further turns for messages that came meanwhile.
    pub(crate) fn start(self: &Arc<Self>, runner: Arc<Runner>, first: Heard) {
        let turns = Arc::clone(self);
        tokio::spawn(async move {
            let mut next = Some(first);
            while let Some(heard) = next {
                turns.run(&runner, heard).await;
                next = turns.next(&runner).await;
            }
            runner.end();
        });
    }

    async fn next(&self, runner: &Runner) -> Option<Heard> {
        let ended = runner
            .task()
            .await
            .map_or(true, |task| task.status.state.is_terminal());
        let over = ended || runner.is_answered();
        let mut running = self.lock();
        let entry = running.get_mut(&key(runner));
        match entry.filter(|running| !over && !running.waiting.is_empty()) {
            Some(running) => Some(running.waiting.remove(0)),
            None => {
                running.remove(&key(runner));
                None
            }
        }
    }

    async fn run(&self, runner: &Arc<Runner>, heard: Heard) {
        let turn = Turn::new(Arc::clone(runner), heard.message, heard.configuration);
        let agent = Arc::clone(&self.agent);
        let mut run = tokio::spawn(async move { agent.run(turn).await });
        let grace_is_over = async {
            runner.canceled().await;
            tokio::time::sleep(self.cancel_grace).await;
        };
        let ended = tokio::select! {
            ended = &mut run => Some(ended),
            () = grace_is_over => {
                run.abort();
                None
            }
        };
        if runner.is_answered() {
            return;
        }
        let closing = match ended {
            _ if runner.is_canceled() => close(runner, TaskState::Canceled, None).await,
            None => Ok(()),
            Some(Ok(Ok(()))) => close(runner, TaskState::Completed, None).await,
            Some(Ok(Err(failure))) => fail(runner, logged(runner, failure.reason())).await,
            Some(Err(panic)) => fail(runner, logged(runner, &panic)).await,
        };
        if let Err(error) = closing {
            tracing::error!(task = %runner.task_id(), error = &error as &dyn std::error::Error, "could not end a turn");
        }
    }

    /// Nothing that is done under the lock can panic half-way.
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many messages may wait for a task's next turn.
const MOST_WAITING: usize = 64;

fn key(runner: &Runner) -> Key {
    (runner.owner().clone(), runner.task_id().clone())
}

/// Gives a task its last status, unless it has one, or the turn ended by waiting for the caller.
pub(crate) async fn close(
    runner: &Runner,
    state: TaskState,
    message: Option<Message>,
) -> Result<(), UpdateError> {
    runner.open().await?;
    let now = runner.task().await?.status.state;
    let settled = now.is_terminal() || (now.is_interrupted() && state == TaskState::Completed);
    match settled {
        true => Ok(()),
        false => runner.status(state, message).await,
    }
}

/// Fails a task: the reason is for the log, the caller gets what finds it there.
async fn fail(runner: &Runner, id: uuid::Uuid) -> Result<(), UpdateError> {
    let message = Message::agent(format!("The agent failed. Correlation id: {id}"));
    close(runner, TaskState::Failed, Some(message)).await
}

/// Logs why a turn failed, under the id that the caller gets.
fn logged(runner: &Runner, reason: &(dyn std::error::Error + 'static)) -> uuid::Uuid {
    let id = uuid::Uuid::new_v4();
    tracing::error!(correlation_id = %id, task = %runner.task_id(), error = reason, "the agent failed");
    id
}
