//! Many events, read through a balancer that cuts connections, while replicas are killed one after the other.

use std::time::{Duration, Instant};

use a2a_client::{Client, Event, SendMessageResponse, StreamExt};
use a2a_types::TaskId;
use fastrand::Rng;
use futures_util::future::try_join_all;
use tokio::time::timeout;

use super::{Cluster, Failure, Report, begin};

pub(super) async fn run(
    mut cluster: Cluster,
    events: u64,
    label: &str,
    rng: &mut Rng,
    report: &mut Report,
) -> Result<(), Failure> {
    let begun = Instant::now();
    let steps = events / TASKS;
    let client = cluster.balanced()?;
    let readers = (0..TASKS).map(|_| read(&client, steps));
    let mut readers = std::pin::pin!(try_join_all(readers));
    let (mut kills, mut beat) = (0, Beat::new(rng.fork()));
    let found = loop {
        match timeout(beat.pause(), &mut readers).await {
            Ok(found) => break found?,
            Err(_) if beat.kills() => {
                let index = beat.rng.usize(..cluster.replicas.len());
                cluster.take(index)?.kill().await?;
                cluster.add().await?;
                kills += 1;
            }
            Err(_) => cluster.balancer.cut(beat.rng.usize(2..6)),
        }
    };
    let mut total = ReadTotals::default();
    for found in found {
        total.add(found);
    }
    report.note(format!("{label}events read"), total.events as f64);
    report.note(format!("{label}replicas killed"), f64::from(kills));
    report.note(
        format!("{label}connections cut"),
        cluster.balancer.cuts() as f64,
    );
    report.note(
        format!("{label}times that a reader came back"),
        total.returns as f64,
    );
    report.exactly(format!("{label}events lost"), 0, total.lost);
    report.exactly(format!("{label}events delivered twice"), 0, total.doubled);
    report.exactly(format!("{label}events out of order"), 0, total.disordered);
    report.exactly(
        format!("{label}tasks that did not complete"),
        0,
        total.incomplete,
    );
    report.note(
        format!("{label}seconds"),
        begun.elapsed().as_secs_f64().round(),
    );
    report.remark(total.remarks);
    Ok(())
}

/// Number of tasks that run at the same time.
const TASKS: u64 = 50;

/// Random moments at which something breaks.
struct Beat {
    rng: Rng,
    killed: Instant,
}

impl Beat {
    fn new(rng: Rng) -> Self {
        Self {
            rng,
            killed: Instant::now(),
        }
    }

    fn pause(&mut self) -> Duration {
        Duration::from_millis(self.rng.u64(100..1500))
    }

    /// Returns whether it is a replica's turn: the others have had the time to take its tasks over.
    fn kills(&mut self) -> bool {
        let is_due = self.killed.elapsed() > Duration::from_secs(22);
        if is_due {
            self.killed = Instant::now();
        }
        is_due
    }
}

#[derive(Default)]
struct ReadTotals {
    events: usize,
    returns: usize,
    lost: usize,
    doubled: usize,
    disordered: usize,
    incomplete: usize,
    remarks: Vec<String>,
}

impl ReadTotals {
    fn add(&mut self, other: Self) {
        self.events += other.events;
        self.returns += other.returns;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.disordered += other.disordered;
        self.incomplete += other.incomplete;
        self.remarks.extend(other.remarks);
    }
}

/// Begins a task, and reads every event of its log, however often the connection breaks.
async fn read(client: &Client, steps: u64) -> Result<ReadTotals, Failure> {
    let SendMessageResponse::Task(task) = client.send(begin(format!("steps {steps} 40"))).await?
    else {
        return Err("a message was answered without a task".into());
    };
    let mut reader = Reader {
        task: task.id,
        sequence: None,
        ended: false,
        found: ReadTotals::default(),
    };
    while !reader.ended {
        if let Err(error) = reader.read_on(client).await {
            reader.found.remarks.push(error.to_string());
        }
        reader.found.returns += 1;
    }
    reader.found.returns -= 1;
    // An event that the store has lost is in no stream: the task itself must have all the steps.
    let whole = client.get_task(reader.task.clone(), Some(0)).await?;
    let is_complete = whole.artifacts.len() as u64 == steps;
    if !is_complete {
        let text = format!(
            "task {}: {} of {steps} steps, {:?}",
            whole.id,
            whole.artifacts.len(),
            whole.status.state
        );
        reader.found.remarks.push(text);
    }
    reader.found.incomplete = usize::from(!is_complete);
    Ok(reader.found)
}

/// A reader of a log, and the last event that it has seen.
struct Reader {
    task: TaskId,
    sequence: Option<u64>,
    ended: bool,
    found: ReadTotals,
}

impl Reader {
    /// Reads until the connection or the task ends.
    async fn read_on(&mut self, client: &Client) -> Result<(), Failure> {
        let client = client.clone().retries(a2a_client::Retries::none());
        let mut updates = match client
            .subscribe_after(self.task.clone(), self.sequence)
            .await
        {
            Ok(updates) => updates,
            Err(error) => {
                // The balancer has cut it, the replica is gone, or the task has ended: the rest of the log is read.
                let task = client.get_task(self.task.clone(), Some(0)).await;
                if task.is_ok_and(|task| task.status.state.is_terminal()) {
                    self.ended = true;
                    return Err(format!("a reader came too late for the end: {error}").into());
                }
                return Ok(());
            }
        };
        while let Some(Ok(event)) = updates.next().await {
            let sequence = updates
                .sequence()
                .ok_or("an event without a sequence number")?;
            self.judge(&event, sequence);
            if event
                .status()
                .is_some_and(|status| status.state.is_terminal())
            {
                self.ended = true;
            }
        }
        Ok(())
    }

    fn judge(&mut self, event: &Event, sequence: u64) {
        let Some(last) = self.sequence.replace(sequence) else {
            return;
        };
        // A reader that reconnects gets the task as it stands: the same as it knew, or it has missed an event.
        if matches!(event, Event::Task(_)) && sequence == last {
            return;
        }
        self.found.events += 1;
        if sequence == last + 1 {
            return;
        }
        self.found.remarks.push(format!(
            "task {}: {sequence} came when {} was due",
            self.task,
            last + 1
        ));
        match sequence.cmp(&last) {
            std::cmp::Ordering::Greater => self.found.lost += (sequence - last - 1) as usize,
            std::cmp::Ordering::Equal => self.found.doubled += 1,
            std::cmp::Ordering::Less => {
                self.found.disordered += 1;
                self.sequence = Some(last);
            }
        }
    }
}
