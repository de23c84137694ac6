//! The agent that is measured: it does no more than it is told.

use a2a_server::{Agent, Failure, Turn};
use tokio::sync::Semaphore;

/// Does what it is told:
///
/// - `chunks N` tells an artifact in so many chunks, without a pause;
/// - `held N` does so when another message has said `go`;
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

/// What a model writes at a time.
const CHUNK: &str = "some words more ";
