//! `a2a send` and `a2a stream`.

use std::path::{Path, PathBuf};

use a2a_client::{Client, Error, Event, SendMessageBuilder, StreamExt, TaskEventStream};
use a2a_types::{Message, Part, SendMessageResponse, Task, TaskPushNotificationConfig, TaskState};
use clap::Args;
use tokio::io::AsyncReadExt;

use super::sent::Sent;
use crate::agent::AgentArgs;
use crate::exit::{Code, Failure};
use crate::files::{OutDirectory, attach};
use crate::secret::Secret;
use crate::show::{self, Events, Screen, note};

/// Message to send, and options of the answer.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a send https://agent.example tell me a joke
  a2a stream https://agent.example summarize this --file report.pdf --out answers/
  a2a send https://agent.example --data '{\"city\": \"Delft\"}'
  a2a send https://agent.example --task 4f2c… the second one, please
  echo translate this | a2a send https://agent.example -")]
pub(crate) struct Options {
    #[command(flatten)]
    agent: AgentArgs,
    /// Text of the message; `-` reads it from standard input.
    text: Vec<String>,
    /// Attach this file; may be repeated.
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Attach structured data (JSON); may be repeated.
    #[arg(long, value_name = "JSON", value_parser = read_json)]
    data: Vec<serde_json::Value>,
    /// Id of the task to continue.
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Id of the conversation (`contextId`) to continue.
    #[arg(long, value_name = "ID")]
    context: Option<String>,
    /// Media type that the answer may have, like `text/plain`; may be repeated.
    #[arg(long, value_name = "TYPE")]
    accept: Vec<String>,
    /// Print the last N messages of the task's history after the answer.
    #[arg(long, value_name = "N")]
    history: Option<u32>,
    /// Print the task as soon as the agent has accepted the message.
    #[arg(long)]
    no_wait: bool,
    /// URL that the agent notifies of the task's events.
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
    /// Token that the agent sends with every notification: the token itself, `@FILE` or `$NAME`.
    #[arg(long, value_name = "TOKEN", requires = "webhook")]
    webhook_token: Option<Secret>,
    /// Save artifacts as files in this directory; no file is overwritten.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

fn read_json(text: &str) -> Result<serde_json::Value, serde_json::Error> {
    serde_json::from_str(text)
}

pub(crate) async fn send(options: Options, screen: &Screen) -> Result<Code, Failure> {
    let sent = Sent::new(options.agent.name(), options.agent.timeout());
    sent.watch(answer(options, &sent, screen)).await
}

pub(crate) async fn stream(options: Options, screen: &Screen) -> Result<Code, Failure> {
    let sent = Sent::new(options.agent.name(), options.agent.timeout());
    let work = async {
        let out = options.out.clone();
        let (_, sending) = options.sending(&sent).await?;
        follow(sending.follow(), out.as_deref(), Some(&sent), screen).await
    };
    sent.watch(work).await
}

/// Prints the answer, once the agent has one.
async fn answer(options: Options, sent: &Sent, screen: &Screen) -> Result<Code, Failure> {
    let (out, history, waits) = (options.out.clone(), options.history, !options.no_wait);
    let (client, sending) = options.sending(sent).await?;
    let mut task = match sending.await? {
        SendMessageResponse::Task(task) => task,
        SendMessageResponse::Message(message) => {
            let context = message.context_id.clone().filter(|_| !screen.json);
            Events::default().show(&Event::Message(message), screen)?;
            if let Some(context) = context {
                note(&format!("context {context}"));
            }
            return Ok(Code::Done);
        }
    };
    sent.is_about(&task.id);
    if waits && goes_on(task.status.state) {
        task = settled(&client, task, history).await?;
    }
    show::task(screen, &task)?;
    if history.is_some() {
        show::history(screen, &task)?;
    }
    if let Some(directory) = out {
        OutDirectory::new(directory).save_all(&task.artifacts)?;
    }
    Ok(Code::of(task.status.state))
}

/// Returns whether a task continues, as far as is known: some agents answer before they are done.
fn goes_on(state: TaskState) -> bool {
    !state.is_settled()
}

/// Waits until the task has ended or waits for its caller, and returns it.
async fn settled(client: &Client, task: Task, history: Option<u32>) -> Result<Task, Failure> {
    let mut updates = match client.subscribe(task.id.clone()).await {
        Ok(updates) => updates,
        // Some agents forget a task at its end, and call that by a word of their own.
        Err(_) if task.status.state == TaskState::Unspecified => return Ok(task),
        Err(error) => return Err(error.into()),
    };
    while let Some(event) = updates.next().await {
        match event {
            Ok(_) => {}
            Err(_) if task.status.state == TaskState::Unspecified => return Ok(task),
            Err(error) => return Err(error.into()),
        }
        let state = updates.task().map(|task| task.status.state);
        if !state.is_none_or(goes_on) {
            break;
        }
    }
    match client.get_task(task.id.clone(), history).await {
        Ok(task) => Ok(task),
        // Not all agents keep a task that has ended.
        Err(Error::Agent(_)) => Ok(updates.task().cloned().unwrap_or(task)),
        Err(error) => Err(error.into()),
    }
}

impl Options {
    /// Connects and prepares the message.
    async fn sending(self, sent: &Sent) -> Result<(Client, SendMessageBuilder), Failure> {
        let mut parts = Vec::new();
        let text = match self.text.as_slice() {
            [only] if only == "-" => {
                let mut text = String::new();
                let read = tokio::io::stdin().read_to_string(&mut text).await;
                read.map_err(Failure::machine("cannot read standard input"))?;
                text
            }
            words => words.join(" "),
        };
        if !text.is_empty() {
            parts.push(Part::text(text));
        }
        for file in &self.files {
            parts.push(attach(file)?);
        }
        parts.extend(self.data.into_iter().map(Part::data));
        if parts.is_empty() {
            return Err(Failure::usage(
                "the message is empty: expected TEXT, --file or --data",
            ));
        }
        let client = self.agent.connect().await?;
        let message = Message::new(a2a_types::Role::User, parts);
        let task = self.task.clone().map(Into::into);
        sent.begin(&client, message.message_id.clone(), task);
        let mut sending = client.send(message);
        if let Some(task) = self.task {
            sending = sending.task(task);
        }
        if let Some(context) = self.context {
            sending = sending.context(context);
        }
        if !self.accept.is_empty() {
            sending = sending.accepted_output_modes(self.accept);
        }
        if let Some(history) = self.history {
            sending = sending.history_length(history);
        }
        if self.no_wait {
            sending = sending.return_immediately();
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

/// Prints the events of a task until it ends or waits, and saves its artifacts.
pub(crate) async fn follow(
    mut updates: TaskEventStream,
    out: Option<&Path>,
    sent: Option<&Sent>,
    screen: &Screen,
) -> Result<Code, Failure> {
    let mut events = Events::default();
    let mut reconnections = 0;
    while let Some(event) = updates.next().await {
        let event = event.inspect_err(|_| drop(events.close(screen)))?;
        if updates.reconnections() > reconnections {
            reconnections = updates.reconnections();
            events.close(screen)?;
            note("(the connection broke; reconnected)");
        }
        events.show(&event, screen)?;
        if let (Some(sent), Some(task)) = (sent, updates.task()) {
            sent.is_about(&task.id);
        }
    }
    events.close(screen)?;
    let Some(task) = updates.task() else {
        return Ok(Code::Done);
    };
    if let Some(directory) = out {
        OutDirectory::new(directory).save_all(&task.artifacts)?;
    }
    if task.status.state == TaskState::InputRequired && !screen.json {
        let id = &task.id;
        note(&format!(
            "the agent waits for input: answer with a2a send AGENT --task {id} TEXT"
        ));
    }
    Ok(Code::of(task.status.state))
}
