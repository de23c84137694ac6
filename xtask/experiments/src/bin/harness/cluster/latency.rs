//! Time from an event of an agent at one replica to its reader at another.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a_client::{Event, SendMessageResponse, StreamExt};
use a2a_types::Part;

use super::{Cluster, Failure, Report, begin, quantile};

/// Limits in milliseconds: of the median, and of the 99th percentile.
pub(super) type Limits = (f64, f64);

/// Without `NOTIFY`, replicas poll for events at an interval.
pub(super) const WITHOUT_LISTEN: Limits = (300.0, 600.0);
const WITH_LISTEN: Limits = (15.0, 60.0);

pub(super) async fn run(cluster: &Cluster, report: &mut Report) -> Result<(), Failure> {
    measure(cluster, "", WITH_LISTEN, report).await?;
    // Every listening connection is terminated repeatedly.
    let cut = async {
        loop {
            let sql = "select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen %'";
            cluster.database.psql(sql).await?;
            tokio::time::timeout(Duration::from_millis(50), std::future::pending::<()>())
                .await
                .unwrap_or_default();
        }
    };
    tokio::select! {
        measured = measure(cluster, "LISTEN cut: ", WITHOUT_LISTEN, report) => measured,
        cut = cut => cut,
    }
}

pub(super) async fn measure(
    cluster: &Cluster,
    label: &str,
    (median, late): Limits,
    report: &mut Report,
) -> Result<(), Failure> {
    let (near, far) = (cluster.client(0)?, cluster.client(1)?);
    let SendMessageResponse::Task(task) = near.send(begin(format!("times {EVENTS} 20"))).await?
    else {
        return Err("a message was answered without a task".into());
    };
    let mut updates = far.subscribe(task.id).await?;
    let mut times = Vec::new();
    while let Some(event) = updates.next().await {
        if let Event::ArtifactUpdate(update) = event? {
            let text = update.artifact.parts.first().and_then(Part::as_text);
            let sent = text
                .and_then(|text| text.parse().ok())
                .map(Duration::from_micros);
            let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
            times.push(now.saturating_sub(sent.ok_or("an event without a time")?));
        }
    }
    report.at_least(
        format!("{label}events read at another replica"),
        EVENTS as f64 * 0.9,
        times.len() as f64,
    );
    report.at_most(
        format!("{label}agent to reader elsewhere, median, ms"),
        median,
        quantile(&mut times, 0.5),
    );
    report.at_most(
        format!("{label}… 99th percentile, ms"),
        late,
        quantile(&mut times, 0.99),
    );
    Ok(())
}

/// Number of events that are timed.
const EVENTS: usize = 500;
