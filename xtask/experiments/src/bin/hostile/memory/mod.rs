//! Attacks on the memory of a server and of a client, with their default limits.

pub(crate) mod client;
mod fields;
mod gateway;
mod peers;

use std::sync::Arc;
use std::time::Duration;

use crate::agent::{ServerProcess, StoreKind};
use crate::peers::{GoodRequests, ask_beside};
use crate::trials::wait;
use crate::{Figure, Report, TrialError, progress};
use fields::Field;

/// Makes every attack on a server of each store, and on a client, and reports the peak of its memory.
pub(crate) async fn attacks(
    count: usize,
    only: Option<&str>,
    only_store: Option<StoreKind>,
    report: &mut Report,
) -> Result<(), TrialError> {
    let is_asked_for =
        |name: &str| only_store.is_none() && only.is_none_or(|only| name.contains(only));
    for answer in client::Answer::ALL {
        let name = answer.name();
        if is_asked_for(name) {
            progress(format_args!("memory: {name}"));
            let (ended, peak) = answer.peak().await?;
            report.add(figure(format!("{name}: {ended}"), peak));
        }
    }
    let name = "20 endless answers of an agent behind a gateway";
    if is_asked_for(name) {
        progress(format_args!("memory: {name}"));
        let (ended, peak) = gateway::peak().await?;
        report.add(figure(format!("{name}: {ended}"), peak));
    }
    let is_measured = |store: &StoreKind| only_store.is_none_or(|only| *store == only);
    for store in [StoreKind::Memory, StoreKind::Sqlite]
        .into_iter()
        .filter(is_measured)
    {
        for field in fields::all()? {
            let attack = Attack::Field(field);
            attack.measured(store, count, only, report).await?;
        }
        for attack in peers::PeerAttack::ALL {
            let attack = Attack::Peers(*attack);
            attack.measured(store, count, only, report).await?;
        }
    }
    Ok(())
}

enum Attack {
    /// Each request fills one field.
    Field(Field),
    Peers(peers::PeerAttack),
}

impl Attack {
    async fn measured(
        &self,
        store: StoreKind,
        count: usize,
        only: Option<&str>,
        report: &mut Report,
    ) -> Result<(), TrialError> {
        let name = match self {
            Self::Field(field) => field.name(),
            Self::Peers(attack) => attack.name().to_owned(),
        };
        if only.is_some_and(|only| !name.contains(only)) {
            return Ok(());
        }
        progress(format_args!("memory: {name}, {}", store.name()));
        let server = ServerProcess::with_store(8192, store).await?;
        let address = server.address;
        let beside = GoodRequests::asking(move || ask_beside(address));
        let taken = match self {
            Self::Field(field) => fill(&server, field, count).await?,
            Self::Peers(attack) => attack.run(&server, count).await?,
        };
        let slowest = beside.slowest().await;
        let slowest = slowest.map_err(|error| format!("{name}: a good caller got: {error}"))?;
        let peak = server.peak()?;
        let resident = resident_afterwards(&server).await?;
        let what = format!("{name}, {}: {taken}", store.name());
        report.add(figure(what, peak));
        report.add(Figure {
            trial: "memory",
            what: "  the slowest answer to a good caller meanwhile".to_owned(),
            unit: "ms",
            measured: slowest,
            at_most: Some(MAX_ANSWER),
        });
        report.add(Figure {
            trial: "memory",
            what: "  the memory afterwards, within 60 s".to_owned(),
            unit: "MiB",
            measured: resident,
            at_most: Some(MAX_RESIDENT_AFTER),
        });
        Ok(())
    }
}

fn figure(what: String, peak: f64) -> Figure {
    Figure {
        trial: "memory",
        what,
        unit: "MiB",
        measured: peak,
        at_most: Some(MAX_RESIDENT),
    }
}

/// Waits until the memory of a server is small again, for 60 s at most; returns it in MiB.
async fn resident_afterwards(server: &ServerProcess) -> Result<f64, TrialError> {
    let mut resident = server.resident()?;
    for _ in 0..60 {
        if resident <= MAX_RESIDENT_AFTER {
            break;
        }
        wait(Duration::from_secs(1)).await;
        resident = server.resident()?;
    }
    Ok(resident)
}

/// Sends requests with a full field, several at a time; returns how many of them were accepted.
async fn fill(server: &ServerProcess, field: &Field, count: usize) -> Result<String, TrialError> {
    let task = peers::start_task(server.address).await?;
    let bodies = Arc::new(field.bodies(MAX_FIELD, &task));
    let (mut sent, mut accepted) = (0, 0);
    // If a field is refused each time, nothing of it is kept: more requests show no more.
    for number in [count.min(FIRST), count.saturating_sub(FIRST)] {
        let (bodies, before) = (Arc::clone(&bodies), sent);
        let body = move |number: usize| bodies.get(before + number);
        accepted += peers::post_all(server.address, number, body).await?;
        sent += number;
        if accepted == 0 {
            break;
        }
    }
    Ok(format!("{accepted} of {sent} accepted"))
}

/// Number of requests sent first: if all are refused, no more follow.
const FIRST: usize = 100;
/// Limit on the resident memory of a server or a client, in MiB.
const MAX_RESIDENT: f64 = 600.0;
/// Limit on the time that a good caller waits during an attack, in ms.
const MAX_ANSWER: f64 = 1000.0;
/// Limit on the resident memory of a server after an attack, in MiB: what glibc keeps of freed memory, or 256 of tasks in
/// memory and their like.
const MAX_RESIDENT_AFTER: f64 = 480.0;
/// Bytes of a field that fit into a body of 4 MiB.
const MAX_FIELD: usize = (4 << 20) - (64 << 10);
