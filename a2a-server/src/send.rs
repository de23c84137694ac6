//! What becomes of a message.

use std::sync::Arc;

use a2a_transport::{Context, Reply, Update};
use a2a_types::{
    AgentCard, Error as A2aError, ErrorKind, Event, Message, Response, SendMessageConfiguration,
    SendMessageRequest, SendMessageResponse, TaskPushNotificationConfig, TaskState,
};
use tokio_stream::StreamExt;

use crate::follow::follow;
use crate::push::with_id;
use crate::runner::{Progress, Runner, new_task};
use crate::server::Inner;
use crate::store::Snapshot;
use crate::turn::UpdateError;
use crate::turns::Heard;

/// A message that the agent has been given.
struct Begun {
    runner: Arc<Runner>,
    /// The task as the message found it; of a new task nothing is known before the agent acts.
    from: Option<Snapshot>,
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
        let begun = self.begin(params, &context).await?;
        let from = match begun.outcome().await? {
            Outcome::Task(from) => from,
            Outcome::Message(message) => {
                return Ok(Reply::once(Response::SendMessage(
                    SendMessageResponse::Message(message),
                )));
            }
        };
        if !configuration.return_immediately {
            self.wait(&begun.runner, &from, &context).await?;
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
        match self.begin(params, &context).await?.outcome().await? {
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
        params: SendMessageRequest,
        context: &Context,
    ) -> Result<Begun, A2aError> {
        let configuration = params.configuration.unwrap_or_default();
        check_output_modes(&self.card, &configuration)?;
        if configuration.task_push_notification_config.is_some() {
            self.require_push()?;
        }
        let message = params.message;
        let known = match &message.task_id {
            Some(id) => self.find(id, context).await?,
            None => None,
        };
        match known {
            Some(snapshot) => self.go_on(snapshot, message, configuration, context).await,
            None if message.task_id.is_some() && !context.dialect.rules().caller_names_tasks => {
                Err(ErrorKind::TaskNotFound.into())
            }
            None => self.begin_new(message, configuration, context).await,
        }
    }

    async fn begin_new(
        &self,
        message: Message,
        configuration: SendMessageConfiguration,
        context: &Context,
    ) -> Result<Begun, A2aError> {
        let config = configuration
            .task_push_notification_config
            .clone()
            .map(with_id);
        let (new, placed) = new_task(message.clone(), context.dialect, config);
        let runner = Arc::new(Runner::for_new(
            Arc::clone(&self.store),
            context.principal.clone(),
            new,
        ));
        if let Err(busy) = self.turns.claim(&runner) {
            // Two first messages to a task that its caller names: the second finds it begun.
            busy.open().await?;
            let snapshot = self.snapshot(busy.task_id(), context).await?;
            return self.go_on(snapshot, message, configuration, context).await;
        }
        let at_once = configuration.return_immediately || !context.dialect.rules().answers_directly;
        if at_once && let Err(error) = runner.open().await {
            self.turns.release(&runner);
            return Err(error.into());
        }
        let message = placed;
        self.turns.start(
            Arc::clone(&runner),
            Heard {
                message,
                configuration,
            },
        );
        Ok(Begun { runner, from: None })
    }

    async fn go_on(
        &self,
        snapshot: Snapshot,
        message: Message,
        configuration: SendMessageConfiguration,
        context: &Context,
    ) -> Result<Begun, A2aError> {
        let task = &snapshot.task;
        let state = task.status.state;
        if message.context_id.is_some() && message.context_id != task.context_id {
            let text = "the message names another context than its task belongs to";
            return Err(A2aError::new(ErrorKind::InvalidParams, text));
        }
        if state.is_terminal() && !context.dialect.rules().reopens_ended_tasks {
            let text = format!("a task that is {} takes no more messages", state.as_str());
            return Err(A2aError::new(ErrorKind::UnsupportedOperation, text));
        }
        if let Some(config) = configuration.task_push_notification_config.clone() {
            let task_id = task.id.clone();
            let config = with_id(TaskPushNotificationConfig { task_id, ..config });
            self.store.put_config(&context.principal, config).await?;
        }
        let runner = Arc::new(Runner::for_known(
            Arc::clone(&self.store),
            context.principal.clone(),
            task,
        ));
        let message = runner.placed(message);
        if let Err(busy) = self.turns.claim(&runner) {
            if self.turns.is_crowded(&busy) {
                let text = "too many messages wait for this task's next turn";
                return Err(A2aError::new(ErrorKind::Unavailable, text));
            }
            busy.hear(message.clone()).await?;
            let from = Some(self.snapshot(&task.id, context).await?);
            let Err(heard) = self.turns.leave(
                &busy,
                Heard {
                    message,
                    configuration,
                },
            ) else {
                return Ok(Begun { runner: busy, from });
            };
            // The run ended in between: the message needs a turn of its own, unless the task is over.
            let over = from
                .as_ref()
                .is_some_and(|from| from.task.status.state.is_terminal());
            if !over && self.turns.claim(&runner).is_ok() {
                self.turns.start(Arc::clone(&runner), heard);
            }
            return Ok(Begun { runner, from });
        }
        let from = match reopen(&runner, state, message.clone()).await {
            Ok(()) => self.snapshot(&task.id, context).await,
            Err(error) => Err(error.into()),
        };
        let from = from.inspect_err(|_| self.turns.release(&runner))?;
        self.turns.start(
            Arc::clone(&runner),
            Heard {
                message,
                configuration,
            },
        );
        Ok(Begun {
            runner,
            from: Some(from),
        })
    }

    /// Waits until a task has ended or is interrupted, the agent lets go, or it takes too long.
    async fn wait(
        &self,
        runner: &Runner,
        from: &Snapshot,
        context: &Context,
    ) -> Result<(), A2aError> {
        let id = from.task.id.clone();
        let updates = follow(
            Arc::clone(&self.store),
            context.principal.clone(),
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
        let mut stage = runner.stage();
        let let_go = async {
            match context.dialect.rules().may_stop_waiting {
                true => drop(stage.wait_for(|stage| stage.detached).await),
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
    /// Waits until there is a task, or an answer without one.
    async fn outcome(&self) -> Result<Outcome, A2aError> {
        if let Some(from) = &self.from {
            return Ok(Outcome::Task(Box::new(from.clone())));
        }
        let mut stage = self.runner.stage();
        let known = |progress: &Progress| !matches!(progress, Progress::Pending);
        tokio::select! {
            biased;
            _ = stage.wait_for(|stage| known(&stage.progress)) => {}
            () = self.runner.ended() => {}
        }
        match self.runner.progress() {
            Progress::Open(snapshot) => Ok(Outcome::Task(Box::new(Snapshot::clone(&snapshot)))),
            Progress::Answered(message) => Ok(Outcome::Message(Message::clone(&message))),
            // The task could not even be stored.
            Progress::Pending => Err(ErrorKind::Unavailable.into()),
        }
    }
}

/// Makes an idle task ready for a turn: an ended one (0.1) is submitted again, one that waited for
/// the caller is worked on.
async fn reopen(runner: &Runner, state: TaskState, message: Message) -> Result<(), UpdateError> {
    if state.is_terminal() {
        runner.status(TaskState::Submitted, None).await?;
    }
    runner.hear(message).await?;
    if state.is_interrupted() {
        runner.status(TaskState::Working, None).await?;
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
