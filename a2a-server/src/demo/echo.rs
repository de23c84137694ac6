use a2a_types::AgentCard;

use super::{card, skill};
use crate::{Agent, Failure, Turn};

/// Sends each message back, part by part, in an artifact.
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo;

impl Echo {
    /// Its card.
    pub fn card() -> AgentCard {
        let skill = skill("echo", "Echoes the message", &["hello"]);
        card("Echo", "Echoes the message", skill)
    }
}

impl Agent for Echo {
    async fn run(&self, turn: Turn) -> Result<(), Failure> {
        let parts = turn.message().parts.iter().cloned();
        let artifact = parts.fold(turn.artifact("echo"), |artifact, part| artifact.part(part));
        Ok(artifact.complete_task().await?)
    }
}
