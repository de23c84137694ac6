//! Replay of the documented examples against broken ends, which fails.

use std::sync::Arc;

use a2a_conformance::documents::{Corpus, Options, replay};
use a2a_conformance_proof::documents::Fault;
use futures_util::stream::{self, StreamExt};

/// One fault in this many is tested on every run, and each with `A2A_EXHAUSTIVE=1`.
const ONE_OF: usize = 3;

/// Each fault is caught, and the complaint names an example and the path or header.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_is_noticed() {
    // A replay with a fault mostly waits for messages that do not come, so several run
    // concurrently.
    let step = if std::env::var_os("A2A_EXHAUSTIVE").is_some() {
        1
    } else {
        ONE_OF
    };
    let noticed = Fault::ALL
        .iter()
        .step_by(step)
        .map(|&fault| async move { (fault, notice(fault).await) });
    let mut noticed = stream::iter(noticed).buffered(4);
    while let Some((fault, problems)) = noticed.next().await {
        assert!(
            problems.iter().any(|problem| is_named(problem)),
            "{fault:?}: no complaint names the example and the path: {problems:#?}"
        );
    }
}

/// Returns the problems found for a fault: with one document if that shows it, else with all.
async fn notice(fault: Fault) -> Vec<String> {
    let mut problems = Vec::new();
    for only in [Some("001"), Some("000"), None] {
        let options = Options {
            only: only.map(str::to_owned),
            ends: Arc::new(fault),
        };
        let outcomes = replay(&Corpus::embedded().unwrap(), &options, |_, _| {}).await;
        problems = outcomes
            .into_iter()
            .flat_map(|outcome| outcome.problems)
            .collect();
        if problems.iter().any(|problem| is_named(problem)) {
            break;
        }
    }
    problems
}

/// Returns whether a problem names an example, and the path or header.
fn is_named(problem: &str) -> bool {
    let example = problem.split(':').next().unwrap_or_default();
    let names_example = example.len() == 6 && example.as_bytes()[3] == b'-';
    names_example && (problem.contains(": $") || problem.contains(": content-type"))
}
