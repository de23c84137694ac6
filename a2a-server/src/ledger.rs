//! The store, and under which name this server writes to it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::store::{Lease, Store};

/// The store, and under which name and for how long this server writes to a task.
pub(crate) struct Ledger {
    pub(crate) store: Arc<dyn Store>,
    /// This process: another one that writes to the same store has another name.
    pub(crate) holder: Arc<str>,
    /// How long a lease lasts unless it is renewed.
    pub(crate) term: Duration,
    /// How long chunks of text are collected before they are written.
    pub(crate) merge: Duration,
    /// Whether the steps on the way to an answer are written.
    pub(crate) keeps_steps: bool,
    /// Whether somebody takes what webhooks are to be told from the store.
    pub(crate) notify: bool,
    /// There may be more to take.
    pub(crate) filled: Arc<Notify>,
}

impl Ledger {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        term: Duration,
        merge: Duration,
        keeps_steps: bool,
        notify: bool,
    ) -> Self {
        Self {
            store,
            holder: uuid::Uuid::new_v4().to_string().into(),
            term,
            merge,
            keeps_steps,
            notify,
            filled: Arc::default(),
        }
    }

    /// A lease for a task that nobody else works on.
    pub(crate) fn take(&self) -> Lease {
        Lease::Taken {
            holder: Arc::clone(&self.holder),
            term: self.term,
        }
    }

    /// A lease for a task, whoever works on it.
    pub(crate) fn seize(&self) -> Lease {
        Lease::Seized {
            holder: Arc::clone(&self.holder),
            term: self.term,
        }
    }
}
