//! A zoo of hostile servers: whatever they do, a client gets a typed error or the right answer, in
//! bounded time and memory, and leaves no connection behind.

mod beast;
mod bodies;
mod cage;
mod envelopes;
mod heads;
mod http2;
mod places;
mod script;
mod silence;
mod streams;
mod tasks;
#[cfg(feature = "tls")]
mod tls;
mod weight;

use std::time::Duration;

use tokio::task::JoinSet;

use crate::zoo::beast::Beast;

/// Meets beasts, some at a time.
async fn check(beasts: Vec<Beast>) {
    let mut beasts = beasts.into_iter();
    let mut met = JoinSet::new();
    let mut problems = Vec::new();
    for beast in beasts.by_ref().take(AT_ONCE) {
        met.spawn(beast.meet());
    }
    let mut tick = tokio::time::interval(Duration::from_millis(100));
    loop {
        tokio::select! {
            ended = met.join_next() => {
                let Some(ended) = ended else { break };
                problems.extend(ended.expect("a panic is told by its beast").err());
                if let Some(next) = beasts.next() {
                    met.spawn(next.meet());
                }
            }
            // Before the machine has none left for others.
            _ = tick.tick() => assert!(weight::held() < FAR_TOO_MUCH, "memory without bound"),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Every beast there is.
fn all() -> Vec<Beast> {
    let mut all = Vec::new();
    all.extend(heads::beasts());
    all.extend(bodies::beasts());
    all.extend(envelopes::beasts());
    all.extend(places::beasts());
    all.extend(silence::beasts());
    all.extend(streams::beasts());
    all.extend(tasks::beasts());
    all.extend(http2::beasts());
    #[cfg(feature = "tls")]
    all.extend(tls::beasts());
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn heads() {
    check(heads::beasts()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies() {
    check(bodies::beasts()).await;
}

/// Number of beasts that run concurrently.
const AT_ONCE: usize = 8;

/// In bytes.
const FAR_TOO_MUCH: usize = 1 << 30;

#[tokio::test(flavor = "multi_thread")]
async fn envelopes() {
    check(envelopes::beasts()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn places() {
    check(places::beasts()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn silence() {
    check(silence::beasts()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn streams() {
    check(streams::beasts()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks() {
    check(tasks::beasts()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn http2() {
    check(http2::beasts()).await;
}

#[cfg(feature = "tls")]
#[tokio::test(flavor = "multi_thread")]
async fn tls() {
    check(tls::beasts()).await;
}
