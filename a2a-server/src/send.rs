//! What becomes of a message.

use std::sync::Arc;

use a2a_transport::{Context, Reply, Update};
use a2a_types::extension::trpc::Beginning;
use a2a_types::{
    Error as A2aError, Event, Response, SendMessageRequest, SendMessageResponse, TaskState,
};
use tokio::time::{Instant, timeout_at};

use crate::engine::admission::Accepted;
use crate::engine::follower::stuck;
use crate::engine::outcome::Outcome;
use crate::engine::pending_message::Heard;
use crate::engine::reply_format::{Manner, Wanted};
use crate::engine::run_state::Stage;
use crate::engine::task_writer::FirstStep;
use crate::output_modes::check_output_modes;
use crate::server::Inner;

impl Inner {
    /// Answers when the task has ended or is interrupted, or sooner if the caller wants that.
    pub(crate) fn send(
        &self,
        params: SendMessageRequest,
        context: Context,
    ) -> impl Future<Output = Result<Reply, A2aError>> + Send {
        let (manner, mut wanted) = (
            Manner::of_sender(&context, Some(&params.message), &self.engine.ledger),
            Wanted::of(&params),
        );
        let configuration = params.configuration.as_ref();
        let soon = configuration.is_some_and(|configuration| configuration.return_immediately);
        let heard = Box::new(Heard::new(params, context.clone()));
        async move {
            let first_step = match soon {
                true => FirstStep::Apart,
                false => FirstStep::Here,
            };
            self.check(&heard.request, &heard.context).await?;
            let Accepted { begun, .. } = self.engine.begin(heard, first_step).await?;
            // Not to wait has no effect on an agent that answers by a message (1.0 §3.2.2).
            let until = Instant::now()
                + match soon {
                    true => self.engine.first_event,
                    false => self.engine.max_wait,
                };
            let rules = context.dialect.rules();
            let enough = |stage: &Stage, since: u64| {
                soon || stage.settled > since || rules.may_stop_waiting && begun.lets_go(stage)
            };
            let outcome = begun.outcome(until, |stage| enough(stage, 1)).await?;
            let from = match outcome {
                Outcome::Task(from) => from,
                Outcome::Message(message) => {
                    let message = SendMessageResponse::Message(manner.message(message));
                    return Ok(Reply::once(Response::SendMessage(message)));
                }
            };
            let enough = |stage: &Stage| enough(stage, from.generation);
            if !soon && !begun.is(enough) {
                let waited = Box::pin(self.engine.wait(&begun, &from, &context, enough));
                // However that goes, the task says where it stands.
                drop(timeout_at(until, waited).await);
                if let Some(failure) = begun.stuck() {
                    return Err(stuck(failure));
                }
            }
            let snapshot = self.engine.snapshot_to_copy(&from.task, &context).await?;
            if !context.dialect.rules().history_when_not_asked {
                wanted.history_length.get_or_insert(0);
            }
            let task = Arc::unwrap_or_clone(snapshot.task);
            let response = Response::SendMessage(manner.answer(task, wanted));
            let reply = Reply::once(response).holding(snapshot.share.held());
            Ok(reply.about_task_of(from.dialect))
        }
    }

    /// Tells everything that happens from the message on.
    pub(crate) fn send_streaming(
        &self,
        params: SendMessageRequest,
        context: Context,
    ) -> impl Future<Output = Result<Reply, A2aError>> + Send {
        let configuration = params.configuration.as_ref();
        let history_length = configuration.and_then(|configuration| configuration.history_length);
        let manner = Manner::of_sender(&context, Some(&params.message), &self.engine.ledger);
        let beginning = Beginning::Message(params.message.message_id.clone());
        let heard = Box::new(Heard::new(params, context.clone()));
        async move {
            self.require_streaming()?;
            self.check(&heard.request, &heard.context).await?;
            let Accepted { begun, snapshot } =
                self.engine.begin(heard, FirstStep::UntilTold).await?;
            let until = Instant::now() + self.engine.first_event;
            let from = match begun.outcome(until, |_| true).await? {
                Outcome::Task(from) => match snapshot {
                    Some(snapshot) => snapshot,
                    None => self.engine.snapshot(&from.task, &context).await?,
                },
                Outcome::Message(message) => {
                    let told = Update {
                        event: Event::Message(manner.message(message)).into(),
                        generation: None,
                    };
                    return Ok(Reply::stream(tokio_stream::once(Ok(told))));
                }
            };
            let ends = TaskState::ends_stream;
            self.stream(from, history_length, context, (manner, beginning), ends)
                .await
        }
    }

    /// Checks a message as far as that needs no task.
    async fn check(&self, request: &SendMessageRequest, context: &Context) -> Result<(), A2aError> {
        if let Some(configuration) = &request.configuration {
            check_output_modes(&self.card, configuration)?;
            if let Some(config) = &configuration.task_push_notification_config {
                self.require_push()?;
                Box::pin(self.check_webhook(config, context)).await?;
            }
        }
        Ok(())
    }
}
