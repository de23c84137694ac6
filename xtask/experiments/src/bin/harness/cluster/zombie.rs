//! A replica is frozen until others have taken its tasks over, and thawed: its writes are refused.

use std::time::Duration;

use a2a_client::{Client, SendMessageResponse, StreamExt};
use a2a_types::{Event, TaskId};
use futures_util::future::try_join_all;
use futures_util::{TryStreamExt, stream};
use rustix::process::Signal;

use super::{Cluster, Failure, Report, begin};
use crate::agent::RESUMED;

pub(super) async fn run(
    mut cluster: Cluster,
    frozen: Duration,
    report: &mut Report,
) -> Result<(), Failure> {
    let client = cluster.client(0)?;
    let begun = stream::iter(0..TASKS).map(|_| start(&client, frozen));
    let tasks: Vec<TaskId> = futures_util::StreamExt::buffer_unordered(begun, 16)
        .try_collect()
        .await?;
    let mut frozen_replica = cluster.take(0)?;
    let balanced = cluster.balanced()?;
    let reads = tasks.iter().map(|task| read(&balanced, task.clone()));
    let freeze = async {
        frozen_replica.lives_for(Duration::from_secs(2)).await?;
        frozen_replica.signal(Signal::STOP)?;
        frozen_replica.lives_for(frozen).await?;
        frozen_replica.signal(Signal::CONT)?;
        // It finds that it has lost its leases, and must keep running.
        frozen_replica.lives_for(Duration::from_secs(10)).await
    };
    let (read, thawed) = tokio::join!(try_join_all(reads), freeze);
    thawed?;
    let (mut resumed, mut stale) = (0, 0);
    for found in read? {
        resumed += found.resumed;
        stale += found.stale;
        report.remark(found.remarks);
    }
    report.exactly("frozen replica: tasks", TASKS, tasks.len());
    report.at_least(
        "frozen replica: tasks resumed elsewhere",
        TASKS as f64,
        resumed as f64,
    );
    report.exactly("frozen replica: its stale writes", 0, stale);
    Ok(())
}

const TASKS: usize = 50;

async fn start(client: &Client, frozen: Duration) -> Result<TaskId, Failure> {
    // A step each second, until some time after the replica has been thawed.
    let order = format!("steps {} 1000", frozen.as_secs() + 30);
    match client.send(begin(order)).await? {
        SendMessageResponse::Task(task) => Ok(task.id),
        SendMessageResponse::Message(_) => Err("a message was answered without a task".into()),
    }
}

#[derive(Default)]
struct StaleWrites {
    resumed: usize,
    stale: usize,
    remarks: Vec<String>,
}

/// Reads a task to its end. After the agent has reported where it resumes, each step follows the last:
/// any other was written by the replica that had lost the task.
async fn read(client: &Client, task: TaskId) -> Result<StaleWrites, Failure> {
    let (mut found, mut next) = (StaleWrites::default(), None);
    let mut updates = client.subscribe(task.clone()).await?;
    while let Some(event) = updates.next().await {
        let event = event?;
        let text = event
            .status()
            .and_then(|status| Some(status.message.as_deref()?.text()));
        if let Some(text) = text.filter(|text| text.starts_with(RESUMED)) {
            found.resumed += 1;
            next = text
                .trim_start_matches(RESUMED)
                .trim()
                .parse::<u64>()
                .ok()
                .map(|done| done + 1);
        }
        if let (Event::ArtifactUpdate(update), Some(due)) = (&event, next) {
            let id = update.artifact.artifact_id.as_str();
            let step = id.trim_start_matches("step-").parse::<u64>();
            if step.as_ref().ok() != Some(&due) {
                found.stale += 1;
                found.remarks.push(format!(
                    "task {task}: step {step:?} came when {due} was due"
                ));
            }
            next = step.ok().map(|step| step + 1);
        }
    }
    Ok(found)
}
