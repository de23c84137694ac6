//! The trait that a user of this crate implements.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use a2a_transport::BoxFuture;
use futures_util::FutureExt;

use crate::engine::agent_call::{ErasedAgent, Failure, TurnResult};
use crate::engine::pending_message::PendingMessage;
use crate::engine::task_writer::TaskWriter;
use crate::turn::Turn;

/// The user's code.
///
/// `Ok` without a terminal or interrupting update completes the task; `Err`, or a panic, fails it
/// with an opaque message and a correlation id, while the reason goes to the log.
///
/// A turn that is canceled and does not end is dropped where it waits: one that blocks its thread, as
/// no asynchronous code should, goes on until it waits for something or returns.
///
/// Each turn runs in a tokio task of its own, apart from the connection of its caller. Long computations belong to
/// [`spawn_blocking`](tokio::task::spawn_blocking), as in all asynchronous code.
pub trait Agent: Send + Sync + 'static {
    /// Takes one turn of a conversation: from a message to an answer or a question.
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

/// An agent of any type: for programs that choose among agents while they run, or keep several.
///
/// ```
/// use a2a_server::{DynAgent, Server, Turn};
/// use a2a_types::AgentCard;
///
/// let polite = DynAgent::new(async |turn: Turn| Ok(turn.reply("Good day").await?));
/// let short = DynAgent::new(async |turn: Turn| Ok(turn.reply("Hi").await?));
/// let agent = if std::env::args().any(|it| it == "--short") { short } else { polite };
/// let server = Server::builder(AgentCard::new("Greeter", "Greets"), agent).build();
/// assert!(server.is_ok());
/// ```
#[derive(Clone)]
pub struct DynAgent(Arc<dyn Fn(Turn) -> BoxFuture<'static, Result<(), Failure>> + Send + Sync>);

impl DynAgent {
    /// Makes it from an agent.
    pub fn new(agent: impl Agent) -> Self {
        let agent = Arc::new(agent);
        Self(Arc::new(move |turn| {
            let agent = Arc::clone(&agent);
            Box::pin(async move { Agent::run(&*agent, turn).await })
        }))
    }
}

impl Agent for DynAgent {
    fn run(&self, turn: Turn) -> impl Future<Output = Result<(), Failure>> + Send {
        (self.0)(turn)
    }
}

impl std::fmt::Debug for DynAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DynAgent")
    }
}

impl<A: Agent> ErasedAgent for A {
    fn run(
        &self,
        writer: Arc<TaskWriter>,
        pending: Arc<PendingMessage>,
    ) -> BoxFuture<'_, TurnResult> {
        let turn = Turn::new(writer, pending);
        // The function may panic before it returns a future.
        let run = async { Agent::run(self, turn).await };
        Box::pin(AssertUnwindSafe(run).catch_unwind())
    }
}
