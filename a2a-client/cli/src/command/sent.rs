//! A message that was sent, and what is known of its task.

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use a2a_client::{Client, Error, Phase};
use a2a_types::{ListTasksRequest, MessageId, Task, TaskId};

use crate::exit::{Code, Failure};
use crate::interrupt;
use crate::show::text;

/// A message that was sent, and what is known of its task: for a caller who stops waiting.
pub(crate) struct Sent {
    /// The agent as the caller names it.
    agent: String,
    /// How long the whole command may take.
    limit: Option<Duration>,
    /// Whom it was sent to, once it is.
    to: OnceCell<(Client, MessageId)>,
    task: Cell<Option<TaskId>>,
}

impl Sent {
    pub(crate) fn new(agent: &str, limit: Option<Duration>) -> Self {
        Self {
            agent: agent.to_owned(),
            limit,
            to: OnceCell::new(),
            task: Cell::default(),
        }
    }

    /// The message is about to be sent.
    pub(crate) fn begin(&self, client: &Client, message: MessageId, task: Option<TaskId>) {
        if self.to.set((client.clone(), message)).is_ok() {
            self.task.set(task);
        }
    }

    /// The agent has named the task.
    pub(crate) fn is_about(&self, task: &TaskId) {
        self.task.set(Some(task.clone()));
    }

    /// Does the work. When it is interrupted, or takes too long, the caller is told how to go on.
    pub(crate) async fn watch(
        &self,
        work: impl Future<Output = Result<Code, Failure>>,
    ) -> Result<Code, Failure> {
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
                let task = text(task.as_str());
                format!("the task goes on: a2a subscribe {} {task}", self.agent)
            }
            None => "the agent has named no task yet, and may go on".to_owned(),
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
        let phase = Phase::Deadline;
        Error::Timeout { phase, limit }.into()
    }

    /// The task; if the agent has not named it yet, the one whose history holds the message, from agents
    /// that list tasks.
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

/// How many of the last messages of each task are looked at.
const HISTORY: u32 = 10;

/// How long the caller waits for that who wants to go.
const PATIENCE: Duration = Duration::from_secs(2);
