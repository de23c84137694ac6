//! `a2a chat`.

use std::io::{IsTerminal, Write};

use a2a_client::Event;
use a2a_types::{ContextId, TaskId};
use clap::Args;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};

use super::send::print_events;
use crate::agent::AgentArgs;
use crate::failure::Failure;
use crate::show::{self, Events, Screen};

/// Agent to talk with, and the task or context to continue.
#[derive(Args)]
#[command(after_help = "\
Every line is a message. While the agent waits for input, the next line continues its task; otherwise it starts
a new task in the same context. An empty line or Ctrl-D ends the chat.

Examples:
  a2a chat https://agent.example
  a2a chat -a https://agent.example --task-id 4f2c…        shows the task first
  printf 'tell me a joke\\nchickens\\n' | a2a chat -a http://127.0.0.1:8080 -o json")]
pub(crate) struct Options {
    #[arg(value_name = "URL", hide = true)]
    reference: Option<String>,
    /// Id of the task to continue.
    #[arg(long, value_name = "ID")]
    task_id: Option<TaskId>,
    /// Id of the context to continue.
    #[arg(long, value_name = "ID")]
    context_id: Option<ContextId>,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

pub(crate) async fn run(options: Options, screen: &Screen) -> Result<(), Failure> {
    let agent = options.agent.or(options.reference);
    let limit = agent.timeout();
    let client = agent.connect().await?;
    let (mut task, mut context) = (options.task_id, options.context_id);
    if let Some(id) = &task {
        let task = client.get_task(id.clone(), None).await?;
        match screen.json {
            true => screen.value(&task)?,
            false => show::task(screen, &task, true)?,
        }
    }
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = ask(&mut lines, task.is_some()).await? {
        let mut sending = client.send(line);
        if let Some(id) = task.take() {
            sending = sending.task(id);
        }
        if let Some(id) = context.clone() {
            sending = sending.context(id);
        }
        if let Some(limit) = limit {
            sending = sending.deadline(limit);
        }
        let mut updates = sending.follow();
        let mut events = Events::default();
        let mut answered_in = None;
        let outcome = print_events(&mut updates, &mut events, None, screen, |event| {
            if let Event::Message(message) = event {
                answered_in = message.context_id.clone();
            }
        })
        .await;
        events.end(updates.task(), screen)?;
        outcome?;
        screen.deviations();
        context = answered_in.or(context);
        let Some(now) = updates.task() else { continue };
        context = now.context_id.clone().or(context);
        task = now.status.state.is_interrupted().then(|| now.id.clone());
    }
    Ok(())
}

/// Reads the next line, or `None` at an empty line or the end of input.
async fn ask(
    lines: &mut Lines<BufReader<Stdin>>,
    answers: bool,
) -> Result<Option<String>, Failure> {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        let mut out = std::io::stderr();
        let prompt = if answers { "answer> " } else { "> " };
        let _ = write!(out, "{prompt}").and_then(|()| out.flush());
    }
    let line = lines.next_line().await;
    let line = line.map_err(Failure::machine("cannot read standard input"))?;
    Ok(line.filter(|line| !line.trim().is_empty()))
}
