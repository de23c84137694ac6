//! Case of the suite: a promise, and how it is checked.

use std::sync::Arc;
use std::time::Duration;

use a2a_server::{BoxFuture, Store};

use crate::bench::Bench;
use crate::observation::Checked;

/// One promise, and how it is checked.
#[derive(Debug)]
pub struct Case {
    /// Name of the case, which never changes.
    pub name: &'static str,
    /// The promise of a store.
    pub promise: &'static str,
    pub(crate) run: fn(Bench) -> BoxFuture<'static, Checked>,
}

impl Case {
    /// Checks a fresh store by this case.
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

/// The cases of a file: the names, the functions, and the promises that they check. A function for a
/// shared store also takes its `SharedStore`, and is not called if the store is not shared.
macro_rules! promises {
    (of a shared store: $($rest:tt)*) => {
        crate::case::promises!(|bench, case| async move {
            match bench.store.shared() {
                Some(shared) => case(&bench, shared).await,
                None => Ok(()),
            }
        }; $($rest)*);
    };
    (|$bench:ident, $case:ident| $run:expr; $($name:literal: $check:ident = $promise:literal;)*) => {
        pub(crate) const CASES: &[crate::case::Case] = &[$(crate::case::Case {
            name: $name,
            promise: $promise,
            run: |$bench| {
                let $case = $check;
                Box::pin($run)
            },
        }),*];
    };
    ($($rest:tt)*) => {
        crate::case::promises!(|bench, case| case(bench); $($rest)*);
    };
}
pub(crate) use promises;
