//! Every check of clients can fail: clients that do nothing, and mutants, make each of them say so.
#![cfg(unix)]

use std::collections::BTreeSet;

use a2a_conformance::client::{Driver, Selection, cases};
use a2a_conformance_proof::client::Bug;

/// Answer that reports success of every request, and no result.
const SILENT: &str = r#"{\"id\":$id,\"done\":true,\"result\":{}}"#;

/// Answer that reports failure of every request.
const FAILING: &str = r#"{\"id\":$id,\"error\":{\"kind\":\"BROKEN\",\"message\":\"no\"}}"#;

/// Number of concurrent checks: they mostly wait for requests that such clients never send.
const AT_ONCE: usize = 48;

/// Returns the checks that a client fails which makes no request and always gives the same answer.
async fn unmet(says: &str) -> BTreeSet<String> {
    let id = r#"id=${line##*\"id\":}; id=${id%%[,\}]*}"#;
    let client = format!("while read -r line; do {id}; echo \"{says}\"; done");
    let driver = Driver::stdio(client);
    let selection = Selection {
        jobs: AT_ONCE,
        ..Selection::default()
    };
    let results = selection.run(&driver, |_| {}).await.unwrap();
    let unmet = results
        .into_iter()
        .filter(|result| !result.mismatches.is_empty());
    unmet.map(|result| result.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_check_of_clients_can_fail() {
    let (mut failed, failing) = tokio::join!(unmet(SILENT), unmet(FAILING));
    failed.extend(failing);
    // The suite's self-test proves that these checks catch their mutants.
    let named = Bug::ALL.iter().flat_map(|bug| &bug.mutant().caught_by);
    failed.extend(named.cloned());
    let all: BTreeSet<_> = cases()
        .unwrap()
        .iter()
        .map(|case| case.id.clone())
        .collect();
    let never: Vec<_> = all.difference(&failed).collect();
    assert_eq!(never, [""; 0], "they pass whatever a client does");
}
