//! Many readers of one log, each at its own pace: all of them read the same.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use a2a_client::{Client, Event, Retries, StreamExt};
use a2a_server::{
    Agent, ArtifactUpdate, Failure as AgentFailure, Server, ServerBuilder, SqliteStore, Turn,
};
use a2a_types::{Artifact, Message, Part, SendMessageConfiguration, SendMessageRequest, TaskId};
use clap::Args;
use fastrand::Rng;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Failure;
use crate::report::Report;
use crate::serve::card;

/// Options of the experiment.
#[derive(Args)]
pub(crate) struct Options {
    /// Number of followers of a task.
    #[arg(long, value_name = "N", default_value_t = 64)]
    followers: usize,
    /// Number of events of a task.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    events: u64,
    /// Number of rounds, each with other paces.
    #[arg(long, value_name = "N", default_value_t = 20)]
    rounds: u64,
    /// Directory of the database; by default one in memory, if there is one, because the speed of
    /// the disk does not matter here.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask followers                                 64 followers, 10,000 events, 20 times
  cargo xtask followers --followers 1000 --rounds 1     a crowd";

pub(crate) async fn run(options: Options, mut rng: Rng) -> Result<Report, Failure> {
    let in_memory = Some(PathBuf::from("/dev/shm")).filter(|directory| directory.is_dir());
    let given = options.dir.clone().or(in_memory);
    let directory = tempfile::tempdir_in(given.unwrap_or_else(std::env::temp_dir))?;
    let (begun, mut reported) = (Instant::now(), Instant::now());
    let mut total = ReadTotals::default();
    for round in 0..options.rounds {
        total.add(follow_all(Server::builder(card(), NumberingAgent), &options, &mut rng).await?);
        let store = SqliteStore::open(directory.path().join(format!("{round}.db")))?;
        let in_a_file = Server::builder(card(), NumberingAgent).store(store);
        total.add(follow_all(in_a_file, &options, &mut rng).await?);
        if reported.elapsed() > Duration::from_secs(20) {
            eprintln!("{} of {} rounds", round + 1, options.rounds);
            reported = Instant::now();
        }
    }

    let mut report = Report::new("followers");
    let readers = options.followers as u64 * options.rounds * 2;
    report.exactly(
        "followers that came to the end",
        readers as usize,
        total.ended,
    );
    report.note("events read", total.events as f64);
    report.note("times that one was cut off", total.reconnects as f64);
    report.note("received the task unchanged", total.repeats as f64);
    report.exactly("gaps", 0, total.gaps);
    report.exactly("out of order", 0, total.disorder);
    report.exactly("begun again from the task", 0, total.restarts);
    report.exactly("other than the log", 0, total.others);
    let seconds = begun.elapsed().as_secs_f64();
    report.note(
        "events read per second",
        (total.events as f64 / seconds).round(),
    );
    report.note("seconds", seconds.round());
    report.remark(total.remarks);
    Ok(report)
}

/// Agent that sends as many events as the message says, each with its number.
struct NumberingAgent;

impl Agent for NumberingAgent {
    async fn run(&self, turn: Turn) -> Result<(), AgentFailure> {
        for number in 0..turn.text().parse::<u64>()? {
            let artifact = Artifact {
                artifact_id: format!("a{}", number % 8).into(),
                parts: vec![Part::text(number.to_string())],
                ..Artifact::default()
            };
            let mut update = ArtifactUpdate::new(artifact);
            update.last_chunk = true;
            turn.publish(update).await?;
        }
        Ok(())
    }
}

/// Results of the followers.
#[derive(Default)]
struct ReadTotals {
    ended: usize,
    events: usize,
    reconnects: usize,
    gaps: usize,
    disorder: usize,
    restarts: usize,
    /// The follower had missed nothing, and the server sent the whole task again.
    repeats: usize,
    others: usize,
    remarks: Vec<String>,
}

impl ReadTotals {
    fn add(&mut self, other: Self) {
        self.ended += other.ended;
        self.events += other.events;
        self.reconnects += other.reconnects;
        self.gaps += other.gaps;
        self.disorder += other.disorder;
        self.restarts += other.restarts;
        self.repeats += other.repeats;
        self.others += other.others;
        self.remarks.extend(other.remarks);
    }
}

/// One task, and everyone who follows it.
async fn follow_all(
    builder: ServerBuilder,
    options: &Options,
    rng: &mut Rng,
) -> Result<ReadTotals, Failure> {
    let client = Client::new(builder.merge_chunks(false).build()?).retries(Retries::none());
    let mut updates = client.stream(count_to(options.events)).await?;
    let first = updates.next().await.ok_or("no word of the task")??;
    let task = first.task_id().cloned().ok_or("an event of no task")?;
    // The last sequence number of the task, for followers that come late.
    let (reached, progress) = watch::channel(1);
    let mut followers = JoinSet::new();
    for _ in 0..options.followers {
        let follower = Follower {
            client: client.clone(),
            task: task.clone(),
            seen: 1,
            rng: rng.fork(),
            totals: ReadTotals::default(),
        };
        followers.spawn(follower.follow(options.events, progress.clone()));
    }
    while let Some(event) = updates.next().await {
        event?;
        reached.send_replace(updates.sequence().unwrap_or(1));
    }
    let mut total = ReadTotals::default();
    while let Some(totals) = followers.join_next().await {
        total.add(totals??);
    }
    Ok(total)
}

fn count_to(events: u64) -> SendMessageRequest {
    SendMessageRequest {
        message: Message::user(events.to_string()),
        configuration: Some(SendMessageConfiguration::default()),
        ..SendMessageRequest::default()
    }
}

/// A follower of a task, and its position.
struct Follower {
    client: Client,
    task: TaskId,
    seen: u64,
    rng: Rng,
    totals: ReadTotals,
}

impl Follower {
    /// Begins at a random time and position, and reads to the end.
    async fn follow(
        mut self,
        events: u64,
        mut progress: watch::Receiver<u64>,
    ) -> Result<ReadTotals, Failure> {
        let last = events + 2;
        let comes = self.rng.u64(1..=events);
        let come = progress.wait_for(|reached| *reached >= comes).await;
        // If the task has ended, it is late indeed.
        drop(come);
        self.seen = self.rng.u64(1..=comes);
        while self.seen < last {
            let (task, seen) = (self.task.clone(), self.seen);
            let mut updates = self.client.subscribe_after(task, Some(seen)).await?;
            // Number of events that it reads, and how often it yields to other followers.
            let most = 1 << self.rng.u32(4..16);
            let stays = self.rng.usize(1..=most);
            let hurry = self.rng.u8(..);
            for _ in 0..stays {
                let Some(event) = updates.next().await else {
                    break;
                };
                self.read(&event?, updates.sequence());
                if self.rng.u8(..) > hurry {
                    tokio::task::yield_now().await;
                }
            }
            self.totals.reconnects += 1;
        }
        // The first connection was not a reconnect.
        self.totals.reconnects -= 1;
        self.totals.ended = usize::from(self.seen == last);
        Ok(self.totals)
    }

    fn read(&mut self, event: &Event, sequence: Option<u64>) {
        let sequence = sequence.unwrap_or(0);
        // A follower that has missed nothing receives the current task when it comes back.
        if matches!(event, Event::Task(_)) && sequence == self.seen {
            self.totals.repeats += 1;
            return;
        }
        self.totals.events += 1;
        let due = self.seen + 1;
        if sequence < due {
            self.totals.disorder += 1;
        }
        if sequence > due {
            self.totals.gaps += 1;
        }
        if sequence != due {
            self.totals
                .remarks
                .push(format!("{sequence} came when {due} was due"));
        }
        self.seen = self.seen.max(sequence);
        match event {
            Event::ArtifactUpdate(update) => {
                let text = update.artifact.parts.first().and_then(Part::as_text);
                let number = text.and_then(|text| text.parse::<u64>().ok());
                // The task is the first entry of its log, the first number the second.
                self.totals.others += usize::from(number != sequence.checked_sub(2));
            }
            Event::Task(_) => self.totals.restarts += 1,
            _ => {}
        }
    }
}
