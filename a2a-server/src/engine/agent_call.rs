//! One call of the agent: the code of one turn, and the way in which it ends.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

use a2a_transport::BoxFuture;
use tokio::time::timeout;
use tracing::Span;

use crate::engine::pending_message::PendingMessage;
use crate::engine::task_writer::TaskWriter;
use crate::engine::update::UpdateError;

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

/// Runs the agent's code for one turn, until it returns, panics, or does not stop within `grace` after it was
/// asked to.
pub(crate) async fn call_agent(
    agent: &dyn ErasedAgent,
    writer: &Arc<TaskWriter>,
    pending: Arc<PendingMessage>,
    grace: Duration,
    span: &Span,
) -> TurnEnd {
    let mut run = Run {
        run: Some(agent.run(Arc::clone(writer), pending)),
        span,
    };
    let is_over = async {
        writer.stopped().await;
        // Few turns need room for that.
        drop(Box::pin(timeout(grace, writer.lost())).await);
    };
    let ended = tokio::select! {
        biased;
        ended = &mut run => ended,
        () = is_over => match writer.is_lost() {
            true => return TurnEnd::Lost,
            false => return TurnEnd::Canceled,
        },
    };
    match ended {
        _ if writer.is_lost() => TurnEnd::Lost,
        _ if writer.is_stopped() => TurnEnd::Canceled,
        Ok(Ok(())) => TurnEnd::Done,
        Ok(Err(failure)) => TurnEnd::Failed(logged(writer, failure.reason())),
        Err(panic) => TurnEnd::Failed(logged(writer, &Panic::of(&*panic))),
    }
}

/// The message of a failed turn for callers. The log has the cause, under the same id.
pub(crate) struct FailureReport {
    correlation_id: uuid::Uuid,
    /// `true` if the agent failed because its update could not be stored.
    is_of_store: bool,
}

impl std::fmt::Display for FailureReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.is_of_store {
            true => "The server could not store an update of the agent.",
            false => "The agent failed.",
        };
        write!(f, "{what} Correlation id: {}", self.correlation_id)
    }
}

/// Way in which the agent's code left a turn.
pub(crate) enum TurnEnd {
    Done,
    Failed(FailureReport),
    Canceled,
    /// The task is left to another writer.
    Lost,
}

impl TurnEnd {
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed(_) => "failed",
            Self::Canceled => "canceled",
            Self::Lost => "lost",
        }
    }
}

/// The agent's code in a turn. A panic, while it runs or when it is dropped, does not reach the
/// turn.
struct Run<'a> {
    run: Option<BoxFuture<'a, std::thread::Result<Result<(), Failure>>>>,
    /// Span in which the code runs.
    span: &'a Span,
}

impl Future for Run<'_> {
    type Output = std::thread::Result<Result<(), Failure>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        let _within = self.span.enter();
        match &mut self.run {
            Some(run) => run.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let _within = self.span.enter();
        let run = self.run.take();
        // The panic hook has reported it.
        drop(catch_unwind(AssertUnwindSafe(|| drop(run))));
    }
}

/// Message of the agent's panic.
#[derive(Debug, thiserror::Error)]
#[error("the agent panicked: {0}")]
struct Panic(String);

impl Panic {
    fn of(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self(text.unwrap_or("(not a text)").to_owned())
    }
}

/// Logs why a turn failed, under the id that the caller gets.
pub(crate) fn logged(
    writer: &TaskWriter,
    reason: &(dyn std::error::Error + 'static),
) -> FailureReport {
    let id = uuid::Uuid::new_v4();
    let is_of_store = matches!(reason.downcast_ref(), Some(UpdateError::Store(_)));
    tracing::error!(correlation_id = %id, task = %writer.task_id(), error = reason, "the agent failed");
    FailureReport {
        correlation_id: id,
        is_of_store,
    }
}
