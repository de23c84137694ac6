//! The right to work on a task, and a run of turns by that right.

use std::sync::Arc;

use a2a_transport::spans::{AGENT_TURN, OTEL_KIND, OTEL_STATUS, OUTCOME, TASK};
use a2a_transport::{metric, spans};
use futures_util::FutureExt;
use tokio::runtime::Handle;
use tracing::Span;
use tracing::field::Empty;

use crate::engine::limiter::Pass;
use crate::engine::pending_message::Heard;
use crate::engine::task_writer::{FirstStep, Runner};
use crate::engine::turn_scheduler::{Left, Turns};

/// The right to be the one that works on a task. However it is let go, be it that a store panics, nobody
/// waits for its runner any more, and the next message finds the task free.
pub(crate) struct Claim {
    turns: Arc<Turns>,
    runner: Arc<Runner>,
    /// Whether the run counts among those in progress.
    counts: bool,
    /// Whether the run has left its place, so that another one may have it by now.
    has_left: bool,
}

impl Claim {
    /// Claims the task of `runner`; if another runner has it, yields that instead.
    pub(crate) fn of(turns: &Arc<Turns>, runner: &Arc<Runner>) -> Result<Self, Arc<Runner>> {
        turns.active.claim(runner)?;
        Ok(Self {
            turns: Arc::clone(turns),
            runner: Arc::clone(runner),
            counts: false,
            has_left: false,
        })
    }

    /// Runs a turn, and further turns for messages that came meanwhile; the pass, if one was needed, is
    /// given back after the last one.
    pub(crate) fn start(mut self, first: Arc<Heard>, first_step: FirstStep, pass: Option<Pass>) {
        self.runner.begin(first_step);
        self.turns.active.count_in();
        self.counts = true;
        let running = metric::RUNNING_TURNS.raise([]);
        // In a box of its own: a task moves what it runs several times.
        let mut run = Box::pin(async move {
            self.take_turns(first).await;
            self.has_left = true;
            drop(self);
            drop((pass, running));
        });
        let is_over = first_step != FirstStep::Apart && (&mut run).now_or_never().is_some();
        if !is_over {
            tokio::spawn(run);
        }
    }

    async fn take_turns(&self, first: Arc<Heard>) {
        let mut next = Some(first);
        while let Some(mut heard) = next {
            // Open until what came of the message is written down, however long the agent keeps the turn.
            let letter = Arc::make_mut(&mut heard).letter.take();
            // It needs more room than the agent's turn does, and not for long.
            let (heard, span) = Box::pin(begin(&self.runner, heard)).await;
            let left = self.turns.run(&self.runner, heard, &span).await;
            span.record(OUTCOME, left.as_str());
            if let Left::Failed(_) = left {
                span.record(OTEL_STATUS, "ERROR");
            }
            drop(span);
            // While the agent works, which may be long, there need be no room for what comes then.
            next = Box::pin(self.turns.conclude(&self.runner, left)).await;
            drop(letter);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.has_left {
            self.turns.active.forget(&self.runner);
        }
        self.runner.end();
        if self.counts {
            self.turns.active.count_out();
        }
        if std::thread::panicking()
            && let Ok(runtime) = Handle::try_current()
        {
            // It is left in the middle: without a lease it is found as any abandoned task is.
            let runner = Arc::clone(&self.runner);
            runtime.spawn(async move { drop(runner.hand_back().await) });
        }
    }
}

/// Opens the span of a turn: what comes of the turn belongs to the trace of the message.
async fn begin(runner: &Runner, mut heard: Arc<Heard>) -> (Arc<Heard>, Span) {
    let span = tracing::info_span!(
        parent: None,
        AGENT_TURN,
        { OTEL_KIND } = "internal",
        { TASK } = runner.task_id().as_str(),
        { OUTCOME } = Empty,
        { OTEL_STATUS } = Empty,
    );
    let trace = spans::join_apart(&span, heard.context.trace.clone());
    Arc::make_mut(&mut heard).context.trace.clone_from(&trace);
    runner.belong_to(trace).await;
    (heard, span)
}
