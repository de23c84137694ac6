//! The promises of a [`Store`], each as a case to test any store with.
//!
//! This is the body of a `#[tokio::test(flavor = "multi_thread")]` in the crate of your own store:
//!
//! ```
//! use a2a_server::MemoryStore as OwnStore; // yours instead
//!
//! # #[tokio::main] async fn main() {
//! // A fresh store for each case: a new map, a new file, a new schema of a database.
//! let violations = a2a_store_suite::run(|| async { OwnStore::default() }).await;
//! assert_eq!(violations, []);
//! # }
//! ```
//!
//! Nothing here needs a test framework: a broken promise is a value, a [`Violation`]. The cases want a
//! runtime of tokio whose clock runs; one of several threads finds more races. They take the store's clock
//! as it is, wait milliseconds for it, and a few seconds for an event that should have happened and did
//! not.
//!
//! Most promises are checked by one case, `random.like_a_model`: operations in a pseudo-random order, the
//! same in every run, each followed by a look at all that can be read, and compared with a plain model. Its
//! violation names the seed and the step, what was asked of the store, what was found and what the model
//! expected. The other cases are about time, limits, races, and stores that servers share.
//!
//! Deliberately absent: whether a durable store survives a crash, which cannot be shown from inside its
//! process, and the behaviour of a full store.

mod bench;
mod case;
mod dice;
mod expiry;
mod log;
mod model;
mod observation;
mod observe;
mod race;
mod random;
mod sample;
mod shared;
mod sweep;
mod writer;

use a2a_server::Store;

pub use crate::case::{Case, Violation};

/// Checks a store by every case, each time a fresh one; returns the broken promises.
pub async fn run<S: Store, F: Future<Output = S>>(open: impl Fn() -> F) -> Vec<Violation> {
    let mut violations = Vec::new();
    for case in cases() {
        violations.extend(case.check(&open).await.err());
    }
    violations
}

/// Returns every case, those about one thing next to each other.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    CASES.iter().copied().flatten()
}

const CASES: &[&[Case]] = &[
    log::CASES,
    expiry::CASES,
    sweep::CASES,
    shared::CASES,
    race::CASES,
    random::CASES,
];
