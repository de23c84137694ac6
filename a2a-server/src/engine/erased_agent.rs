//! The agent as the engine calls it.

use std::sync::Arc;

use a2a_transport::BoxFuture;

use crate::engine::pending_message::PendingMessage;
use crate::engine::task_writer::TaskWriter;

/// An [`Agent`](crate::Agent) for use as `dyn`.
pub(crate) trait ErasedAgent: Send + Sync + 'static {
    /// Takes one turn; fails if the agent panics.
    fn run(
        &self,
        writer: Arc<TaskWriter>,
        pending: Arc<PendingMessage>,
    ) -> BoxFuture<'_, TurnResult>;
}

/// Result of the agent's code in a turn; an error if it panicked.
pub(crate) type TurnResult = std::thread::Result<Result<(), Failure>>;

/// Reason why a turn failed. Made from any error by `?`; never sent to callers.
#[derive(Debug)]
pub struct Failure(Box<dyn std::error::Error + Send + Sync>);

impl Failure {
    /// A failure for this reason.
    pub fn new(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(reason.into())
    }

    pub(crate) fn reason(&self) -> &(dyn std::error::Error + 'static) {
        &*self.0
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for Failure {
    fn from(reason: E) -> Self {
        Self::new(reason)
    }
}
