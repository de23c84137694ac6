//! Agent that runs the command in a message, and counts its turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_client::SendMessageResponse;
use a2a_server::{Agent, Failure, Turn};
use a2a_types::{AgentCard, Message, Object, Task};
use tokio::sync::Notify;

#[derive(Clone, Default)]
pub(crate) struct Worker {
    runs: Arc<AtomicUsize>,
    /// Notified when a waiting turn has begun.
    pub(crate) begun: Arc<Notify>,
    /// Lets a waiting turn continue.
    pub(crate) go_on: Arc<Notify>,
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
                    () = self.go_on.notified() => {}
                    () = turn.canceled() => {}
                }
                if rest == "and write" {
                    turn.artifact("written").text("text").finish().await?;
                    turn.checkpoint(Object::new()).await?;
                }
            }
            // Has no task before it goes on.
            "late" => {
                self.begun.notify_one();
                self.go_on.notified().await;
                turn.artifact("late").text(rest).finish().await?;
            }
            other => return Err(format!("unknown command {other}").into()),
        }
        Ok(())
    }
}

impl Worker {
    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

pub(crate) fn card() -> AgentCard {
    AgentCard::new("Worker", "Does what the message commands")
}

pub(crate) fn task(response: SendMessageResponse) -> Task {
    match response {
        SendMessageResponse::Task(task) => task,
        SendMessageResponse::Message(message) => panic!("expected a task, got {message:?}"),
    }
}
