//! Detection of slips, the mistakes that people make by hand.
//!
//! All slips, wherever they show, take minutes: `A2A_ALL_SLIPS=1 cargo test -p a2a-conformance --test it -- slips`
//! tries them all.

use std::collections::BTreeSet;

use a2a_conformance::agent::invariants;
use a2a_conformance::mutant::agent::{Bug, PLACES, SLIPS, Slip, slipped};
use futures_util::stream::{self, StreamExt};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

/// Tries a slip out everywhere, or only in the first place where it shows, from a start that
/// differs from slip to slip. Returns the checks that see it.
async fn try_out(number: usize, slip: Slip, everywhere: bool) -> Result<BTreeSet<String>, String> {
    let (later, first) = PLACES.split_at(number % PLACES.len());
    let (mut seen, mut missed) = (BTreeSet::new(), Vec::new());
    for (dialect, binding) in first.iter().chain(later).copied() {
        match slipped(slip, (dialect, binding)).await? {
            None => continue,
            Some(red) if red.is_empty() => missed.push(format!("{dialect} {binding}")),
            Some(red) => seen.extend(red),
        }
        if !everywhere {
            break;
        }
    }
    let Slip { name, says, .. } = slip;
    match missed.as_slice() {
        [] if seen.is_empty() => Err(format!("{name} shows nowhere")),
        [] => Ok(seen),
        missed => Err(format!("{name} by {}: {says}", missed.join(", "))),
    }
}

/// One slip in this many is tried, unless all are wanted.
const ONE_OF: usize = 9;

/// Number of slips tried at once.
const AT_ONCE: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn every_slip_is_seen_and_every_invariant_sees_something() {
    let all = std::env::var_os("A2A_ALL_SLIPS").is_some();
    let trying = SLIPS.iter().enumerate();
    let trying = trying.step_by(if all { 1 } else { ONE_OF });
    let trying = trying.map(|(number, slip)| async move {
        // On a thread of its own: it is work, not waiting.
        let trying = move || Handle::current().block_on(try_out(number, *slip, all));
        spawn_blocking(trying)
            .await
            .map_err(|panic| panic.to_string())?
    });
    let tried: Vec<_> = stream::iter(trying).buffered(AT_ONCE).collect().await;
    let (seen, unseen): (Vec<_>, Vec<_>) = tried.into_iter().partition(Result::is_ok);
    let unseen: Vec<_> = unseen.into_iter().filter_map(Result::err).collect();
    assert!(unseen.is_empty(), "{unseen:#?}");
    if !all {
        return;
    }
    // That these bugs are caught is what the suite's own test proves.
    let proven = Bug::ALL.iter().flat_map(|bug| bug.story().kills);
    let proven = proven.map(|&check| check.to_owned());
    let red: BTreeSet<_> = seen.into_iter().flatten().flatten().chain(proven).collect();
    let never: Vec<_> = invariants()
        .map(|(id, ..)| id)
        .filter(|id| !red.contains(*id))
        .collect();
    assert_eq!(never, [""; 0], "they hold whatever an agent does");
}
