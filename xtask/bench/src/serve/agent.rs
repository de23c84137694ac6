//! The agent that is measured: it does no more than it is told.

use a2a_server::{Agent, Failure, Turn};

/// Does what it is told:
///
/// - `chunks N` tells an artifact in so many chunks, without a pause;
/// - `wait` says that it works, and then waits until it is canceled;
/// - anything else is said back in an artifact.
pub(super) struct Echo;

impl Agent for Echo {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let text = turn.text();
        match text.split_once(' ') {
            Some(("chunks", count)) => chunks(&turn, count.parse()?).await?,
            Some(("wait", _)) => {
                turn.working("waiting").await?;
                turn.canceled().await;
            }
            _ => turn.artifact("echo").text(text).done().await?,
        }
        Ok(())
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
