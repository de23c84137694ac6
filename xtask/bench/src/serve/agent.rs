//! The agent that is measured: it does no more than it is told.

use std::time::Duration;

use a2a_server::{Agent, Failure, Turn};
use tokio::sync::Semaphore;
use tokio::time::MissedTickBehavior;

use crate::stamp::stamp;

/// Does what it is told:
///
/// - `chunks N` tells an artifact in so many chunks, without a pause;
/// - `tokens N` tells as many at the pace of a model, each saying when it was told;
/// - `held N` tells so many chunks when another message has said `go`;
/// - `wait …` says that it works, and then waits until it is canceled;
/// - anything else is said back in an artifact.
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
        Ok(turn.artifact("echo").text(text).complete().await?)
    }
}

async fn chunks(turn: &Turn, count: usize) -> Result<(), Failure> {
    let mut draft = turn.artifact("chunks");
    for _ in 1..count {
        draft = draft.text(CHUNK).send().await?;
    }
    Ok(draft.text(CHUNK).done().await?)
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
    Ok(draft.text(stamp()).done().await?)
}

/// How many chunks a model writes in a second.
pub(crate) const TOKENS_PER_SECOND: u32 = 100;

/// What a model writes at a time.
pub(crate) const CHUNK: &str = "some words more ";
