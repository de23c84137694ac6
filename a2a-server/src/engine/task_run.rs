//! A run: the turns on one task, one after the other, apart from any caller. A caller that disconnects stops none.
//!
//! ```text
//! claim ──► start ──► Turn: the agent's code ──► Ended: the end is stored ──► Over
//!                          ▲                          │
//!                          └──── a message waits ─────┘
//! ```

use std::sync::Arc;

use a2a_transport::spans::{AGENT_TURN, OTEL_KIND, OTEL_STATUS, OUTCOME, TASK};
use a2a_transport::{metric, spans};
use a2a_types::TaskState;
use tokio::runtime::Handle;
use tracing::Span;
use tracing::field::Empty;

use crate::engine::active_tasks::ActiveTasks;
use crate::engine::agent_call::{TurnEnd, call_agent, logged};
use crate::engine::idempotency::InFlightSend;
use crate::engine::limiter::TurnPermit;
use crate::engine::pending_message::PendingMessage;
use crate::engine::task_writer::TaskWriter;
use crate::engine::turn_end::{begin_next, close, hand_back, persist};
use crate::engine::update::UpdateError;

/// The work on one task, which is claimed: no other run has it. Dropping the run, also in a panic, ends its writer, and
/// the next message finds the task free.
pub(crate) struct TaskRun {
    active: Arc<ActiveTasks>,
    writer: Arc<TaskWriter>,
    /// `true` if the run counts among those in progress.
    counts: bool,
    /// `true` once the run has left its place, so that another one may have it.
    has_left: bool,
}

/// State of a run.
enum Step {
    /// A message gets its turn.
    Turn(Arc<PendingMessage>),
    /// The agent's code has left a turn. The message is in flight until its outcome is stored.
    Ended(TurnEnd, Option<Arc<InFlightSend>>),
    /// No message waits, or the task is left to another writer.
    Over,
}

impl TaskRun {
    /// Claims the task of `writer`; if another writer has it, yields that instead.
    pub(crate) fn claim(
        active: &Arc<ActiveTasks>,
        writer: &Arc<TaskWriter>,
    ) -> Result<Self, Arc<TaskWriter>> {
        active.claim(writer)?;
        Ok(Self {
            active: Arc::clone(active),
            writer: Arc::clone(writer),
            counts: false,
            has_left: false,
        })
    }

    /// Runs a turn, and further turns for messages that came meanwhile, in a task of its own; the permit, if one was
    /// needed, is given back after the last one.
    pub(crate) fn start(mut self, first: Arc<PendingMessage>, permit: Option<TurnPermit>) {
        self.writer.begin();
        self.active.count_in();
        self.counts = true;
        let running = metric::RUNNING_TURNS.raise([]);
        tokio::spawn(async move {
            self.run(first).await;
            self.has_left = true;
            drop(self);
            drop((permit, running));
        });
    }

    async fn run(&self, first: Arc<PendingMessage>) {
        let mut step = Step::Turn(first);
        loop {
            step = match step {
                Step::Turn(pending) => self.turn(pending).await,
                Step::Ended(end, in_flight) => self.conclude(end, in_flight).await,
                Step::Over => return,
            };
        }
    }

    /// Has the agent work on a message.
    async fn turn(&self, mut pending: Arc<PendingMessage>) -> Step {
        let writer = &self.writer;
        let in_flight = Arc::make_mut(&mut pending).in_flight.take();
        let span = open_span(writer, &mut pending);
        writer.belong_to(pending.context.trace.clone()).await;
        writer.confirm_lease().await;
        let (agent, grace) = (&*self.active.agent, self.active.cancel_grace);
        let end = match writer.is_lost() {
            true => TurnEnd::Lost,
            false => call_agent(agent, writer, pending, grace, &span).await,
        };
        span.record(OUTCOME, end.as_str());
        if let TurnEnd::Failed(_) = end {
            span.record(OTEL_STATUS, "ERROR");
        }
        Step::Ended(end, in_flight)
    }

    /// Stores the end of a turn, and decides on the next step.
    ///
    /// Rare steps are boxed, because a run holds the memory of this future while its agent works.
    async fn conclude(&self, end: TurnEnd, in_flight: Option<Arc<InFlightSend>>) -> Step {
        let writer = &self.writer;
        let closed = match &end {
            TurnEnd::Lost => {
                Box::pin(hand_back(writer)).await;
                self.active.forget(writer);
                return Step::Over;
            }
            _ if writer.is_answered() => Ok(Ending::Closed),
            TurnEnd::Done => self.complete().await,
            TurnEnd::Canceled => Box::pin(self.close(TaskState::Canceled, None)).await,
            TurnEnd::Failed(report) => {
                let text = report.to_string();
                Box::pin(self.close(TaskState::Failed, Some(&text))).await
            }
        };
        if writer.is_lost() {
            return Step::Ended(TurnEnd::Lost, in_flight);
        }
        if let Err(error) = &closed {
            tracing::error!(task = %writer.task_id(), error = error as &dyn std::error::Error, "could not store the end of a turn");
        }
        let is_awaited = matches!(closed, Ok(Ending::Awaited));
        if !is_awaited && self.active.leave(writer) {
            return Step::Over;
        }
        match Box::pin(self.next_turn()).await {
            Ok(Some(pending)) => Step::Turn(pending),
            Ok(None) => Step::Ended(end, in_flight),
            Err(instead) => Step::Ended(instead, in_flight),
        }
    }

    /// Completes the task, unless it waits for the caller or a message is queued for it.
    async fn complete(&self) -> Result<Ending, UpdateError> {
        let writer = &*self.writer;
        let step = || async {
            let (state, next_message) = writer.state_and_next_message().await?;
            if next_message.is_some() || self.active.is_awaited(writer) {
                return Ok(Ending::Awaited);
            }
            if !state.is_settled() {
                Box::pin(close(writer, TaskState::Completed, None)).await?;
            }
            Ok(Ending::Closed)
        };
        persist(writer, step).await
    }

    async fn close(&self, state: TaskState, text: Option<&str>) -> Result<Ending, UpdateError> {
        persist(&self.writer, || close(&self.writer, state, text)).await?;
        Ok(Ending::Closed)
    }

    /// Returns the message that the next turn is for, once the task is ready for that turn, or `None`.
    /// Errors: the end of the run instead, if the task cannot be made ready.
    pub(crate) async fn next_turn(&self) -> Result<Option<Arc<PendingMessage>>, TurnEnd> {
        let writer = &*self.writer;
        let begun = async {
            let Some(pending) = self.next_message().await? else {
                return Ok(None);
            };
            let begins = begin_next(writer, &pending).await?;
            if !begins {
                writer.skip(pending.number).await;
            }
            Ok::<_, UpdateError>(begins.then_some(pending))
        };
        match begun.await {
            Ok(next) => Ok(next),
            Err(_) if writer.is_lost() => Err(TurnEnd::Lost),
            Err(error) => Err(TurnEnd::Failed(logged(writer, &error))),
        }
    }

    /// Returns the first message that waits for its turn. A message may be in the history but not in the queue: a process
    /// that died had accepted it, or the outcome of its write was unknown.
    async fn next_message(&self) -> Result<Option<Arc<PendingMessage>>, UpdateError> {
        let writer = &*self.writer;
        loop {
            let queued = self.active.next(writer).await;
            let Some(number) = writer.next_message().await else {
                return Ok(None);
            };
            match queued {
                Some(pending) if pending.number == number => return Ok(Some(pending)),
                Some(pending) => self.active.put_back(writer, pending),
                None => {}
            }
            let snapshot = persist(writer, || async { Ok(writer.snapshot().await?) }).await?;
            match PendingMessage::from_history(writer.owner(), &snapshot, number) {
                Some(pending) => return Ok(Some(Arc::new(pending))),
                None => writer.skip(number).await,
            }
        }
    }
}

/// State of a task after a turn.
enum Ending {
    /// The task has its last status, or waits for its caller.
    Closed,
    /// A message waits for its turn.
    Awaited,
}

impl Drop for TaskRun {
    fn drop(&mut self) {
        if !self.has_left {
            self.active.forget(&self.writer);
        }
        self.writer.end();
        if self.counts {
            self.active.count_out();
        }
        if std::thread::panicking()
            && let Ok(runtime) = Handle::try_current()
        {
            // The task is left unfinished; without a lease it is found like any abandoned task.
            let writer = Arc::clone(&self.writer);
            runtime.spawn(async move { drop(writer.hand_back().await) });
        }
    }
}

/// Opens the span of a turn: everything that the turn causes belongs to the trace of the message.
fn open_span(writer: &TaskWriter, pending: &mut Arc<PendingMessage>) -> Span {
    let span = tracing::info_span!(
        parent: None,
        AGENT_TURN,
        { OTEL_KIND } = "internal",
        { TASK } = writer.task_id().as_str(),
        { OUTCOME } = Empty,
        { OTEL_STATUS } = Empty,
    );
    let trace = &mut Arc::make_mut(pending).context.trace;
    *trace = spans::link_span(&span, trace.take());
    span
}
