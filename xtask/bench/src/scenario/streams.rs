//! Streams: long ones, idle ones, and many of one task.

use std::time::Instant;

use memchr::memmem;
use tokio::task::JoinSet;

use super::comparison::{CEILING, FLOOR, MeasuredServer, OURS, compare, events};
use super::plan::Plan;
use crate::load::Connection;
use crate::machine::{self, Failure};
use crate::measurement::{Bound, Column, Measurement};
use crate::process::Process;
use crate::request_template::{RequestKind, RequestTemplate};
use crate::serve::{CHUNK, Pace, ServerKind, Settings};
use crate::statistics::median;

/// An artifact in many chunks, sent without a pause; and in ten times as many.
///
/// The ceiling is hyper that writes event by event: an agent has its events one at a time, and a follower is
/// to get each as it happens. Two more of hyper are there to compare with: one whose events come from a task
/// of their own, and one that has all of them from the beginning and writes many at once, which no agent
/// does.
pub(super) async fn chunks(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let mut short = long_stream(plan, CHUNKS).await?;
    let rate = short.ratio(OURS, FLOOR, "rate");
    short.claim("rate, ours ÷ made by hand", rate, Bound::AtLeast(0.80));
    let first = short.ratio(OURS, FLOOR, "first");
    short.claim(
        "first event, ours ÷ made by hand",
        first,
        Bound::AtMost(1.2),
    );
    let whole = short.ratio(MERGED, OURS, "whole");
    short.claim(
        "last chunk, merged ÷ each an event",
        whole,
        Bound::AtMost(1.0),
    );
    let mut long = long_stream(plan, 10 * CHUNKS).await?;
    let took = |measured: &Measurement| measured.median(OURS, "whole");
    let times = took(&long)
        .zip(took(&short))
        .map(|(long, short)| long / short);
    long.claim(
        "time of 10 times as many chunks",
        times,
        Bound::Within(8.5, 11.5),
    );
    Ok(vec![short, long])
}

async fn long_stream(plan: &Plan, chunks: usize) -> Result<Measurement, Failure> {
    let ours = MeasuredServer::ours(plan, RequestKind::Stream, &format!("chunks {chunks}"));
    let ready = ours.ceiling().await?.named(READY);
    let (mut sent, mut written) = (ready.clone().named(SENT), ready.clone().named(WRITTEN));
    (sent.settings.pace, written.settings.pace) = (Pace::Sent, Pace::Written);
    let mut merged = ours.clone().named(MERGED);
    merged.settings.merges = true;
    let mut in_file = merged.clone().named("ours, merged, SQLite");
    let directory = tempfile::tempdir_in(&plan.directory)?;
    in_file.settings.directory = Some(directory.path().to_owned());
    let floor = ours.floor();
    let servers_to_measure = [written, sent, ready, floor, ours, merged, in_file];
    told(plan, chunks, &servers_to_measure).await
}

/// Measures one long stream after the other.
async fn told(
    plan: &Plan,
    chunks: usize,
    servers_to_measure: &[MeasuredServer],
) -> Result<Measurement, Failure> {
    let load = format!("a stream of {chunks} chunks");
    compare(
        plan,
        load,
        &CHUNK_COLUMNS,
        servers_to_measure,
        async |server, process| {
            let mut order = server.order(process).await?;
            let mut connection = Connection::open(process.address()).await?;
            // Costs of the first call occur once.
            connection.ask(order.next()).await?;
            let (begun, cpu) = (Instant::now(), process.cpu()?);
            let (mut firsts, mut wholes, mut count) = (Vec::new(), Vec::new(), 0);
            while begun.elapsed() < plan.period {
                let asked = Instant::now();
                connection.begin(order.next()).await?;
                firsts.push(asked.elapsed().as_secs_f64() * 1e6);
                let answer = connection.finish().await?;
                wholes.push(asked.elapsed().as_secs_f64() * 1e3);
                count += chunks;
                is_whole(server, answer, chunks)?;
            }
            let (took, cpu) = (wholes.iter().sum::<f64>() / 1e3, process.cpu()? - cpu);
            let count = count as f64;
            let middle = |values: &[f64]| median(values).unwrap_or(f64::NAN);
            Ok(vec![
                count / took,
                middle(&firsts),
                middle(&wholes),
                cpu * 1e6 / count,
            ])
        },
    )
    .await
}

/// Checks that every chunk has arrived.
fn is_whole(server: &MeasuredServer, answer: &[u8], chunks: usize) -> Result<(), Failure> {
    let arrived = match server.settings.kind {
        // It knows no streams.
        ServerKind::Floor | ServerKind::Ours | ServerKind::Tonic => {
            memmem::find_iter(answer, CHUNK).count()
        }
        ServerKind::Ceiling => events(answer).min(chunks),
    };
    match arrived == chunks {
        true => Ok(()),
        false => Err(format!("{arrived} chunks arrived of {chunks}").into()),
    }
}

/// Idle streams, each of its own waiting task.
pub(super) async fn idle(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let mut measured = Vec::new();
    for count in [1000, 10_000] {
        // The process that is begun inherits what this one may have open.
        machine::allow_files(count as u64 + 100)?;
        let ours = MeasuredServer::ours(plan, RequestKind::Stream, "wait for nothing");
        let mut ceiling = ours.clone().named(CEILING);
        ceiling.settings = Settings::new(ServerKind::Ceiling, &ours.settings.cores);
        ceiling.settings.events = 1;
        ceiling.settings.bytes = FIRST_EVENT;
        ceiling.settings.pace = Pace::Held;
        let load = format!("{count} idle streams");
        let mut idle = compare(
            plan,
            load,
            &IDLE_COLUMNS,
            &[ceiling, ours],
            async |server, process| held(server, process, count).await,
        )
        .await?;
        let each = idle.median(OURS, "memory");
        idle.claim("KB of each of ours", each, Bound::AtMost(12.5));
        measured.push(idle);
    }
    Ok(measured)
}

async fn held(
    server: &MeasuredServer,
    process: &Process,
    count: usize,
) -> Result<Vec<f64>, Failure> {
    // Memory that any number of streams needs is there after the first ones.
    let first = open(server, process, FIRST).await?;
    let (memory, cpu) = (process.memory()?, process.cpu()?);
    let rest = open(server, process, count - FIRST).await?;
    let (memory, cpu) = (process.memory()? - memory, process.cpu()? - cpu);
    let count = rest.len() as f64;
    drop((first, rest));
    Ok(vec![memory / 1024.0 / count, cpu * 1e6 / count])
}

/// Opens `count` streams, some at once, and waits for the first event of each.
async fn open(
    server: &MeasuredServer,
    process: &Process,
    count: usize,
) -> Result<Vec<Connection>, Failure> {
    let mut callers = JoinSet::new();
    for caller in 0..AT_ONCE {
        let (address, mut order) = (process.address(), server.order(process).await?);
        callers.spawn(async move {
            let mut opened = Vec::new();
            for _ in (caller..count).step_by(AT_ONCE) {
                let mut stream = Connection::open(address).await?;
                stream.begin(order.next()).await?;
                opened.push(stream);
            }
            Ok::<_, Failure>(opened)
        });
    }
    let mut streams = Vec::with_capacity(count);
    while let Some(opened) = callers.join_next().await {
        streams.extend(opened??);
    }
    Ok(streams)
}

/// Many followers of one task, as it runs.
pub(super) async fn crowd(plan: &Plan) -> Result<Vec<Measurement>, Failure> {
    let ours = MeasuredServer::ours(plan, RequestKind::Stream, &format!("held {MIN_EVENTS}"));
    let one = ours.clone().named("ours, 1 stream");
    let mut crowd = compare(
        plan,
        format!("{CROWD} streams of a task of {MIN_EVENTS} events"),
        &CROWD_COLUMNS,
        &[one, ours],
        async |server, process| {
            let followers = if server.name == OURS { CROWD } else { 1 };
            followed(server, process, followers).await
        },
    )
    .await?;
    let shared = crowd.ratio(OURS, "ours, 1 stream", "CPU");
    crowd.claim("CPU for each of many ÷ for one", shared, Bound::AtMost(1.0));
    Ok(vec![crowd])
}

async fn followed(
    server: &MeasuredServer,
    process: &Process,
    followers: usize,
) -> Result<Vec<f64>, Failure> {
    let address = process.address();
    let mut owner = Connection::open(address).await?;
    owner.begin(server.order(process).await?.next()).await?;
    let task = owner.task().ok_or("the first event tells of no task")?;
    let mut follow = RequestTemplate::with_id(RequestKind::Follow, address, &task, "");
    let mut streams = JoinSet::new();
    let mut opened = vec![owner];
    for _ in 1..followers {
        let mut follower = Connection::open(address).await?;
        follower.begin(follow.next()).await?;
        opened.push(follower);
    }
    let (begun, cpu) = (Instant::now(), process.cpu()?);
    for mut stream in opened {
        streams.spawn(async move { stream.finish().await.map(events) });
    }
    let mut go = RequestTemplate::new(RequestKind::Send, address, "go");
    Connection::open(address).await?.ask(go.next()).await?;
    let mut count = 0;
    while let Some(events) = streams.join_next().await {
        count += events??;
    }
    if count < followers * MIN_EVENTS {
        return Err(
            format!("{count} events arrived, of {MIN_EVENTS} for each of {followers}").into(),
        );
    }
    let (took, cpu) = (begun.elapsed().as_secs_f64(), process.cpu()? - cpu);
    Ok(vec![count as f64 / took, cpu * 1e6 / count as f64])
}

/// Ours, which makes one event of chunks that wait for the one before.
const MERGED: &str = "ours, merged";

/// Hyper, which writes each event by itself: the ceiling.
const WRITTEN: &str = "hyper, event by event";

/// Hyper, and a task that sends it each event.
const SENT: &str = "hyper and a task";

/// Hyper, which has all events from the beginning.
const READY: &str = "hyper, all at once (no ceiling)";

/// Number of chunks of a long answer.
const CHUNKS: usize = 10_000;

/// Number of streams that are opened before the first that counts.
const FIRST: usize = 100;

/// Bytes of the first event of a stream.
const FIRST_EVENT: usize = 400;

/// Number of streams that are opened at once.
const AT_ONCE: usize = 64;

/// Number of streams of one task.
const CROWD: usize = 100;

/// Minimum number of events that each of them gets.
const MIN_EVENTS: usize = 2000;

#[rustfmt::skip]
pub(super) const CHUNK_COLUMNS: [Column; 4] = [
    Column { name: "rate", unit: "chunks/s" },
    Column { name: "first", unit: "µs to the first event" },
    Column { name: "whole", unit: "ms to the last chunk" },
    Column { name: "CPU", unit: "µs of the server for each chunk" },
];

#[rustfmt::skip]
pub(super) const IDLE_COLUMNS: [Column; 2] = [
    Column { name: "memory", unit: "KB of the server for each stream" },
    Column { name: "CPU", unit: "µs of the server to begin each" },
];

#[rustfmt::skip]
const CROWD_COLUMNS: [Column; 2] = [
    Column { name: "rate", unit: "events/s, over all streams" },
    Column { name: "CPU", unit: "µs of the server for each event of each stream" },
];
