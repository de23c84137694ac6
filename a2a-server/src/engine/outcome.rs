//! Outcome of a message, for the callers that wait for it.

use std::sync::Arc;

use a2a_types::{Error as A2aError, ErrorKind, Message, ProtocolVersion, TaskId};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::engine::run_state::{Phase, Progress, RunState};
use crate::engine::task_writer::TaskWriter;
use crate::store::Snapshot;

/// An accepted message. It is kept for as long as the message is being answered, which may be long, so it
/// holds no task: only the message's place in its log.
#[derive(Clone)]
pub(crate) enum Accepted {
    /// The agent has been given it.
    Run {
        writer: Arc<TaskWriter>,
        /// End of the log of a known task after the message; a new task has no log before the agent acts.
        from: Option<LogPosition>,
        /// Number of early returns that the agent had granted to waiting callers before the message
        /// came.
        detached: u64,
    },
    /// It was sent before, with this outcome.
    Known(Arc<Outcome>),
}

/// Outcome of a message, as far as it is known.
#[derive(Clone)]
pub(crate) enum Outcome {
    Task(LogPosition),
    Message(Message),
}

/// A task, and a place in its log.
#[derive(Clone, Debug)]
pub(crate) struct LogPosition {
    pub(crate) task: TaskId,
    pub(crate) sequence: u64,
    pub(crate) protocol_version: ProtocolVersion,
    /// `true` if the task was settled there.
    pub(crate) is_settled: bool,
}

impl From<&Snapshot> for LogPosition {
    fn from(snapshot: &Snapshot) -> Self {
        Self {
            task: snapshot.task.id.clone(),
            sequence: snapshot.sequence,
            protocol_version: snapshot.protocol_version,
            is_settled: snapshot.task.status.state.is_settled(),
        }
    }
}

impl Accepted {
    /// Returns whether `so_far` holds for the run that it began; `false` if there is none.
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

    /// Returns whether the agent has granted an early return since the message came.
    pub(crate) fn lets_go(&self, run: &RunState) -> bool {
        matches!(self, Self::Run { detached, .. } if run.detached > *detached)
    }

    /// Waits until enough is known of a task, or there is an answer without a task. If neither is so at
    /// `until`, stores a task, because the caller needs an answer.
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
                // Rare. Boxed, so that it does not enlarge the future of every message.
                Box::pin(writer.open()).await?;
            }
        }
        match writer.run_state().is(|run| run.progress.clone()) {
            Progress::Open(protocol_version) => Ok(Outcome::Task(LogPosition {
                task: writer.task_id().clone(),
                sequence: 1,
                protocol_version,
                is_settled: false,
            })),
            Progress::Answered(message) => Ok(Outcome::Message(Message::clone(&message))),
            // The task could not even be stored.
            Progress::Pending => Err(ErrorKind::Unavailable.into()),
        }
    }
}
