//! What becomes of a message.

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::{Context, Reply, Update};
use a2a_types::extension::trpc::Beginning;
use a2a_types::{
    Error as A2aError, ErrorKind, Event, Message, Response, SendMessageRequest,
    SendMessageResponse, TaskState,
};
use tokio_stream::StreamExt;

use crate::intake::{Begun, Outcome};
use crate::manner::Wanted;
use crate::runner::Progress;
use crate::server::Inner;
use crate::store::Snapshot;

impl Inner {
    /// Answers when the task has ended or is interrupted, or sooner if the caller wants that.
    pub(crate) async fn send(
        self: &Arc<Self>,
        params: SendMessageRequest,
        context: Context,
    ) -> Result<Reply, A2aError> {
        let configuration = params.configuration.clone().unwrap_or_default();
        let (manner, mut wanted) = (
            self.manner(&context, Some(&params.message)),
            Wanted::of(&params),
        );
        let begun = self.begin(params, context.clone()).await?;
        // Not to wait has no effect on an agent that answers by a message (1.0 §3.2.2).
        let patience = match configuration.return_immediately {
            true => self.first_event,
            false => self.max_wait,
        };
        let from = match begun.outcome(patience).await? {
            Outcome::Task(from) => from,
            Outcome::Message(message) => {
                let message = SendMessageResponse::Message(manner.message(message));
                return Ok(Reply::once(Response::SendMessage(message)));
            }
        };
        if !configuration.return_immediately {
            self.wait(&begun, &from, &context).await?;
        }
        let task = self.snapshot(&from.task.id, &context).await?.task;
        if !context.dialect.rules().history_when_not_asked {
            wanted.history_length.get_or_insert(0);
        }
        let response = Response::SendMessage(manner.answer(task, wanted));
        Ok(Reply::once(response).about_task_of(from.dialect))
    }

    /// Tells everything that happens from the message on.
    pub(crate) async fn send_streaming(
        self: &Arc<Self>,
        params: SendMessageRequest,
        context: Context,
    ) -> Result<Reply, A2aError> {
        self.require_streaming()?;
        let history_length = params
            .configuration
            .as_ref()
            .and_then(|configuration| configuration.history_length);
        let manner = self.manner(&context, Some(&params.message));
        let beginning = Beginning::Message(params.message.message_id.clone());
        match self
            .begin(params, context.clone())
            .await?
            .outcome(self.first_event)
            .await?
        {
            Outcome::Task(from) => {
                self.stream(*from, history_length, context, (manner, beginning))
                    .await
            }
            Outcome::Message(message) => Ok(Reply::stream(tokio_stream::once(Ok(Update {
                event: Event::Message(manner.message(message)).into(),
                generation: None,
            })))),
        }
    }

    /// Waits until a task has ended or is interrupted, the agent lets go, or it takes too long.
    async fn wait(
        &self,
        begun: &Begun,
        from: &Snapshot,
        context: &Context,
    ) -> Result<(), A2aError> {
        if matches!(begun, Begun::Known(_)) && from.task.status.state.is_settled() {
            return Ok(());
        }
        let id = from.task.id.clone();
        let updates = self.follow(id, from.generation, context).await?;
        let settled = async {
            let mut updates = std::pin::pin!(updates);
            while let Some(Ok(update)) = updates.next().await {
                let state = update.event.status().map(|status| status.state);
                if state.is_some_and(TaskState::is_settled) {
                    break;
                }
            }
        };
        let let_go = async {
            match begun {
                Begun::Run {
                    runner, detached, ..
                } if context.dialect.rules().may_stop_waiting => {
                    let mut stage = runner.stage();
                    drop(stage.wait_for(|stage| stage.detached > *detached).await);
                }
                _ => std::future::pending().await,
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
        let runner = match self {
            Self::Known(outcome) => return Ok(Outcome::clone(outcome)),
            Self::Run {
                from: Some(from), ..
            } => return Ok(Outcome::Task(Box::new(Snapshot::clone(from)))),
            Self::Run { runner, .. } => runner,
        };
        let mut stage = runner.stage();
        let known = |progress: &Progress| !matches!(progress, Progress::Pending);
        tokio::select! {
            biased;
            () = async { drop(stage.wait_for(|stage| known(&stage.progress)).await) } => {}
            () = runner.ended() => {}
            () = tokio::time::sleep(patience) => runner.open().await?,
        }
        match runner.progress() {
            Progress::Open(snapshot) => Ok(Outcome::Task(Box::new(Snapshot::clone(&snapshot)))),
            Progress::Answered(message) => Ok(Outcome::Message(Message::clone(&message))),
            // The task could not even be stored.
            Progress::Pending => Err(ErrorKind::Unavailable.into()),
        }
    }
}
