//! The suite of stores, on PostgreSQL.

use a2a_server::suite;

use crate::database::{open, options, shared};
use crate::pooler::Pooler;

#[tokio::test(flavor = "multi_thread")]
async fn keeps_every_promise() {
    if options().is_none() {
        return;
    }
    let violations = suite::run(|| async { open(&options().unwrap()).await }).await;
    assert_eq!(violations, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_every_promise_behind_a_pooler_without_a_cache() {
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
    let violations = suite::run(|| async { open(&options()).await }).await;
    assert_eq!(violations, []);
}
