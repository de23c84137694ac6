//! What becomes of a message.

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::{Context, Reply, Update};
use a2a_types::{
    AgentCard, Error as A2aError, ErrorKind, Event, Message, Response, SendMessageConfiguration,
    SendMessageRequest, SendMessageResponse, TaskPushNotificationConfig,
};
use tokio_stream::StreamExt;

use crate::follow::follow;
use crate::push::with_id;
use crate::runner::{Progress, Runner, new_task};
use crate::server::Inner;
use crate::store::{Owner, Snapshot};
use crate::turn::UpdateError;
use crate::turns::{Heard, NoPlace, woken};

/// A message that the agent has been given.
struct Begun {
    runner: Arc<Runner>,
    /// The task as the message found it; of a new task nothing is known before the agent acts.
    from: Option<Snapshot>,
    /// How often the agent had let waiting callers go before the message came.
    detached: u64,
}

/// What came of a message, as far as it is known.
enum Outcome {
    Task(Box<Snapshot>),
    Message(Message),
}

impl Inner {
    /// Answers when the task has ended or is interrupted, or sooner if the caller wants that.
    pub(crate) async fn send(
        &self,
        params: SendMessageRequest,
        context: Context,
    ) -> Result<Reply, A2aError> {
        let configuration = params.configuration.clone().unwrap_or_default();
        let begun = self.begin(params, context.clone()).await?;
        // Not to wait has no effect on an agent that answers by a message (1.0 §3.2.2).
        let patience = match configuration.return_immediately {
            true => self.first_event,
            false => self.max_wait,
        };
        let from = match begun.outcome(patience).await? {
            Outcome::Task(from) => from,
            Outcome::Message(message) => {
                return Ok(Reply::once(Response::SendMessage(
                    SendMessageResponse::Message(message),
                )));
            }
        };
        if !configuration.return_immediately {
            self.wait(&begun, &from, &context).await?;
        }
        let mut task = self.snapshot(&from.task.id, &context).await?.task;
        self.trim(&mut task, configuration.history_length, &context);
        let response = Response::SendMessage(SendMessageResponse::Task(task));
        Ok(Reply::once(response).about_task_of(from.dialect))
    }

    /// Tells everything that happens from the message on.
    pub(crate) async fn send_streaming(
        &self,
        params: SendMessageRequest,
        context: Context,
    ) -> Result<Reply, A2aError> {
        self.require_streaming()?;
        let history_length = params
            .configuration
            .as_ref()
            .and_then(|configuration| configuration.history_length);
        match self
            .begin(params, context.clone())
            .await?
            .outcome(self.first_event)
            .await?
        {
            Outcome::Task(from) => self.stream(*from, history_length, context).await,
            Outcome::Message(message) => Ok(Reply::stream(tokio_stream::once(Ok(Update {
                event: Event::Message(message),
                generation: None,
            })))),
        }
    }

    /// Gives a message to the agent: for a new task, an idle one, or one that is being worked on.
    async fn begin(
        &self,
        request: SendMessageRequest,
        context: Context,
    ) -> Result<Begun, A2aError> {
        let configuration = request.configuration.clone().unwrap_or_default();
        check_output_modes(&self.card, &configuration)?;
        if configuration.task_push_notification_config.is_some() {
            self.require_push()?;
        }
        let known = match &request.message.task_id {
            Some(id) => self.find(id, &context).await?.is_some(),
            None => false,
        };
        if known {
            return self.go_on(request, context).await;
        }
        if request.message.task_id.is_some() && !context.dialect.rules().caller_names_tasks {
            return Err(ErrorKind::TaskNotFound.into());
        }
        let config = configuration
            .task_push_notification_config
            .map(|config| with_id(config, &context));
        let (new, message) = new_task(
            request.message.clone(),
            context.dialect,
            config,
            None,
            &self.ledger,
        );
        let runner = Arc::new(Runner::for_new(
            Arc::clone(&self.ledger),
            Owner::of(&context),
            new,
        ));
        if let Err(busy) = self.turns.claim(&runner) {
            // Two first messages to a task that its caller names: the second finds it begun.
            busy.open().await?;
            return self.go_on(request, context).await;
        }
        let needs_task = !context.dialect.rules().answers_directly;
        if needs_task && let Err(error) = runner.open().await {
            self.turns.release(&runner);
            return Err(error.into());
        }
        let request = SendMessageRequest { message, ..request };
        self.turns
            .start(Arc::clone(&runner), Heard { request, context });
        Ok(Begun {
            runner,
            from: None,
            detached: 0,
        })
    }

    /// Gives a message to the agent for a task that exists.
    async fn go_on(
        &self,
        request: SendMessageRequest,
        context: Context,
    ) -> Result<Begun, A2aError> {
        let id = request.message.task_id.clone().unwrap_or_default();
        loop {
            let snapshot = self.snapshot(&id, &context).await?;
            check_message(&request.message, &snapshot, &context)?;
            let configuration = request.configuration.as_ref();
            if let Some(config) =
                configuration.and_then(|given| given.task_push_notification_config.clone())
            {
                let task_id = id.clone();
                let config = with_id(TaskPushNotificationConfig { task_id, ..config }, &context);
                self.ledger
                    .store
                    .put_config(&Owner::of(&context), config)
                    .await?;
            }
            let runner = Arc::new(Runner::for_known(
                Arc::clone(&self.ledger),
                Owner::of(&context),
                &snapshot,
            ));
            let message = runner.placed(request.message.clone());
            let heard = Heard {
                request: SendMessageRequest {
                    message: message.clone(),
                    ..request.clone()
                },
                context: context.clone(),
            };
            let state = snapshot.task.status.state;
            let Err(busy) = self.turns.claim(&runner) else {
                let begun = async {
                    runner.hear(message, woken(state), None).await?;
                    self.snapshot(&id, &context).await
                };
                let from = begun.await.inspect_err(|_| self.turns.release(&runner))?;
                self.turns.start(Arc::clone(&runner), heard);
                return Ok(Begun {
                    runner,
                    from: Some(from),
                    detached: 0,
                });
            };
            if state.is_terminal() {
                // The agent still tidies up after its last word.
                busy.ended().await;
                continue;
            }
            let detached = busy.stage().borrow().detached;
            let ticket = match self.turns.queue(&busy, heard) {
                Ok(ticket) => ticket,
                Err(NoPlace::RunIsOver) => continue,
                Err(NoPlace::Crowded) => {
                    let text = "too many messages wait for this task's next turn";
                    return Err(A2aError::new(ErrorKind::Unavailable, text));
                }
            };
            match busy.hear(message, None, None).await {
                Ok(()) => ticket.confirm(),
                // It ended in between: looked at again, as the ended task that it is.
                Err(UpdateError::Illegal(_)) => {
                    drop(ticket);
                    busy.ended().await;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            let from = Some(self.snapshot(&id, &context).await?);
            return Ok(Begun {
                runner: busy,
                from,
                detached,
            });
        }
    }

    /// Waits until a task has ended or is interrupted, the agent lets go, or it takes too long.
    async fn wait(
        &self,
        begun: &Begun,
        from: &Snapshot,
        context: &Context,
    ) -> Result<(), A2aError> {
        let id = from.task.id.clone();
        let updates = follow(
            Arc::clone(&self.ledger.store),
            Owner::of(context),
            id,
            from.generation,
        )
        .await?;
        let settled = async {
            let mut updates = std::pin::pin!(updates);
            while let Some(Ok(update)) = updates.next().await {
                let state = update.event.status().map(|status| status.state);
                if state.is_some_and(|state| state.is_terminal() || state.is_interrupted()) {
                    break;
                }
            }
        };
        let mut stage = begun.runner.stage();
        let let_go = async {
            match context.dialect.rules().may_stop_waiting {
                true => drop(
                    stage
                        .wait_for(|stage| stage.detached > begun.detached)
                        .await,
                ),
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            () = settled => {}
            () = let_go => {}
            () = tokio::time::sleep(self.max_wait) => {}
        }
        Ok(())
    }
}

impl Begun {
    /// Waits until there is a task, or an answer without one. An agent that does neither for so
    /// long gets a task: its caller has to be told something.
    async fn outcome(&self, patience: Duration) -> Result<Outcome, A2aError> {
        if let Some(from) = &self.from {
            return Ok(Outcome::Task(Box::new(from.clone())));
        }
        let mut stage = self.runner.stage();
        let known = |progress: &Progress| !matches!(progress, Progress::Pending);
        tokio::select! {
            biased;
            () = async { drop(stage.wait_for(|stage| known(&stage.progress)).await) } => {}
            () = self.runner.ended() => {}
            () = tokio::time::sleep(patience) => self.runner.open().await?,
        }
        match self.runner.progress() {
            Progress::Open(snapshot) => Ok(Outcome::Task(Box::new(Snapshot::clone(&snapshot)))),
            Progress::Answered(message) => Ok(Outcome::Message(Message::clone(&message))),
            // The task could not even be stored.
            Progress::Pending => Err(ErrorKind::Unavailable.into()),
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
