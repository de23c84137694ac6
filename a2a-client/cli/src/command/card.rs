//! `a2a card`.

use clap::Args;

use crate::agent::AgentArgs;
use crate::exit::{Code, Failure};
use crate::show::Screen;

/// Agent whose card is shown.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a card https://agent.example
  a2a card https://agent.example --extended --bearer @token.txt
  a2a card https://agent.example --json | jq .skills[].name")]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Fetch the extended card, which agents give to authenticated callers.
    #[arg(long)]
    extended: bool,
}

pub(crate) async fn run(options: Options, screen: &Screen) -> Result<Code, Failure> {
    let client = options.agent.connect().await?;
    let card = match (options.extended, client.card()) {
        (false, Some(card)) => card,
        (true, _) => client.extended_card().await?,
        (false, None) => {
            return Err(Failure::usage(
                "`a2a card` cannot be used with --no-card: there is no card to show",
            ));
        }
    };
    screen.card(&card)?;
    Ok(Code::Done)
}
