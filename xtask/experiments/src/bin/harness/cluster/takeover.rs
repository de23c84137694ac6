//! A replica is killed while it works on many tasks: the others resume them.

use std::time::{Duration, Instant};

use a2a_client::{Client, SendMessageResponse};
use a2a_types::{Message, TaskId};
use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{Cluster, Failure, Report, begin, quantile};
use crate::agent::RESUMED;

pub(super) async fn run(
    mut cluster: Cluster,
    tasks: usize,
    report: &mut Report,
) -> Result<(), Failure> {
    let victim = cluster.client(0)?;
    let begun = stream::iter(0..tasks).map(|_| start(&victim));
    let begun: Vec<TaskId> = begun.buffer_unordered(32).try_collect().await?;
    // Renewed at least once: an early lease would run out sooner.
    cluster.replicas[0]
        .lives_for(Duration::from_secs(6))
        .await?;
    let replica = cluster.take(0)?;
    let killed = Instant::now();
    replica.kill().await?;
    let client = cluster.balanced()?;
    let resumed = begun.into_iter().map(|task| resumed(&client, task, killed));
    let mut times = try_join_all(resumed)
        .await?
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    report.exactly("takeover: tasks that were resumed", tasks, times.len());
    report.note("takeover: median, s", quantile(&mut times, 0.5) / 1e3);
    report.at_most(
        "takeover: the last, s",
        20.0,
        quantile(&mut times, 1.0) / 1e3,
    );
    Ok(())
}

async fn start(client: &Client) -> Result<TaskId, Failure> {
    // Long steps: the replica that dies is not busy.
    match client.send(begin("steps 3 60000")).await? {
        SendMessageResponse::Task(task) => Ok(task.id),
        SendMessageResponse::Message(_) => Err("a message was answered without a task".into()),
    }
}

/// Returns the time until the agent reports that it has resumed the task, or `None` if it never does.
async fn resumed(
    client: &Client,
    task: TaskId,
    killed: Instant,
) -> Result<Option<Duration>, Failure> {
    let tells =
        |message: Option<&Message>| message.is_some_and(|it| it.text().starts_with(RESUMED));
    let wait = async {
        let mut updates = client.subscribe(task.clone()).await?;
        while let Some(event) = updates.next().await {
            let event = event?;
            let status = event.status().and_then(|status| status.message.as_deref());
            if tells(status) {
                return Ok::<_, Failure>(Some(killed.elapsed()));
            }
        }
        Ok(None)
    };
    match tokio::time::timeout(LIMIT, wait).await {
        Ok(resumed) => resumed,
        Err(_) => Ok(None),
    }
}

/// Time after which a task counts as stuck.
const LIMIT: Duration = Duration::from_secs(60);
