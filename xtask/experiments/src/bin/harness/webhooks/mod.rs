//! Delivery of all notifications, in order and under one id each, although the server is killed and
//! receivers fail; and the cost to others of a receiver that never answers.

mod audit;
mod delivery_record;
mod load;
mod receiver;
mod silent_receiver;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2a_client::webhook::Secret;
use clap::Args;
use fastrand::Rng;

use self::audit::Audit;
use self::delivery_record::DeliveryRecord;
use self::load::WebhookTargets;
use self::receiver::HookServer;
use crate::Failure;
use crate::report::Report;
use crate::serve::{self, Process, directory};
use crate::tables::TaskTables;

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
    silent_options: silent_receiver::SilentOptions,
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

pub(crate) async fn run(options: Options, mut rng: Rng) -> Result<Report, Failure> {
    let directory = directory(options.dir.as_deref())?;
    let begun = Instant::now();
    let secret = Secret::shared()?;
    let mut report = Report::new("webhooks");
    if options.kills > 0 {
        let db = directory.path().join("killed.db");
        kills(&options, &db, &secret, &mut rng, &mut report).await?;
    }
    silent_receiver::run(
        &options.silent_options,
        directory.path(),
        &secret,
        &mut rng,
        &mut report,
    )
    .await?;
    report.note("seconds", begun.elapsed().as_secs_f64().round());
    Ok(report)
}

/// Kills a server under load, again and again, and lets the last one deliver the rest.
async fn kills(
    options: &Options,
    db: &Path,
    secret: &Secret,
    rng: &mut Rng,
    report: &mut Report,
) -> Result<(), Failure> {
    let serving = |resume| serve::Options {
        db: Some(db.to_owned()),
        resume,
        webhooks: Some(secret.expose()),
        retry: Some(RETRY),
        ..serve::Options::default()
    };
    let record = Arc::new(DeliveryRecord::default());
    let mut receivers = Vec::new();
    for host in 1..=HOSTS {
        receivers.push(HookServer::begin(host, &record, secret, options.faults, rng.fork()).await?);
    }
    let targets = WebhookTargets::new(&record, receivers);
    let mut reported = Instant::now();
    for killed in 0..options.kills {
        let mut server = Process::begin(&serving(killed >= options.kills / 2)).await?;
        let callers = load::begin(options.callers, server.url(), &targets, rng)?;
        let moment = Duration::from_micros(rng.u64(20_000..400_000));
        server.lives_for(moment).await?;
        server.kill().await?;
        load::end(callers).await?;
        if reported.elapsed() > Duration::from_secs(20) {
            eprintln!("{killed} of {} kills", options.kills);
            reported = Instant::now();
        }
    }

    let mut server = Process::begin(&serving(true)).await?;
    let drained = drained(&mut server, db, &mut reported).await?;
    server.kill().await?;
    let tables = TaskTables::open(db)?;
    let stored = tables.later_than(0)?.into_iter();
    let stored = stored
        .map(|stored| (stored.task.id.clone(), stored))
        .collect();
    let (left, dead) = tables.outbox()?;
    let deliveries = record.deliveries();
    report.note("kills", options.kills as f64);
    report.note(
        "seconds until all was delivered",
        drained.as_secs_f64().round(),
    );
    report.note("requests", deliveries.requests as f64);
    report.note("requests that failed on purpose", deliveries.faults as f64);
    report.note("duplicates", deliveries.repeats as f64);
    report.exactly("left in the outbox", 0, usize::try_from(left)?);
    report.exactly("given up", 0, usize::try_from(dead)?);
    report.exactly("strange", 0, deliveries.strange.len());
    report.remark(deliveries.strange.iter().take(5).cloned());
    Audit::of(&deliveries, &stored).report(report);
    Ok(())
}

/// Waits until no task is unfinished and the outbox is empty, or for `MAX_DRAIN`; returns the time
/// taken.
async fn drained(
    server: &mut Process,
    db: &Path,
    reported: &mut Instant,
) -> Result<Duration, Failure> {
    let begun = Instant::now();
    let tables = TaskTables::open(db)?;
    while begun.elapsed() < MAX_DRAIN {
        server.lives_for(Duration::from_millis(100)).await?;
        let (left, _) = tables.outbox()?;
        if left == 0 && tables.unfinished()? == 0 {
            break;
        }
        if reported.elapsed() > Duration::from_secs(20) {
            eprintln!("{left} notifications are left");
            *reported = Instant::now();
        }
    }
    Ok(begun.elapsed())
}

/// Number of addresses of receivers during the kills.
const HOSTS: u8 = 12;
/// Milliseconds until a notification is retried.
const RETRY: u64 = 50;
/// Time limit for the last server to deliver the rest.
const MAX_DRAIN: Duration = Duration::from_secs(300);
