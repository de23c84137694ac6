//! Outcome of a message, for the callers that wait for it.

use std::sync::Arc;

use a2a_types::{Dialect, Error as A2aError, ErrorKind, Message, TaskId};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::engine::run_state::{Phase, Progress, RunState};
use crate::engine::task_writer::TaskWriter;
use crate::store::Snapshot;

/// What has been made of a message. It is kept for as long as the message is being answered, which may be
/// long, so it holds no task: only where in its log the message stands.
#[derive(Clone)]
pub(crate) enum Accepted {
    /// The agent has been given it.
    Run {
        writer: Arc<TaskWriter>,
        /// Where the log of a known task ended after the message; a new task has no log before the agent
        /// acts.
        from: Option<LogPosition>,
        /// How often the agent had let waiting callers go before the message came.
        detached: u64,
    },
    /// It was sent before: this is what has become of it.
    Known(Arc<Outcome>),
}

/// What came of a message, as far as it is known.
#[derive(Clone)]
pub(crate) enum Outcome {
    Task(LogPosition),
    Message(Message),
}

/// A task, and a place in its log.
#[derive(Clone, Debug)]
pub(crate) struct LogPosition {
    pub(crate) task: TaskId,
    pub(crate) generation: u64,
    pub(crate) dialect: Dialect,
    /// Whether the task was settled there.
    pub(crate) is_settled: bool,
}

impl From<&Snapshot> for LogPosition {
    fn from(snapshot: &Snapshot) -> Self {
        Self {
            task: snapshot.task.id.clone(),
            generation: snapshot.generation,
            dialect: snapshot.dialect,
            is_settled: snapshot.task.status.state.is_settled(),
        }
    }
}

impl Accepted {
    /// Whether the work that it began is so far.
    pub(crate) fn is(&self, so_far: impl Fn(&RunState) -> bool) -> bool {
        matches!(self, Self::Run { writer, .. } if writer.run_state().is(so_far))
    }

    /// Returns the correlation id of the failure that keeps the end of its turn from being stored.
    pub(crate) fn stuck(&self) -> Option<Uuid> {
        match self {
            Self::Run { writer, .. } => writer.run_state().is(|run| run.stuck),
            Self::Known(_) => None,
        }
    }

    /// Whether the agent has let those go who waited when the message came.
    pub(crate) fn lets_go(&self, run: &RunState) -> bool {
        matches!(self, Self::Run { detached, .. } if run.detached > *detached)
    }

    /// Waits until there is a task of which enough is known, or an answer without one. An agent that does
    /// neither for so long gets a task: its caller has to be told something.
    pub(crate) async fn outcome(
        &self,
        until: Instant,
        enough: impl Fn(&RunState) -> bool,
    ) -> Result<Outcome, A2aError> {
        let writer = match self {
            Self::Known(outcome) => return Ok(Outcome::clone(outcome)),
            Self::Run {
                from: Some(from), ..
            } => return Ok(Outcome::Task(from.clone())),
            Self::Run { writer, .. } => writer,
        };
        let known = |run: &RunState| match run.progress {
            _ if run.phase == Phase::Ended || run.stuck.is_some() => true,
            Progress::Pending => false,
            Progress::Open(_) => enough(run),
            Progress::Answered(_) => true,
        };
        if !writer.run_state().is(known) {
            let known = writer.run_state().until(known);
            if timeout_at(until, Box::pin(known)).await.is_err() {
                writer.open().await?;
            }
        }
        match writer.run_state().is(|run| run.progress.clone()) {
            Progress::Open(dialect) => Ok(Outcome::Task(LogPosition {
                task: writer.task_id().clone(),
                generation: 1,
                dialect,
                is_settled: false,
            })),
            Progress::Answered(message) => Ok(Outcome::Message(Message::clone(&message))),
            // The task could not even be stored.
            Progress::Pending => Err(ErrorKind::Unavailable.into()),
        }
    }
}
