//! The promises of a store: kept by the store in memory, and each broken by a store made for it.

#[path = "../stores/mod.rs"]
mod stores;

use a2a_server::{MemoryStore, suite};

#[tokio::test(flavor = "multi_thread")]
async fn memory_keeps_every_promise() {
    let broken = suite::run(|| async { MemoryStore::default() }).await;
    assert_eq!(broken, []);
}

/// Races that one thread has are others than those of several.
#[tokio::test]
async fn memory_keeps_every_promise_on_one_thread() {
    let broken = suite::run(|| async { MemoryStore::default() }).await;
    assert_eq!(broken, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_keeps_every_promise() {
    let broken = suite::run(|| async { stores::sqlite() }).await;
    assert_eq!(broken, []);
}

#[test]
fn every_case_has_a_name_of_its_own() {
    let mut names: Vec<_> = suite::cases().map(|case| case.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
