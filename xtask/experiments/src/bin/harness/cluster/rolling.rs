//! All replicas are restarted one after the other, repeatedly, under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use a2a_client::{Client, SendMessageResponse, StreamExt};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::{Cluster, Failure, Report, begin};

pub(super) async fn run(
    mut cluster: Cluster,
    rounds: usize,
    report: &mut Report,
) -> Result<(), Failure> {
    let client = cluster.balanced()?;
    let stop = Arc::new(AtomicBool::new(false));
    let load = tokio::spawn(load(client.clone(), Arc::clone(&stop)));
    let streams = tokio::spawn(streams(client, Arc::clone(&stop)));
    let mut restarts = 0;
    for _ in 0..rounds {
        for _ in 0..cluster.replicas.len() {
            // Like an orchestrator: the new replica starts before the old one stops.
            cluster.add().await?;
            cluster.take(0)?.end().await?;
            restarts += 1;
        }
    }
    stop.store(true, Ordering::Relaxed);
    let sent = load.await??;
    let streamed = streams.await??;
    report.note("rolling restart: replicas restarted", f64::from(restarts));
    report.note("rolling restart: sends", sent.count as f64);
    report.note(
        "rolling restart: sends per second",
        sent.count as f64 / sent.seconds,
    );
    report.exactly("rolling restart: failed sends", 0, sent.failed);
    report.note("rolling restart: streams", streamed.count as f64);
    report.note(
        "rolling restart: reconnections of streams",
        streamed.reconnections as f64,
    );
    report.exactly(
        "rolling restart: streams that were not read to their end",
        0,
        streamed.failed,
    );
    report.remark(sent.remarks.into_iter().chain(streamed.remarks));
    Ok(())
}

#[derive(Default)]
struct LoadTotals {
    count: usize,
    failed: usize,
    reconnections: usize,
    seconds: f64,
    remarks: Vec<String>,
}

/// Sends 500 messages a second, as long as the replicas answer at that rate.
async fn load(client: Client, stop: Arc<AtomicBool>) -> Result<LoadTotals, Failure> {
    let (begun, mut beat) = (
        std::time::Instant::now(),
        interval(Duration::from_millis(2)),
    );
    beat.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (mut sends, mut outcome) = (JoinSet::new(), LoadTotals::default());
    while !stop.load(Ordering::Relaxed) {
        beat.tick().await;
        let client = client.clone();
        sends.spawn(async move { client.send("echo").await.map(drop) });
        while let Some(sent) = sends.try_join_next() {
            outcome.note(sent?);
        }
        if sends.len() == MAX_PENDING_SENDS
            && let Some(sent) = sends.join_next().await
        {
            outcome.note(sent?);
        }
    }
    while let Some(sent) = sends.join_next().await {
        outcome.note(sent?);
    }
    outcome.seconds = begun.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Sends that await their answers at once: each holds a socket of the caller and two of the balancer.
const MAX_PENDING_SENDS: usize = 1000;

/// Keeps streams open, each for a few seconds.
async fn streams(client: Client, stop: Arc<AtomicBool>) -> Result<LoadTotals, Failure> {
    let mut readers = JoinSet::new();
    for _ in 0..STREAMS {
        readers.spawn(read(client.clone(), Arc::clone(&stop)));
    }
    let mut total = LoadTotals::default();
    while let Some(read) = readers.join_next().await {
        let read = read??;
        total.count += read.count;
        total.failed += read.failed;
        total.reconnections += read.reconnections;
        total.remarks.extend(read.remarks);
    }
    Ok(total)
}

const STREAMS: usize = 20;

async fn read(client: Client, stop: Arc<AtomicBool>) -> Result<LoadTotals, Failure> {
    let mut outcome = LoadTotals::default();
    while !stop.load(Ordering::Relaxed) {
        let SendMessageResponse::Task(task) = client.send(begin("steps 100 100")).await? else {
            return Err("a message was answered without a task".into());
        };
        let mut updates = client.subscribe(task.id.clone()).await?;
        let mut failed = None;
        while let Some(event) = updates.next().await {
            failed = event.err();
        }
        outcome.count += 1;
        outcome.reconnections += updates.reconnections() as usize;
        let steps = updates.task().map_or(0, |task| task.artifacts.len());
        if steps != 100 {
            outcome.failed += 1;
            outcome.remarks.push(format!(
                "task {}: {steps} of 100 steps; {failed:?}",
                task.id
            ));
        }
    }
    Ok(outcome)
}

impl LoadTotals {
    fn note(&mut self, sent: Result<(), a2a_client::Error>) {
        self.count += 1;
        if let Err(error) = sent {
            self.failed += 1;
            self.remarks.push(error.to_string());
        }
    }
}
