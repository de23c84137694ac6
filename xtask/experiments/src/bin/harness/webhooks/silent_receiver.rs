//! Delay of notifications to other receivers while one accepts connections and never answers.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2a_client::webhook::Secret;
use a2a_client::{Client, SendMessageResponse};
use a2a_types::{Message, ProtocolVersion};
use clap::Args;
use fastrand::Rng;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::delivery_record::DeliveryRecord;
use super::load::{WebhookTargets, request};
use super::receiver::HookServer;
use crate::Failure;
use crate::report::Report;
use crate::serve::{self, Process};

/// Options of the experiment with a silent receiver.
#[derive(Args)]
pub(crate) struct SilentOptions {
    /// Number of receivers, each at its own address; one of them is silent at times.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u8).range(2..=255))]
    endpoints: u8,
    /// Number of comparisons of a period in which all answer with one in which one is silent.
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// Seconds of each period.
    #[arg(long, value_name = "N", default_value_t = 30)]
    seconds: u64,
    /// Tasks begun per second, each with a webhook that receives two notifications.
    #[arg(long, value_name = "N", default_value_t = 200)]
    rate: u64,
    /// Upper limit on the 99th percentile of the others' delays, as a multiple of that without a
    /// silent receiver.
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0)]
    slowdown: f64,
}

pub(crate) async fn run(
    silent_options: &SilentOptions,
    directory: &Path,
    secret: &Secret,
    rng: &mut Rng,
    report: &mut Report,
) -> Result<(), Failure> {
    let mut all = Delays::default();
    let mut others = Delays::default();
    for round in 0..silent_options.rounds {
        for (name, silent, delays) in [("all", false, &mut all), ("others", true, &mut others)] {
            let period = LoadPeriod {
                silent_options,
                secret,
                server: serve::Options {
                    db: Some(directory.join(format!("{name}-{round}.db"))),
                    webhooks: Some(secret.expose()),
                    ..serve::Options::default()
                },
                silent,
            };
            period.run(delays, rng).await?;
        }
        eprintln!(
            "{} of {} rounds with a silent receiver",
            round + 1,
            silent_options.rounds
        );
    }
    if silent_options.rounds == 0 {
        return Ok(());
    }
    report.note("receivers", f64::from(silent_options.endpoints));
    report.note("ends delivered, if all answer", all.count());
    report.note("ends delivered, if one is silent", others.count());
    report.exactly("of these untold", 0, all.missing + others.missing);
    report.note("median, ms, if all answer", all.part(0.5));
    report.note("median, ms, if one is silent", others.part(0.5));
    let (healthy, held_up) = (all.part(0.99), others.part(0.99));
    report.note("99th percentile, ms, if all answer", healthy);
    report.note("99th percentile, ms, with a silent", held_up);
    report.at_most(
        "how many times slower",
        silent_options.slowdown,
        held_up / healthy.max(1.0),
    );
    Ok(())
}

/// Delays from the end of a task to its notification, in milliseconds, sorted for each period.
#[derive(Default)]
struct Delays {
    periods: Vec<Vec<f64>>,
    missing: usize,
}

impl Delays {
    fn count(&self) -> f64 {
        self.periods.iter().map(Vec::len).sum::<usize>() as f64
    }

    /// Returns this quantile of the delays, in the median period: other load of the machine is not the
    /// server's.
    fn part(&self, part: f64) -> f64 {
        let of_periods = self.periods.iter().map(|period| quantile(period, part));
        let mut of_periods: Vec<_> = of_periods.collect();
        of_periods.sort_unstable_by(f64::total_cmp);
        quantile(&of_periods, 0.5)
    }
}

fn quantile(sorted: &[f64], part: f64) -> f64 {
    let index = (sorted.len() as f64 * part) as usize;
    sorted.get(index).copied().unwrap_or_default()
}

/// A server under load for some time.
struct LoadPeriod<'a> {
    silent_options: &'a SilentOptions,
    secret: &'a Secret,
    server: serve::Options,
    /// The first receiver never answers.
    silent: bool,
}

impl LoadPeriod<'_> {
    async fn run(&self, delays: &mut Delays, rng: &mut Rng) -> Result<(), Failure> {
        let record = Arc::new(DeliveryRecord::default());
        let mut receivers = Vec::new();
        for host in 1..=self.silent_options.endpoints {
            receivers.push(match self.silent && host == 1 {
                true => HookServer::silent(host).await?,
                false => HookServer::begin(host, &record, self.secret, 0, rng.fork()).await?,
            });
        }
        let targets = WebhookTargets::new(&record, receivers);
        let mut server = Process::begin(&self.server).await?;
        let due = self
            .load(&Client::at(server.url(), ProtocolVersion::V1_0)?, &targets)
            .await?;
        let ended = Instant::now();
        let received = loop {
            server.lives_for(Duration::from_millis(50)).await?;
            let received = record.deliveries().delays.len();
            if received >= due || ended.elapsed() > MAX_WAIT {
                break received;
            }
        };
        server.kill().await?;
        delays.missing += due.saturating_sub(received);
        let mut period = std::mem::take(&mut record.deliveries().delays);
        period.sort_unstable_by(f64::total_cmp);
        delays.periods.push(period);
        Ok(())
    }

    /// Begins tasks at a steady rate; returns the number of tasks whose receiver answers.
    async fn load(&self, client: &Client, targets: &Arc<WebhookTargets>) -> Result<usize, Failure> {
        let count = self.silent_options.rate * self.silent_options.seconds;
        let mut beat = tokio::time::interval(
            Duration::from_secs(1) / u32::try_from(self.silent_options.rate)?,
        );
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut sends = JoinSet::new();
        let mut due = 0;
        for number in 0..count {
            beat.tick().await;
            let (config, _) = targets.webhook();
            let listens =
                !self.silent || !number.is_multiple_of(u64::from(self.silent_options.endpoints));
            due += usize::from(listens);
            let (client, message) = (client.clone(), Message::user("echo this"));
            let request = request(message, Some(config), false);
            sends.spawn(async move { client.send(request).await });
        }
        while let Some(sent) = sends.join_next().await {
            match sent?? {
                SendMessageResponse::Task(_) => {}
                SendMessageResponse::Message(_) => {
                    return Err("a message where a task was due".into());
                }
            }
        }
        Ok(due)
    }
}

/// Time limit for the notifications still on their way.
const MAX_WAIT: Duration = Duration::from_secs(30);
