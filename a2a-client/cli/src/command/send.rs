//! `a2a send`.

use a2a_client::{Client, Event, SendMessageBuilder, StreamExt, TaskEventStream};
use a2a_types::{Message, Object, Part, SendMessageResponse, Task, TaskPushNotificationConfig};
use clap::Args;

use super::parts::{PartOptions, read_stdin};
use super::sent::Sent;
use super::wait::WaitOptions;
use crate::agent::AgentArgs;
use crate::failure::Failure;
use crate::secret::Secret;
use crate::show::{self, Events, Screen, note};

/// Message to send, and options of the answer.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a send https://agent.example \"tell me a joke\"
  a2a send -a https://agent.example --stream \"summarize this\" --file report.pdf
  a2a send -a https://agent.example --data order.json --media-type application/json
  a2a send -a https://agent.example --task-id 4f2c… \"the second one, please\"
  echo translate this | a2a send -a https://agent.example -")]
pub(crate) struct Options {
    /// Text of the message; `-` reads it from standard input.
    #[arg(value_name = "TEXT")]
    words: Vec<String>,
    #[command(flatten)]
    parts: PartOptions,
    /// Continue this task: answer its question.
    #[arg(long, value_name = "ID")]
    task_id: Option<String>,
    /// Begin a new task in this context.
    #[arg(long, value_name = "ID")]
    context_id: Option<String>,
    /// Metadata of the request, a JSON object.
    #[arg(long, value_name = "JSON", value_parser = read_object)]
    metadata: Option<Object>,
    /// Media type that the answer may have, like `text/plain`; may be repeated.
    #[arg(long, value_name = "TYPE")]
    accept: Vec<String>,
    /// Print events as they happen; with `-o json` one on each line.
    #[arg(long)]
    stream: bool,
    /// Print the ids of the task as soon as the agent has accepted the message.
    #[arg(long = "async", visible_aliases = ["return-immediately", "no-wait"], overrides_with = "wait")]
    is_async: bool,
    #[command(flatten)]
    wait: WaitOptions,
    /// URL that the agent notifies of the task's events.
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
    /// Token that the agent sends with every notification: the token itself, `@FILE` or `$NAME`.
    #[arg(long, value_name = "TOKEN", requires = "webhook")]
    webhook_token: Option<Secret>,
    #[command(flatten)]
    agent: AgentArgs,
}

/// Reads a JSON object.
pub(crate) fn read_object(text: &str) -> Result<Object, String> {
    serde_json::from_str(text).map_err(|error| format!("expected a JSON object: {error}"))
}

impl Options {
    pub(crate) fn agent(&self) -> &AgentArgs {
        &self.agent
    }
}

pub(crate) async fn run(mut options: Options, screen: &Screen) -> Result<(), Failure> {
    options.agent.take_from(&mut options.words);
    let agent = options.agent.clone();
    let sent = Sent::new(&agent);
    sent.watch(send(options, &agent, &sent, screen)).await
}

async fn send(
    options: Options,
    agent: &AgentArgs,
    sent: &Sent,
    screen: &Screen,
) -> Result<(), Failure> {
    let (waits, stream) = (!options.is_async || options.wait.wait, options.stream);
    let wait = options.wait.clone();
    let (client, sending) = options.sending(sent, screen).await?;
    let streams = |client: &Client| {
        let card = client.card();
        card.is_none_or(|card| card.capabilities.streaming == Some(true))
    };
    if stream && streams(&client) {
        return follow(sending.follow(), agent, sent, screen).await;
    }
    if stream {
        note("the agent does not stream: its answer is shown once it is whole");
    }
    let sending = if waits {
        sending
    } else {
        sending.return_immediately()
    };
    let task = match sending.await? {
        SendMessageResponse::Message(message) if screen.json => {
            return screen.value(&SendMessageResponse::Message(message));
        }
        SendMessageResponse::Message(message) => return show::message(screen, &message),
        SendMessageResponse::Task(task) => task,
    };
    sent.is_about(&task.id);
    let task = match waits {
        true => wait.until_settled(&client, task, None).await?,
        false => task,
    };
    show_task(screen, &task)?;
    show::outcome(screen, &task, &agent.as_option())
}

/// Prints a task as the answer to a message.
fn show_task(screen: &Screen, task: &Task) -> Result<(), Failure> {
    match screen.json {
        true => screen.value(&SendMessageResponse::Task(task.clone())),
        false => show::task(screen, task, screen.verbose),
    }
}

impl Options {
    /// Connects and prepares the message.
    async fn sending(
        self,
        sent: &Sent,
        screen: &Screen,
    ) -> Result<(Client, SendMessageBuilder), Failure> {
        let text = match self.words.as_slice() {
            [only] if only == "-" => read_stdin().await?,
            words => words.join(" "),
        };
        let mut parts = Vec::new();
        if !text.is_empty() {
            parts.push(Part::text(text));
        }
        parts.extend(self.parts.read().await?);
        if parts.is_empty() {
            return Err(Failure::usage(
                "the message is empty: expected TEXT, --text, --file or --data",
            ));
        }
        let client = self.agent.connect().await?;
        let message = Message::new(a2a_types::Role::User, parts);
        if screen.verbose && !screen.json {
            show::message(screen, &message)?;
        }
        let task = self.task_id.clone().map(Into::into);
        sent.begin(&client, message.message_id.clone(), task);
        let mut sending = client.send(message);
        if let Some(task) = self.task_id {
            sending = sending.task(task);
        }
        if let Some(context) = self.context_id {
            sending = sending.context(context);
        }
        if let Some(metadata) = self.metadata {
            sending = sending.metadata(metadata);
        }
        if !self.accept.is_empty() {
            sending = sending.accepted_output_modes(self.accept);
        }
        if let Some(url) = self.webhook {
            sending = sending.webhook(TaskPushNotificationConfig {
                url,
                token: self.webhook_token.map(|token| token.reveal().to_owned()),
                ..TaskPushNotificationConfig::default()
            });
        }
        Ok((client, sending))
    }
}

/// Prints the events of a task until it ends or waits.
async fn follow(
    mut updates: TaskEventStream,
    agent: &AgentArgs,
    sent: &Sent,
    screen: &Screen,
) -> Result<(), Failure> {
    let mut events = Events::default();
    let outcome = print_events(&mut updates, &mut events, Some(sent), screen, |_| {}).await;
    events.end(updates.task(), screen)?;
    outcome?;
    match updates.task() {
        Some(task) => show::outcome(screen, task, &agent.as_option()),
        None => Ok(()),
    }
}

/// Prints events until there are no more, and hands each to `observe`.
pub(crate) async fn print_events(
    updates: &mut TaskEventStream,
    events: &mut Events,
    sent: Option<&Sent>,
    screen: &Screen,
    mut observe: impl FnMut(&Event),
) -> Result<(), Failure> {
    let mut reconnections = 0;
    while let Some(event) = updates.next().await {
        let event = event?;
        if updates.reconnections() > reconnections {
            reconnections = updates.reconnections();
            note("the connection broke, and is there again");
        }
        events.show(&event, screen)?;
        if let (Some(sent), Some(task)) = (sent, updates.task()) {
            sent.is_about(&task.id);
        }
        observe(&event);
    }
    Ok(())
}
