//! Kills of a server under load at random moments: everything that it had acknowledged is still
//! there afterwards, once, and no task is left unfinished.

mod audit;
mod journal;
mod load;
mod recovery;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use fastrand::Rng;

use self::audit::Audit;
use self::journal::Journal;
use crate::Failure;
use crate::report::Report;
use crate::serve::{self, Process, directory};
use crate::tables::TaskTables;

/// Options of the experiment.
#[derive(Args)]
pub(crate) struct Options {
    /// Number of kills; in the second half the server resumes unfinished tasks.
    #[arg(long, value_name = "N", default_value_t = 200)]
    rounds: usize,
    /// Number of callers at once.
    #[arg(long, value_name = "N", default_value_t = 12)]
    callers: usize,
    /// Directory of the database; by default that of this program.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask crash                                     200 times, some minutes
  cargo xtask crash --rounds 20 --callers 32            a crowd, less often
  cargo xtask crash --seed 7                            the same moments again";

pub(crate) async fn run(options: Options, mut rng: Rng) -> Result<Report, Failure> {
    let directory = directory(options.dir.as_deref())?;
    let db = directory.path().join("tasks.db");
    let serving = |resume| serve::Options {
        db: Some(db.clone()),
        resume,
        ..serve::Options::default()
    };
    let journal = Arc::new(Journal::default());
    let mut audit = Audit::new(Arc::clone(&journal));
    let (begun, mut reported) = (Instant::now(), Instant::now());
    let mut kills = 0;

    while kills < options.rounds {
        let resumes = kills >= options.rounds / 2;
        let mut server = Process::begin(&serving(resumes)).await?;
        // Now and then it dies while it still takes in what the last one has left.
        if rng.u8(..) < 64 {
            server
                .lives_for(Duration::from_micros(rng.u64(..15_000)))
                .await?;
            server.kill().await?;
            kills += 1;
            audit.read(&TaskTables::open(&db)?)?;
            server = Process::begin(&serving(resumes)).await?;
        }
        audit.ask(server.url(), resumes).await?;

        let callers = load::begin(options.callers, server.url(), &journal, &mut rng)?;
        let moment = Duration::from_micros(rng.u64(20_000..150_000));
        server.lives_for(moment).await?;
        server.kill().await?;
        kills += 1;
        load::end(callers).await?;
        audit.read(&TaskTables::open(&db)?)?;
        if reported.elapsed() > Duration::from_secs(20) {
            eprintln!("{kills} of {} rounds", options.rounds);
            reported = Instant::now();
        }
    }
    let server = Process::begin(&serving(true)).await?;
    audit.ask(server.url(), true).await?;
    // The task of the last request continues after its answer.
    server.end().await?;
    audit.read_all(&TaskTables::open(&db)?)?;

    let mut report = Report::new("crash");
    report.exactly("rounds", options.rounds, kills.min(options.rounds));
    audit.report(&mut report);
    report.note("seconds", begun.elapsed().as_secs_f64().round());
    Ok(report)
}
