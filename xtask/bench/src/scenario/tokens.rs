//! Text as a model writes it: a chunk at a time, and how late each arrives.

use std::time::Duration;

use memchr::memmem;
use tokio::task::JoinSet;

use super::comparison::{MeasuredServer, compare};
use super::plan::Plan;
use crate::load::{Connection, Latencies};
use crate::machine::Failure;
use crate::measurement::{Bound, Column, Measurement};
use crate::process::Process;
use crate::request_template::RequestKind;
use crate::serve::TOKENS_PER_SECOND;
use crate::timestamp;

/// Streams of 100 chunks a second each, merged as servers do it and each chunk by itself.
///
/// A chunk carries the time at which the agent has sent it; its delay is the time from then until the caller
/// has read it.
pub(super) async fn tokens(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let directory = tempfile::tempdir_in(&plan.directory)?;
    let count = (plan.period.as_secs_f64() * f64::from(TOKENS_PER_SECOND)) as usize;
    let text = format!("tokens {count}");
    let alone =
        MeasuredServer::ours(plan, RequestKind::Stream, &text).named("memory, each by itself");
    let mut merged = alone.clone().named(MERGED[0]);
    merged.settings.merges = true;
    let mut file_alone = alone.clone().named("SQLite, each by itself");
    let mut file_merged = merged.clone().named(MERGED[1]);
    for file in [&mut file_alone, &mut file_merged] {
        file.settings.directory = Some(directory.path().to_owned());
    }
    let servers_to_measure = [alone, merged, file_alone, file_merged];
    let mut all = Vec::new();
    for streams in [1, 16] {
        let load = match streams {
            1 => format!("{TOKENS_PER_SECOND} chunks/s, 1 stream"),
            many => format!("{TOKENS_PER_SECOND} chunks/s in each of {many} streams"),
        };
        let mut late = compare(
            plan,
            load,
            &COLUMNS,
            &servers_to_measure,
            async |server, process| measure_lateness(server, process, streams, count).await,
        )
        .await?;
        for name in MERGED {
            let slow = late.median(name, "p99");
            late.claim(format!("p99, {name}, µs"), slow, Bound::AtMost(2000.0));
        }
        all.push(late);
    }
    Ok(all)
}

async fn measure_lateness(
    server: &MeasuredServer,
    process: &Process,
    streams: u32,
    count: usize,
) -> Result<Vec<f64>, Failure> {
    let mut orders = Vec::new();
    for _ in 0..streams {
        orders.push(server.order(process).await?);
    }
    let (address, cpu) = (process.address(), process.cpu()?);
    let mut following = JoinSet::new();
    for (turn, mut order) in (0..).zip(orders) {
        // Models that write for different callers do not write at the same moments.
        let pause = Duration::from_secs(1) / TOKENS_PER_SECOND * turn / streams;
        following.spawn(async move {
            tokio::time::sleep(pause).await;
            let mut connection = Connection::open(address).await?;
            connection.begin(order.next()).await?;
            let (mut ages, mut events) = (Vec::with_capacity(count), 0);
            let read = |lines: &[u8]| {
                ages.extend(timestamp::ages(lines));
                events += memmem::find_iter(lines, "\"artifactUpdate\"").count();
            };
            connection.finish_by_lines(read).await?;
            Ok::<_, Failure>((ages, events))
        });
    }
    let (mut ages, mut events) = (Vec::new(), 0);
    while let Some(followed) = following.join_next().await {
        let (some, of) = followed??;
        if some.len() != count {
            return Err(format!("{} chunks arrived of {count}", some.len()).into());
        }
        ages.extend(some.into_iter().map(|age| Duration::from_nanos(age.into())));
        events += of;
    }
    let (cpu, chunks) = (process.cpu()? - cpu, ages.len() as f64);
    let seen = Latencies::new(ages, Duration::ZERO);
    Ok(vec![
        seen.late(0.5),
        seen.late(0.99),
        seen.late(1.0),
        chunks / events as f64,
        cpu * 1e6 / chunks,
    ])
}

/// Servers that merge chunks.
const MERGED: [&str; 2] = ["memory, merged", "SQLite, merged"];

#[rustfmt::skip]
const COLUMNS: [Column; 5] = [
    Column { name: "p50", unit: "µs from the agent to its caller" },
    Column { name: "p99", unit: "µs" },
    Column { name: "slowest", unit: "µs" },
    Column { name: "merged", unit: "chunks in an event" },
    Column { name: "CPU", unit: "µs of the server for each chunk" },
];
