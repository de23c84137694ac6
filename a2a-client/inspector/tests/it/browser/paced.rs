//! Agent that goes on as a test lets it.

use std::sync::Arc;

use a2a_server::{Agent, Failure, Turn};
use a2a_types::{AgentCard, Message, TaskState};
use tokio::sync::Semaphore;

use crate::harness::{builder, started};

/// Agent that sends the numbers from 1 on in one artifact: a chunk for each permit. The messages "authorize first" and
/// "authorize and count" have it ask for an authorization; after the first it waits for the next message.
#[derive(Clone)]
pub(super) struct Paced {
    count: usize,
    permits: Arc<Semaphore>,
}

impl Paced {
    /// Starts an agent that completes its task after `count` chunks; returns it with its URL.
    pub(super) async fn start(count: usize) -> (Self, String) {
        let permits = Arc::new(Semaphore::new(0));
        let agent = Self { count, permits };
        let mut card = AgentCard::new("Paced", "Counts");
        card.capabilities.streaming = Some(true);
        let url = started(builder(card, agent.clone())).await;
        (agent, url)
    }

    /// Lets the agent send this many chunks more.
    pub(super) fn allow(&self, chunks: usize) {
        self.permits.add_permits(chunks);
    }

    /// Returns the text of the artifact after this number of chunks, as the page shows it.
    pub(super) fn text(chunks: usize) -> String {
        let numbers: Vec<_> = (1..=chunks).map(|number| number.to_string()).collect();
        numbers.join(" ")
    }
}

impl Agent for Paced {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let text = turn.text();
        if text.starts_with("authorize") {
            let question = Some(Message::agent("Sign in."));
            turn.status(TaskState::AuthRequired, question).await?;
        }
        if text == "authorize first" {
            return Ok(());
        }
        let mut draft = turn.artifact("numbers");
        for number in 1..self.count {
            if !self.may_go_on(&turn).await {
                return Ok(());
            }
            draft = draft.text(format!("{number} ")).send().await?;
        }
        if self.may_go_on(&turn).await {
            draft.text(self.count.to_string()).complete_task().await?;
        }
        Ok(())
    }
}

impl Paced {
    /// Waits for a permit; returns `false` if the task is canceled.
    async fn may_go_on(&self, turn: &Turn) -> bool {
        tokio::select! {
            permit = self.permits.acquire() => {
                permit.expect("it is never closed").forget();
                true
            }
            () = turn.canceled() => false,
        }
    }
}
