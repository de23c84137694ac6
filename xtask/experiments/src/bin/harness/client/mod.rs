//! Cost of our client compared with one that only reads bytes: the same requests to the same
//! server.

mod caller;

use std::time::{Duration, Instant};

use clap::Args;
use fastrand::Rng;
use tokio::task::JoinSet;

use self::caller::{CallPath, Caller};
use crate::Failure;
use crate::report::Report;
use crate::serve::{self, Process};

/// Options of the measurement.
#[derive(Args)]
pub(crate) struct Options {
    /// Number of measurements of each kind of caller; the median counts.
    #[arg(long, value_name = "N", default_value_t = 7)]
    rounds: usize,
    /// Milliseconds of each measurement.
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    millis: u64,
    /// Number of callers at once; each number is measured in turn.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,16")]
    connections: Vec<usize>,
    /// Upper limit on the CPU time of a call by our client, as a multiple of the other's.
    #[arg(long, value_name = "RATIO", default_value_t = 2.0)]
    most_cpu: f64,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask client                                    at 1 and 16 connections, about 45 s
  cargo xtask client --connections 64 --rounds 11       when many ask
  cargo xtask client --millis 5000 --json               for programs, on a machine that does other things";

/// Measures each path in each round, one after the other, so that other load on the machine affects
/// all of them.
pub(crate) async fn run(options: Options, mut rng: Rng) -> Result<Report, Failure> {
    let server = Process::begin(&serve::Options::default()).await?;
    let period = Duration::from_millis(options.millis);
    let mut report = Report::new("client");
    for connections in options.connections {
        // Costs of the first call occur once.
        for path in CallPath::ALL {
            measure(&Caller::by(path, server.url())?, connections, period / 4).await?;
        }
        let mut rounds = Vec::new();
        for _ in 0..options.rounds.max(1) {
            let mut round = [Measured::default(); CallPath::ALL.len()];
            let mut paths = CallPath::ALL;
            rng.shuffle(&mut paths);
            for path in paths {
                let caller = Caller::by(path, server.url())?;
                round[path as usize] = measure(&caller, connections, period).await?;
            }
            rounds.push(round);
        }
        add_figures(&mut report, connections, &rounds, options.most_cpu);
    }
    server.kill().await?;
    Ok(report)
}

type Round = [Measured; CallPath::ALL.len()];

fn add_figures(report: &mut Report, connections: usize, rounds: &[Round], most_cpu: f64) {
    let at = |figure: &str| format!("{connections}: {figure}");
    let of = |read: &dyn Fn(&Round) -> f64| median(rounds.iter().map(read).collect());
    let [raw, client, in_process] = CallPath::ALL.map(|path| path as usize);
    report.note(at("bare, calls/s"), of(&|round| round[raw].rate));
    report.note(at("bare, CPU per call, µs"), of(&|round| round[raw].cpu));
    report.note(at("bare, p50, µs"), of(&|round| round[raw].median));
    report.note(at("bare, p99, µs"), of(&|round| round[raw].late));
    for (name, path) in [("client", client), ("in process", in_process)] {
        let over = |read: fn(&Measured) -> f64| of(&|round| read(&round[path]) / read(&round[raw]));
        let ratio = |figure: &str| at(&format!("{name} ÷ bare, {figure}"));
        report.note(ratio("calls/s"), over(|measured| measured.rate));
        report.note(ratio("p50"), over(|measured| measured.median));
        report.note(ratio("p99"), over(|measured| measured.late));
        match path == client {
            true => report.at_most(ratio("CPU"), most_cpu, over(|measured| measured.cpu)),
            // The server is in it.
            false => report.note(ratio("CPU"), over(|measured| measured.cpu)),
        }
    }
}

/// Rate and times of calls.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Calls each second.
    rate: f64,
    /// CPU time of this thread, in microseconds per call.
    cpu: f64,
    /// Median time of a call, in microseconds.
    median: f64,
    /// 99th percentile of the time of a call, in microseconds.
    late: f64,
}

/// Measures calls on `connections` connections at once, for `period`.
async fn measure(
    caller: &Caller,
    connections: usize,
    period: Duration,
) -> Result<Measured, Failure> {
    let (begun, cpu) = (Instant::now(), cpu()?);
    let mut callers = JoinSet::new();
    for _ in 0..connections {
        let caller = caller.clone();
        callers.spawn(async move {
            let mut times = Vec::new();
            loop {
                let asked = Instant::now();
                caller.call().await?;
                times.push(asked.elapsed().as_secs_f64() * 1e6);
                if begun.elapsed() >= period {
                    return Ok::<_, Failure>(times);
                }
            }
        });
    }
    let mut times = Vec::new();
    while let Some(called) = callers.join_next().await {
        times.extend(called??);
    }
    let (took, cpu) = (begun.elapsed().as_secs_f64(), self::cpu()? - cpu);
    times.sort_by(f64::total_cmp);
    let count = times.len();
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    Ok(Measured {
        rate: count as f64 / took,
        cpu: cpu / count as f64,
        median: at(count / 2),
        late: at(count * 99 / 100),
    })
}

/// Returns the CPU time of this thread, which does all the work of the callers, in microseconds.
fn cpu() -> Result<f64, Failure> {
    let used = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos = used.split(' ').next().unwrap_or_default();
    Ok(nanos.parse::<f64>()? / 1e3)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
