//! Durable events per second: many tasks at all replicas, each event stored before the next is made.

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
        let cpu = || cluster.replicas.iter().map(Process::cpu).sum::<f64>();
        let (before, from, cpu_before) =
            (cluster.database.number(HEADS).await?, Instant::now(), cpu());
        // The agents work; whatever ends here is a replica, which none may do.
        tokio::time::timeout(period, std::future::pending::<()>())
            .await
            .unwrap_or_default();
        let events = (cluster.database.number(HEADS).await? - before) as f64;
        let (rate, used) = (events / from.elapsed().as_secs_f64(), cpu() - cpu_before);
        match tasks {
            128 => report.at_least("durable events per second, 128 tasks", 5000.0, rate),
            _ => report.tell(format!("durable events per second, {tasks} tasks"), rate),
        }
        report.tell(
            format!("… replicas' CPU per event, µs, {tasks} tasks"),
            used * 1e6 / events,
        );
        try_join_all(
            begun
                .iter()
                .map(|(client, task)| client.cancel_task(task.clone())),
        )
        .await?;
    }
    Ok(())
}

/// The number of events of all logs.
const HEADS: &str = "select coalesce(sum(sequence), 0) from a2a.task";
