//! The store, and under which name this server writes to it.

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::BoxFuture;
use a2a_types::TaskId;
use tokio::sync::Notify;

use crate::store::{Append, Appended, Lease, Owner, Snapshot, Store, StoreError};

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

    /// Tells that webhooks may have something to be told.
    pub(crate) fn announce(&self) {
        if self.notify {
            self.filled.notify_one();
        }
    }
}

/// A task's place in the ledger.
pub(crate) struct Account {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) owner: Owner,
    pub(crate) task: TaskId,
}

impl Account {
    /// The task as it stands in the store, which has it.
    pub(crate) async fn known(&self) -> Result<Snapshot, StoreError> {
        let snapshot = self.ledger.store.snapshot(&self.owner, &self.task).await?;
        snapshot.ok_or(StoreError::NoTask)
    }

    pub(crate) fn append(&self, append: Append) -> BoxFuture<'_, Result<Appended, StoreError>> {
        let store = &self.ledger.store;
        store.append(&self.owner, &self.task, append)
    }
}
