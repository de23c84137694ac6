//! The agent that is measured: it does no more than its message demands.

use std::time::Duration;

use a2a_server::{Agent, Failure, Turn};
use tokio::sync::Semaphore;
use tokio::time::MissedTickBehavior;

use crate::timestamp::stamp;

/// Agent that does what the message demands:
///
/// - `chunks N` sends an artifact in N chunks, without a pause;
/// - `tokens N` sends N chunks at the pace of a model, each with the time when it was sent;
/// - `held N` sends N chunks when another message has been `go`;
/// - `wait …` reports that it works, and then waits until it is canceled;
/// - anything else is sent back in an artifact.
pub(super) struct Echo {
    gate: Semaphore,
}

impl Echo {
    pub(super) fn new() -> Self {
        Self {
            gate: Semaphore::new(0),
        }
    }
}

impl Agent for Echo {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let text = turn.text();
        match text.split_once(' ') {
            Some(("chunks", count)) => return chunks(&turn, count.parse()?).await,
            Some(("tokens", count)) => return tokens(&turn, count.parse()?).await,
            Some(("held", count)) => {
                turn.working("waiting to be let go").await?;
                self.gate.acquire().await?.forget();
                return chunks(&turn, count.parse()?).await;
            }
            Some(("wait", _)) => {
                turn.working("waiting").await?;
                turn.canceled().await;
                return Ok(());
            }
            _ => {}
        }
        if text == "go" {
            self.gate.add_permits(1);
        }
        Ok(turn.artifact("echo").text(text).complete_task().await?)
    }
}

async fn chunks(turn: &Turn, count: usize) -> Result<(), Failure> {
    let mut draft = turn.artifact("chunks");
    for _ in 1..count {
        draft = draft.text(CHUNK).send().await?;
    }
    Ok(draft.text(CHUNK).finish().await?)
}

async fn tokens(turn: &Turn, count: usize) -> Result<(), Failure> {
    let mut draft = turn.artifact("tokens");
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / TOKENS_PER_SECOND);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for _ in 1..count {
        ticks.tick().await;
        draft = draft.text(stamp()).send().await?;
    }
    ticks.tick().await;
    Ok(draft.text(stamp()).finish().await?)
}

/// Chunks that a model writes in a second.
pub(crate) const TOKENS_PER_SECOND: u32 = 100;

/// Text that a model writes at a time.
pub(crate) const CHUNK: &str = "some words more ";
