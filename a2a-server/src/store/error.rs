//! Errors of a store.

use a2a_transport::BoxFuture;
use a2a_types::IllegalEvent;

/// A call of a store, on the heap.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Reason why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such task, or it has another owner.
    #[error("there is no such task")]
    NoTask,
    /// There is such a task already.
    #[error("the task exists already")]
    TaskExists,
    /// The message was received before: [`Store::received`](super::Store::received) returns its outcome.
    #[error("the message was received before")]
    DuplicateMessage,
    /// The log has gone on: read it again.
    #[error("the log ends at sequence number {0}")]
    SequenceConflict(u64),
    /// Another writer took the lease.
    #[error("another writer has taken the lease")]
    Fenced,
    /// Another writer has a lease that has not run out.
    #[error("another writer holds the lease of the task")]
    Leased,
    /// The reservation of the message by another holder, with this number, has expired. Its holder may be
    /// alive: while the store is down, no server can renew.
    #[error("reservation {0} of the message has expired")]
    ReservationExpired(u64),
    /// The store is full, and no ended task can be evicted.
    #[error("the store is full")]
    Full,
    /// The store cannot be reached, or is overloaded. The caller may try again; the request may have been
    /// done.
    #[error("the store is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Too many large tasks are being read at once.
    #[error("too many large tasks are being read: retry later")]
    Busy,
    /// The task holds as many messages of its caller as it may.
    #[error("the task has taken {0} messages and takes no more")]
    TooManyMessages(usize),
    /// The task's log is as long as it may be.
    #[error("the log of the task holds {0} bytes and takes no more")]
    TooLong(usize),
    /// The task has as many artifacts as it may.
    #[error("the task has {0} artifacts and may have no more: add parts to one of them")]
    TooManyArtifacts(usize),
    /// The task holds as many webhooks as it may.
    #[error("the task has {0} push notification configs and may have no more")]
    TooManyConfigs(usize),
    /// The webhook holds more bytes than one may: its id, URL, token and credentials together.
    #[error(
        "a push notification config may hold {0} bytes: shorten its id, URL, token or credentials"
    )]
    ConfigTooLong(usize),
    /// The event cannot happen to the task as it stands.
    #[error(transparent)]
    InvalidTransition(#[from] IllegalEvent),
    /// The store itself failed.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// The store failed for this reason.
    pub fn failed(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(reason.into())
    }

    /// The store is not available for this reason.
    pub fn unavailable(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(reason.into())
    }
}
