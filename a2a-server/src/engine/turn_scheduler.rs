//! Turns: the agent at work, and the end of each turn.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

use a2a_transport::BoxFuture;
use a2a_types::{Message, TaskState};
use tokio::time::{Instant, timeout};
use tracing::Span;

use crate::engine::active_tasks::ActiveTasks;
use crate::engine::erased_agent::{ErasedAgent, Failure};
use crate::engine::pending_message::PendingMessage;
use crate::engine::task_writer::TaskWriter;
use crate::engine::update::UpdateError;
use crate::store::StoreError;

/// Runs the agent's turns, apart from any caller: a caller that disconnects stops none.
pub(crate) struct TurnScheduler {
    agent: Arc<dyn ErasedAgent>,
    pub(crate) cancel_grace: Duration,
    pub(crate) active: ActiveTasks,
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

impl TurnScheduler {
    pub(crate) fn new(agent: Arc<dyn ErasedAgent>, cancel_grace: Duration) -> Self {
        Self {
            agent,
            cancel_grace,
            active: ActiveTasks::default(),
        }
    }

    /// Runs the agent's code until it returns, panics, or does not stop when it should.
    pub(crate) async fn run(
        &self,
        writer: &Arc<TaskWriter>,
        pending: Arc<PendingMessage>,
        span: &Span,
    ) -> TurnEnd {
        let mut run = Run {
            run: Some(self.agent.run(Arc::clone(writer), pending)),
            span,
        };
        let is_over = async {
            writer.stopped().await;
            // Few turns need room for that.
            drop(Box::pin(timeout(self.cancel_grace, writer.lost())).await);
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

    /// Ends a turn, and yields the message that the next one is for, if there is one.
    pub(crate) async fn conclude(
        &self,
        writer: &Arc<TaskWriter>,
        mut end: TurnEnd,
    ) -> Option<Arc<PendingMessage>> {
        loop {
            let closed = match end {
                _ if writer.is_answered() => Ok(Ending::Closed),
                TurnEnd::Lost => {
                    // If another writer has taken the lease, there is nothing to give back.
                    let handed_back = writer.hand_back().await;
                    self.active.forget(writer);
                    if let Err(UpdateError::Store(StoreError::Unavailable(_))) = handed_back {
                        tokio::spawn(hand_back(Arc::clone(writer)));
                    }
                    return None;
                }
                TurnEnd::Done => self.complete(writer).await,
                TurnEnd::Canceled => settle(writer, TaskState::Canceled, None).await,
                TurnEnd::Failed(ref report) => {
                    settle(writer, TaskState::Failed, Some(report.to_string())).await
                }
            };
            if writer.is_lost() {
                end = TurnEnd::Lost;
                continue;
            }
            if let Err(error) = &closed {
                tracing::error!(task = %writer.task_id(), error = error as &dyn std::error::Error, "could not store the end of a turn");
            }
            let is_awaited = matches!(closed, Ok(Ending::Awaited));
            if !is_awaited && self.active.leave(writer) {
                return None;
            }
            match self.next_turn(writer).await {
                Ok(Some(pending)) => return Some(pending),
                Ok(None) => {}
                Err(instead) => end = instead,
            }
        }
    }

    /// Returns the message that the next turn is for, once the task is ready for that turn, or `None`.
    /// Errors: the end of the run instead, if the task cannot be made ready.
    pub(crate) async fn next_turn(
        &self,
        writer: &TaskWriter,
    ) -> Result<Option<Arc<PendingMessage>>, TurnEnd> {
        let begun = async {
            let Some(pending) = self.next_message(writer).await? else {
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
    async fn next_message(
        &self,
        writer: &TaskWriter,
    ) -> Result<Option<Arc<PendingMessage>>, UpdateError> {
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

    /// Completes a task, unless it waits for the caller or a message waits for it: every message was
    /// queued before.
    async fn complete(&self, writer: &TaskWriter) -> Result<Ending, UpdateError> {
        let step = || async {
            let (state, next_message) = writer.state_and_next_message().await?;
            if next_message.is_some() || self.active.is_awaited(writer) {
                return Ok(Ending::Awaited);
            }
            if !state.is_settled() {
                close(writer, TaskState::Completed, None).await?;
            }
            Ok(Ending::Closed)
        };
        persist(writer, step).await
    }
}

/// State of a task after a turn.
enum Ending {
    /// The task has its last status, or waits for its caller.
    Closed,
    /// A message waits for its turn.
    Awaited,
}

/// The agent's code in a turn. If it panics, while it runs or when it is dropped, the turn does not.
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

/// Gives a lease back once the store is available: this server would renew it for as long as it lives.
async fn hand_back(writer: Arc<TaskWriter>) {
    let away =
        |error: &UpdateError| matches!(error, UpdateError::Store(StoreError::Unavailable(_)));
    while writer.hand_back().await.is_err_and(|error| away(&error)) {
        tokio::time::sleep(MAX_PAUSE_AWAY).await;
    }
}

/// Makes a task ready for the next turn, if it can have one: a task that ended meanwhile is submitted again
/// where the caller's protocol version does that.
async fn begin_next(writer: &TaskWriter, pending: &PendingMessage) -> Result<bool, UpdateError> {
    writer.belong_to(pending.context.trace.clone()).await;
    if writer.is_answered() {
        return Ok(false);
    }
    let reopens = pending.reopens_ended_task();
    persist(writer, || wake(writer, pending.number, reopens)).await
}

async fn wake(writer: &TaskWriter, number: usize, reopens: bool) -> Result<bool, UpdateError> {
    let state = writer.task().await?.status.state;
    if state.is_terminal() && !reopens {
        return Ok(false);
    }
    writer.begin_turn(number, woken(state)).await?;
    Ok(true)
}

/// Returns the state that a message gives an idle task: an ended one is submitted again, one that waited
/// for the caller is worked on.
pub(crate) fn woken(state: TaskState) -> Option<TaskState> {
    match state {
        state if state.is_terminal() => Some(TaskState::Submitted),
        state if state.is_interrupted() => Some(TaskState::Working),
        _ => None,
    }
}

/// Closes a task.
async fn settle(
    writer: &TaskWriter,
    state: TaskState,
    text: Option<String>,
) -> Result<Ending, UpdateError> {
    let text = text.as_deref();
    persist(writer, || close(writer, state, text)).await?;
    Ok(Ending::Closed)
}

/// Does what comes after a turn, again until the store takes it: nothing else would. Waiting callers and
/// followers get the failure at once.
async fn persist<T, F>(writer: &TaskWriter, step: impl Fn() -> F) -> Result<T, UpdateError>
where
    F: Future<Output = Result<T, UpdateError>>,
{
    let (begun, mut pause, mut failure) = (Instant::now(), FIRST_PAUSE, None);
    loop {
        let error = match step().await {
            Err(UpdateError::Store(
                error @ (StoreError::Full
                | StoreError::Busy
                | StoreError::Unavailable(_)
                | StoreError::Failed(_)),
            )) => error,
            done => {
                writer.report_unstuck();
                return done;
            }
        };
        // Callers that wait for a task that was never stored get the error.
        if !writer.is_stored().await {
            return Err(error.into());
        }
        let failure = *failure.get_or_insert_with(uuid::Uuid::new_v4);
        let is_away = matches!(error, StoreError::Unavailable(_));
        if is_away && (writer.is_lost() || writer.is_outage_over(begun, &error)) {
            return Err(error.into());
        }
        tracing::error!(correlation_id = %failure, task = %writer.task_id(), error = &error as &dyn std::error::Error, "could not store the end of a turn yet: retrying");
        // The outage is transient: followers keep their streams.
        let longest = match is_away {
            true => MAX_PAUSE_AWAY,
            false => {
                writer.report_stuck(failure);
                MAX_PAUSE
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(longest),
            () = writer.lost() => return Err(error.into()),
        }
    }
}

/// Delay before that is tried again, the first and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// Maximum delay while the store is unavailable.
const MAX_PAUSE_AWAY: Duration = Duration::from_secs(1);

/// Gives a task its last status, with this text, unless it has one, or the turn ended by waiting for the
/// caller.
pub(crate) async fn close(
    writer: &TaskWriter,
    state: TaskState,
    text: Option<&str>,
) -> Result<(), UpdateError> {
    let settled = |now: TaskState| {
        now.is_terminal() || (now.is_interrupted() && state == TaskState::Completed)
    };
    if settled(writer.state().await?) {
        return Ok(());
    }
    match writer.status(state, text.map(Message::agent), None).await {
        // Another writer was faster.
        Err(_) if settled(writer.task().await?.status.state) => Ok(()),
        Err(UpdateError::Store(StoreError::TooLong(_))) => {
            // The last message does not fit.
            let state = match state {
                TaskState::Completed => TaskState::Failed,
                other => other,
            };
            writer.status(state, None, None).await
        }
        closed => closed,
    }
}

/// Logs why a turn failed, under the id that the caller gets.
fn logged(writer: &TaskWriter, reason: &(dyn std::error::Error + 'static)) -> FailureReport {
    let id = uuid::Uuid::new_v4();
    let is_of_store = matches!(reason.downcast_ref(), Some(UpdateError::Store(_)));
    tracing::error!(correlation_id = %id, task = %writer.task_id(), error = reason, "the agent failed");
    FailureReport {
        correlation_id: id,
        is_of_store,
    }
}
