//! Followers whose connections are cut again and again resume where they were: no event is missing,
//! none comes twice, and all come in order.

mod client;
mod proxy;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use a2a_client::{Client, Error, Retries, StreamExt, TaskEventStream};
use a2a_server::{Agent, Failure as AgentFailure, Server, SqliteStore, Turn};
use a2a_types::{
    Artifact, ErrorKind, Event, Message, Part, ProtocolVersion, SendMessageRequest, TaskId,
    TaskState,
};
use clap::Args;
use fastrand::Rng;
use tokio::task::JoinSet;

use self::client::Trial;
use self::proxy::{Ids, Proxy};
use crate::Failure;
use crate::report::Report;
use crate::serve::{card, directory};

/// Options of the experiment.
#[derive(Args)]
pub(crate) struct Options {
    /// Number of tasks, in turn in each protocol version and from each store.
    #[arg(long, value_name = "N", default_value_t = 200)]
    tasks: usize,
    /// Number of tasks followed at once.
    #[arg(long, value_name = "N", default_value_t = 12)]
    at_once: usize,
    /// Let the client resume by itself, in each of the four protocol versions, with the ids of
    /// events and without.
    #[arg(long)]
    client: bool,
    /// Number of connections cut for each task with `--client`.
    #[arg(long, value_name = "N", default_value_t = 500)]
    cuts: usize,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask disconnects                               200 tasks, three protocol versions, two stores
  cargo xtask disconnects --tasks 20 --at-once 1 --seed 7  one after the other
  cargo xtask disconnects --client                      500 cuts to a task, which the client survives";

pub(crate) async fn run(options: Options, rng: Rng) -> Result<Report, Failure> {
    match options.client {
        true => resume_by_client(options, rng).await,
        false => resume_by_caller(options, rng).await,
    }
}

async fn resume_by_client(options: Options, mut rng: Rng) -> Result<Report, Failure> {
    let agent = client::PacedCounter::default();
    let target = serve(Server::builder(card(), agent.clone())).await?;
    let (begun, mut reported) = (Instant::now(), Instant::now());
    let mut total = client::ClientTotals::default();
    let mut callers = JoinSet::new();
    for number in 0..options.tasks {
        if callers.len() >= options.at_once {
            total.add(callers.join_next().await.ok_or("no caller is left")???);
        }
        let trial = Trial {
            target,
            protocol_version: ProtocolVersion::ALL[number % 4],
            ids: [Ids::StoredTask, Ids::Hidden][number / 4 % 2],
            cuts: options.cuts,
        };
        callers.spawn(client::follow(
            trial,
            agent.clone(),
            format!("t{number}"),
            rng.fork(),
        ));
        if reported.elapsed() > Duration::from_secs(20) {
            eprintln!("{number} of {} tasks", options.tasks);
            reported = Instant::now();
        }
    }
    while let Some(totals) = callers.join_next().await {
        total.add(totals??);
    }
    let mut report = Report::new("disconnects");
    report.note("tasks", options.tasks as f64);
    report.note("events", total.events as f64);
    let least = options.cuts * options.tasks;
    report.at_least("connections that were cut", least as f64, total.cuts as f64);
    report.note("reconnections", total.reconnections as f64);
    report.exactly("missing", 0, total.missing);
    report.exactly("received twice", 0, total.twice);
    report.exactly("made out another task", 0, total.others);
    report.exactly("failed", 0, total.failures);
    report.note("seconds", begun.elapsed().as_secs_f64().round());
    report.remark(total.remarks);
    Ok(report)
}

async fn resume_by_caller(options: Options, mut rng: Rng) -> Result<Report, Failure> {
    let directory = directory(None)?;
    let in_memory = serve(Server::builder(card(), Counter)).await?;
    let in_a_file = SqliteStore::open(directory.path().join("tasks.db"))?;
    let in_a_file = serve(Server::builder(card(), Counter).store(in_a_file)).await?;

    let (begun, mut reported) = (Instant::now(), Instant::now());
    let mut total = FollowTotals::default();
    let mut followers = JoinSet::new();
    for number in 0..options.tasks {
        if followers.len() >= options.at_once {
            total.add(
                followers
                    .join_next()
                    .await
                    .ok_or("no follower is left")???,
            );
        }
        let protocol_version = [
            ProtocolVersion::V0_2,
            ProtocolVersion::V0_3,
            ProtocolVersion::V1_0,
        ][number % 3];
        let target = [in_memory, in_a_file][number / 3 % 2];
        followers.spawn(follow(
            target,
            protocol_version,
            rng.u64(100..=500),
            rng.fork(),
        ));
        if reported.elapsed() > Duration::from_secs(20) {
            eprintln!("{number} of {} tasks", options.tasks);
            reported = Instant::now();
        }
    }
    while let Some(totals) = followers.join_next().await {
        total.add(totals??);
    }

    let mut report = Report::new("disconnects");
    report.note("tasks", options.tasks as f64);
    report.note("events", total.events as f64);
    report.note("connections that were cut", total.cuts as f64);
    report.note("subscriptions", total.subscriptions as f64);
    report.note("received the task unchanged", total.repeats as f64);
    report.exactly("missing", 0, total.missing);
    report.exactly("received twice", 0, total.twice);
    report.exactly("out of order", 0, total.disorder);
    report.exactly("begun again from the task", 0, total.restarts);
    report.exactly("refused the rest", 0, total.refused);
    report.note("seconds", begun.elapsed().as_secs_f64().round());
    report.remark(total.remarks);
    Ok(report)
}

async fn serve(builder: a2a_server::ServerBuilder) -> Result<SocketAddr, Failure> {
    let server = builder.merge_chunks(false).build()?;
    let bound = server.bind("127.0.0.1:0").await?;
    let address = bound.local_addr();
    // It lasts as long as this process.
    tokio::spawn(bound.run(std::future::pending()));
    Ok(address)
}

/// Counts to the number in the message, each number a chunk of one artifact.
struct Counter;

impl Agent for Counter {
    async fn run(&self, turn: Turn) -> Result<(), AgentFailure> {
        let mut numbers = turn.artifact("numbers");
        for number in 0..turn.text().parse::<u64>()? {
            numbers = numbers.text(number.to_string()).send().await?;
            // Some events are sent as they happen, others are waiting already.
            if number % 16 == 0 {
                drop(tokio::time::timeout(Duration::from_millis(1), turn.canceled()).await);
            }
        }
        Ok(())
    }
}

/// Results of the followers.
#[derive(Default)]
struct FollowTotals {
    events: usize,
    cuts: usize,
    subscriptions: usize,
    missing: usize,
    twice: usize,
    disorder: usize,
    /// The server sent the whole task although the follower had a position.
    restarts: usize,
    /// The follower had missed nothing, and the server sent the whole task again.
    repeats: usize,
    /// The server reported the end of the task, and not the events missed.
    refused: usize,
    remarks: Vec<String>,
}

impl FollowTotals {
    fn add(&mut self, other: Self) {
        self.events += other.events;
        self.cuts += other.cuts;
        self.subscriptions += other.subscriptions;
        self.missing += other.missing;
        self.twice += other.twice;
        self.disorder += other.disorder;
        self.restarts += other.restarts;
        self.repeats += other.repeats;
        self.refused += other.refused;
        self.remarks.extend(other.remarks);
    }
}

/// Follows one task to its end, through all cuts.
async fn follow(
    target: SocketAddr,
    protocol_version: ProtocolVersion,
    numbers: u64,
    rng: Rng,
) -> Result<FollowTotals, Failure> {
    let proxy = Proxy::begin(target, Ids::StoredTask, rng).await?;
    // Without retries, so that each cut is seen, and the first event after it.
    let client = Client::at(&proxy.url(), protocol_version)?.retries(Retries::none());
    let request = SendMessageRequest {
        message: Message::user(numbers.to_string()),
        ..SendMessageRequest::default()
    };
    let mut follower = Follower::default();
    let whole = async {
        while !follower.ended {
            let place = follower.task.clone().zip(follower.sequence);
            let updates = match place {
                // Sent again, it is the same message.
                None => client.stream(request.clone()).await,
                Some((task, seen)) => client.subscribe_after(task, Some(seen)).await,
            };
            follower.totals.subscriptions += 1;
            match updates {
                Ok(updates) => follower.read(updates).await?,
                Err(Error::Agent(error)) if error.kind == ErrorKind::UnsupportedOperation => {
                    follower.totals.refused += 1;
                    follower.ended = true;
                }
                Err(Error::Agent(error)) => return Err(error.into()),
                Err(_) => {}
            }
        }
        Ok::<_, Failure>(())
    };
    match tokio::time::timeout(MAX_FOLLOW, whole).await {
        Ok(ended) => ended?,
        Err(_) => follower.remark("it never came to its end"),
    }
    let place = format!("{protocol_version}, {:?}, {numbers} numbers", follower.task);
    let missing = numbers.saturating_sub(follower.next);
    follower.totals.missing += missing as usize;
    if missing > 0 {
        follower.remark(format!("the last {missing} are missing"));
    }
    follower.totals.cuts = proxy.cuts();
    for remark in &mut follower.totals.remarks {
        *remark = format!("{place}: {remark}");
    }
    Ok(follower.totals)
}

/// Time limit for following a task to its end.
const MAX_FOLLOW: Duration = Duration::from_secs(60);

/// A follower of a task, and its position.
#[derive(Default)]
struct Follower {
    task: Option<TaskId>,
    /// Sequence number of the last event.
    sequence: Option<u64>,
    /// The number that comes next.
    next: u64,
    ended: bool,
    totals: FollowTotals,
}

impl Follower {
    /// Reads one stream for as long as it lasts.
    async fn read(&mut self, mut updates: TaskEventStream) -> Result<(), Failure> {
        let resumed = self.sequence.is_some();
        while let Some(event) = updates.next().await {
            match event {
                Ok(event) => self.record(&event, updates.sequence(), resumed)?,
                Err(Error::Agent(error)) => return Err(error.into()),
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        event: &Event,
        sequence: Option<u64>,
        resumed: bool,
    ) -> Result<(), Failure> {
        self.totals.events += 1;
        let sequence = sequence.ok_or("an event without an id")?;
        // A follower that has missed nothing receives the current task when it comes back.
        if matches!(event, Event::Task(_)) && self.sequence == Some(sequence) {
            self.totals.repeats += 1;
            return Ok(());
        }
        if self.sequence.is_some_and(|last| sequence <= last) {
            self.totals.disorder += 1;
            self.remark(format!("{sequence} came after {:?}", self.sequence));
        }
        self.sequence = Some(sequence);
        self.task = event.task_id().cloned();
        if let Some(status) = event.status() {
            if self.ended {
                self.totals.twice += 1;
            }
            self.ended = status.state.is_terminal();
            if self.ended && status.state != TaskState::Completed {
                self.remark(format!("it has ended {:?}", status.state));
            }
        }
        match event {
            Event::Task(task) => {
                if resumed {
                    self.totals.restarts += 1;
                    self.remark("the whole task was received");
                }
                let known = task.artifacts.iter().flat_map(numbers);
                known.for_each(|number| self.count(number, true));
            }
            Event::ArtifactUpdate(update) => {
                numbers(&update.artifact).for_each(|number| self.count(number, false));
            }
            _ => {}
        }
        Ok(())
    }

    /// Counts the next number, or one that was not due; a number that a whole task repeats is not counted again.
    fn count(&mut self, number: u64, known: bool) {
        match number.cmp(&self.next) {
            std::cmp::Ordering::Equal => self.next += 1,
            std::cmp::Ordering::Less if known => {}
            std::cmp::Ordering::Less => {
                self.totals.twice += 1;
                self.remark(format!("{number} was received twice"));
            }
            std::cmp::Ordering::Greater => {
                self.totals.missing += (number - self.next) as usize;
                self.remark(format!("{number} came when {} was due", self.next));
                self.next = number + 1;
            }
        }
    }

    fn remark(&mut self, remark: impl Into<String>) {
        self.totals.remarks.push(remark.into());
    }
}

fn numbers(artifact: &Artifact) -> impl Iterator<Item = u64> {
    let texts = artifact.parts.iter().filter_map(Part::as_text);
    texts.map(|text| text.parse().unwrap_or(u64::MAX >> 1))
}
