//! Measures what hostile peers cost a server: `cargo xtask hostile`.
//!
//! The server is a process of its own, so that its memory and its descriptors can be read from
//! `/proc`; everything else, good peers and bad ones, is this process. It all stays on 127.0.0.1.

mod agent;
mod memory;
mod peers;
mod tls;
mod trials;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use serde_json::json;

use self::agent::StoreKind;

/// Measures what hostile peers cost a server.
#[derive(Parser)]
struct Options {
    /// Trials to run. Default: all.
    trials: Vec<Trial>,
    /// Print one JSON object at the end, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    /// Send this many requests in each attack on memory.
    #[arg(long, default_value_t = 800)]
    count: usize,
    /// Run only the attacks on memory whose name contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Run only the attacks on the memory of a server with this store. Default: each.
    #[arg(long)]
    store: Option<StoreKind>,
    /// Follow a task of the agent at this URL, as the client, and stay until standard input ends.
    #[arg(long, hide = true)]
    follow: Option<String>,
    /// Run a gateway to the agent at this URL, until standard input ends.
    #[arg(long, hide = true)]
    gateway: Option<String>,
    /// Run the server, until standard input ends.
    #[arg(long, hide = true)]
    serve: bool,
    /// Store the tasks of the server in this file.
    #[arg(long, hide = true)]
    db: Option<PathBuf>,
    /// Speak TLS with the files of this directory, as the server.
    #[arg(long, hide = true)]
    tls: Option<PathBuf>,
}

#[derive(Clone, Copy, Eq, PartialEq, ValueEnum)]
enum Trial {
    /// 2,000 peers whose request heads drip.
    Heads,
    /// 2,000 peers whose handshakes of TLS drip.
    Handshakes,
    /// 500 peers whose request bodies drip.
    Bodies,
    /// 1,000 peers that follow a task and do not read.
    Readers,
    /// 1,000 connections to a server with 256 file descriptors.
    Descriptors,
    /// Everything that a peer can fill, at its largest, on a server of each store.
    Memory,
}

/// A measured value and its upper limit.
struct Figure {
    trial: &'static str,
    what: String,
    unit: &'static str,
    measured: f64,
    at_most: Option<f64>,
}

impl Figure {
    fn is_met(&self) -> bool {
        self.at_most.is_none_or(|at_most| self.measured <= at_most)
    }
}

type TrialError = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = match (&options.follow, &options.gateway, options.serve) {
        (Some(url), ..) => memory::client::follow(url).await.map(|()| true),
        (None, Some(url), _) => agent::serve_gateway(url).await.map(|()| true),
        (None, None, true) => agent::serve(options.db.as_deref(), options.tls.as_deref())
            .await
            .map(|()| true),
        (None, None, false) => measure(&options).await,
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// Makes the trials; whether every figure is met.
async fn measure(options: &Options) -> Result<bool, TrialError> {
    let mut report = Report {
        is_json: options.json,
        figures: Vec::new(),
    };
    for trial in Trial::value_variants() {
        if !options.trials.is_empty() && !options.trials.contains(trial) {
            continue;
        }
        let figures = match trial {
            Trial::Heads => trials::heads().await?,
            Trial::Handshakes => trials::handshakes().await?,
            Trial::Bodies => trials::bodies().await?,
            Trial::Readers => trials::readers().await?,
            Trial::Descriptors => trials::descriptors().await?,
            Trial::Memory => {
                let only = options.only.as_deref();
                memory::attacks(options.count, only, options.store, &mut report).await?;
                continue;
            }
        };
        figures.into_iter().for_each(|figure| report.add(figure));
    }
    let all_met = report.figures.iter().all(Figure::is_met);
    if options.json {
        let rows: Vec<_> = report.figures.iter().map(row).collect();
        println!("{}", json!({"met": all_met, "figures": rows}));
    }
    Ok(all_met)
}

/// The figures so far: each is printed when it is there, unless they are wanted as JSON.
struct Report {
    is_json: bool,
    figures: Vec<Figure>,
}

impl Report {
    fn add(&mut self, figure: Figure) {
        if !self.is_json {
            figure.print();
        }
        self.figures.push(figure);
    }
}

impl Figure {
    fn print(&self) {
        let Self {
            trial,
            what,
            unit,
            measured,
            ..
        } = self;
        let (at_most, verdict) = match self.at_most {
            Some(at_most) if self.is_met() => (format!("<= {at_most:.1} {unit}"), "ok"),
            Some(at_most) => (format!("<= {at_most:.1} {unit}"), "MISSED"),
            None => (String::new(), ""),
        };
        println!("{trial:12} {what:90} {measured:>9.1} {unit:3} {at_most:>13} {verdict}");
    }
}

fn row(figure: &Figure) -> serde_json::Value {
    json!({
        "trial": figure.trial,
        "what": figure.what,
        "unit": figure.unit,
        "measured": (figure.measured * 10.0).round() / 10.0,
        "atMost": figure.at_most,
        "met": figure.is_met(),
    })
}

/// Prints progress to standard error, apart from the results.
fn progress(text: impl std::fmt::Display) {
    eprintln!("  {text}");
}
