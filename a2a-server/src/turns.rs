//! The turns in progress: the agent's code in them, and how each ends.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{self, Poll};
use std::time::Duration;

use a2a_transport::{BoxFuture, Context};
use a2a_types::{Message, SendMessageRequest, TaskId, TaskState};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tracing::Span;

use crate::agent::{ErasedAgent, Failure};
use crate::claim::Claim;
use crate::gate::HeldBytes;
use crate::letters::Letter;
use crate::runner::Runner;
use crate::runs::{Runs, Waiting};
use crate::store::{Owner, StoreError};
use crate::turn::{Resumed, Turn, UpdateError};

/// Runs the agent's turns, apart from any caller: nobody's disconnecting stops one.
pub(crate) struct Turns {
    agent: Arc<dyn ErasedAgent>,
    cancel_grace: Duration,
    running: Mutex<Runs>,
    /// How many runs are in progress; tells when there is none.
    count: watch::Sender<usize>,
}

/// A request whose message is in the task's history.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) request: SendMessageRequest,
    pub(crate) context: Context,
    /// If the message was being answered before, by a process that is gone.
    pub(crate) resumed: Option<Box<Resumed>>,
    /// The message as its sender may send it again: open until it is answered.
    pub(crate) letter: Option<Arc<Letter>>,
    /// Its share of what all messages may hold that are being answered.
    pub(crate) held: Option<Arc<HeldBytes>>,
}

impl Heard {
    pub(crate) fn new(request: SendMessageRequest, context: Context) -> Self {
        Self {
            request,
            context,
            resumed: None,
            letter: None,
            held: None,
        }
    }
}

/// Who takes the first step of a run, up to where the agent waits for something. All others are taken
/// by a task of its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FirstStep {
    /// Whoever starts it, who would do nothing but wait: agents that have their answer at once need
    /// no task.
    Here,
    /// Whoever starts it, for a few events: an agent that has its answer at once has it told at once, and
    /// of one that goes on they are told before it does.
    UntilTold,
    /// That task.
    Apart,
}

impl FirstStep {
    /// Whether the caller follows the task from the message on.
    pub(crate) fn is_followed(self) -> bool {
        self == Self::UntilTold
    }

    /// Who takes it if there is a task already.
    pub(crate) fn of_known(self) -> Self {
        match self {
            Self::Here => Self::Here,
            Self::UntilTold | Self::Apart => Self::Apart,
        }
    }
}

/// A place in the queue of a busy task; given up unless it is confirmed.
pub(crate) struct Ticket(oneshot::Sender<()>);

impl Ticket {
    /// The message is in the history now.
    pub(crate) fn confirm(self) {
        // A run that is over has no use for it.
        let _ = self.0.send(());
    }
}

/// Why a message cannot wait for its turn.
pub(crate) enum NoPlace {
    /// The run ended in between.
    RunIsOver,
    /// Too many wait already.
    Crowded,
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
            running: Mutex::default(),
            count: watch::Sender::new(0),
        }
    }

    /// Resolves when no run is in progress.
    pub(crate) async fn idle(&self) {
        // The sender is ours.
        drop(self.count.subscribe().wait_for(|count| *count == 0).await);
    }

    /// Stops every run where it stands, and those to come; their tasks are left to whoever comes next.
    pub(crate) fn stop(&self) {
        self.lock().stop();
    }

    /// The runner of the task, if a run is in progress.
    pub(crate) fn running(&self, owner: &Owner, task: &TaskId) -> Option<Arc<Runner>> {
        self.lock().find(owner, task).cloned()
    }

    /// Makes `runner` the one of its task; if there is one already, yields that instead.
    pub(crate) fn claim(self: &Arc<Self>, runner: &Arc<Runner>) -> Result<Claim, Arc<Runner>> {
        self.lock().claim(runner)?;
        Ok(Claim::new(Arc::clone(self), Arc::clone(runner)))
    }

    /// Takes a place for a message in the queue of a busy task: the run does not end before the
    /// ticket is confirmed or dropped.
    pub(crate) fn queue(&self, runner: &Runner, heard: Arc<Heard>) -> Result<Ticket, NoPlace> {
        let mut running = self.lock();
        let busy = running.of(runner).ok_or(NoPlace::RunIsOver)?;
        if busy.waiting.len() >= MOST_WAITING {
            return Err(NoPlace::Crowded);
        }
        let (confirmed, ticket) = oneshot::channel();
        busy.waiting.push_back(Waiting { heard, ticket });
        Ok(Ticket(confirmed))
    }

    /// One more run is in progress.
    pub(crate) fn count_in(&self) {
        self.count.send_if_modified(|count| {
            *count += 1;
            false
        });
    }

    /// One less is.
    pub(crate) fn count_out(&self) {
        self.count.send_if_modified(|count| {
            *count -= 1;
            *count == 0 && self.count.receiver_count() > 0
        });
    }

    /// The agent's code, until it returns, panics, or does not stop when it should.
    pub(crate) async fn run(&self, runner: &Runner, turn: Turn, span: &Span) -> Left {
        let mut run = Run {
            run: Some(self.agent.run(turn)),
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
                    self.forget(runner);
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
            if self.leave(runner) {
                return None;
            }
            next = self.next_turn(runner).await;
        }
    }

    /// The message that the next turn is for, once the task is ready for that turn; how the run is left
    /// instead, if it cannot be made so.
    async fn next_turn(&self, runner: &Runner) -> Result<Option<Arc<Heard>>, Left> {
        let Some(heard) = self.next(runner).await else {
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
            match state.is_settled() || self.is_awaited(runner) {
                true => Ok(()),
                false => close(runner, TaskState::Completed, None).await,
            }
        };
        persist(runner, step).await
    }

    /// Whether a message waits for the next turn.
    fn is_awaited(&self, runner: &Runner) -> bool {
        let mut running = self.lock();
        running.of(runner).is_some_and(|it| !it.waiting.is_empty())
    }

    /// Ends a run, whoever waits for its next turn: they are in the history.
    pub(crate) fn forget(&self, runner: &Runner) {
        self.lock().end(runner, |_| true);
    }

    /// The first message that waits and is in the history.
    async fn next(&self, runner: &Runner) -> Option<Arc<Heard>> {
        loop {
            let first = self.lock().of(runner)?.waiting.pop_front()?;
            if first.ticket.await.is_ok() {
                return Some(first.heard);
            }
        }
    }

    /// Ends the run, unless a message came in between.
    fn leave(&self, runner: &Runner) -> bool {
        self.lock().end(runner, |run| run.waiting.is_empty())
    }

    /// Nothing that is done under the lock can panic half-way.
    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
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

/// How many messages may wait for a task's next turn.
const MOST_WAITING: usize = 64;

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
