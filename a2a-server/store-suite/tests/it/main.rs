//! Broken stores: each case of the suite detects its faults.

mod broken;
mod fault;

use std::collections::BTreeSet;

use tokio::task::JoinSet;

use broken::Broken;
use fault::Fault;

/// One fault in this many is tested on every run, and each with `A2A_EXHAUSTIVE`.
const ONE_OF: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_found() {
    let step = if std::env::var_os("A2A_EXHAUSTIVE").is_some() {
        1
    } else {
        ONE_OF
    };
    let mut checks = JoinSet::new();
    for &(fault, names) in Fault::ALL.iter().step_by(step) {
        for &name in names {
            checks.spawn(async move {
                let case = a2a_store_suite::cases().find(|case| case.name == name);
                let case = case.unwrap_or_else(|| panic!("there is no case {name}"));
                let found = case.check(|| async { Broken::new(fault) }).await;
                found
                    .is_ok()
                    .then(|| format!("{fault:?} is not found by {name}"))
            });
        }
    }
    let missed: BTreeSet<_> = checks.join_all().await.into_iter().flatten().collect();
    assert_eq!(missed, BTreeSet::new());
}

/// A case that no fault fails would check nothing.
#[test]
fn every_case_finds_a_fault() {
    let finds: BTreeSet<_> = Fault::ALL.iter().flat_map(|(_, cases)| *cases).collect();
    let cases = a2a_store_suite::cases().map(|case| case.name);
    // The faults for cases of a shared store are in `own_store` of the server's tests.
    let cases = cases.filter(|name| !name.starts_with("shared."));
    let idle: Vec<_> = cases.filter(|name| !finds.contains(name)).collect();
    assert_eq!(idle, Vec::<&str>::new());
}

#[test]
fn every_case_has_a_name_of_its_own() {
    let names: Vec<_> = a2a_store_suite::cases().map(|case| case.name).collect();
    let once: BTreeSet<_> = names.iter().collect();
    assert_eq!(once.len(), names.len());
}
