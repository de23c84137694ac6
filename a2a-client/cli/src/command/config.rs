//! `a2a config`.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Subcommand};
use serde_json::{Map, json};

use super::wait::WaitOptions;
use crate::agent::AgentArgs;
use crate::failure::Failure;
use crate::show::Screen;
use crate::sources::{Sources, is_secret, variable};

/// Commands on the configuration.
#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the value of each option that calls of agents have, and its source: the command line, the environment, a file, or
    /// the default.
    Show(Show),
}

/// Settings that are shown.
#[derive(Args)]
#[command(after_help = "\
A setting is read from its option, else from its variable in the environment, else from the `.env` file of the working \
directory or of one above it (--config names another), else from ~/.config/a2a-cli/.env. The variable of --agent-card is \
A2ACLI_AGENT_CARD. A file has lines like A2ACLI_AGENT_CARD=https://agent.example

Examples:
  a2a config show
  a2a config show --config travel.env")]
pub(crate) struct Show {
    #[command(flatten)]
    wait: WaitOptions,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// Shows the settings, as the options of this command have them.
pub(crate) fn show(
    matches: &ArgMatches,
    command: &Command,
    sources: &Sources,
    screen: &Screen,
) -> Result<(), Failure> {
    let mut settings = Map::new();
    for arg in command.get_arguments() {
        let (Some(option), id) = (arg.get_long(), arg.get_id().as_str()) else {
            continue;
        };
        if matches!(option, "help" | "version") {
            continue;
        }
        let raw = matches.get_raw(id).into_iter().flatten();
        let raw: Vec<_> = raw.map(|value| value.to_string_lossy()).collect();
        let source = match (matches.value_source(id), sources.get(option)) {
            (Some(ValueSource::CommandLine), _) => format!("option --{option}"),
            (_, Some((_, source))) => format!("{} in {source}", variable(option)),
            _ => "default".to_owned(),
        };
        let value = match raw.is_empty() {
            true => None,
            false if is_secret(option) => Some("***".to_owned()),
            false => Some(raw.join(", ")),
        };
        if screen.json {
            settings.insert(option.to_owned(), json!({"value": value, "source": source}));
        } else {
            let value = value.unwrap_or_else(|| "(not set)".to_owned());
            screen.field(option, &format!("{value} ({source})"))?;
        }
    }
    match screen.json {
        true => screen.value(&settings),
        false => Ok(()),
    }
}
