//! `a2a`: see `a2a --help`.

mod agent;
mod authentication;
mod browser;
mod card_keys;
mod command;
mod connected;
mod connection;
mod deviations;
mod exec_agent;
mod failure;
mod files;
mod interrupt;
mod log;
mod login;
mod metrics;
mod model_agent;
#[cfg(feature = "opentelemetry")]
mod otlp;
mod postgres;
mod redaction;
mod secret;
mod show;
mod sources;
mod templates;
mod tls;
mod wire;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use self::agent::AgentArgs;
use self::failure::{Failure, report, report_usage};
use self::show::Screen;
use self::sources::Sources;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Calls agents that speak the Agent2Agent (A2A) protocol, and serves agents to try things with.
#[derive(Parser)]
#[command(
    name = "a2a",
    version,
    propagate_version = true,
    disable_version_flag = true,
    after_help = AFTER_HELP
)]
struct Arguments {
    /// Format of the output: fields and blocks of text, or the protocol's own JSON.
    #[arg(
        long,
        short,
        global = true,
        value_enum,
        default_value = "text",
        value_name = "FORMAT",
        help_heading = "Global options"
    )]
    output: Output,
    /// Show everything that is exchanged with the agent: ids, media types, metadata.
    #[arg(long, global = true, help_heading = "Global options")]
    verbose: bool,
    /// Print the version.
    #[arg(long, short = 'v', global = true, help_heading = "Global options", action = ArgAction::Version)]
    version: Option<bool>,
    #[command(subcommand)]
    command: Command,
}

/// Format of the output.
#[derive(Clone, Copy, Eq, PartialEq, ValueEnum)]
enum Output {
    Text,
    Json,
}

#[derive(Subcommand)]
enum Command {
    /// Show and sign agent cards.
    #[command(subcommand)]
    Card(command::card::CardCommand),
    /// Send a message, and wait for the answer.
    Send(command::send::Options),
    /// Show, list, follow and cancel tasks, and save their artifacts.
    #[command(subcommand)]
    Task(command::task::TaskCommand),
    /// Log in to agents by OAuth 2.0 or OpenID Connect.
    #[command(subcommand)]
    Auth(command::auth::AuthCommand),
    /// Talk with an agent in the terminal, one message a line.
    Chat(command::chat::Options),
    /// Check an agent against the protocol.
    #[cfg(feature = "conformance")]
    Conformance(command::conformance::Options),
    /// Show the configuration.
    #[command(subcommand)]
    Config(command::config::ConfigCommand),
    /// Print a completion script for a shell.
    Completion {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands.
    Man {
        /// Directory for the pages, like `~/.local/share/man/man1`.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Open the inspector: a page in the browser with agents' cards, chats, tasks, wire, webhooks and conformance.
    Inspect(command::inspect::Options),
    /// Write a package with a program to begin with: an agent, or a client.
    New(command::new::Options),
    /// Run a demo agent: `serve joke` by another name.
    DemoServer(command::serve::Options),
    /// Serve an agent: one to test clients with, a command of the shell, or a language model.
    Serve(command::serve::Options),
    /// Translate between protocol versions: callers of any version reach an agent that speaks one.
    Gateway(command::gateway::Options),
    /// Give agents to an editor or assistant as tools, by the Model Context Protocol.
    #[cfg(feature = "mcp")]
    Mcp(command::mcp::Options),
    /// Receive push notifications.
    #[command(subcommand)]
    Webhook(command::webhook::WebhookCommand),
    /// Check and migrate the databases of `a2a serve`.
    #[command(subcommand)]
    Db(DbCommand),
}

/// Commands on the databases of `a2a serve`.
#[derive(Subcommand)]
enum DbCommand {
    /// Check the file of `a2a serve --db` for damage.
    Check(command::db_check::Options),
    /// Make the tables of a Postgres database, or bring them up to date.
    Migrate(command::db_migrate::Options),
}

const AFTER_HELP: &str = "\
Examples:
  a2a serve joke &                                              a demo agent
  a2a new notes                                                 an agent of your own, in Rust
  a2a card get http://127.0.0.1:8080
  a2a send http://127.0.0.1:8080 \"tell me a joke about chickens\"
  a2a send -a http://127.0.0.1:8080 --stream \"tell me a joke\"
  a2a chat http://127.0.0.1:8080                                a conversation in the terminal
  a2a inspect http://127.0.0.1:8080                             all of it in the browser
  claude mcp add joker -- a2a mcp http://127.0.0.1:8080         the agent as a tool of an assistant
  A2ACLI_BEARER=… a2a task list -a https://agent.example -o json | jq -r .tasks[].id

The agent is named by --agent-card, by a URL as the first argument, or by A2ACLI_AGENT_CARD. Each \
option has such a variable, in the environment or in a file `.env`: `a2a config show` tells which \
value comes from where.

Defaults, and the options that change them:
  the first interface on the card that this program speaks      --transport
  A2A 1.0                                                       --a2a-version
  wait until the task has ended or asks for something           --async
  concise text                                                  --output, --verbose
  TLS certificates are verified                                 --insecure

Exit codes:
  0    the command did its work, whatever became of the task
  1    it failed, or the agent answered with an error
  2    the arguments are wrong
  3    the agent or its card cannot be reached
  4    credentials are missing, or were refused
  5    the time of --timeout is over
  130  interrupted";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let as_json = asks_for_json(&arguments);
    let sources = match Sources::read(&arguments) {
        Ok(sources) => sources,
        Err(failure) => return report(&failure, as_json, false),
    };
    let command = Arguments::command();
    sources.warn_of_unknown(&command);
    let command = sources.apply(command);
    let parsed = command.clone().try_get_matches_from(arguments);
    let parsed = parsed.and_then(|matches| {
        let arguments = Arguments::from_arg_matches(&matches)?;
        Ok((matches, arguments))
    });
    let (matches, arguments) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return report_arguments(&error, as_json),
    };
    let screen = Screen {
        json: arguments.output == Output::Json,
        verbose: arguments.verbose,
    };
    let has_credentials = arguments
        .command
        .agent()
        .is_some_and(AgentArgs::has_credentials);
    let outcome = match &arguments.command {
        Command::Config(command::config::ConfigCommand::Show(_)) => {
            show_config(&matches, command, &sources, &screen)
        }
        _ => run_to_end(arguments.command, &screen),
    };
    screen.deviations();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let has_credentials = has_credentials || connected::has_stored_token();
            report(&failure, screen.json, has_credentials)
        }
    }
}

/// Returns whether `-o json` is among the arguments, which may not be understood.
fn asks_for_json(arguments: &[OsString]) -> bool {
    let words: Vec<_> = arguments
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let mut pairs = words.windows(2);
    let is_one = |word: &str| matches!(word, "-ojson" | "-o=json" | "--output=json");
    pairs.any(|pair| matches!(&*pair[0], "-o" | "--output") && pair[1] == "json")
        || words.iter().any(|word| is_one(word))
        || std::env::var("A2ACLI_OUTPUT").is_ok_and(|output| output == "json")
            && !words
                .iter()
                .any(|word| word.starts_with("-o") || word.starts_with("--output"))
}

/// Prints help and the version as clap does, and errors in the form of all errors.
fn report_arguments(error: &clap::Error, as_json: bool) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A failed write of the help cannot be reported.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !as_json => {
            let _ = error.print();
            2.into()
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            report_usage("a command is missing", as_json)
        }
        _ => {
            let text = error.to_string();
            let text = text.trim_start_matches("error: ");
            let text = text
                .split("\n\nFor more information")
                .next()
                .unwrap_or_default();
            report_usage(text.trim_end(), as_json)
        }
    }
}

fn show_config(
    matches: &ArgMatches,
    command: clap::Command,
    sources: &Sources,
    screen: &Screen,
) -> Result<(), Failure> {
    let mut command = command;
    command.build();
    let show = command
        .find_subcommand("config")
        .and_then(|config| config.find_subcommand("show"));
    let shown = matches
        .subcommand_matches("config")
        .and_then(|config| config.subcommand_matches("show"));
    match (show, shown) {
        (Some(show), Some(shown)) => command::config::show(shown, show, sources, screen),
        _ => Ok(()),
    }
}

fn run_to_end(command: Command, screen: &Screen) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    // These handle the first Ctrl-C themselves.
    let times = match command {
        Command::Serve(_)
        | Command::DemoServer(_)
        | Command::Gateway(_)
        | Command::Inspect(_)
        | Command::Send(_) => 2,
        #[cfg(feature = "mcp")]
        Command::Mcp(_) => 2,
        // It goes on after any number of them.
        Command::Chat(_) => usize::MAX,
        _ => 1,
    };
    let outcome = runtime.block_on(async {
        tokio::select! {
            // Ctrl-C is polled first.
            biased;
            () = interrupt::interrupted(times) => Err(Failure::Interrupted),
            outcome = run_in_time(command, screen) => outcome,
        }
    });
    // A thread that still reads standard input would delay the exit.
    runtime.shutdown_background();
    outcome
}

impl Command {
    /// Returns the options that name the agent of a command that calls one.
    fn agent(&self) -> Option<&AgentArgs> {
        match self {
            Self::Card(command::card::CardCommand::Get(options)) => Some(&options.agent),
            Self::Send(options) => Some(options.agent()),
            Self::Task(command) => Some(command.agent()),
            Self::Auth(command) => command.agent(),
            Self::Chat(options) => Some(&options.agent),
            #[cfg(feature = "conformance")]
            Self::Conformance(options) => Some(&options.agent),
            _ => None,
        }
    }
}

/// Runs a command within the limit of its time. A chat has the limit for each answer, and `send` says how to go on.
async fn run_in_time(command: Command, screen: &Screen) -> Result<(), Failure> {
    let limit = match &command {
        Command::Send(_) | Command::Chat(_) => None,
        command => command.agent().and_then(AgentArgs::timeout),
    };
    let Some(limit) = limit else {
        return run(command, screen).await;
    };
    let outcome = tokio::time::timeout(limit, run(command, screen)).await;
    outcome.unwrap_or(Err(Failure::TimedOut(limit)))
}

async fn run(command: Command, screen: &Screen) -> Result<(), Failure> {
    match command {
        Command::Card(command) => command::card::run(command, screen).await,
        Command::Send(options) => command::send::run(options, screen).await,
        Command::Task(command) => command::task::run(command, screen).await,
        Command::Auth(command) => command::auth::run(command, screen).await,
        Command::Chat(options) => command::chat::run(options, screen).await,
        #[cfg(feature = "conformance")]
        Command::Conformance(options) => command::conformance::run(options, screen).await,
        // `main` runs this command, because it needs the parser.
        Command::Config(_) => Ok(()),
        Command::Inspect(options) => command::inspect::run(options, screen).await,
        Command::New(options) => command::new::run(options, screen),
        Command::DemoServer(options) | Command::Serve(options) => {
            command::serve::run(options, screen).await
        }
        Command::Gateway(options) => command::gateway::run(options, screen).await,
        #[cfg(feature = "mcp")]
        Command::Mcp(options) => command::mcp::run(options, screen).await,
        Command::Webhook(command) => command::webhook::run(command, screen).await,
        Command::Db(DbCommand::Check(options)) => command::db_check::run(options, screen).await,
        Command::Db(DbCommand::Migrate(options)) => command::db_migrate::run(options, screen).await,
        Command::Completion { shell } => {
            let mut command = Arguments::command();
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, "a2a", &mut script);
            screen.write(&String::from_utf8_lossy(&script))
        }
        Command::Man { directory } => {
            let place = directory.display().to_string();
            std::fs::create_dir_all(&directory)
                .and_then(|()| clap_mangen::generate_to(Arguments::command(), &directory))
                .map_err(Failure::machine(&*place))?;
            match screen.json {
                true => screen.value(&serde_json::json!({ "directory": place })),
                false => screen.field("Directory", &place),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    /// Returns the pages of documentation in a folder of the repository.
    fn pages(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .flat_map(|path| match path.extension() {
                None => pages(&path),
                Some(extension) if extension == "md" => vec![path],
                Some(_) => Vec::new(),
            })
            .collect()
    }

    /// Returns the arguments of each call of `a2a` in a line for a shell.
    fn calls(line: &str) -> Vec<Vec<String>> {
        let words = shlex::split(line).unwrap_or_default();
        let begins = |(index, word): (usize, &String)| (word == "a2a").then_some(index);
        let ends = |word: &&String| !matches!(word.as_str(), "|" | "&" | "&&" | ">" | "<");
        let starts: Vec<_> = words.iter().enumerate().filter_map(begins).collect();
        starts
            .into_iter()
            .map(|start| {
                let words = words[start..].iter().take_while(ends);
                let words = words.map(|word| word.trim_end_matches([';', ')']).to_owned());
                words.collect()
            })
            .collect()
    }

    #[test]
    fn every_command_of_the_documentation_is_understood() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pages = pages(&root.join("docs"));
        pages.extend(["README.md", "a2a-transport/gateway/README.md"].map(|page| root.join(page)));
        let mut count = 0;
        for page in pages {
            let text = std::fs::read_to_string(&page).unwrap();
            let text = text.replace("\\\n", " ");
            for call in text
                .lines()
                .filter_map(|line| line.strip_prefix("$ "))
                .flat_map(calls)
            {
                count += 1;
                let Err(error) = Arguments::command().try_get_matches_from(&call) else {
                    continue;
                };
                // A file or a variable that is not here.
                let is_elsewhere = error.kind() == ErrorKind::ValueValidation
                    && call.iter().any(|word| word.starts_with(['$', '@']));
                assert!(is_elsewhere, "{}: {call:?}: {error}", page.display());
            }
        }
        assert!(count > 50, "only {count} commands were found");
    }
}
