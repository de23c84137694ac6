//! The primary database is killed, and its standby promoted: the number of acknowledged messages that are lost.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use a2a_client::{Client, Retries, SendMessageResponse};
use a2a_types::{MessageId, ProtocolVersion, TaskId};
use tokio::task::JoinSet;

use super::database::Database;
use super::{Failure, Options, Report, begin};
use crate::serve::{self, Process};

pub(super) async fn run(options: &Options, report: &mut Report) -> Result<(), Failure> {
    let period = Duration::from_secs(if options.quick { 3 } else { 10 });
    for (name, synchronous) in [("synchronous", true), ("asynchronous", false)] {
        let outcome = fail_over(synchronous, period).await?;
        report.note(
            format!("failover, {name}: acknowledged messages"),
            outcome.acknowledged as f64,
        );
        let lost = format!("failover, {name}: of them lost");
        match synchronous {
            true => report.exactly(lost, 0, outcome.lost),
            false => report.note(lost, outcome.lost as f64),
        }
        report.note(
            format!("failover, {name}: service again after, s"),
            outcome.recovered.as_secs_f64(),
        );
        report.remark(outcome.remarks);
    }
    Ok(())
}

struct FailoverResult {
    acknowledged: usize,
    lost: usize,
    recovered: Duration,
    remarks: Vec<String>,
}

async fn fail_over(synchronous: bool, period: Duration) -> Result<FailoverResult, Failure> {
    let mut primary = Database::start(&[]).await?;
    let standby = Database::standby_of(&primary).await?;
    if synchronous {
        primary
            .psql("alter system set synchronous_standby_names = 'standby'")
            .await?;
        primary.psql("select pg_reload_conf()").await?;
    }
    let url = format!(
        "postgres://a2a@127.0.0.1:{},127.0.0.1:{}/a2a?sslmode=disable",
        primary.port(),
        standby.port()
    );
    let replica = Process::begin(&serve::Options {
        db: Some(PathBuf::from(url)),
        ..Default::default()
    })
    .await?;
    let client = Client::at(replica.url(), ProtocolVersion::V1_0)?.retries(Retries::none());
    let end = Instant::now() + period;
    let mut senders = JoinSet::new();
    for _ in 0..SENDERS {
        senders.spawn(send_until(client.clone(), end + period));
    }
    tokio::time::timeout(period, std::future::pending::<()>())
        .await
        .unwrap_or_default();
    primary.stop().await?;
    standby.promote().await?;
    let promoted = Instant::now();
    let mut remarks = Vec::new();
    while let Err(error) = client.send("echo").await {
        if promoted.elapsed() > Duration::from_secs(60) {
            remarks.push(format!("no service 60 s after the promotion: {error}"));
            break;
        }
    }
    let recovered = promoted.elapsed();
    let mut acknowledged = Vec::new();
    while let Some(sent) = senders.join_next().await {
        acknowledged.extend(sent?);
    }
    let kept = standby.psql("select id from a2a.task").await?;
    let kept: HashSet<TaskId> = kept.into_iter().map(TaskId::from).collect();
    let lost = acknowledged
        .iter()
        .filter(|(_, task)| !kept.contains(task))
        .count();
    Ok(FailoverResult {
        acknowledged: acknowledged.len(),
        lost,
        recovered,
        remarks,
    })
}

const SENDERS: usize = 16;

/// Sends message after message, and returns the acknowledged messages.
async fn send_until(client: Client, end: Instant) -> Vec<(MessageId, TaskId)> {
    let mut acknowledged = Vec::new();
    while Instant::now() < end {
        let request = begin("echo");
        let id = request.message.message_id.clone();
        if let Ok(SendMessageResponse::Task(task)) = client.send(request).await {
            acknowledged.push((id, task.id));
        }
    }
    acknowledged
}
