//! Delivery of all notifications, in order and under one id each, although the server is killed and
//! receivers fail; and the cost to others of a receiver that never answers.

mod audit;
mod book;
mod hole;
mod load;
mod receiver;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2a_client::webhook::Secret;
use clap::Args;
use fastrand::Rng;

use self::audit::Audit;
use self::book::Book;
use self::load::Place;
use self::receiver::Listener;
use crate::Failure;
use crate::ledger::Ledger;
use crate::report::Report;
use crate::serve::{self, Process, directory};

/// Options of the experiment.
#[derive(Args)]
pub(crate) struct Options {
    /// Number of kills; in the second half the server resumes unfinished tasks.
    #[arg(long, value_name = "N", default_value_t = 60)]
    kills: usize,
    /// Number of callers at once during the kills.
    #[arg(long, value_name = "N", default_value_t = 8)]
    callers: usize,
    /// Percentage of requests that receivers fail during the kills.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u8).range(..=90))]
    faults: u8,
    #[command(flatten)]
    crowd: hole::Crowd,
    /// Directory of the databases; by default that of this program.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask webhooks                                  60 times, then 100 receivers; some minutes
  cargo xtask webhooks --kills 200 --faults 60          worse days
  cargo xtask webhooks --kills 0 --rounds 10            only the one that never answers
  cargo xtask webhooks --rounds 0 --seed 7              only the kills, at the same moments again";

pub(crate) async fn run(options: Options, mut dice: Rng) -> Result<Report, Failure> {
    let directory = directory(options.dir.as_deref())?;
    let begun = Instant::now();
    let secret = Secret::shared()?;
    let mut report = Report::new("webhooks");
    if options.kills > 0 {
        let db = directory.path().join("killed.db");
        kills(&options, &db, &secret, &mut dice, &mut report).await?;
    }
    hole::run(
        &options.crowd,
        directory.path(),
        &secret,
        &mut dice,
        &mut report,
    )
    .await?;
    report.tell("seconds", begun.elapsed().as_secs_f64().round());
    Ok(report)
}

/// Kills a server under load, again and again, and lets the last one deliver the rest.
async fn kills(
    options: &Options,
    db: &Path,
    secret: &Secret,
    dice: &mut Rng,
    report: &mut Report,
) -> Result<(), Failure> {
    let serving = |resume| serve::Options {
        db: Some(db.to_owned()),
        resume,
        webhooks: Some(secret.expose()),
        retry: Some(RETRY),
        ..serve::Options::default()
    };
    let book = Arc::new(Book::default());
    let mut receivers = Vec::new();
    for host in 1..=HOSTS {
        receivers.push(Listener::begin(host, &book, secret, options.faults, dice.fork()).await?);
    }
    let place = Place::new(&book, receivers);
    let mut told = Instant::now();
    for killed in 0..options.kills {
        let mut server = Process::begin(&serving(killed >= options.kills / 2)).await?;
        let callers = load::begin(options.callers, server.url(), &place, dice)?;
        let moment = Duration::from_micros(dice.u64(20_000..400_000));
        server.lives_for(moment).await?;
        server.kill().await?;
        load::end(callers).await?;
        if told.elapsed() > Duration::from_secs(20) {
            eprintln!("{killed} of {} kills", options.kills);
            told = Instant::now();
        }
    }

    let mut server = Process::begin(&serving(true)).await?;
    let drained = drained(&mut server, db, &mut told).await?;
    server.kill().await?;
    let ledger = Ledger::open(db)?;
    let kept = ledger.later_than(0)?.into_iter();
    let kept = kept.map(|kept| (kept.task.id.clone(), kept)).collect();
    let (left, dead) = ledger.outbox()?;
    let pages = book.pages();
    report.tell("kills", options.kills as f64);
    report.tell("seconds until all was told", drained.as_secs_f64().round());
    report.tell("requests", pages.requests as f64);
    report.tell("requests that failed on purpose", pages.faults as f64);
    report.tell("duplicates", pages.repeats as f64);
    report.exactly("left in the outbox", 0, usize::try_from(left)?);
    report.exactly("given up", 0, usize::try_from(dead)?);
    report.exactly("strange", 0, pages.strange.len());
    report.remark(pages.strange.iter().take(5).cloned());
    Audit::of(&pages, &kept).report(report);
    Ok(())
}

/// Waits until no task is unfinished and the outbox is empty, or for `PATIENCE`; returns the time
/// taken.
async fn drained(server: &mut Process, db: &Path, told: &mut Instant) -> Result<Duration, Failure> {
    let begun = Instant::now();
    let ledger = Ledger::open(db)?;
    while begun.elapsed() < PATIENCE {
        server.lives_for(Duration::from_millis(100)).await?;
        let (left, _) = ledger.outbox()?;
        if left == 0 && ledger.unfinished()? == 0 {
            break;
        }
        if told.elapsed() > Duration::from_secs(20) {
            eprintln!("{left} notifications are left");
            *told = Instant::now();
        }
    }
    Ok(begun.elapsed())
}

/// Number of addresses of receivers during the kills.
const HOSTS: u8 = 12;
/// Milliseconds until a notification is retried.
const RETRY: u64 = 50;
/// Time limit for the last server to deliver the rest.
const PATIENCE: Duration = Duration::from_secs(300);
