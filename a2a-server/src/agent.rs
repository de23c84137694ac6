//! What a user of this crate implements.

use std::panic::AssertUnwindSafe;

use a2a_transport::BoxFuture;
use futures_util::FutureExt;

use crate::Turn;

/// The user's code.
///
/// `Ok` without a terminal or interrupting update completes the task; `Err`, or a panic, fails it
/// with an opaque message and a correlation id, while the reason goes to the log.
///
/// A turn that is canceled and does not end is dropped where it waits: one that blocks its thread, as
/// no asynchronous code should, goes on until it waits for something or returns.
///
/// Where a caller waits for the answer, or for a stream to begin, the agent begins in the caller's place,
/// and becomes a task of its own where it first waits, or after a few updates that are streamed: long
/// computations before that belong to [`spawn_blocking`](tokio::task::spawn_blocking), or no limit of
/// waiting holds for their caller.
pub trait Agent: Send + Sync + 'static {
    /// Takes one turn of a conversation: from a message to an answer, or to a question back.
    fn run(&self, turn: Turn) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// A function is an agent.
impl<F, R> Agent for F
where
    F: Fn(Turn) -> R + Send + Sync + 'static,
    R: Future<Output = Result<(), Failure>> + Send,
{
    fn run(&self, turn: Turn) -> impl Future<Output = Result<(), Failure>> + Send {
        self(turn)
    }
}

/// Why a turn failed. Made from any error by `?`; callers never see what it says.
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

/// [`Agent`] for use as `dyn`.
pub(crate) trait ErasedAgent: Send + Sync + 'static {
    /// Takes one turn; fails if the agent panics.
    fn run(&self, turn: Turn) -> BoxFuture<'_, std::thread::Result<Result<(), Failure>>>;
}

impl<A: Agent> ErasedAgent for A {
    fn run(&self, turn: Turn) -> BoxFuture<'_, std::thread::Result<Result<(), Failure>>> {
        // A function may panic before there is a future.
        let run = async { Agent::run(self, turn).await };
        Box::pin(AssertUnwindSafe(run).catch_unwind())
    }
}
