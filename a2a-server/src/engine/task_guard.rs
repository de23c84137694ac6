//! Guard of a claimed task, and its run of turns.

use std::sync::Arc;

use a2a_transport::spans::{AGENT_TURN, OTEL_KIND, OTEL_STATUS, OUTCOME, TASK};
use a2a_transport::{metric, spans};
use futures_util::FutureExt;
use tokio::runtime::Handle;
use tracing::Span;
use tracing::field::Empty;

use crate::engine::limiter::TurnPermit;
use crate::engine::pending_message::PendingMessage;
use crate::engine::task_writer::{FirstStep, TaskWriter};
use crate::engine::turn_scheduler::{TurnEnd, TurnScheduler};

/// The right to be the one that works on a task. Dropping it, also in a panic, ends its writer, and the next
/// message finds the task free.
pub(crate) struct TaskGuard {
    scheduler: Arc<TurnScheduler>,
    writer: Arc<TaskWriter>,
    /// `true` if the run counts among those in progress.
    counts: bool,
    /// `true` once the run has left its place, so that another one may have it.
    has_left: bool,
}

impl TaskGuard {
    /// Claims the task of `writer`; if another writer has it, yields that instead.
    pub(crate) fn of(
        scheduler: &Arc<TurnScheduler>,
        writer: &Arc<TaskWriter>,
    ) -> Result<Self, Arc<TaskWriter>> {
        scheduler.active.claim(writer)?;
        Ok(Self {
            scheduler: Arc::clone(scheduler),
            writer: Arc::clone(writer),
            counts: false,
            has_left: false,
        })
    }

    /// Runs a turn, and further turns for messages that came meanwhile; the permit, if one was needed, is
    /// given back after the last one.
    pub(crate) fn start(
        mut self,
        first: Arc<PendingMessage>,
        first_step: FirstStep,
        permit: Option<TurnPermit>,
    ) {
        self.writer.begin(first_step);
        self.scheduler.active.count_in();
        self.counts = true;
        let running = metric::RUNNING_TURNS.raise([]);
        // In a box of its own: a task moves what it runs several times.
        let mut run = Box::pin(async move {
            self.take_turns(first).await;
            self.has_left = true;
            drop(self);
            drop((permit, running));
        });
        let is_over = first_step != FirstStep::Apart && (&mut run).now_or_never().is_some();
        if !is_over {
            tokio::spawn(run);
        }
    }

    async fn take_turns(&self, first: Arc<PendingMessage>) {
        let mut next = Some(first);
        while let Some(mut pending) = next {
            // Open until the outcome of the message is written, however long the agent keeps the turn.
            let in_flight = Arc::make_mut(&mut pending).in_flight.take();
            let span = open_span(&self.writer, &mut pending);
            self.writer.belong_to(pending.context.trace.clone()).await;
            self.writer.confirm_lease().await;
            let end = match self.writer.is_lost() {
                true => TurnEnd::Lost,
                false => self.scheduler.run(&self.writer, pending, &span).await,
            };
            span.record(OUTCOME, end.as_str());
            if let TurnEnd::Failed(_) = end {
                span.record(OTEL_STATUS, "ERROR");
            }
            drop(span);
            // While the agent works, which may be long, there need be no room for what comes then.
            next = Box::pin(self.scheduler.conclude(&self.writer, end)).await;
            drop(in_flight);
        }
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        if !self.has_left {
            self.scheduler.active.forget(&self.writer);
        }
        self.writer.end();
        if self.counts {
            self.scheduler.active.count_out();
        }
        if std::thread::panicking()
            && let Ok(runtime) = Handle::try_current()
        {
            // It is left in the middle: without a lease it is found as any abandoned task is.
            let writer = Arc::clone(&self.writer);
            runtime.spawn(async move { drop(writer.hand_back().await) });
        }
    }
}

/// Opens the span of a turn: what comes of the turn belongs to the trace of the message.
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
    *trace = spans::join_apart(&span, trace.take());
    span
}
