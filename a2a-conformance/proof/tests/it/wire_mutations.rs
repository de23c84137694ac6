//! Detection of wire mutations: the common mistakes of hand-written agents.
//!
//! All mutations on all interfaces take minutes. This runs them:
//!
//! `A2A_EXHAUSTIVE=1 cargo test -p a2a-conformance-proof --test it -- wire_mutations`

use std::collections::BTreeSet;

use a2a_conformance::agent::invariants;
use a2a_conformance::interface_kind::InterfaceKind;
use a2a_conformance_proof::agent::{Bug, WIRE_MUTATIONS, WireMutation, run_wire_mutation};
use a2a_transport::Binding;
use futures_util::stream::{self, StreamExt};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

/// Runs a mutation on every interface, or only on the first on which it shows, from a start that
/// differs between mutations. Returns the checks that detect it.
async fn try_out(
    number: usize,
    mutation: WireMutation,
    everywhere: bool,
) -> Result<BTreeSet<String>, String> {
    // They are mistakes in JSON.
    let all = InterfaceKind::ALL.iter();
    let all: Vec<_> = all.filter(|kind| kind.binding != Binding::Grpc).collect();
    let (later, first) = all.split_at(number % all.len());
    let (mut seen, mut missed) = (BTreeSet::new(), Vec::new());
    for interface in first.iter().chain(later).copied().copied() {
        match run_wire_mutation(mutation, interface).await? {
            None => continue,
            Some(red) if red.is_empty() => missed.push(interface.to_string()),
            Some(red) => seen.extend(red),
        }
        if !everywhere {
            break;
        }
    }
    let WireMutation { name, says, .. } = mutation;
    match missed.as_slice() {
        [] if seen.is_empty() => Err(format!("{name} shows nowhere")),
        [] => Ok(seen),
        missed => Err(format!("{name} by {}: {says}", missed.join(", "))),
    }
}

/// One mutation in this many is tried, unless all are wanted.
const ONE_OF: usize = 12;

/// Number of mutations tried concurrently.
const AT_ONCE: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn every_wire_mutation_is_detected_and_every_invariant_detects_one() {
    let all = std::env::var_os("A2A_EXHAUSTIVE").is_some();
    let trying = WIRE_MUTATIONS.iter().enumerate();
    let trying = trying.step_by(if all { 1 } else { ONE_OF });
    let trying = trying.map(|(number, mutation)| async move {
        // Runs on its own thread, since it is CPU-bound.
        let trying = move || Handle::current().block_on(try_out(number, *mutation, all));
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
    // The self-test of the suite proves that these bugs are caught.
    let proven = Bug::ALL.iter().flat_map(|bug| &bug.mutant().caught_by);
    let proven = proven.cloned();
    let red: BTreeSet<_> = seen.into_iter().flatten().flatten().chain(proven).collect();
    let never: Vec<_> = invariants()
        .map(|(id, ..)| id)
        .filter(|id| !red.contains(*id))
        .collect();
    assert_eq!(never, [""; 0], "they hold whatever an agent does");
}
