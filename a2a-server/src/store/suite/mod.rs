//! The promises of a [`Store`], each as a case that any store can be put to.
//!
//! ```
//! use a2a_server::{MemoryStore, suite};
//!
//! # #[tokio::main] async fn main() {
//! // A store of your own, a fresh one each time it is asked for.
//! let broken = suite::run(|| async { MemoryStore::default() }).await;
//! assert_eq!(broken, []);
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

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::BoxFuture;

use self::bench::Bench;
use self::observation::Checked;
use super::Store;
#[cfg(feature = "push")]
pub use super::sealed_store::sealed;

/// Puts a store to every case, each time a fresh one; returns the promises that it does not keep.
pub async fn run<S: Store, F: Future<Output = S>>(open: impl Fn() -> F) -> Vec<Violation> {
    let mut violations = Vec::new();
    for case in cases() {
        violations.extend(case.check(&open).await.err());
    }
    violations
}

/// Every case, those about one thing side by side.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    CASES.iter().copied().flatten()
}

/// One promise, and how it is checked.
#[derive(Debug)]
pub struct Case {
    /// Names the case; it stays what it is.
    pub name: &'static str,
    /// The promise of a store.
    pub promise: &'static str,
    run: fn(Bench) -> BoxFuture<'static, Checked>,
}

impl Case {
    /// Puts a store, which must be fresh, to this case.
    pub async fn check<S: Store, F: Future<Output = S>>(
        &self,
        open: impl FnOnce() -> F,
    ) -> Result<(), Violation> {
        let store = Arc::new(open().await);
        let bench = Bench { store };
        let saw = match tokio::time::timeout(DEADLINE, (self.run)(bench)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(saw)) => saw.into(),
            Err(_) => format!("no end within {DEADLINE:?}"),
        };
        let (case, promise) = (self.name, self.promise);
        Err(Violation { case, promise, saw })
    }
}

/// A promise that a store does not keep.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{case}: {promise}, but: {saw}")]
#[non_exhaustive]
pub struct Violation {
    /// The name of the case.
    pub case: &'static str,
    /// The promise of the store.
    pub promise: &'static str,
    /// The observed behaviour.
    pub saw: String,
}

/// Time that a case may take. Each takes milliseconds, or seconds where every write does.
const DEADLINE: Duration = Duration::from_secs(120);

const CASES: &[&[Case]] = &[
    log::CASES,
    expiry::CASES,
    sweep::CASES,
    shared::CASES,
    race::CASES,
    random::CASES,
];

/// The cases of a file: the names, the functions, and the promises that they check. A function for a
/// shared store also takes its `SharedStore`, and is not called if the store is not shared.
macro_rules! promises {
    (of a shared store: $($rest:tt)*) => {
        crate::store::suite::promises!(|bench, case| async move {
            match bench.store.shared() {
                Some(shared) => case(&bench, shared).await,
                None => Ok(()),
            }
        }; $($rest)*);
    };
    (|$bench:ident, $case:ident| $run:expr; $($name:literal: $check:ident = $promise:literal;)*) => {
        pub(super) const CASES: &[crate::store::suite::Case] = &[$(crate::store::suite::Case {
            name: $name,
            promise: $promise,
            run: |$bench| {
                let $case = $check;
                Box::pin($run)
            },
        }),*];
    };
    ($($rest:tt)*) => {
        crate::store::suite::promises!(|bench, case| case(bench); $($rest)*);
    };
}
use promises;
