//! Benchmark of our server, compared with a server of hyper alone: `cargo xtask bench`.
//!
//! The servers are processes of this program, on their own processor; the callers are this process,
//! on the other. Hyper alone and ours are measured in turn, so that other load on the machine
//! affects both; the result is their ratio within a round.
//!
//! All of them, published servers of others (`--peers`) included, have the allocator of the system.
//! With the feature `mimalloc` all but those, which are one program, have that one.

mod history;
mod instructions;
mod load;
mod machine;
mod measurement;
mod multiplexed;
mod page;
mod peers;
mod process;
mod request_template;
mod scenario;
mod serve;
mod statistics;
mod table;
mod timestamp;
mod tls;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use self::machine::Failure;
use self::measurement::Measurement;
use self::scenario::{Plan, Scenario};

/// Allocator of all servers of this program: hyper alone, and ours.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures how fast the server is, compared with hyper alone.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench", after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Option<BenchCommand>,
}

#[derive(Args)]
struct Options {
    /// Only these; all of them if none is named.
    #[arg(value_enum)]
    scenarios: Vec<Scenario>,
    /// Number of measurements of each server; the median counts.
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// Seconds of each measurement.
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    seconds: f64,
    /// Number of callers at once, each over its own connection.
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "1,16,64"
    )]
    connections: Vec<usize>,
    /// Number of messages to send where memory is measured; no more are sent to fill a cache.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    sends: usize,
    /// Also measure published servers of others, for sends, streams and gets; they are built first,
    /// from crates.io.
    #[arg(long)]
    peers: bool,
    /// A quick look: three rounds of half a second, and 250,000 sends where memory is measured.
    #[arg(long, conflicts_with_all = ["rounds", "seconds", "sends"])]
    quick: bool,
    /// Directory of the databases; by default that of this program, because directories of
    /// temporary files are often in memory.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write every figure of every round to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the tables as a page, with a bar for each figure.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Fail if a figure misses its target.
    #[arg(long)]
    check: bool,
}

#[derive(Subcommand)]
enum BenchCommand {
    /// Be a server that is measured.
    #[command(hide = true)]
    Serve(serve::Settings),
    /// Count the instructions of sends, gets and streams in our server and in the server that is made by hand. Fail if a ratio
    /// has grown by more than a tenth since the last line of `xtask/bench/history.tsv`. Valgrind is needed.
    History {
        /// Add a line to the file.
        #[arg(long)]
        append: bool,
    },
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask bench                                     everything
  cargo xtask bench --quick send get                    a look at two
  cargo xtask bench send --connections 16 --rounds 9    one figure, and surer
  cargo xtask bench --peers send stream get             with servers of other projects
  cargo xtask bench --peers users --page bench.html     50 users at once, as a page
  cargo xtask bench --json bench.json                   for programs
  cargo xtask bench --check                             fail if a target is missed
  cargo xtask bench history                             has something become slower?";

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Some(BenchCommand::Serve(settings)) => serve::run(&settings).map(|()| true),
        Some(BenchCommand::History { append }) => history(append),
        None => bench(&cli.options),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("could not measure: {failure}");
            ExitCode::from(2)
        }
    }
}

/// Measures and prints; returns `false` if a figure misses its target and `--check` is set.
fn bench(options: &Options) -> Result<bool, Failure> {
    let mut plan = plan(options)?;
    let scenarios = match options.scenarios.as_slice() {
        [] => Scenario::value_variants(),
        named => named,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    if options.peers {
        let [core, _] = plan.cores;
        plan.peers = runtime.block_on(peers::ready(core))?;
    }
    let about = machine::about()?;
    println!("{about}\n");
    let mut all = Vec::new();
    for scenario in scenarios {
        let measured = runtime.block_on(scenario.run(&plan))?;
        measured.iter().for_each(table::print);
        all.extend(measured);
    }
    if let Some(file) = &options.json {
        std::fs::write(file, serde_json::to_vec_pretty(&all)?)?;
    }
    if let Some(file) = &options.page {
        std::fs::write(file, page::page(&about, &all))?;
    }
    let is_met = |measured: &Measurement| measured.claims.iter().all(|claim| claim.met);
    Ok(!options.check || all.iter().all(is_met))
}

fn history(appends: bool) -> Result<bool, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(history::compare(appends))
}

fn plan(options: &Options) -> Result<Plan, Failure> {
    let program = std::env::current_exe()?;
    let beside = program.parent().ok_or("this program is nowhere")?;
    let directory = options.dir.clone();
    let (rounds, seconds, sends) = match options.quick {
        true => (3, 0.5, 250_000),
        false => (options.rounds.max(1), options.seconds, options.sends),
    };
    Ok(Plan {
        rounds,
        period: Duration::try_from_secs_f64(seconds)?,
        connections: options.connections.clone(),
        sends,
        directory: directory.unwrap_or_else(|| beside.to_owned()),
        cores: machine::two_cores()?,
        peers: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
