//! The task of an agent that a command is about.

use clap::Args;

use crate::agent::AgentArgs;
use crate::failure::Failure;

/// A task of an agent.
#[derive(Args)]
pub(crate) struct OneTask {
    /// Id of the task.
    #[arg(value_name = "TASK", required = true, num_args = 1..=2)]
    words: Vec<String>,
    #[command(flatten)]
    pub(super) agent: AgentArgs,
}

impl OneTask {
    /// Returns the agent and the task.
    pub(super) fn agent_and_task(mut self) -> Result<(AgentArgs, String), Failure> {
        self.agent.take_from(&mut self.words);
        match <[String; 1]>::try_from(self.words) {
            Ok([task]) => Ok((self.agent, task)),
            Err(words) => Err(Failure::usage(format!(
                "expected the id of one task, found `{}`",
                words.join(" ")
            ))),
        }
    }
}
