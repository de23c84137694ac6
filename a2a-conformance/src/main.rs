//! `a2a-conformance`: see `a2a-conformance --help`.

mod cli;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::cli::print::{ended, refused};
use crate::cli::{explain, lint, list, replay, verify_card};

/// Shows whether agents and clients keep the A2A protocol, in each of its versions.
#[derive(Parser)]
#[command(
    name = "a2a-conformance",
    version,
    after_help = "\
Examples:
  a2a-conformance agent http://127.0.0.1:8080 --black-box
  a2a-conformance agent --exec './my-agent --port {port}' --report html,junit -o reports/
  a2a-conformance client --stdio 'python3 my-shim.py'
  a2a-conformance explain send.ended-task-refused   what a check does, and why
  a2a-conformance explain contract                  what an instrumented agent does
  a2a-conformance list --protocol-version 1.0 --level must
  a2a-conformance verify-card https://agent.example --jwks keys.json
  a2a-conformance lint card.json events.txt         whether documents are valid
  a2a-conformance diff old/report.json new/report.json
  a2a-conformance report report.json --report html  other reports of an old run
  a2a-conformance index runs/* -o public/           one page for several runs
  a2a-conformance replay --only 001                 the documented examples, at both ends of ours

Each command has examples of its own: a2a-conformance agent --help.

Exit codes: 0 all as required, 1 something is not, 2 usage or nothing was checked, 3 what was asked for cannot be \
reached, 4 the suite itself did not work, 5 only waivers are out of date, 130 interrupted."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Test an agent.
    Agent(cli::agent::Arguments),
    /// Test a client: the suite acts as the agent.
    Client(cli::client::Arguments),
    /// Read every example of the documents, send it to our server, and serve it to our client.
    Replay(replay::Args),
    /// List requirements and checks.
    List(list::Args),
    /// Explain a requirement or a check.
    Explain(explain::Args),
    /// Check whether documents are valid A2A: requests, responses, streams, cards, tasks, messages.
    Lint(lint::Args),
    Report(cli::report::Report),
    Diff(cli::diff::Diff),
    Index(cli::index::Index),
    /// Check whether a card is valid and, with --jwks, signed with a trusted key.
    VerifyCard(verify_card::Args),
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
}

#[tokio::main]
async fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Agent(arguments) => cli::agent::command(arguments).await,
        Command::Client(arguments) => cli::client::run(arguments).await,
        Command::Replay(args) => replay::run(args).await,
        Command::List(args) => list::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Report(report) => report.run(),
        Command::Diff(diff) => diff.run(),
        Command::Index(index) => index.run(),
        Command::VerifyCard(args) => verify_card::run(&args).await,
        Command::Completion { shell } => {
            let mut script = Vec::new();
            let mut command = Arguments::command();
            clap_complete::generate(shell, &mut command, "a2a-conformance", &mut script);
            ended(&std::io::stdout().write_all(&script), 0)
        }
        Command::Man { directory } => match write_manual(&directory) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => refused(&format!("{}: {error}", directory.display())),
        },
    }
}

fn write_manual(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    clap_mangen::generate_to(Arguments::command(), directory)
}
