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

pub(crate) async fn run(options: Options, mut dice: Rng) -> Result<Report, Failure> {
    let in_memory = Some(PathBuf::from("/dev/shm")).filter(|directory| directory.is_dir());
    let given = options.dir.clone().or(in_memory);
    let directory = tempfile::tempdir_in(given.unwrap_or_else(std::env::temp_dir))?;
    let (begun, mut told) = (Instant::now(), Instant::now());
    let mut total = Found::default();
    for round in 0..options.rounds {
        total.add(follow_all(Server::builder(card(), Teller), &options, &mut dice).await?);
        let store = SqliteStore::open(directory.path().join(format!("{round}.db")))?;
        let in_a_file = Server::builder(card(), Teller).store(store);
        total.add(follow_all(in_a_file, &options, &mut dice).await?);
        if told.elapsed() > Duration::from_secs(20) {
            eprintln!("{} of {} rounds", round + 1, options.rounds);
            told = Instant::now();
        }
    }

    let mut report = Report::new("followers");
    let readers = options.followers as u64 * options.rounds * 2;
    report.exactly(
        "followers that came to the end",
        readers as usize,
        total.ended,
    );
    report.tell("events read", total.events as f64);
    report.tell("times that one was cut off", total.reconnects as f64);
    report.tell("told the task as they knew it", total.repeats as f64);
    report.exactly("gaps", 0, total.gaps);
    report.exactly("out of order", 0, total.disorder);
    report.exactly("begun again from the task", 0, total.restarts);
    report.exactly("other than what was told", 0, total.others);
    let seconds = begun.elapsed().as_secs_f64();
    report.tell(
        "events read per second",
        (total.events as f64 / seconds).round(),
    );
    report.tell("seconds", seconds.round());
    report.remark(total.remarks);
    Ok(report)
}

/// Agent that sends as many events as the message says, each with its number.
struct Teller;

impl Agent for Teller {
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
struct Found {
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

impl Found {
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
    dice: &mut Rng,
) -> Result<Found, Failure> {
    let client = Client::new(builder.merge_chunks(false).build()?).retries(Retries::none());
    let mut updates = client.stream(count_to(options.events)).await?;
    let first = updates.next().await.ok_or("no word of the task")??;
    let task = first.task_id().cloned().ok_or("an event of no task")?;
    // How far the task is, for those who come late.
    let (reached, progress) = watch::channel(1);
    let mut followers = JoinSet::new();
    for _ in 0..options.followers {
        let follower = Follower {
            client: client.clone(),
            task: task.clone(),
            seen: 1,
            dice: dice.fork(),
            found: Found::default(),
        };
        followers.spawn(follower.follow(options.events, progress.clone()));
    }
    while let Some(event) = updates.next().await {
        event?;
        reached.send_replace(updates.sequence().unwrap_or(1));
    }
    let mut total = Found::default();
    while let Some(found) = followers.join_next().await {
        total.add(found??);
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
    dice: Rng,
    found: Found,
}

impl Follower {
    /// Begins at a random time and position, and reads to the end.
    async fn follow(
        mut self,
        events: u64,
        mut progress: watch::Receiver<u64>,
    ) -> Result<Found, Failure> {
        let last = events + 2;
        let comes = self.dice.u64(1..=events);
        let come = progress.wait_for(|reached| *reached >= comes).await;
        // If the task has ended, it is late indeed.
        drop(come);
        self.seen = self.dice.u64(1..=comes);
        while self.seen < last {
            let (task, seen) = (self.task.clone(), self.seen);
            let mut updates = self.client.subscribe_after(task, Some(seen)).await?;
            // How long it stays, and how often it lets others go first.
            let most = 1 << self.dice.u32(4..16);
            let stays = self.dice.usize(1..=most);
            let hurry = self.dice.u8(..);
            for _ in 0..stays {
                let Some(event) = updates.next().await else {
                    break;
                };
                self.read(&event?, updates.sequence());
                if self.dice.u8(..) > hurry {
                    tokio::task::yield_now().await;
                }
            }
            self.found.reconnects += 1;
        }
        // The first time was no reconnecting.
        self.found.reconnects -= 1;
        self.found.ended = usize::from(self.seen == last);
        Ok(self.found)
    }

    fn read(&mut self, event: &Event, sequence: Option<u64>) {
        let sequence = sequence.unwrap_or(0);
        // A follower that has missed nothing receives the current task when it comes back.
        if matches!(event, Event::Task(_)) && sequence == self.seen {
            self.found.repeats += 1;
            return;
        }
        self.found.events += 1;
        let due = self.seen + 1;
        if sequence < due {
            self.found.disorder += 1;
        }
        if sequence > due {
            self.found.gaps += 1;
        }
        if sequence != due {
            self.found
                .remarks
                .push(format!("{sequence} came when {due} was due"));
        }
        self.seen = self.seen.max(sequence);
        match event {
            Event::ArtifactUpdate(update) => {
                let told = update.artifact.parts.first().and_then(Part::as_text);
                let number = told.and_then(|text| text.parse::<u64>().ok());
                // The task is the first entry of its log, the first number the second.
                self.found.others += usize::from(number != sequence.checked_sub(2));
            }
            Event::Task(_) => self.found.restarts += 1,
            _ => {}
        }
    }
}
