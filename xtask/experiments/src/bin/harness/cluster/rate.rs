//! Durable events and sends per second: each is stored before the next is made.

use std::time::{Duration, Instant};

use a2a_client::SendMessageResponse;
use futures_util::future::try_join_all;

use super::{Cluster, Failure, Report, begin};
use crate::serve::Process;

pub(super) async fn run(
    cluster: &Cluster,
    period: Duration,
    report: &mut Report,
) -> Result<(), Failure> {
    for tasks in [8, 32, 128] {
        let sends = (0..tasks).map(|number| async move {
            let client = cluster.client(number % cluster.replicas.len())?;
            match client.send(begin("steps 10000000 0")).await? {
                SendMessageResponse::Task(task) => Ok::<_, Failure>((client, task.id)),
                SendMessageResponse::Message(_) => {
                    Err("a message was answered without a task".into())
                }
            }
        });
        let begun = try_join_all(sends).await?;
        let (before, costs) = (cluster.database.number(HEADS).await?, Costs::now(cluster));
        tokio::time::timeout(period, std::future::pending::<()>())
            .await
            .unwrap_or_default();
        let events = cluster.database.number(HEADS).await? - before;
        let rate = costs.note(cluster, events, &format!("event, {tasks} tasks"), report);
        match tasks {
            128 => report.at_least("durable events per second, 128 tasks", 5000.0, rate),
            _ => report.note(format!("durable events per second, {tasks} tasks"), rate),
        }
        try_join_all(
            begun
                .iter()
                .map(|(client, task)| client.cancel_task(task.clone())),
        )
        .await?;
    }
    let (costs, end) = (Costs::now(cluster), Instant::now() + period);
    let callers = (0..CALLERS).map(|number| async move {
        let (client, mut count) = (cluster.client(number % cluster.replicas.len())?, 0);
        while Instant::now() < end {
            client.send("echo").await?;
            count += 1;
        }
        Ok::<u64, Failure>(count)
    });
    let sends = try_join_all(callers).await?.iter().sum();
    let rate = costs.note(cluster, sends, "send", report);
    report.note(format!("sends per second, {CALLERS} callers"), rate);
    Ok(())
}

const CALLERS: usize = 64;

/// The number of events of all logs.
const HEADS: &str = "select coalesce(sum(sequence), 0) from a2a.task";

/// CPU time used until a point in time.
struct Costs {
    from: Instant,
    replicas: f64,
    database: f64,
}

impl Costs {
    fn now(cluster: &Cluster) -> Self {
        Self {
            from: Instant::now(),
            replicas: cluster.replicas.iter().map(Process::cpu).sum(),
            database: cluster.database.cpu(),
        }
    }

    /// Reports the CPU time of each of these since then; returns their number per second.
    fn note(&self, cluster: &Cluster, count: u64, name: &str, report: &mut Report) -> f64 {
        let now = Self::now(cluster);
        let micros = |seconds: f64| seconds * 1e6 / count as f64;
        report.note(
            format!("replicas' CPU per {name}, µs"),
            micros(now.replicas - self.replicas),
        );
        report.note(
            format!("database CPU per {name}, µs"),
            micros(now.database - self.database),
        );
        count as f64 / self.from.elapsed().as_secs_f64()
    }
}
