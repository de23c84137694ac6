//! `a2a`: see `a2a --help`.

mod agent;
mod authentication;
mod card_keys;
mod command;
mod config;
mod connection;
mod deviations;
mod exit;
mod files;
mod interrupt;
mod log;
mod metrics;
#[cfg(feature = "opentelemetry")]
mod otlp;
mod postgres;
mod secret;
mod show;
mod tls;
mod wire;

use std::process::ExitCode;
use std::time::Duration;

use a2a_client::{Error, Phase};
use clap::{Parser, Subcommand};

use self::exit::{Failure, report};
use self::show::Screen;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Calls agents that speak the Agent2Agent (A2A) protocol, in any of its versions: 0.1, 0.2, 0.3 and 1.0.
#[derive(Parser)]
#[command(name = "a2a", version, propagate_version = true, after_help = AFTER_HELP)]
struct Arguments {
    /// Print JSON in the form of protocol 1.0, whatever version the agent speaks; one event per line.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show an agent's card: its skills, interfaces and authentication.
    Card(command::card::Options),
    /// Sign an agent's card.
    SignCard(command::sign_card::Options),
    /// Send a message and print the answer once the agent is done.
    Send(command::send::Options),
    /// Send a message and print events while the agent works.
    Stream(command::send::Options),
    /// Show a task.
    Get(command::task::Get),
    /// List tasks.
    List(command::task::List),
    /// Ask the agent to stop working on a task.
    Cancel(command::task::Cancel),
    /// Follow a task: print its events from now on.
    Subscribe(command::task::Subscribe),
    /// Manage the webhooks of a task.
    #[command(subcommand)]
    Push(command::push::PushCommand),
    /// Receive push notifications.
    #[command(subcommand)]
    Webhook(command::webhook::WebhookCommand),
    /// Talk with an agent in the terminal, one message per line.
    Chat(command::chat::Options),
    /// Open the inspector: a page in the browser with agents' cards, chats, tasks, wire, webhooks and conformance.
    Inspect(command::inspect::Options),
    /// Run a demo agent to test clients with.
    Serve(command::serve::Options),
    /// Check the database file of `a2a serve --db` for damage.
    Check(command::check::Options),
    /// Make the tables of a Postgres database, or bring them up to date.
    Migrate(command::migrate::Options),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

const AFTER_HELP: &str = "\
Examples:
  a2a serve joke &                                        a demo agent
  a2a card http://127.0.0.1:8080
  a2a send http://127.0.0.1:8080 tell me a joke about chickens
  a2a chat http://127.0.0.1:8080                          a conversation in the terminal
  a2a inspect http://127.0.0.1:8080                       all of it in the browser
  a2a stream https://agent.example summarize this --file report.pdf --out answers/
  A2A_BEARER=… a2a list https://agent.example --json | jq .task.status.state

AGENT is a URL (of the origin, the endpoint or the card), `host:port`, or a name from the configuration file.
That file is $A2A_CONFIG, else ~/.config/a2a/config.toml. It holds options of agents, and refers to their secrets:
  [agents.travel]
  url = \"https://agent.example\"
  bearer = \"@~/.secrets/travel\"      # @FILE: content of a file; $NAME: environment variable

Exit codes:
  0    success, or the reader of the output has closed it (as `head` does)
  1    the task failed, was rejected or canceled
  2    the arguments are wrong, or a local file, port or setting cannot be used
  3    the agent answered with an error
  4    the agent cannot be reached, or the connection broke and retries failed
  5    the agent requires other credentials
  6    the answer is not valid A2A, or the card has no signature that is trusted
  7    the agent waits for an answer or for authorization
  130  interrupted";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let screen = Screen::new(arguments.json);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => {
            // These handle the first Ctrl-C themselves.
            let times = match arguments.command {
                Command::Serve(_) | Command::Inspect(_) | Command::Send(_) | Command::Stream(_) => {
                    2
                }
                _ => 1,
            };
            let outcome = runtime.block_on(async {
                tokio::select! {
                    // Ctrl-C is polled first.
                    biased;
                    () = interrupt::interrupted(times) => Err(Failure::Interrupted),
                    outcome = run_in_time(arguments.command, &screen) => outcome,
                }
            });
            // A thread that still reads standard input would delay the exit.
            runtime.shutdown_background();
            outcome
        }
        Err(error) => Err(error.into()),
    };
    screen.deviations();
    match outcome {
        Ok(code) => code.into(),
        Err(failure) => report(&failure, arguments.json),
    }
}

impl Command {
    /// Returns the limit on the time of the whole command. Commands that start tasks apply it
    /// themselves.
    fn limit(&self) -> Option<Duration> {
        let agent = match self {
            Self::Card(options) => &options.agent,
            Self::Get(options) => &options.agent,
            Self::List(options) => &options.agent,
            Self::Cancel(options) => &options.agent,
            Self::Subscribe(options) => &options.agent,
            Self::Push(command) => command.agent(),
            Self::Send(_) | Self::Stream(_) | Self::Chat(_) => return None,
            Self::Webhook(_) | Self::Serve(_) | Self::Check(_) | Self::Migrate(_) => return None,
            Self::Inspect(_) | Self::SignCard(_) | Self::Completions { .. } => return None,
        };
        agent.timeout()
    }
}

async fn run_in_time(command: Command, screen: &Screen) -> Result<exit::Code, Failure> {
    let Some(limit) = command.limit() else {
        return run(command, screen).await;
    };
    let late = |_| {
        let phase = Phase::Deadline;
        Err(Error::Timeout { phase, limit }.into())
    };
    let outcome = tokio::time::timeout(limit, run(command, screen)).await;
    outcome.unwrap_or_else(late)
}

async fn run(command: Command, screen: &Screen) -> Result<exit::Code, Failure> {
    match command {
        Command::Card(options) => command::card::run(options, screen).await,
        Command::SignCard(options) => command::sign_card::run(&options, screen),
        Command::Send(options) => command::send::send(options, screen).await,
        Command::Stream(options) => command::send::stream(options, screen).await,
        Command::Get(options) => command::task::get(options, screen).await,
        Command::List(options) => command::task::list(options, screen).await,
        Command::Cancel(options) => command::task::cancel(options, screen).await,
        Command::Subscribe(options) => command::task::subscribe(options, screen).await,
        Command::Push(command) => command::push::run(command, screen).await,
        Command::Webhook(command) => command::webhook::run(command, screen).await,
        Command::Chat(options) => command::chat::run(options, screen).await,
        Command::Inspect(options) => command::inspect::run(options, screen).await,
        Command::Serve(options) => command::serve::run(options, screen).await,
        Command::Check(options) => command::check::run(options, screen).await,
        Command::Migrate(options) => command::migrate::run(options, screen).await,
        Command::Completions { shell } => {
            let mut command = <Arguments as clap::CommandFactory>::command();
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, "a2a", &mut script);
            screen.write(&String::from_utf8_lossy(&script))?;
            Ok(exit::Code::Done)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
