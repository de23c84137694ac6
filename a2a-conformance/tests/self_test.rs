//! The suite finds what it has to find, and nothing else.

use std::collections::BTreeSet;

use a2a_conformance::catalogue::agent_cases;
use a2a_conformance::mutant::agent::{
    Bug, Control, PLACES, Proof, Subject, mutations, prove, try_out,
};
use futures_util::stream::{self, StreamExt};

/// How many agents are tested at once: most of the time is waiting.
const AT_ONCE: usize = 8;

async fn proofs(subjects: impl IntoIterator<Item = Subject>) -> Vec<Proof> {
    let proving = subjects
        .into_iter()
        .map(|subject| async move { prove(&subject).await.unwrap() });
    stream::iter(proving).buffered(AT_ONCE).collect().await
}

#[track_caller]
fn all_hold(proofs: &[Proof]) {
    let wrong: Vec<_> = proofs.iter().filter(|proof| !proof.holds()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mutant_is_caught_by_the_checks_named_for_it() {
    let built = Bug::ALL.iter().filter(|bug| bug.story().pending.is_none());
    let proofs = proofs(built.copied().map(Subject::Mutant)).await;
    all_hold(&proofs);
    assert!(proofs.iter().all(|proof| !proof.caught.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_odd_but_right_is_green() {
    let controls = Control::ALL.iter().copied().map(Subject::Control);
    let proofs = proofs(std::iter::once(Subject::Reference).chain(controls)).await;
    all_hold(&proofs);
}

#[test]
fn what_is_not_built_has_no_check() {
    let cases = agent_cases().unwrap();
    let known: BTreeSet<_> = cases.iter().map(|case| case.id.as_str()).collect();
    for bug in Bug::ALL {
        let story = bug.story();
        let built = story.kills.iter().any(|check| known.contains(check));
        assert!(
            story.pending.is_none() || !built,
            "{} can be built: {:?} are there",
            bug.name(),
            story.kills
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_mutants_change_what_the_wire_carries() {
    let mutations = mutations(PLACES[0]).await.unwrap();
    let named = |name: &str| {
        let found = mutations
            .iter()
            .find(|mutation| mutation.to_string() == name);
        found.unwrap_or_else(|| panic!("no mutation {name:?}"))
    };
    let caught = try_out(named("1.0 JSONRPC SendMessage: task: $.id retyped"))
        .await
        .unwrap();
    assert!(caught.vital);
    assert!(
        caught.red.iter().any(|check| check.starts_with("rpc.")),
        "{caught:?}"
    );
}
