//! `a2a-conformance`: see `a2a-conformance --help`.

mod cli;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::cli::{coverage, explain, lint, list, replay, verify_card};

/// Proves what agents and clients of the A2A protocol do.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Examples:
  a2a-conformance replay                     every example and exchange
  a2a-conformance replay --only 001          one document
  a2a-conformance replay --json > report.json
  a2a-conformance replay --fault lost-chunk  a broken server: the replay must fail
  a2a-conformance replay record/             what `a2a send … --record record/` has written
  a2a-conformance list --dialect 1.0 --level must
  a2a-conformance explain A2A10-3.1.1-M2     what a requirement says, and what checks it
  a2a-conformance coverage                   how much of the specification has checks
  a2a-conformance lint card.json events.txt  whether documents are legal, and what is not
  a2a-conformance report report.json --report html,junit -o out/
  a2a-conformance diff old/report.json new/report.json
  a2a-conformance verify-card https://agent.example --jwks keys.json

Exit codes: 0 all as required, 1 something differs, 2 usage or nothing to do, 3 what was
asked for cannot be reached."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Tests an agent.
    Agent(cli::agent::Arguments),
    /// Tests a client: the suite is the agent.
    Client(cli::client::Arguments),
    /// Tests the suite itself, by agents that are wrong on purpose.
    SelfTest(cli::self_test::Arguments),
    /// Reads every example, sends it to our server, plays it to our client.
    Replay(replay::Args),
    /// What is required, and which checks there are.
    List(list::Args),
    /// What a requirement or a check is.
    Explain(explain::Args),
    /// How much of the specification has checks.
    Coverage(coverage::Args),
    /// Whether documents are legal A2A: requests, answers, streams, cards, tasks, messages.
    Lint(lint::Args),
    Report(cli::report::Report),
    Diff(cli::diff::Diff),
    /// Whether a card is legal, and signed by whom it says.
    VerifyCard(verify_card::Args),
}

#[tokio::main]
async fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Agent(arguments) => cli::agent::command(arguments).await,
        Command::Client(arguments) => cli::client::run(arguments).await,
        Command::SelfTest(arguments) => cli::self_test::command(arguments).await,
        Command::Replay(args) => replay::run(args).await,
        Command::List(args) => list::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Coverage(args) => coverage::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Report(report) => report.run(),
        Command::Diff(diff) => diff.run(),
        Command::VerifyCard(args) => verify_card::run(&args).await,
    }
}
