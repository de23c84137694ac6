//! The engine of tasks: repeated messages, restarts, waiting callers, retention.

mod atomic_appends;
mod away;
mod damaged_file;
mod deduplication;
mod dropped_updates;
mod faulty_store;
mod full_disk;
mod group_commit;
mod health;
mod metrics;
mod metrics_recorder;
mod owners;
mod panics;
mod restart;
mod retention;
mod streams;
mod turn_limits;
mod webhooks;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_client::{Client, SendMessageResponse};
use a2a_server::{Agent, Failure, MemoryStore, Server, ServerBuilder, Turn, UpdateError};
use a2a_types::{AgentCard, Message, Object, Role, Task, TaskState};
use serde_json::json;
use tokio::sync::{Notify, Semaphore};

use crate::stores;
use crate::waiting::eventually;

/// An agent that does what messages say, and counts its runs.
#[derive(Clone, Default)]
pub(crate) struct Worker {
    pub(crate) runs: Arc<AtomicUsize>,
    pub(crate) begun: Arc<Notify>,
    pub(crate) go_on: Arc<Gate>,
}

/// Shut until it is opened, once for all present and later waiters.
pub(crate) struct Gate(Semaphore);

impl Default for Gate {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

impl Gate {
    pub(crate) fn open(&self) {
        self.0.close();
    }

    pub(crate) async fn passed(&self) {
        // The semaphore never has permits, so this waits until it is closed.
        drop(self.0.acquire().await);
    }
}

impl Agent for Worker {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let text = turn.text();
        let (command, rest) = text.split_once(' ').unwrap_or((&text, ""));
        match command {
            "echo" => turn.artifact("echo").text(rest).finish().await?,
            "reply" => turn.reply(Message::agent(rest)).await?,
            "ask" => turn.ask(rest).await?,
            "wait" => {
                turn.working("waiting").await?;
                self.begun.notify_one();
                tokio::select! {
                    () = self.go_on.passed() => {}
                    () = turn.canceled() => {}
                }
                if rest == "and write" {
                    turn.artifact("written").text("text").finish().await?;
                    turn.checkpoint(Object::new()).await?;
                }
                if rest == "and ask" {
                    turn.ask("which?").await?;
                    std::future::pending::<()>().await;
                }
            }
            // Has no task before it goes on.
            "late" => {
                self.begun.notify_one();
                self.go_on.passed().await;
                turn.artifact("late").text(rest).finish().await?;
            }
            // Is interrupted after the first artifact.
            "draft" => {
                turn.artifact("draft").text(rest).finish().await?;
                if turn.resumed().is_none() {
                    self.begun.notify_one();
                    std::future::pending::<()>().await;
                }
                turn.artifact("draft").text("again").finish().await?;
            }
            "remember" => match turn.resumed() {
                Some(resumed) => {
                    let checkpoint = json!(resumed.checkpoint).to_string();
                    turn.artifact("found").text(checkpoint).finish().await?;
                    if rest == "until there is more" {
                        another_message_arrived(&turn).await?;
                    }
                }
                None => {
                    let note = Object::from_iter([("note".to_owned(), json!(rest))]);
                    turn.working("half-way").await?;
                    turn.checkpoint(note).await?;
                    self.begun.notify_one();
                    std::future::pending::<()>().await;
                }
            },
            "look" => {
                let seen = turn.references().await?;
                let ids: Vec<_> = seen.iter().map(|task| task.id.as_str()).collect();
                turn.artifact("seen").text(ids.join(" ")).finish().await?;
            }
            other => return Err(format!("unknown command {other}").into()),
        }
        Ok(())
    }
}

/// Resolves when the caller has sent another message.
async fn another_message_arrived(turn: &Turn) -> Result<(), UpdateError> {
    let is_other = |message: &Message| {
        message.role == Role::User && message.message_id != turn.message().message_id
    };
    while !turn.task().await?.history.iter().any(is_other) {
        tokio::task::yield_now().await;
    }
    Ok(())
}

impl Worker {
    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

pub(crate) fn card() -> AgentCard {
    let mut card = AgentCard::new("Worker", "Does what the message commands");
    card.capabilities.push_notifications = Some(true);
    card
}

/// A server of each store.
pub(crate) fn builders(worker: &Worker) -> [ServerBuilder; 2] {
    [
        Server::builder(card(), worker.clone())
            .any_tenant()
            .store(MemoryStore::default()),
        Server::builder(card(), worker.clone())
            .any_tenant()
            .store(stores::sqlite()),
    ]
}

pub(crate) fn task(response: SendMessageResponse) -> Task {
    match response {
        SendMessageResponse::Task(task) => task,
        SendMessageResponse::Message(message) => panic!("expected a task, got {message:?}"),
    }
}

/// Reads a task until it is as wanted.
pub(crate) async fn until(client: &Client, id: &a2a_types::TaskId, state: TaskState) -> Task {
    eventually(async || {
        let task = client.get_task(id.clone(), None).await.unwrap();
        (task.status.state == state).then_some(task)
    })
    .await
}
