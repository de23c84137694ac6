//! Operations that send a message.

use std::sync::Arc;

use a2a_transport::{CallResponse, Context, Update};
use a2a_types::{
    AgentCard, Error as A2aError, ErrorKind, Event, Response, SendMessageConfiguration,
    SendMessageRequest, SendMessageResponse, TaskState,
};
use tokio::time::{Instant, timeout_at};

use crate::engine::admission::Admission;
use crate::engine::follower::stuck;
use crate::engine::outcome::Outcome;
use crate::engine::pending_message::PendingMessage;
use crate::engine::received_messages::outcome_elsewhere;
use crate::engine::run_state::RunState;
use crate::operations::ServerState;
use crate::operations::push::{check_webhook, require_push};
use crate::operations::subscribe::stream_task;
use crate::profile::reply_format::{ReplyFormat, ReplyOptions, StreamStart};
use crate::store::Owner;

/// Answers when the task has ended or is interrupted, or sooner if the caller wants that.
pub(crate) fn send(
    server: &ServerState,
    params: SendMessageRequest,
    context: Context,
) -> impl Future<Output = Result<CallResponse, A2aError>> + Send {
    let (format, mut options) = (
        ReplyFormat::of_sender(&context, Some(&params.message), server.profile_support()),
        ReplyOptions::of(&params),
    );
    let configuration = params.configuration.as_ref();
    let soon = configuration.is_some_and(|configuration| configuration.return_immediately);
    let (owner, rules) = (Owner::of(&context), context.protocol_version.rules());
    let pending = Arc::new(PendingMessage::new(params, context));
    async move {
        check(server, &pending.request, &pending.context).await?;
        let Admission {
            accepted, receipt, ..
        } = server.engine.begin(pending, false).await?;
        // An immediate return has no effect on an agent that answers by a message (1.0 §3.2.2).
        let until = Instant::now()
            + match soon {
                true => server.engine.first_event_timeout,
                false => server.engine.blocking_timeout,
            };
        let enough = |run: &RunState, since: u64| {
            soon || run.settled > since || rules.may_stop_waiting && accepted.lets_go(run)
        };
        let outcome = match accepted.outcome(until, |run| enough(run, 1)).await {
            Ok(outcome) => outcome,
            Err(error) => {
                let elsewhere = outcome_elsewhere(&server.engine, receipt, &owner, error);
                Box::pin(elsewhere).await?
            }
        };
        let from = match outcome {
            Outcome::Task(from) => from,
            Outcome::Message(message) => {
                let message = SendMessageResponse::Message(format.message(message));
                return Ok(CallResponse::once(Response::SendMessage(message)));
            }
        };
        let enough = |run: &RunState| enough(run, from.sequence);
        if !soon && !accepted.is(enough) {
            let waited = Box::pin(server.engine.wait(&accepted, &from, &owner, enough));
            // The state of the task says the rest, whatever the outcome.
            drop(timeout_at(until, waited).await);
            if let Some(failure) = accepted.stuck() {
                return Err(stuck(failure));
            }
        }
        let snapshot = server.engine.snapshot_to_copy(&from.task, &owner).await?;
        if !rules.history_when_not_asked {
            options.history_length.get_or_insert(0);
        }
        let task = Arc::unwrap_or_clone(snapshot.task);
        let response = Response::SendMessage(format.answer(task, options));
        let reply = CallResponse::once(response).holding(snapshot.share.held());
        Ok(reply.about_task_of(from.protocol_version))
    }
}

/// Streams everything that happens from the message on.
pub(crate) fn send_streaming(
    server: &ServerState,
    params: SendMessageRequest,
    context: Context,
) -> impl Future<Output = Result<CallResponse, A2aError>> + Send {
    let configuration = params.configuration.as_ref();
    let history_length = configuration.and_then(|configuration| configuration.history_length);
    let format = ReplyFormat::of_sender(&context, Some(&params.message), server.profile_support());
    let beginning = StreamStart::Message(params.message.message_id.clone());
    let owner = Owner::of(&context);
    let pending = Arc::new(PendingMessage::new(params, context.clone()));
    async move {
        server.require_streaming()?;
        check(server, &pending.request, &pending.context).await?;
        let Admission {
            accepted,
            snapshot,
            receipt,
        } = server.engine.begin(pending, true).await?;
        let until = Instant::now() + server.engine.first_event_timeout;
        let outcome = match accepted.outcome(until, |_| true).await {
            Ok(outcome) => outcome,
            Err(error) => {
                let elsewhere = outcome_elsewhere(&server.engine, receipt, &owner, error);
                Box::pin(elsewhere).await?
            }
        };
        let from = match outcome {
            Outcome::Task(from) => match snapshot {
                Some(snapshot) => snapshot,
                None => server.engine.snapshot(&from.task, &owner).await?,
            },
            Outcome::Message(message) => {
                let update = Update::new(Event::Message(format.message(message)), None);
                return Ok(CallResponse::stream(tokio_stream::once(Ok(update))));
            }
        };
        let ends = TaskState::ends_stream;
        stream_task(
            server,
            from,
            history_length,
            context,
            (format, beginning),
            ends,
        )
        .await
    }
}

/// Checks a message as far as that needs no task.
async fn check(
    server: &ServerState,
    request: &SendMessageRequest,
    context: &Context,
) -> Result<(), A2aError> {
    if let Some(configuration) = &request.configuration {
        check_output_modes(&server.card, configuration)?;
        if let Some(config) = &configuration.task_push_notification_config {
            require_push(server)?;
            Box::pin(check_webhook(server, config, context)).await?;
        }
    }
    Ok(())
}

/// Returns an error if the caller accepts nothing that the agent produces, if both name media types.
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

/// Returns whether an accepted media type covers an offered one. 0.1 has `text` for `text/plain`.
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
    fn accepted_media_type_covers_an_offered_one() {
        assert!(covers("text", "text/plain"));
        assert!(covers("text/plain", "text"));
        assert!(covers("*/*", "image/png"));
        assert!(covers("image/*", "image/png"));
        assert!(!covers("image/*", "text/plain"));
        assert!(!covers("application/json", "text/plain"));
    }
}
