//! Hint on how to continue for a caller that stops waiting.

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use a2a_client::Client;
use a2a_types::{ListTasksRequest, MessageId, Task, TaskId};

use crate::agent::AgentArgs;
use crate::failure::Failure;
use crate::interrupt;

/// A sent message and its task, if known: for a caller that stops waiting.
pub(crate) struct Sent {
    /// The agent as an option names it.
    agent: String,
    /// Limit on the time of the whole command.
    limit: Option<Duration>,
    /// Client and id of the message, once it is sent.
    to: OnceCell<(Client, MessageId)>,
    task: Cell<Option<TaskId>>,
}

impl Sent {
    pub(crate) fn new(agent: &AgentArgs) -> Self {
        Self {
            agent: agent.as_option(),
            limit: agent.timeout(),
            to: OnceCell::new(),
            task: Cell::default(),
        }
    }

    /// Notes that the message is about to be sent.
    pub(crate) fn begin(&self, client: &Client, message: MessageId, task: Option<TaskId>) {
        if self.to.set((client.clone(), message)).is_ok() {
            self.task.set(task);
        }
    }

    /// Notes the task that the agent has named.
    pub(crate) fn is_about(&self, task: &TaskId) {
        self.task.set(Some(task.clone()));
    }

    /// Runs a command. When it is interrupted, or takes too long, the error says how to continue.
    pub(crate) async fn watch(
        &self,
        work: impl Future<Output = Result<(), Failure>>,
    ) -> Result<(), Failure> {
        let why = tokio::select! {
            biased;
            () = interrupt::first() => Failure::Interrupted,
            why = self.too_late() => why,
            outcome = work => return outcome,
        };
        let Some((client, message)) = self.to.get() else {
            return Err(why);
        };
        let hint = match self.task(client, message).await {
            Some(task) => {
                format!(
                    "the task continues: follow it with a2a task get {} --wait {task}",
                    self.agent
                )
            }
            None => format!(
                "the agent may have received the message: `a2a task list {}` shows its tasks",
                self.agent
            ),
        };
        Err(Failure::Left {
            why: Box::new(why),
            hint,
        })
    }

    async fn too_late(&self) -> Failure {
        let Some(limit) = self.limit else {
            return std::future::pending().await;
        };
        tokio::time::sleep(limit).await;
        Failure::TimedOut(limit)
    }

    /// Returns the task. If the agent has not named it yet, looks for the message in the histories of
    /// the tasks it lists.
    async fn task(&self, client: &Client, message: &MessageId) -> Option<TaskId> {
        if let Some(task) = self.task.take() {
            return Some(task);
        }
        let list = client.list_tasks(ListTasksRequest {
            history_length: Some(HISTORY),
            ..ListTasksRequest::default()
        });
        let list = tokio::time::timeout(PATIENCE, list).await.ok()?.ok()?;
        let holds = |task: &&Task| {
            let mut history = task.history.iter();
            history.any(|known| known.message_id == *message)
        };
        Some(list.tasks.iter().find(holds)?.id.clone())
    }
}

/// Number of recent messages of each task that are searched.
const HISTORY: u32 = 10;

/// Deadline of that search.
const PATIENCE: Duration = Duration::from_secs(2);
