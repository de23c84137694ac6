//! Several replicas that share one Postgres database, behind a load balancer: killed, frozen, cut off and restarted.

mod balancer;
mod database;
mod duplicates;
mod events;
mod failover;
mod idle;
mod latency;
mod outage;
mod pooler;
mod rate;
mod rolling;
mod takeover;
mod zombie;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use a2a_client::{Client, Retries};
use a2a_types::{Message, ProtocolVersion, SendMessageConfiguration, SendMessageRequest};
use clap::{Args, ValueEnum};
use fastrand::Rng;

use self::balancer::Balancer;
use self::database::Database;
use self::pooler::Pooler;
use crate::Failure;
use crate::report::Report;
use crate::serve::{self, Process};

/// Options of the experiments.
#[derive(Args)]
pub(crate) struct Options {
    /// The experiments to make; all by default.
    #[arg(value_enum)]
    only: Vec<Part>,
    /// Number of replicas.
    #[arg(long, value_name = "N", default_value_t = 3)]
    replicas: usize,
    /// A tenth of the tasks, events and seconds.
    #[arg(long)]
    quick: bool,
}

pub(crate) const EXAMPLES: &str = "\
It needs PostgreSQL 15 or later, and for `pooler` PgBouncer (Debian: apt-get install postgresql pgbouncer).

Examples:
  cargo xtask cluster                                   everything: about fifteen minutes
  cargo xtask cluster --quick duplicates takeover       is it sound at all?
  cargo xtask cluster rolling --seed 7 --json           the same again, for programs";

/// One experiment.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Part {
    /// Send each message to all replicas at once: the agent gets it once.
    Duplicates,
    /// Kill a replica with running tasks: the others take them over.
    Takeover,
    /// Read events while replicas are killed and connections cut: none is lost, none comes twice.
    Events,
    /// Freeze a replica until its leases have run out: what it writes later is refused.
    Zombie,
    /// Measure durable events per second.
    Rate,
    /// Measure the time from an event at one replica to its reader at another.
    Latency,
    /// Let 10,000 readers wait at one replica.
    Idle,
    /// Stop the database for a while.
    Outage,
    /// Restart all replicas, one after the other, under load.
    Rolling,
    /// Repeat duplicates, events and latency behind PgBouncer in transaction mode.
    Pooler,
    /// Kill the primary database and promote its standby.
    Failover,
}

pub(crate) async fn run(options: Options, mut rng: Rng) -> Result<Report, Failure> {
    let mut report = Report::new("cluster");
    for &part in Part::value_variants() {
        if !options.only.is_empty() && !options.only.contains(&part) {
            continue;
        }
        eprintln!("{part:?} …");
        let begun = Instant::now();
        // The figures of the other parts are not lost with it.
        if let Err(failure) = part.run(&options, &mut rng, &mut report).await {
            report.exactly(format!("{part:?}: failures of the experiment itself"), 0, 1);
            report.remark([format!("{part:?}: {failure}")]);
        }
        eprintln!("{part:?}: {:.0} s", begun.elapsed().as_secs_f64());
    }
    Ok(report)
}

impl Part {
    async fn run(
        self,
        options: &Options,
        rng: &mut Rng,
        report: &mut Report,
    ) -> Result<(), Failure> {
        if self == Self::Failover {
            return failover::run(options, report).await;
        }
        let cluster = match self {
            Self::Pooler => Cluster::start_pooled(options.replicas).await?,
            _ => Cluster::start(options.replicas).await?,
        };
        let scale = if options.quick { 10 } else { 1 };
        match self {
            Self::Duplicates => duplicates::run(&cluster, 1000 / scale, "", report).await,
            Self::Takeover => takeover::run(cluster, 500 / scale, report).await,
            Self::Events => events::run(cluster, 100_000 / scale as u64, "", rng, report).await,
            Self::Zombie => {
                zombie::run(
                    cluster,
                    Duration::from_secs(60 / scale.min(2) as u64),
                    report,
                )
                .await
            }
            Self::Rate => rate::run(&cluster, Duration::from_secs(30 / scale as u64), report).await,
            Self::Latency => latency::run(&cluster, report).await,
            Self::Idle => idle::run(&cluster, 10_000 / scale, report).await,
            Self::Outage => {
                outage::run(
                    cluster,
                    Duration::from_secs(30 / scale.min(3) as u64),
                    report,
                )
                .await
            }
            Self::Rolling => rolling::run(cluster, 20 / scale, report).await,
            Self::Pooler => {
                duplicates::run(&cluster, 1000 / scale, "pooler: ", report).await?;
                latency::measure(&cluster, "pooler: ", latency::WITHOUT_LISTEN, report).await?;
                events::run(cluster, 20_000 / scale as u64, "pooler: ", rng, report).await
            }
            Self::Failover => Ok(()),
        }
    }
}

/// Replicas of one database, and the balancer before them.
struct Cluster {
    replicas: Vec<Process>,
    balancer: Balancer,
    database: Database,
    /// Options that a replica is started with.
    serving: serve::Options,
    _pooler: Option<Pooler>,
}

impl Cluster {
    async fn start(count: usize) -> Result<Self, Failure> {
        let database = Database::start(&[]).await?;
        Self::of(database, None, count).await
    }

    /// Starts replicas that reach the database through PgBouncer.
    async fn start_pooled(count: usize) -> Result<Self, Failure> {
        let database = Database::start(&[]).await?;
        let pooler = Pooler::start(&database).await?;
        Self::of(database, Some(pooler), count).await
    }

    async fn of(database: Database, pooler: Option<Pooler>, count: usize) -> Result<Self, Failure> {
        let url = pooler.as_ref().map_or_else(|| database.url(), Pooler::url);
        let serving = serve::Options {
            db: Some(PathBuf::from(url)),
            pooled: pooler.is_some(),
            resume: true,
            runs: Some(database.directory().join("runs")),
            ..serve::Options::default()
        };
        let mut cluster = Self {
            replicas: Vec::new(),
            balancer: Balancer::start().await?,
            database,
            serving,
            _pooler: pooler,
        };
        for _ in 0..count {
            cluster.add().await?;
        }
        Ok(cluster)
    }

    /// Starts one more replica, and takes it into service.
    async fn add(&mut self) -> Result<(), Failure> {
        let replica = Process::begin(&self.serving).await?;
        self.balancer.add(address(&replica)?);
        self.replicas.push(replica);
        Ok(())
    }

    /// Takes a replica out of service.
    fn take(&mut self, index: usize) -> Result<Process, Failure> {
        let replica = self.replicas.remove(index);
        self.balancer.remove(address(&replica)?);
        Ok(replica)
    }

    /// Returns a client of one replica, without retries.
    fn client(&self, index: usize) -> Result<Client, Failure> {
        let client = Client::at(self.replicas[index].url(), ProtocolVersion::V1_0)?;
        Ok(client.retries(Retries::none()))
    }

    /// Returns a client of the balancer, which sends a message again under the same id.
    fn balanced(&self) -> Result<Client, Failure> {
        let retries = Retries::default()
            .attempts(50)
            .reconnections(1000)
            .budget(1000, 1000);
        Ok(Client::at(&self.balancer.url(), ProtocolVersion::V1_0)?
            .retries(retries.resend_messages(true)))
    }

    /// Returns the ids of the messages that the agent got, one line for each turn.
    fn runs(&self) -> Result<Vec<String>, Failure> {
        let runs = self.serving.runs.as_ref().ok_or("the runs are not kept")?;
        let text = match runs.exists() {
            true => std::fs::read_to_string(runs)?,
            false => String::new(),
        };
        Ok(text.lines().map(str::to_owned).collect())
    }
}

fn address(replica: &Process) -> Result<SocketAddr, Failure> {
    let url = replica.url().trim_start_matches("http://");
    Ok(url.trim_end_matches('/').parse()?)
}

/// Returns a request that is answered as soon as its task exists.
fn begin(text: impl Into<String>) -> SendMessageRequest {
    SendMessageRequest {
        message: Message::user(text.into()),
        configuration: Some(SendMessageConfiguration {
            return_immediately: true,
            ..SendMessageConfiguration::default()
        }),
        ..SendMessageRequest::default()
    }
}

/// Returns the value below which this part of the values lies.
fn quantile(values: &mut [Duration], part: f64) -> f64 {
    values.sort_unstable();
    let index = (values.len() as f64 * part) as usize;
    let value = values.get(index.min(values.len().saturating_sub(1)));
    value.map_or(f64::NAN, |it| it.as_secs_f64() * 1e3)
}
