//! `a2a chat`.

use std::io::{IsTerminal, Write};

use a2a_client::{Event, StreamExt};
use a2a_types::{ContextId, TaskId, TaskState};
use clap::Args;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};

use crate::agent::AgentArgs;
use crate::exit::{Code, Failure};
use crate::show::{self, Events, Screen};

/// Agent to talk with, and the task or conversation to continue.
#[derive(Args)]
#[command(after_help = "\
Every line is a message. While the agent waits for input, the next line continues its task; otherwise it starts
a new task in the same conversation. An empty line or Ctrl-D ends the chat.

Examples:
  a2a chat https://agent.example
  a2a chat https://agent.example --task 4f2c…            shows the task first
  printf 'tell me a joke\\nchickens\\n' | a2a chat http://127.0.0.1:8080 --json")]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Id of the task to continue.
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// Id of the conversation (`contextId`) to continue.
    #[arg(long, value_name = "ID")]
    context: Option<ContextId>,
}

pub(crate) async fn run(options: Options, screen: &Screen) -> Result<Code, Failure> {
    let limit = options.agent.timeout();
    let client = options.agent.connect().await?;
    let (mut task, mut context) = (options.task, options.context);
    let mut code = Code::Done;
    if let Some(id) = &task {
        let task = client.get_task(id.clone(), None).await?;
        show::history(screen, &task)?;
        show::task(screen, &task)?;
    }
    let mut events = Events::default();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = ask(&mut lines, task.is_some()).await? {
        code = Code::Done;
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
        while let Some(event) = updates.next().await {
            match event {
                Ok(event) => {
                    if let Event::Message(message) = &event {
                        context = message.context_id.clone().or(context);
                    }
                    events.show(&event, screen)?;
                }
                Err(error) => {
                    events.close(screen)?;
                    return Err(error.into());
                }
            }
        }
        events.close(screen)?;
        screen.deviations();
        let Some(now) = updates.task() else { continue };
        context = now.context_id.clone().or(context);
        code = Code::of(now.status.state);
        let waits = [TaskState::InputRequired, TaskState::AuthRequired];
        task = waits.contains(&now.status.state).then(|| now.id.clone());
    }
    Ok(code)
}

/// Reads the next line, or `None` at an empty line or the end of input.
async fn ask(
    lines: &mut Lines<BufReader<Stdin>>,
    answers: bool,
) -> Result<Option<String>, Failure> {
    if std::io::stdin().is_terminal() {
        let mut out = anstream::stderr();
        let prompt = if answers { "answer> " } else { "> " };
        let _ = write!(out, "{prompt}").and_then(|()| out.flush());
    }
    let line = lines.next_line().await;
    let line = line.map_err(Failure::machine("cannot read standard input"))?;
    Ok(line.filter(|line| !line.trim().is_empty()))
}
