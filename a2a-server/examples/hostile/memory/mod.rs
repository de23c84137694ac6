//! Attacks on the memory of a server and of a client, with their default limits.

pub(crate) mod client;
mod fields;
mod peers;

use std::sync::Arc;

use crate::agent::{ServerProcess, StoreKind};
use crate::{Figure, Report, TrialError, progress};
use fields::Field;

/// Makes every attack on a server of each store, and on a client, and reports the peak of its memory.
pub(crate) async fn attacks(
    count: usize,
    only: Option<&str>,
    report: &mut Report,
) -> Result<(), TrialError> {
    for answer in client::Answer::ALL {
        let name = answer.name();
        if only.is_none_or(|only| name.contains(only)) {
            progress(format_args!("memory: {name}"));
            let (ended, peak) = answer.peak().await?;
            report.add(figure(format!("{name}: {ended}"), peak));
        }
    }
    for store in StoreKind::ALL {
        for field in fields::all()? {
            let attack = Attack::Field(field);
            if let Some(figure) = attack.measured(store, count, only).await? {
                report.add(figure);
            }
        }
        for attack in peers::PeerAttack::ALL {
            let attack = Attack::Peers(*attack);
            if let Some(figure) = attack.measured(store, count, only).await? {
                report.add(figure);
            }
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
    ) -> Result<Option<Figure>, TrialError> {
        let name = match self {
            Self::Field(field) => field.name(),
            Self::Peers(attack) => attack.name().to_owned(),
        };
        if only.is_some_and(|only| !name.contains(only)) {
            return Ok(None);
        }
        progress(format_args!("memory: {name}, {}", store.name()));
        let server = ServerProcess::with_store(8192, store).await?;
        let taken = match self {
            Self::Field(field) => fill(&server, field, count).await?,
            Self::Peers(attack) => attack.run(&server, count).await?,
        };
        let peak = server.peak()?;
        peers::check_alive(server.address).await?;
        let what = format!("{name}, {}: {taken}", store.name());
        Ok(Some(figure(what, peak)))
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

/// Sends requests with a full field, several at a time; returns how many of them were accepted.
async fn fill(server: &ServerProcess, field: &Field, count: usize) -> Result<String, TrialError> {
    let task = peers::start_task(server.address).await?;
    let bodies = Arc::new(field.bodies(MAX_FIELD, &task));
    let (mut sent, mut accepted) = (0, 0);
    // Of a field that is refused each time nothing is kept: more requests show no more.
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
/// Bytes of a field that fit into a body of 4 MiB.
const MAX_FIELD: usize = (4 << 20) - (64 << 10);
