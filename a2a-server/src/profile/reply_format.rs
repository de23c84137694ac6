//! Reply formats: plain A2A, and the profile of trpc-agent-go.

use std::pin::Pin;

use a2a_transport::{Context, Error, Update};
pub(crate) use a2a_types::extension::trpc::StreamStart;
use a2a_types::extension::trpc::{
    Collapse, StreamWriter, URI, Version, is_client, show_steps, write_task,
};
use a2a_types::steps::{has_steps, hide_steps, is_step};
use a2a_types::{
    AgentCard, Event, Message, ProtocolVersion, Role, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse, Task,
};
use futures_util::{Stream, StreamExt, stream};

/// Returns whether a card declares the profile, in a version that is understood here.
pub(crate) fn is_declared(card: &AgentCard) -> bool {
    Version::is_understood(Version::of_card(card))
}

/// Support of the profile by the agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProfileSupport {
    /// The card declares the profile, in a version that is understood here.
    pub(crate) is_declared: bool,
    /// Tasks keep the steps on the way to an answer.
    pub(crate) keeps_steps: bool,
}

/// Format in which a caller is answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ReplyFormat {
    /// Plain A2A without steps: each update as the agent gave it.
    Plain,
    /// The form of the profile.
    Profile { shows_steps: bool },
}

impl ReplyFormat {
    /// Returns the format for the sender of a message.
    ///
    /// Callers declare the profile in their message, or as an extension that they want active. Other
    /// clients of the framework get the form that it keeps whole, and no steps, from an agent whose card
    /// declares the profile.
    pub(crate) fn of_sender(
        context: &Context,
        message: Option<&Message>,
        agent: ProfileSupport,
    ) -> Self {
        // Its streams have a form of their own.
        if context.protocol_version == ProtocolVersion::V0_1 {
            return Self::Plain;
        }
        let declared = match message.and_then(Version::of_message) {
            None => context.extensions.iter().any(|uri| uri == URI),
            version => Version::is_understood(version),
        };
        let client = context.claims.user_agent.as_deref();
        let of_framework = client.is_some_and(is_client);
        match declared || of_framework && agent.is_declared {
            true => Self::Profile {
                shows_steps: declared && agent.keeps_steps,
            },
            false => Self::Plain,
        }
    }

    /// Returns the format for a reader of a task: only messages can declare the profile, so the last one
    /// that was sent to the task counts.
    pub(crate) fn of_reader(context: &Context, task: &Task, agent: ProfileSupport) -> Self {
        let mut messages = task.history.iter().rev();
        let last = messages.find(|message| message.role == Role::User);
        Self::of_sender(context, last, agent)
    }

    /// A task as the caller may see it.
    pub(crate) fn present(self, task: &mut Task) {
        match self {
            Self::Profile { shows_steps: true } => show_steps(task),
            Self::Plain | Self::Profile { shows_steps: false } => hide_steps(task),
        }
    }

    /// The answer to a message: the task, when the agent need do no more for it.
    pub(crate) fn answer(self, mut task: Task, options: ReplyOptions) -> SendMessageResponse {
        let Self::Profile { shows_steps } = self else {
            hide_steps(&mut task);
            task.trim_history(options.history_length);
            return SendMessageResponse::Task(task);
        };
        let mut answer = write_task(task, shows_steps, options.collapse);
        if let SendMessageResponse::Task(task) = &mut answer {
            task.trim_history(options.history_length);
        }
        answer
    }

    /// A message without a task.
    pub(crate) fn message(self, message: Message) -> Message {
        let Self::Profile { shows_steps } = self else {
            return message;
        };
        let mut writer = StreamWriter::new(StreamStart::Task, shows_steps);
        match writer.write(Event::Message(message.clone())).pop() {
            Some(Event::Message(written)) => written,
            _ => message,
        }
    }

    /// Writes updates in this format.
    pub(crate) fn apply<S>(self, beginning: StreamStart, updates: S) -> ReplyStream
    where
        S: Stream<Item = Result<Update, Error>> + Send + 'static,
    {
        let Self::Profile { shows_steps } = self else {
            // `filter_map` of tokio-stream takes a closure instead of a future, so it is smaller.
            return Box::pin(tokio_stream::StreamExt::filter_map(updates, plain));
        };
        let mut writer = StreamWriter::new(beginning, shows_steps);
        Box::pin(updates.flat_map(move |update| stream::iter(written(&mut writer, update))))
    }
}

/// Stream of updates in a caller's format.
pub(crate) type ReplyStream = Pin<Box<dyn Stream<Item = Result<Update, Error>> + Send>>;

/// Options of a reply that the sender of a message has set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyOptions {
    pub(crate) collapse: Collapse,
    pub(crate) history_length: Option<u32>,
}

impl ReplyOptions {
    pub(crate) fn of(request: &SendMessageRequest) -> Self {
        let configuration = request.configuration.as_ref();
        let task = |it: &&SendMessageConfiguration| {
            it.return_immediately || it.task_push_notification_config.is_some()
        };
        Self {
            // A caller that wants an immediate answer, or a webhook, looks after the task.
            collapse: match configuration.filter(task) {
                Some(_) => Collapse::Never,
                None => Collapse::One,
            },
            history_length: configuration.and_then(|it| it.history_length),
        }
    }
}

fn plain(update: Result<Update, Error>) -> Option<Result<Update, Error>> {
    let update = match update {
        Ok(update) if is_step(&update.event) => return None,
        Ok(update) => update,
        Err(error) => return Some(Err(error)),
    };
    match &*update.event {
        Event::Task(task) if has_steps(task) => {}
        _ => return Some(Ok(update)),
    }
    let mut event = update.event.into_event();
    if let Event::Task(task) = &mut event {
        hide_steps(task);
    }
    Some(Ok(Update::new(event, update.sequence)))
}

/// Writes one update as events: its place in the log belongs to the last of them.
fn written(writer: &mut StreamWriter, update: Result<Update, Error>) -> Vec<Result<Update, Error>> {
    let Update {
        event, sequence, ..
    } = match update {
        Ok(update) => update,
        Err(error) => {
            tracing::debug!(%error, "a stream ended with an error");
            let failed = writer
                .break_off(BROKEN_OFF)
                .map(|event| Update::new(event, None));
            return vec![failed.ok_or(error)];
        }
    };
    let events = writer.write(event.into_event());
    let last = events.len().saturating_sub(1);
    let place = |index: usize| sequence.filter(|_| index == last);
    let updates = events
        .into_iter()
        .enumerate()
        .map(|(index, event)| Ok(Update::new(event, place(index))));
    updates.collect()
}

/// Text of the update that replaces an error.
const BROKEN_OFF: &str = "The stream broke off. What comes of the task can still be asked for.";
