//! How a message comes to the agent: for a new task, an idle one, or one that is being worked on.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use a2a_transport::Context;
use a2a_types::{
    AgentCard, Error as A2aError, ErrorKind, Message, SendMessageConfiguration, SendMessageRequest,
    TaskId, TaskPushNotificationConfig, TaskState,
};
use futures_util::FutureExt;

use crate::gate::Pass;
use crate::letters::Letter;
use crate::new_task::new_task;
use crate::push::with_id;
use crate::runner::Runner;
use crate::server::Inner;
use crate::store::{self, Orphan, Owner, Receipt, Snapshot, StoreError};
use crate::turn::UpdateError;
use crate::turns::{FirstStep, Heard, NoPlace, woken};

/// What has been made of a message.
#[derive(Clone)]
pub(crate) enum Begun {
    /// The agent has been given it.
    Run {
        runner: Arc<Runner>,
        /// The task as the message found it; of a new task nothing is known before the agent acts.
        from: Option<Arc<Snapshot>>,
        /// How often the agent had let waiting callers go before the message came.
        detached: u64,
    },
    /// It was sent before: this is what has become of it.
    Known(Arc<Outcome>),
}

/// What came of a message, as far as it is known.
#[derive(Clone)]
pub(crate) enum Outcome {
    Task(Arc<Snapshot>),
    Message(Message),
}

impl Inner {
    /// Gives a message to the agent, unless it has it already. The caller may leave meanwhile: what has
    /// begun is brought to its end.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        mut heard: Box<Heard>,
        first_step: FirstStep,
    ) -> Result<Begun, A2aError> {
        self.check(&heard.request, &heard.context).await?;
        let letter = self.letters.open(&heard.request, &heard.context)?;
        heard.letter.clone_from(&letter);
        let inner = Arc::clone(self);
        let begun = to_its_end(async move {
            let take_in = || inner.take_in(heard, first_step);
            match letter {
                Some(letter) => letter.begun.get_or_try_init(take_in).await.cloned(),
                None => take_in().await,
            }
        });
        begun
            .await
            .unwrap_or_else(|| Err(ErrorKind::Internal.into()))
    }

    /// What can be said without looking at any task.
    async fn check(&self, request: &SendMessageRequest, context: &Context) -> Result<(), A2aError> {
        if let Some(configuration) = &request.configuration {
            check_output_modes(&self.card, configuration)?;
            if let Some(config) = &configuration.task_push_notification_config {
                self.require_push()?;
                Box::pin(self.check_webhook(config, context)).await?;
            }
        }
        self.check_open()
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
    ) -> Result<Begun, A2aError> {
        if let Some(letter) = &heard.letter
            && let Some(known) = self.known(letter, &heard).await?
        {
            return Ok(known);
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
        let runner = Arc::new(Runner::for_new(Arc::clone(&self.ledger), owner, new));
        let claim = match self.turns.claim(&runner) {
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
        Ok(Begun::Run {
            runner,
            from: None,
            detached: 0,
        })
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
                let from = from.ok_or_else(|| removed(&task))?;
                match self.turns.running(&owner, &task) {
                    Some(runner) if !from.task.status.state.is_settled() => Begun::Run {
                        // It came before now, and is let go with those whom the agent has let go.
                        detached: 0,
                        from: Some(Arc::new(from)),
                        runner,
                    },
                    _ => Begun::Known(Arc::new(Outcome::Task(Arc::new(from)))),
                }
            }
        }))
    }

    /// Gives a message to the agent for a task that exists.
    async fn go_on(
        self: &Arc<Self>,
        mut heard: Box<Heard>,
        first_step: FirstStep,
    ) -> Result<Begun, A2aError> {
        let owner = Owner::of(&heard.context);
        let id = heard.request.message.task_id.clone().unwrap_or_default();
        let receipt = heard.letter.as_ref().map(|letter| letter.receipt());
        let config = heard.request.configuration.as_mut();
        let mut config = config.and_then(|given| given.task_push_notification_config.take());
        let mut looked_after = false;
        loop {
            let context = &heard.context;
            let snapshot = self.snapshot(&id, context).await?;
            let is_idle = snapshot.task.status.state.is_settled();
            if !is_idle && !looked_after && self.turns.running(&owner, &id).is_none() {
                // Its process may have ended in the middle of a turn: what becomes of that comes first.
                looked_after = true;
                let (owner, task) = (owner.clone(), id.clone());
                self.recover(Orphan { owner, task }).await;
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
            let heard = Heard::clone(&heard);
            let begun = match self.turns.running(&owner, &id) {
                Some(busy) => self.join(busy, &snapshot, heard, receipt.clone()).await?,
                None => {
                    let receipt = receipt.clone();
                    self.wake(&snapshot, heard, receipt, first_step).await?
                }
            };
            match begun {
                Some(begun) => return Ok(begun),
                // Somebody was faster: the task is looked at again.
                None => continue,
            }
        }
    }

    /// Begins a run for a message to a task that nobody works on; none if somebody does by now.
    async fn wake(
        &self,
        known: &Snapshot,
        mut heard: Heard,
        receipt: Option<Receipt>,
        first_step: FirstStep,
    ) -> Result<Option<Begun>, A2aError> {
        let owner = Owner::of(&heard.context);
        let pass = self.enter(&owner).await?;
        let runner = Arc::new(Runner::for_known(Arc::clone(&self.ledger), owner, known));
        let Ok(claim) = self.turns.claim(&runner) else {
            return Ok(None);
        };
        let message = runner.placed(heard.request.message);
        heard.request.message = message.clone();
        let then = woken(known.task.status.state);
        runner.belong_to(heard.context.trace.clone()).await;
        match runner.hear(message, then, receipt).await {
            Ok(()) => {}
            Err(UpdateError::Store(StoreError::Behind(_))) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let message = &heard.request.message;
        let from = runner.snapshot_or(|| after(known, message, then)).await;
        claim.start(Arc::new(heard), first_step.of_known(), Some(pass));
        Ok(Some(Begun::Run {
            runner,
            from: Some(Arc::new(from)),
            detached: 0,
        }))
    }

    /// Gives a message to a run that goes on; none if that is over by now.
    async fn join(
        &self,
        busy: Arc<Runner>,
        known: &Snapshot,
        mut heard: Heard,
        receipt: Option<Receipt>,
    ) -> Result<Option<Begun>, A2aError> {
        busy.begun().await;
        if known.task.status.state.is_terminal() {
            // The agent still tidies up after its last word.
            busy.ended().await;
            return Ok(None);
        }
        let asked = known.task.status.state == TaskState::InputRequired;
        if asked {
            // The agent has asked, and is about to return: the answer begins a run of its own.
            let over = tokio::time::timeout(self.first_event, busy.ended());
            if over.await.is_ok() {
                return Ok(None);
            }
        }
        let message = busy.placed(heard.request.message);
        heard.request.message = message.clone();
        let detached = busy.board().is(|stage| stage.detached);
        let ticket = match self.turns.queue(&busy, Arc::new(heard)) {
            Ok(ticket) => ticket,
            Err(NoPlace::RunIsOver) => return Ok(None),
            Err(NoPlace::Crowded) => {
                let text = "too many messages wait for this task's next turn";
                return Err(A2aError::new(ErrorKind::Unavailable, text));
            }
        };
        // An answer is worked on from now on, be it that its turn comes later.
        let then = asked.then_some(TaskState::Working);
        match busy.hear(message.clone(), then, receipt).await {
            Ok(()) => ticket.confirm(),
            // It ended in between.
            Err(UpdateError::Illegal(_)) => {
                drop(ticket);
                busy.ended().await;
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        }
        let from = busy.snapshot_or(|| after(known, &message, then)).await;
        Ok(Some(Begun::Run {
            runner: busy,
            from: Some(Arc::new(from)),
            detached,
        }))
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

/// A task as it stands after a message, with what follows from that; whoever follows it is told so again.
fn after(known: &Snapshot, message: &Message, then: Option<TaskState>) -> Snapshot {
    let mut snapshot = known.clone();
    let task = Arc::make_mut(&mut snapshot.task);
    task.history.push(message.clone());
    if let Some(state) = then {
        task.status = state.into();
    }
    snapshot
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

/// The caller must be able to take something that the agent produces, if both say.
fn check_output_modes(
    card: &AgentCard,
    configuration: &SendMessageConfiguration,
) -> Result<(), A2aError> {
    let accepted = &configuration.accepted_output_modes;
    let of_skills = card.skills.iter().flat_map(|skill| &skill.output_modes);
    let mut offered = card.default_output_modes.iter().chain(of_skills).peekable();
    if accepted.is_empty() || offered.peek().is_none() {
        return Ok(());
    }
    match offered.any(|offer| accepted.iter().any(|accept| covers(accept, offer))) {
        true => Ok(()),
        false => Err(ErrorKind::ContentTypeNotSupported.into()),
    }
}

/// Whether a media type that is accepted covers one that is offered. 0.1 says `text` for `text/plain`.
fn covers(accepted: &str, offered: &str) -> bool {
    let full = |mode: &str| match mode.trim().to_ascii_lowercase() {
        mode if mode == "text" => "text/plain".to_owned(),
        mode => mode,
    };
    let (accepted, offered) = (full(accepted), full(offered));
    match accepted.strip_suffix("/*") {
        Some("*") => true,
        Some(kind) => offered.split('/').next() == Some(kind),
        None => accepted == offered,
    }
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn media_types() {
        assert!(covers("text", "text/plain"));
        assert!(covers("text/plain", "text"));
        assert!(covers("*/*", "image/png"));
        assert!(covers("image/*", "image/png"));
        assert!(!covers("image/*", "text/plain"));
        assert!(!covers("application/json", "text/plain"));
    }
}
