//! Experiments: optimized programs that run for seconds or minutes and get their arguments unchanged.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::workspace;

/// An experiment, and the program that makes it.
#[derive(Subcommand)]
pub(crate) enum Experiment {
    /// Measure how fast the server is, compared with hyper alone and with a server made by hand.
    #[command(disable_help_flag = true)]
    Bench {
        /// Cargo profile of the servers, before the other arguments: such as `dist`, that of programs that are handed out.
        #[arg(long, default_value = "release")]
        profile: String,
        #[command(flatten)]
        given: Arguments,
    },
    /// Measure the cost of our client compared with one that only reads bytes.
    #[command(disable_help_flag = true)]
    Client(Arguments),
    /// Let three servers share a Postgres database; kill, freeze, cut off and restart them.
    #[command(disable_help_flag = true)]
    Cluster(Arguments),
    /// Kill a server 200 times under load: what it had acknowledged is still there.
    #[command(disable_help_flag = true)]
    Crash(Arguments),
    /// Cut the connections of followers: no event is missing, none comes twice.
    #[command(disable_help_flag = true)]
    Disconnects(Arguments),
    /// Measure how many messages a server takes each second.
    #[command(disable_help_flag = true)]
    Sends(Arguments),
    /// Let 64 followers read the same 10,000 events.
    #[command(disable_help_flag = true)]
    Followers(Arguments),
    /// Measure what hostile peers cost a server.
    #[command(disable_help_flag = true)]
    Hostile(Arguments),
    /// Send each message 100 times at once: the agent gets it once.
    #[command(disable_help_flag = true)]
    Duplicates(Arguments),
    /// Kill a server 60 times that notifies webhooks, and let one of 100 never answer.
    #[command(disable_help_flag = true)]
    Webhooks(Arguments),
}

/// Arguments passed on to the experiment.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Arguments of the experiment: see its own --help.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<OsString>,
}

/// Runs an experiment; its exit code is ours.
pub(crate) fn run(experiment: Experiment) -> ExitCode {
    let (program, name, given) = match experiment {
        Experiment::Bench { profile, given } => {
            return run_program(
                &["--profile", &profile, "--package", "a2a-bench"],
                None,
                given,
            );
        }
        Experiment::Client(given) => (HARNESS, Some("client"), given),
        Experiment::Cluster(given) => (HARNESS, Some("cluster"), given),
        Experiment::Crash(given) => (HARNESS, Some("crash"), given),
        Experiment::Disconnects(given) => (HARNESS, Some("disconnects"), given),
        Experiment::Sends(given) => (HARNESS, Some("sends"), given),
        Experiment::Followers(given) => (HARNESS, Some("followers"), given),
        Experiment::Duplicates(given) => (HARNESS, Some("duplicates"), given),
        Experiment::Webhooks(given) => (HARNESS, Some("webhooks"), given),
        Experiment::Hostile(given) => (HOSTILE, None, given),
    };
    run_program(program, name, given)
}

fn run_program(program: &[&str], name: Option<&str>, given: Arguments) -> ExitCode {
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--quiet"]).args(program);
    cargo.arg("--").args(name).args(given.arguments);
    match cargo.status() {
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            code.map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            eprintln!("error: {}: {error}", program.join(" "));
            ExitCode::FAILURE
        }
    }
}

/// Cargo's arguments for the programs.
const HARNESS: &[&str] = &[
    "--release",
    "--package",
    "a2a-experiments",
    "--bin",
    "harness",
];
const HOSTILE: &[&str] = &[
    "--release",
    "--package",
    "a2a-experiments",
    "--bin",
    "hostile",
];
