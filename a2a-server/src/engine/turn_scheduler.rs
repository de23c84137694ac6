//! The turns in progress: the agent's code in them, and how each ends.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

use a2a_transport::BoxFuture;
use a2a_types::{Message, TaskState};
use tokio::time::timeout;
use tracing::Span;

use crate::engine::active_tasks::ActiveTasks;
use crate::engine::erased_agent::{ErasedAgent, Failure};
use crate::engine::pending_message::Heard;
use crate::engine::task_writer::Runner;
use crate::engine::update::UpdateError;
use crate::store::StoreError;

/// Runs the agent's turns, apart from any caller: nobody's disconnecting stops one.
pub(crate) struct Turns {
    agent: Arc<dyn ErasedAgent>,
    cancel_grace: Duration,
    pub(crate) active: ActiveTasks,
}

/// How the agent's code left a turn.
pub(crate) enum Left {
    Done,
    Failed(uuid::Uuid),
    Canceled,
    /// The task is somebody else's now.
    Lost,
}

impl Left {
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed(_) => "failed",
            Self::Canceled => "canceled",
            Self::Lost => "lost",
        }
    }
}

impl Turns {
    pub(crate) fn new(agent: Arc<dyn ErasedAgent>, cancel_grace: Duration) -> Self {
        Self {
            agent,
            cancel_grace,
            active: ActiveTasks::default(),
        }
    }

    /// The agent's code, until it returns, panics, or does not stop when it should.
    pub(crate) async fn run(&self, runner: &Arc<Runner>, heard: Arc<Heard>, span: &Span) -> Left {
        let mut run = Run {
            run: Some(self.agent.run(Arc::clone(runner), heard)),
            span,
        };
        let is_over = async {
            runner.stopped().await;
            // Few turns need room for that.
            drop(Box::pin(timeout(self.cancel_grace, runner.lost())).await);
        };
        let ended = tokio::select! {
            biased;
            ended = &mut run => ended,
            () = is_over => match runner.is_lost() {
                true => return Left::Lost,
                false => return Left::Canceled,
            },
        };
        match ended {
            _ if runner.is_lost() => Left::Lost,
            _ if runner.is_canceled() => Left::Canceled,
            Ok(Ok(())) => Left::Done,
            Ok(Err(failure)) => Left::Failed(logged(runner, failure.reason())),
            Err(panic) => Left::Failed(logged(runner, &Panic::of(&*panic))),
        }
    }

    /// Ends a turn, and yields the message that the next one is for, if there is one.
    pub(crate) async fn conclude(&self, runner: &Runner, mut left: Left) -> Option<Arc<Heard>> {
        let mut next = match left {
            Left::Done => self.next_turn(runner).await,
            _ => Ok(None),
        };
        loop {
            match next {
                Ok(Some(heard)) => return Some(heard),
                Ok(None) => {}
                Err(instead) => left = instead,
            }
            let closed = match left {
                _ if runner.is_answered() => Ok(()),
                Left::Lost => {
                    // Unless somebody has taken the lease: then there is nothing to give back.
                    drop(runner.hand_back().await);
                    self.active.forget(runner);
                    return None;
                }
                Left::Done => self.complete(runner).await,
                Left::Canceled => settle(runner, TaskState::Canceled, None).await,
                Left::Failed(id) => {
                    let text = format!("The agent failed. Correlation id: {id}");
                    settle(runner, TaskState::Failed, Some(text)).await
                }
            };
            if let Err(error) = closed {
                tracing::error!(task = %runner.task_id(), error = &error as &dyn std::error::Error, "could not end a turn");
            }
            if self.active.leave(runner) {
                return None;
            }
            next = self.next_turn(runner).await;
        }
    }

    /// The message that the next turn is for, once the task is ready for that turn; how the run is left
    /// instead, if it cannot be made so.
    async fn next_turn(&self, runner: &Runner) -> Result<Option<Arc<Heard>>, Left> {
        let Some(heard) = self.active.next(runner).await else {
            return Ok(None);
        };
        match begin_next(runner, &heard).await {
            Ok(begins) => Ok(begins.then_some(heard)),
            Err(_) if runner.is_lost() => Err(Left::Lost),
            Err(error) => Err(Left::Failed(logged(runner, &error))),
        }
    }

    /// Completes a task, unless it waits for the caller or a message waits for it: what has been heard was
    /// queued before.
    async fn complete(&self, runner: &Runner) -> Result<(), UpdateError> {
        let step = || async {
            let state = runner.state().await?;
            match state.is_settled() || self.active.is_awaited(runner) {
                true => Ok(()),
                false => close(runner, TaskState::Completed, None).await,
            }
        };
        persist(runner, step).await
    }
}

/// The agent's code in a turn. If it panics, while it runs or when it is dropped, the turn does not.
struct Run<'a> {
    run: Option<BoxFuture<'a, std::thread::Result<Result<(), Failure>>>>,
    /// What it does happens in this span.
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
        // What it has to say was said to the hook of panics.
        drop(catch_unwind(AssertUnwindSafe(|| drop(run))));
    }
}

/// What the agent said when it panicked.
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

/// Makes a task ready for the next turn, if it can have one: a task that ended meanwhile is
/// submitted again where the caller's generation does that.
async fn begin_next(runner: &Runner, heard: &Heard) -> Result<bool, UpdateError> {
    runner.belong_to(heard.context.trace.clone()).await;
    if runner.is_answered() {
        return Ok(false);
    }
    let reopens = heard.context.dialect.rules().reopens_ended_tasks;
    persist(runner, || wake(runner, reopens)).await
}

async fn wake(runner: &Runner, reopens: bool) -> Result<bool, UpdateError> {
    let state = runner.task().await?.status.state;
    if state.is_terminal() && !reopens {
        return Ok(false);
    }
    if let Some(state) = woken(state) {
        runner.status(state, None, None).await?;
    }
    Ok(true)
}

/// What a message makes of an idle task: an ended one is submitted again, one that waited for the
/// caller is worked on.
pub(crate) fn woken(state: TaskState) -> Option<TaskState> {
    match state {
        state if state.is_terminal() => Some(TaskState::Submitted),
        state if state.is_interrupted() => Some(TaskState::Working),
        _ => None,
    }
}

/// Closes a task.
async fn settle(
    runner: &Runner,
    state: TaskState,
    text: Option<String>,
) -> Result<(), UpdateError> {
    let text = text.as_deref();
    persist(runner, || close(runner, state, text)).await
}

/// Does what comes after a turn, however long the store is in trouble: nobody else would. Those who wait for
/// it are told at once.
async fn persist<T, F>(runner: &Runner, step: impl Fn() -> F) -> Result<T, UpdateError>
where
    F: Future<Output = Result<T, UpdateError>>,
{
    let (mut pause, mut failure) = (FIRST_PAUSE, None);
    loop {
        let error = match step().await {
            Err(UpdateError::Store(error @ (StoreError::Full | StoreError::Failed(_)))) => error,
            done => {
                runner.tell_unstuck();
                return done;
            }
        };
        // Whoever waits for a task that was never stored is told so.
        if !runner.is_stored().await {
            return Err(error.into());
        }
        let failure = *failure.get_or_insert_with(uuid::Uuid::new_v4);
        tracing::error!(correlation_id = %failure, task = %runner.task_id(), error = &error as &dyn std::error::Error, "could not end a turn yet");
        runner.tell_stuck(failure);
        tokio::select! {
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
            () = runner.lost() => return Err(error.into()),
        }
    }
}

/// How long to wait before that is tried again, the first time and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Gives a task its last status, and says this, unless it has one, or the turn ended by waiting for the
/// caller.
pub(crate) async fn close(
    runner: &Runner,
    state: TaskState,
    text: Option<&str>,
) -> Result<(), UpdateError> {
    let settled = |now: TaskState| {
        now.is_terminal() || (now.is_interrupted() && state == TaskState::Completed)
    };
    if settled(runner.state().await?) {
        return Ok(());
    }
    match runner.status(state, text.map(Message::agent), None).await {
        // Somebody else was faster.
        Err(_) if settled(runner.task().await?.status.state) => Ok(()),
        Err(UpdateError::Store(StoreError::TooLong(_))) => {
            // What was to be said last does not fit.
            let state = match state {
                TaskState::Completed => TaskState::Failed,
                other => other,
            };
            runner.status(state, None, None).await
        }
        closed => closed,
    }
}

/// Logs why a turn failed, under the id that the caller gets.
fn logged(runner: &Runner, reason: &(dyn std::error::Error + 'static)) -> uuid::Uuid {
    let id = uuid::Uuid::new_v4();
    tracing::error!(correlation_id = %id, task = %runner.task_id(), error = reason, "the agent failed");
    id
}
