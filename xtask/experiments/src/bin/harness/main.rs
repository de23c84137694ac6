//! Long-running experiments: a server is killed, disconnected, overloaded and sent duplicates, and its
//! guarantees are checked. `cargo xtask crash` and the other experiments run them.

mod agent;
mod client;
mod cluster;
mod crash;
mod disconnects;
mod duplicates;
mod followers;
mod report;
mod sends;
mod serve;
mod tables;
mod webhooks;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fastrand::Rng;

use self::report::Report;

/// Checks the guarantees of a server under faults and load.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    /// Seed of the random numbers; another one each time by default.
    #[arg(long, global = true, value_name = "N")]
    seed: Option<u64>,
    /// Print one JSON object at the end, instead of a table.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    /// Measure the cost of our client compared with one that only reads bytes.
    #[command(after_help = client::EXAMPLES)]
    Client(client::Options),
    /// Let several replicas share a Postgres database; kill, freeze, cut off and restart them.
    #[command(after_help = cluster::EXAMPLES)]
    Cluster(cluster::Options),
    /// Kill a server under load: what it had acknowledged is still there.
    #[command(after_help = crash::EXAMPLES)]
    Crash(crash::Options),
    /// Cut the connections of followers: no event is missing, none comes twice.
    #[command(after_help = disconnects::EXAMPLES)]
    Disconnects(disconnects::Options),
    /// Let many followers read the same events, each at its own pace.
    #[command(after_help = followers::EXAMPLES)]
    Followers(followers::Options),
    /// Measure how many messages a server takes each second.
    #[command(after_help = sends::EXAMPLES)]
    Sends(sends::Options),
    /// Send each message many times at once: the agent gets it once.
    #[command(after_help = duplicates::EXAMPLES)]
    Duplicates(duplicates::Options),
    /// Kill a server that notifies webhooks, and let one never answer: the others receive all, in
    /// time.
    #[command(after_help = webhooks::EXAMPLES)]
    Webhooks(webhooks::Options),
    /// Run the server of an experiment.
    #[command(hide = true)]
    Serve(serve::Options),
}

/// Error of an experiment without a result.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    match run(arguments.experiment, seed) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(report)) => {
            report.print(seed, arguments.json);
            match report.is_met() {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            }
        }
        Err(failure) => {
            eprintln!("the experiment failed: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run(experiment: Experiment, seed: u64) -> Result<Option<Report>, Failure> {
    let mut runtime = match experiment {
        // The server is what is measured: its callers cost as little as possible.
        Experiment::Sends(_) |
        // The client is what is measured: all of it is on one thread.
        Experiment::Client(_) => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let rng = Rng::with_seed(seed);
    let report = async {
        match experiment {
            Experiment::Client(options) => client::run(options, rng).await.map(Some),
            Experiment::Cluster(options) => cluster::run(options, rng).await.map(Some),
            Experiment::Crash(options) => crash::run(options, rng).await.map(Some),
            Experiment::Disconnects(options) => disconnects::run(options, rng).await.map(Some),
            Experiment::Followers(options) => followers::run(options, rng).await.map(Some),
            Experiment::Sends(options) => sends::run(options, rng).await.map(Some),
            Experiment::Duplicates(options) => duplicates::run(options, rng).await.map(Some),
            Experiment::Webhooks(options) => webhooks::run(options, rng).await.map(Some),
            Experiment::Serve(options) => serve::run(options).await.map(|()| None),
        }
    };
    runtime.enable_all().build()?.block_on(report)
}
