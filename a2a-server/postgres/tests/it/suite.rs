//! The suite of stores, on PostgreSQL.

use crate::database::{open, options, shared};
use crate::pooler::Pooler;

#[tokio::test(flavor = "multi_thread")]
async fn postgres_store_keeps_every_promise() {
    if options().is_none() {
        return;
    }
    let violations = a2a_store_suite::run(|| async { open(&options().unwrap()).await }).await;
    assert_eq!(violations, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_store_behind_a_pooler_without_a_cache_keeps_every_promise() {
    let Some(database) = shared() else {
        return;
    };
    let pooler = Pooler::start(database);
    let options = || {
        let options = match &pooler {
            Some(pooler) => pooler.options(),
            None => database.options().pooler(true),
        };
        options.cache_bytes(0)
    };
    // `random.like_a_model` takes most of the time, so it runs here only with `A2A_EXHAUSTIVE`.
    let is_exhaustive = std::env::var_os("A2A_EXHAUSTIVE").is_some();
    let cases =
        a2a_store_suite::cases().filter(|case| is_exhaustive || case.name != "random.like_a_model");
    let mut violations = Vec::new();
    for case in cases {
        let outcome = case.check(|| async { open(&options()).await }).await;
        violations.extend(outcome.err());
    }
    assert_eq!(violations, []);
}
