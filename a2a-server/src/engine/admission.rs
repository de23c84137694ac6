//! How a message comes to the agent: for a new task, an idle one, or one that is being worked on.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use a2a_transport::Context;
use a2a_types::{
    Dialect, Error as A2aError, ErrorKind, Message, SendMessageRequest, TaskId,
    TaskPushNotificationConfig, TaskState,
};
use futures_util::FutureExt;

use crate::engine::Engine;
use crate::engine::active_tasks::NoPlace;
use crate::engine::idempotency::Letter;
use crate::engine::limiter::Pass;
use crate::engine::new_task::{new_task, with_id};
use crate::engine::outcome::{Begun, LogPosition, Outcome};
use crate::engine::pending_message::Heard;
use crate::engine::task_guard::Claim;
use crate::engine::task_writer::{FirstStep, Runner};
use crate::engine::turn_scheduler::woken;
use crate::engine::update::UpdateError;
use crate::store::{self, Orphan, Owner, Receipt, Snapshot, StoreError, limits};

/// A message that the agent has been given, for the caller who sent it.
pub(crate) struct Accepted {
    pub(crate) begun: Begun,
    /// The task as the message found it, for a caller who follows it: whoever sends the message again
    /// reads the task itself.
    pub(crate) snapshot: Option<Snapshot>,
}

impl Accepted {
    fn without_snapshot(begun: Begun) -> Self {
        Self {
            begun,
            snapshot: None,
        }
    }
}

/// What became of a message for a task that exists.
enum Placed {
    Accepted(Accepted),
    /// Another message was faster: the task has to be read again.
    TooLate(Arc<Heard>),
}

impl Engine {
    /// Gives a message to the agent, unless it has it already. The caller may leave meanwhile: what has
    /// begun is brought to its end.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        mut heard: Box<Heard>,
        first_step: FirstStep,
    ) -> Result<Accepted, A2aError> {
        self.check_open()?;
        let letter = self.letters.open(&heard.request, &heard.context)?;
        heard.letter.clone_from(&letter);
        let size = limits::request(&heard.request);
        heard.held = Some(Arc::new(self.gate.hold(size)?));
        let engine = Arc::clone(self);
        let begun = to_its_end(async move {
            let Some(letter) = letter else {
                return engine.take_in(heard, first_step).await;
            };
            let mut snapshot = None;
            let take_in = async || {
                let accepted = engine.take_in(heard, first_step).await?;
                snapshot = accepted.snapshot;
                Ok::<_, A2aError>(accepted.begun)
            };
            let begun = letter.begun.get_or_try_init(take_in).await?.clone();
            Ok(Accepted { begun, snapshot })
        });
        begun
            .await
            .unwrap_or_else(|| Err(ErrorKind::Internal.into()))
    }

    /// No more messages are taken once the server closes.
    fn check_open(&self) -> Result<(), A2aError> {
        match self.closing.is_cancelled() {
            true => {
                let text = "this agent is shutting down; try again later";
                Err(A2aError::new(ErrorKind::Unavailable, text))
            }
            false => Ok(()),
        }
    }

    /// Waits until a turn may begin.
    async fn enter(&self, owner: &Owner) -> Result<Pass, A2aError> {
        let pass = self.gate.enter(owner).await?;
        // That may have taken until nobody would stop the turn any more.
        self.check_open()?;
        Ok(pass)
    }

    /// Gives a message to the agent: for a new task, an idle one, or one that is being worked on.
    async fn take_in(
        self: &Arc<Self>,
        mut heard: Box<Heard>,
        first_step: FirstStep,
    ) -> Result<Accepted, A2aError> {
        if let Some(letter) = &heard.letter
            && let Some(known) = self.known(letter, &heard).await?
        {
            return Ok(Accepted::without_snapshot(known));
        }
        let context = &heard.context;
        let task = heard.request.message.task_id.as_ref();
        if let Some(id) = task
            && self.find(id, context).await?.is_some()
        {
            return Box::pin(self.go_on(heard, first_step)).await;
        }
        if task.is_some() && !context.dialect.rules().caller_names_tasks {
            return Err(ErrorKind::TaskNotFound.into());
        }
        let owner = Owner::of(context);
        let pass = self.enter(&owner).await?;
        let config = heard.request.configuration.as_ref();
        let config = config.and_then(|given| given.task_push_notification_config.clone());
        let named = heard.request.message.context_id.clone();
        let (new, message) = new_task(
            std::mem::take(&mut heard.request.message),
            &heard.context,
            config.map(|config| with_id(*config, context)),
            heard.letter.as_ref().map(|letter| letter.receipt()),
            &self.ledger,
        );
        let snapshot = first_step.is_followed().then(|| new.snapshot());
        let runner = Arc::new(Runner::for_new(Arc::clone(&self.ledger), owner, new));
        let claim = match Claim::of(&self.turns, &runner) {
            Ok(claim) => claim,
            Err(busy) => {
                // Two first messages to a task that its caller names: the second finds it begun.
                busy.open().await?;
                drop(pass);
                heard.request.message = Message {
                    context_id: named,
                    ..message
                };
                return Box::pin(self.go_on(heard, first_step)).await;
            }
        };
        let needs_task = !heard.context.dialect.rules().answers_directly;
        if needs_task {
            runner.open().await?;
        }
        heard.request.message = message;
        let first_step = match needs_task {
            true => first_step.of_known(),
            false => first_step,
        };
        claim.start(heard.into(), first_step, Some(pass));
        let begun = Begun::Run {
            runner,
            from: None,
            detached: 0,
        };
        Ok(Accepted { begun, snapshot })
    }

    /// What became of a message that was taken in before.
    async fn known(&self, letter: &Letter, heard: &Heard) -> Result<Option<Begun>, A2aError> {
        let context = &heard.context;
        let owner = Owner::of(context);
        let received = self.ledger.store.received(&owner, letter.message()).await?;
        let Some(received) = received else {
            return Ok(None);
        };
        letter.check_receipt(received.digest, &heard.request)?;
        Ok(Some(match received.outcome {
            store::Outcome::Message(message) => Begun::Known(Arc::new(Outcome::Message(*message))),
            store::Outcome::Task(task) => {
                let from = self.find(&task, context).await?;
                let from = LogPosition::from(&from.ok_or_else(|| removed(&task))?);
                match self.turns.active.running(&owner, &task) {
                    Some(runner) if !from.is_settled => Begun::Run {
                        // It came before now, and is let go with those whom the agent has let go.
                        detached: 0,
                        from: Some(from),
                        runner,
                    },
                    _ => Begun::Known(Arc::new(Outcome::Task(from))),
                }
            }
        }))
    }

    /// Gives a message to the agent for a task that exists.
    async fn go_on(
        self: &Arc<Self>,
        mut heard: Box<Heard>,
        first_step: FirstStep,
    ) -> Result<Accepted, A2aError> {
        let owner = Owner::of(&heard.context);
        let id = heard.request.message.task_id.clone().unwrap_or_default();
        let receipt = heard.letter.as_ref().map(|letter| letter.receipt());
        let config = heard.request.configuration.as_mut();
        let mut config = config.and_then(|given| given.task_push_notification_config.take());
        let mut heard: Arc<Heard> = heard.into();
        let mut looked_after = false;
        loop {
            let context = &heard.context;
            let snapshot = self.snapshot(&id, context).await?;
            let is_idle = snapshot.task.status.state.is_settled();
            if !is_idle && !looked_after && self.turns.active.running(&owner, &id).is_none() {
                // Its process may have ended in the middle of a turn: what becomes of that comes first.
                looked_after = true;
                let (owner, task) = (owner.clone(), id.clone());
                self.upkeep.recover(Orphan { owner, task }).await;
                continue;
            }
            check_message(&heard.request.message, &snapshot, context)?;
            if let Some(config) = config.take() {
                let task_id = id.clone();
                let config = with_id(TaskPushNotificationConfig { task_id, ..*config }, context);
                self.ledger
                    .store
                    .put_config(&owner, config, context.dialect)
                    .await?;
            }
            let receipt = receipt.clone();
            let placed = match self.turns.active.running(&owner, &id) {
                Some(busy) => {
                    let (state, dialect) = (snapshot.task.status.state, snapshot.dialect);
                    // It may have to wait: a copy of the task for each message that does would be too much.
                    drop(snapshot);
                    let message = (heard, receipt, first_step);
                    self.join(busy, (state, dialect), message).await
                }
                None => self.wake(snapshot, (heard, receipt, first_step)).await,
            };
            match placed? {
                Placed::Accepted(accepted) => return Ok(accepted),
                Placed::TooLate(again) => heard = again,
            }
        }
    }

    /// Begins a run for a message to a task that nobody works on, unless somebody does by now.
    async fn wake(
        &self,
        known: Snapshot,
        (mut heard, receipt, first_step): (Arc<Heard>, Option<Receipt>, FirstStep),
    ) -> Result<Placed, A2aError> {
        let owner = Owner::of(&heard.context);
        let runner = Runner::for_known(Arc::clone(&self.ledger), owner.clone(), &known);
        let (state, dialect) = (known.task.status.state, known.dialect);
        drop(known);
        let pass = self.enter(&owner).await?;
        let runner = Arc::new(runner);
        let Ok(claim) = Claim::of(&self.turns, &runner) else {
            return Ok(Placed::TooLate(heard));
        };
        runner.place(&mut Arc::make_mut(&mut heard).request.message);
        let message = &heard.request.message;
        let then = woken(state);
        runner.belong_to(heard.context.trace.clone()).await;
        let generation = match runner.hear(message.clone(), then, receipt).await {
            Ok(generation) => generation,
            Err(UpdateError::Store(StoreError::Behind(_))) => return Ok(Placed::TooLate(heard)),
            Err(error) => return Err(error.into()),
        };
        let from = position(&runner, dialect, generation);
        let snapshot = first_snapshot(&runner, first_step).await;
        claim.start(heard, first_step.of_known(), Some(pass));
        let begun = Begun::Run {
            runner,
            from: Some(from),
            detached: 0,
        };
        Ok(Placed::Accepted(Accepted { begun, snapshot }))
    }

    /// Gives a message to a run that goes on, unless that is over by now.
    async fn join(
        &self,
        busy: Arc<Runner>,
        (state, dialect): (TaskState, Dialect),
        (mut heard, receipt, first_step): (Arc<Heard>, Option<Receipt>, FirstStep),
    ) -> Result<Placed, A2aError> {
        busy.begun().await;
        if state.is_terminal() {
            // The agent still tidies up after its last word.
            busy.ended().await;
            return Ok(Placed::TooLate(heard));
        }
        let asked = state == TaskState::InputRequired;
        if asked {
            // The agent has asked, and is about to return: the answer begins a run of its own.
            let over = tokio::time::timeout(self.first_event, busy.ended());
            if over.await.is_ok() {
                return Ok(Placed::TooLate(heard));
            }
        }
        busy.place(&mut Arc::make_mut(&mut heard).request.message);
        let detached = busy.board().is(|stage| stage.detached);
        let ticket = match self.turns.active.queue(&busy, Arc::clone(&heard)) {
            Ok(ticket) => ticket,
            Err(NoPlace::RunIsOver) => return Ok(Placed::TooLate(heard)),
            Err(NoPlace::Crowded) => {
                let text = "too many messages wait for this task's next turn";
                return Err(A2aError::new(ErrorKind::Unavailable, text));
            }
        };
        // An answer is worked on from now on, be it that its turn comes later.
        let then = asked.then_some(TaskState::Working);
        let message = &heard.request.message;
        let generation = match busy.hear(message.clone(), then, receipt).await {
            Ok(generation) => generation,
            // It ended in between.
            Err(UpdateError::Illegal(_)) => {
                drop(ticket);
                busy.ended().await;
                return Ok(Placed::TooLate(heard));
            }
            Err(error) => return Err(error.into()),
        };
        let from = position(&busy, dialect, generation);
        let snapshot = first_snapshot(&busy, first_step).await;
        // The turn that the message waits for has it to itself.
        drop(heard);
        ticket.confirm();
        let begun = Begun::Run {
            runner: busy,
            from: Some(from),
            detached,
        };
        Ok(Placed::Accepted(Accepted { begun, snapshot }))
    }
}

/// A message was taken in before, and the store keeps its task no more. To begin another one unasked could do
/// twice what was to be done once.
fn removed(task: &TaskId) -> A2aError {
    let text = format!(
        "$.params.message.messageId: a message with this id was received before, and its task `{task}` has been \
         removed since: send the message with another id to have it worked on again"
    );
    A2aError::new(ErrorKind::InvalidParams, text)
}

/// Reads the task for a caller who follows it from its message on. If that fails the message stays written,
/// and the caller's stream reads the task again.
async fn first_snapshot(runner: &Runner, first_step: FirstStep) -> Option<Snapshot> {
    match first_step.is_followed() {
        true => runner.snapshot().await.ok(),
        false => None,
    }
}

/// The place that a message has in the log of a task that is being worked on.
fn position(runner: &Runner, dialect: Dialect, generation: u64) -> LogPosition {
    LogPosition {
        task: runner.task_id().clone(),
        generation,
        dialect,
        is_settled: false,
    }
}

/// What comes of work that is brought to its end even if nobody waits for that any more; none if it
/// panicked. Only work that has to wait for something becomes a task of its own.
fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = Option<T>> + Send {
    let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind());
    async move {
        match (&mut work).now_or_never() {
            Some(done) => done.ok(),
            None => tokio::spawn(work).await.ok()?.ok(),
        }
    }
}

/// Whether the caller's generation lets this message go to the task.
fn check_message(
    message: &Message,
    snapshot: &Snapshot,
    context: &Context,
) -> Result<(), A2aError> {
    let task = &snapshot.task;
    if message.context_id.is_some() && message.context_id != task.context_id {
        let text = "the message names another context than its task belongs to";
        return Err(A2aError::new(ErrorKind::InvalidParams, text));
    }
    let state = task.status.state;
    if state.is_terminal() && !context.dialect.rules().reopens_ended_tasks {
        let text = format!("a task that is {} takes no more messages", state.as_str());
        return Err(A2aError::new(ErrorKind::UnsupportedOperation, text));
    }
    Ok(())
}
