//! `a2a chat`.

use std::io::IsTerminal;

use a2a_client::{Event, TaskEventStream};
use a2a_types::{ContextId, TaskId};
use clap::Args;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tokio::io::{AsyncBufReadExt, BufReader, Stdin};

use super::send::print_events;
use crate::agent::AgentArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::show::{self, Events, Screen, note};

/// Agent to talk with, and the task or context to continue.
#[derive(Args)]
#[command(after_help = "\
Every line is a message. While the agent waits for input, the next line continues its task; otherwise it starts a new \
task in the same context. Ctrl-C leaves the task that is running, and an empty line or Ctrl-D ends the chat. In a \
terminal lines can be edited, and the arrow keys bring back earlier ones.

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
    let client = unless_interrupted(agent.connect()).await?;
    let (mut task, mut context) = (options.task_id, options.context_id);
    if let Some(id) = &task {
        let getting = async { Ok(client.get_task(id.clone(), None).await?) };
        let task = unless_interrupted(getting).await?;
        match screen.json {
            true => screen.value(&task)?,
            false => show::task(screen, &task, true)?,
        }
    }
    let mut input = Input::new(screen)?;
    while let Some(line) = input.line(task.is_some()).await? {
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
        let printing = print_events(&mut updates, &mut events, None, screen, |event| {
            if let Event::Message(message) = event {
                answered_in = message.context_id.clone();
            }
        });
        let outcome = unless_interrupted(printing).await;
        events.end(updates.task(), screen)?;
        match outcome {
            Err(Failure::Interrupted) => leave(&updates, &agent, &input)?,
            outcome => outcome?,
        }
        screen.deviations();
        context = answered_in.or(context);
        let Some(now) = updates.task() else { continue };
        context = now.context_id.clone().or(context);
        task = now.status.state.is_interrupted().then(|| now.id.clone());
    }
    Ok(())
}

/// Awaits a future, and fails at Ctrl-C.
async fn unless_interrupted<T>(
    future: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        () = interrupt::first() => Err(Failure::Interrupted),
        outcome = future => outcome,
    }
}

/// Prints how to continue the task that was left. Errors: without a terminal the chat ends here.
fn leave(updates: &TaskEventStream, agent: &AgentArgs, input: &Input) -> Result<(), Failure> {
    if let Some(task) = updates.task() {
        let (agent, id) = (agent.as_option(), &task.id);
        note(&format!(
            "the task continues: follow it with a2a task subscribe {agent} {id}, or end it with a2a task cancel {agent} {id}"
        ));
    }
    match input {
        Input::Terminal(_) => Ok(()),
        Input::Pipe(_) => Err(Failure::Interrupted),
    }
}

/// Source of the messages.
enum Input {
    /// The editor is away while it reads a line.
    Terminal(Option<Box<DefaultEditor>>),
    Pipe(tokio::io::Lines<BufReader<Stdin>>),
}

impl Input {
    fn new(screen: &Screen) -> Result<Self, Failure> {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if !is_terminal || screen.json {
            return Ok(Self::Pipe(BufReader::new(tokio::io::stdin()).lines()));
        }
        let editor = DefaultEditor::new().map_err(Failure::machine("the terminal"))?;
        Ok(Self::Terminal(Some(Box::new(editor))))
    }

    /// Reads the next line, or `None` at an empty line or the end of input.
    async fn line(&mut self, answers: bool) -> Result<Option<String>, Failure> {
        let line = match self {
            Self::Pipe(lines) => {
                let reading = async {
                    let line = lines.next_line().await;
                    line.map_err(Failure::machine("cannot read standard input"))
                };
                unless_interrupted(reading).await?
            }
            Self::Terminal(place) => {
                let Some(mut editor) = place.take() else {
                    return Ok(None);
                };
                let prompt = if answers { "answer> " } else { "> " };
                let reading = tokio::task::spawn_blocking(move || {
                    let line = editor.readline(prompt);
                    if let Ok(line) = &line {
                        // A line that is not remembered is not missed.
                        let _ = editor.add_history_entry(line.as_str());
                    }
                    (editor, line)
                });
                // A terminal without a raw mode interrupts by a signal.
                let reading = async {
                    reading
                        .await
                        .map_err(Failure::machine("cannot read the terminal"))
                };
                let (editor, line) = unless_interrupted(reading).await?;
                *place = Some(editor);
                match line {
                    Ok(line) => Some(line),
                    Err(ReadlineError::Eof) => None,
                    Err(ReadlineError::Interrupted) => return Err(Failure::Interrupted),
                    Err(error) => return Err(Failure::machine("cannot read the terminal")(error)),
                }
            }
        };
        Ok(line.filter(|line| !line.trim().is_empty()))
    }
}
