//! The store as the engine uses it, and a task in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use a2a_types::{MessageId, TaskId};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::engine::fanout::Fanouts;
use crate::engine::run_state::SharedRunState;
use crate::store::{IdempotencyKey, Lease, Owner, Snapshot, StoreError, TimedStore};

/// The store, and the name and term of the leases that this server takes.
pub(crate) struct StoreHandle {
    pub(crate) store: TimedStore,
    /// Name of this process as a holder of leases; every process that writes to the same store has
    /// a different one.
    pub(crate) holder: Arc<str>,
    /// Time for which a lease lasts unless it is renewed.
    pub(crate) term: Duration,
    /// `true` if text that accumulates while an append is being written becomes one event.
    pub(crate) merges_chunks: bool,
    /// `true` if the steps on the way to an answer are written.
    pub(crate) keeps_steps: bool,
    /// `true` if a sender takes the notifications of webhooks from the store.
    pub(crate) notify: bool,
    /// Signal that there may be more notifications to take.
    pub(crate) filled: Arc<Notify>,
    /// Followers of the store's tasks in this process.
    pub(crate) fanouts: Arc<Fanouts>,
    /// Time for which a turn waits for a store that is not available.
    pub(crate) max_outage: Duration,
    /// `true` if the last append or new task could not be written.
    is_failing: AtomicBool,
}

impl StoreHandle {
    pub(crate) fn new(
        store: TimedStore,
        term: Duration,
        merges_chunks: bool,
        keeps_steps: bool,
        notify: bool,
    ) -> Self {
        Self {
            store,
            holder: uuid::Uuid::new_v4().to_string().into(),
            term,
            merges_chunks,
            keeps_steps,
            notify,
            filled: Arc::default(),
            fanouts: Arc::default(),
            max_outage: Duration::from_secs(600),
            is_failing: AtomicBool::new(false),
        }
    }

    /// Notes whether the store could write.
    pub(crate) fn note_written<T>(&self, written: &Result<T, StoreError>) {
        let fails = match written {
            Ok(_) => false,
            Err(StoreError::Full | StoreError::Unavailable(_) | StoreError::Failed(_)) => true,
            Err(_) => return,
        };
        if self.is_failing() != fails {
            self.is_failing.store(fails, Ordering::Relaxed);
        }
    }

    /// Returns whether the store could not write the last time.
    pub(crate) fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::Relaxed)
    }

    /// Returns a lease for a task that no other server works on.
    pub(crate) fn take(&self) -> Lease {
        Lease::Acquire {
            holder: Arc::clone(&self.holder),
            term: self.term,
        }
    }

    /// A lease for a task, taken from its holder if there is one.
    pub(crate) fn seize(&self) -> Lease {
        Lease::TakeOver {
            holder: Arc::clone(&self.holder),
            term: self.term,
        }
    }

    /// Reserves a message at a store that several servers share. The caller runs this to its end: see
    /// [`Engine::begin`](crate::engine::Engine::begin).
    pub(crate) async fn reserve(
        self: &Arc<Self>,
        owner: Owner,
        receipt: IdempotencyKey,
        replaces: Option<u64>,
    ) -> Result<Reservation, StoreError> {
        let shared = self.store.shared();
        let shared = shared.ok_or_else(|| StoreError::failed("the store is not shared"))?;
        let asked = Instant::now();
        let reserved = shared.reserve(&owner, &receipt, &self.holder, self.term, replaces);
        Ok(Reservation {
            number: reserved.await?,
            asked,
            owner,
            message: receipt.message,
            runtime: Handle::current(),
            of: Some(Arc::clone(self)),
        })
    }

    /// Returns whether several servers share the store.
    pub(crate) fn is_shared(&self) -> bool {
        self.store.shared().is_some()
    }

    /// Returns whether a lease or a reservation that was asked for at this time is known to last for two thirds of its
    /// term or more. The answer to an earlier one may have come too late: another server may have taken over since.
    pub(crate) fn is_recent(&self, asked: Instant) -> bool {
        asked.elapsed() < self.term / 3
    }

    /// Signals that there may be notifications of webhooks to deliver.
    pub(crate) fn announce(&self) {
        if self.notify {
            self.filled.notify_one();
        }
    }
}

/// Reservation of a message, which is released when this is dropped.
pub(crate) struct Reservation {
    number: u64,
    /// Time at which it was asked for.
    asked: Instant,
    owner: Owner,
    message: MessageId,
    /// Runtime of the server, because the caller may be dropped in another runtime.
    runtime: Handle,
    /// Store that has the reservation, until it ends.
    of: Option<Arc<StoreHandle>>,
}

impl Reservation {
    /// Returns whether the reservation was asked for recently: see [`StoreHandle::is_recent`].
    pub(crate) fn is_recent(&self) -> bool {
        let store_handle = self.of.as_ref();
        store_handle.is_some_and(|it| it.is_recent(self.asked))
    }

    /// Leaves the end of the reservation to the store, which has an outcome of the message.
    pub(crate) fn end(mut self) {
        self.of = None;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let Some(store_handle) = self.of.take() else {
            return;
        };
        let (number, owner, message) = (self.number, self.owner.clone(), self.message.clone());
        self.runtime.spawn(async move {
            if let Some(shared) = store_handle.store.shared()
                && let Err(error) = shared.release(&owner, &message, number).await
            {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    error,
                    "could not release the reservation of a message: it expires later"
                );
            }
        });
    }
}

/// A task that is worked on here: its place in the store, and the state of its run.
pub(crate) struct ActiveTask {
    pub(crate) store_handle: Arc<StoreHandle>,
    pub(crate) owner: Owner,
    pub(crate) id: TaskId,
    pub(crate) run_state: SharedRunState,
}

impl ActiveTask {
    /// The task as it stands in the store, which has it.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let store = &self.store_handle.store;
        let snapshot = store.snapshot(&self.owner, &self.id).await?;
        snapshot.ok_or(StoreError::NoTask)
    }
}
