//! `a2a task`.

use std::path::PathBuf;

use a2a_types::{ErrorKind, ListTasksRequest, TaskState, Timestamp};
use clap::{Args, Subcommand};

use super::one_task::OneTask;
use super::push_config::PushConfigCommand;
use super::send::print_events;
use super::wait::WaitOptions;
use crate::agent::AgentArgs;
use crate::failure::Failure;
use crate::files::OutDirectory;
use crate::show::{self, Events, Screen, note};

/// Commands on tasks.
#[derive(Subcommand)]
pub(crate) enum TaskCommand {
    /// Show a task: its state, artifacts and history.
    Get(Get),
    /// List tasks.
    List(List),
    /// Ask the agent to stop working on a task.
    Cancel(OneTask),
    /// Follow a task until it ends.
    Subscribe(Subscribe),
    /// Save the artifacts of a task as files.
    Download(Download),
    /// Manage the push notification configs of a task: the URLs that the agent notifies.
    #[command(subcommand)]
    PushConfig(PushConfigCommand),
}

/// Task to show.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a task get -a https://agent.example 4f2c…
  a2a task get -a https://agent.example 4f2c… --history 10
  a2a task get -a https://agent.example 4f2c… --wait --timeout 5m")]
pub(crate) struct Get {
    /// Show the last N messages of the history, too.
    #[arg(long, value_name = "N")]
    history: Option<u32>,
    #[command(flatten)]
    wait: WaitOptions,
    #[command(flatten)]
    one: OneTask,
}

/// Tasks to list.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a task list -a https://agent.example
  a2a task list -a https://agent.example --status working --since 2026-11-21T00:00:00Z
  a2a task list -a https://agent.example --all -o json | jq -r .tasks[].id")]
pub(crate) struct List {
    #[arg(value_name = "URL", hide = true)]
    words: Vec<String>,
    /// List only tasks of this context.
    #[arg(long, value_name = "ID")]
    context_id: Option<String>,
    /// List only tasks in this state, like `working` or `input-required`.
    #[arg(long, value_name = "STATE", value_parser = read_state)]
    status: Option<TaskState>,
    /// List only tasks whose status changed at this time or later, like `2026-11-21T00:00:00Z` (RFC 3339).
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Tasks of a page, 1 to 100.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    page_size: Option<u32>,
    /// Page to list: the token that the page before named.
    #[arg(long, value_name = "TOKEN")]
    page_token: Option<String>,
    /// List all pages.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    agent: AgentArgs,
}

/// Task to follow.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a task subscribe -a https://agent.example 4f2c…               shows the task once it has ended
  a2a task subscribe -a https://agent.example 4f2c… --stream      shows its events as they happen")]
pub(crate) struct Subscribe {
    /// Print events as they happen; with `-o json` one on each line.
    #[arg(long)]
    stream: bool,
    #[command(flatten)]
    one: OneTask,
}

/// Task whose artifacts are saved.
#[derive(Args)]
pub(crate) struct Download {
    /// Directory of the files; no file is overwritten.
    #[arg(long, value_name = "DIR", default_value = ".")]
    output_dir: PathBuf,
    #[command(flatten)]
    one: OneTask,
}

impl TaskCommand {
    pub(crate) fn agent(&self) -> &AgentArgs {
        match self {
            Self::Get(get) => &get.one.agent,
            Self::List(list) => &list.agent,
            Self::Cancel(one) => &one.agent,
            Self::Subscribe(subscribe) => &subscribe.one.agent,
            Self::Download(download) => &download.one.agent,
            Self::PushConfig(command) => command.agent(),
        }
    }
}

pub(crate) async fn run(command: TaskCommand, screen: &Screen) -> Result<(), Failure> {
    match command {
        TaskCommand::Get(options) => get(options, screen).await,
        TaskCommand::List(options) => list(options, screen).await,
        TaskCommand::Cancel(one) => cancel(one, screen).await,
        TaskCommand::Subscribe(options) => subscribe(options, screen).await,
        TaskCommand::Download(options) => download(options, screen).await,
        TaskCommand::PushConfig(command) => super::push_config::run(command, screen).await,
    }
}

async fn get(options: Get, screen: &Screen) -> Result<(), Failure> {
    let (agent, id) = options.one.agent_and_task()?;
    let client = agent.connect().await?;
    let mut task = client.get_task(id, options.history).await?;
    if options.wait.wait {
        let waited = options.wait.until_settled(&client, task, options.history);
        task = waited.await?;
    }
    match screen.json {
        true => screen.value(&task)?,
        false => show::task(screen, &task, options.history.is_some() || screen.verbose)?,
    }
    show::outcome(screen, &task, &agent.as_option())
}

async fn list(mut options: List, screen: &Screen) -> Result<(), Failure> {
    options.agent.take_from(&mut options.words);
    if let Some(word) = options.words.first() {
        return Err(Failure::usage(format!("unexpected `{word}`: see --help")));
    }
    let client = options.agent.connect().await?;
    let mut request = ListTasksRequest {
        context_id: options.context_id.map(Into::into),
        status: options.status,
        status_timestamp_after: options.since,
        page_size: options.page_size,
        page_token: options.page_token.unwrap_or_default(),
        ..ListTasksRequest::default()
    };
    let mut list = client.list_tasks(request.clone()).await?;
    while options.all && !list.next_page_token.is_empty() {
        let token = std::mem::take(&mut list.next_page_token);
        if token == request.page_token {
            return Err(Failure::usage(
                "the agent names the same page again: its list has no end",
            ));
        }
        request.page_token = token;
        let page = client.list_tasks(request.clone()).await?;
        list.tasks.extend(page.tasks);
        list.next_page_token = page.next_page_token;
    }
    match screen.json {
        true => screen.value(&list),
        false => show::tasks(screen, &list),
    }
}

fn read_state(text: &str) -> Result<TaskState, String> {
    let name = text.to_ascii_uppercase().replace(['-', ' '], "_");
    let name = format!("TASK_STATE_{}", name.trim_start_matches("TASK_STATE_"));
    let states = [
        TaskState::Submitted,
        TaskState::Working,
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Canceled,
        TaskState::InputRequired,
        TaskState::Rejected,
        TaskState::AuthRequired,
    ];
    let known = states.iter().find(|state| state.as_str() == name);
    known.copied().ok_or_else(|| {
        "expected submitted, working, completed, failed, canceled, input-required, rejected or auth-required".to_owned()
    })
}

async fn cancel(one: OneTask, screen: &Screen) -> Result<(), Failure> {
    let (agent, id) = one.agent_and_task()?;
    let task = agent.connect().await?.cancel_task(id).await?;
    match screen.json {
        true => screen.value(&task),
        false => show::task(screen, &task, screen.verbose),
    }
}

async fn subscribe(options: Subscribe, screen: &Screen) -> Result<(), Failure> {
    let (agent, id) = options.one.agent_and_task()?;
    let client = agent.connect().await?;
    if let Some(card) = client.card()
        && card.capabilities.streaming != Some(true)
    {
        return Err(Failure::Refused {
            kind: ErrorKind::UnsupportedOperation,
            problem: "the agent does not stream, as its card says".to_owned(),
            hint: format!("poll: a2a task get {} --wait {id}", agent.as_option()),
        });
    }
    let mut updates = client.subscribe(id).await?;
    let mut events = Events::default();
    let quiet = !options.stream;
    let outcome = match quiet {
        true => last_event(&mut updates).await,
        false => print_events(&mut updates, &mut events, None, screen, |_| {}).await,
    };
    if !quiet {
        events.end(updates.task(), screen)?;
    }
    outcome?;
    let Some(task) = updates.task() else {
        return Ok(());
    };
    if quiet {
        match screen.json {
            true => screen.value(task)?,
            false => show::task(screen, task, screen.verbose)?,
        }
    }
    show::outcome(screen, task, &agent.as_option())
}

/// Reads a stream to its end.
async fn last_event(updates: &mut a2a_client::TaskEventStream) -> Result<(), Failure> {
    use a2a_client::StreamExt;
    while let Some(event) = updates.next().await {
        event?;
    }
    Ok(())
}

async fn download(options: Download, screen: &Screen) -> Result<(), Failure> {
    let (agent, id) = options.one.agent_and_task()?;
    let task = agent.connect().await?.get_task(id, None).await?;
    let saved = OutDirectory::new(options.output_dir).save_all(&task.artifacts)?;
    if screen.json {
        return screen.value(&task);
    }
    for path in &saved {
        screen.field("Saved", &path.display().to_string())?;
    }
    if saved.is_empty() {
        note("the task has no artifacts");
    }
    let state = show::state_name(task.status.state);
    screen.field("Task", task.id.as_str())?;
    if let Some(context) = &task.context_id {
        screen.field("Context", context.as_str())?;
    }
    screen.field("State", state)
}
