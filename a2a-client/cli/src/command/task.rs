//! `a2a get`, `list`, `cancel` and `subscribe`.

use std::path::PathBuf;

use a2a_types::{ListTasksRequest, TaskState, Timestamp};
use clap::Args;

use super::send::follow;
use crate::agent::AgentArgs;
use crate::exit::{Code, Failure};
use crate::files::OutDirectory;
use crate::show::{self, Screen, note};

/// Task to show, and how much of its history.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a get https://agent.example 4f2c… --history 10
  a2a get https://agent.example 4f2c… --out answers/      saves the artifacts")]
pub(crate) struct Get {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Id of the task.
    task: String,
    /// Print the last N messages of the task's history after the answer.
    #[arg(long, value_name = "N")]
    history: Option<u32>,
    /// Save artifacts as files in this directory; no file is overwritten.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) async fn get(options: Get, screen: &Screen) -> Result<Code, Failure> {
    let client = options.agent.connect().await?;
    let task = client.get_task(options.task, options.history).await?;
    show::task(screen, &task)?;
    if options.history.is_some() {
        show::history(screen, &task)?;
    }
    if let Some(directory) = &options.out {
        OutDirectory::new(directory).save_all(&task.artifacts)?;
    }
    Ok(Code::Done)
}

/// Tasks to list.
#[derive(Args)]
#[command(after_help = "\
Examples:
  a2a list https://agent.example
  a2a list https://agent.example --state working --since 2026-11-21T00:00:00Z
  a2a list https://agent.example --all --json | jq -r .task.id")]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// List only tasks of this conversation (`contextId`).
    #[arg(long, value_name = "ID")]
    context: Option<String>,
    /// List only tasks in this state, like `working` or `input-required`.
    #[arg(long, value_parser = read_state)]
    state: Option<TaskState>,
    /// List only tasks whose status changed at this time or later, like `2026-11-21T00:00:00Z` (RFC 3339).
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Number of tasks to list, 1 to 100; with --all, the size of a page.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: Option<u32>,
    /// List all tasks, page by page.
    #[arg(long)]
    all: bool,
}

pub(crate) async fn list(options: List, screen: &Screen) -> Result<Code, Failure> {
    let client = options.agent.connect().await?;
    let mut request = ListTasksRequest {
        context_id: options.context.map(Into::into),
        status: options.state,
        status_timestamp_after: options.since,
        page_size: options.limit,
        ..ListTasksRequest::default()
    };
    loop {
        let list = client.list_tasks(request.clone()).await?;
        show::tasks(screen, &list)?;
        if list.next_page_token.is_empty() {
            return Ok(Code::Done);
        }
        if !options.all {
            note(&format!(
                "{} of {} tasks; --all lists the others",
                list.tasks.len(),
                list.total_size
            ));
            return Ok(Code::Done);
        }
        request.page_token = list.next_page_token;
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

/// Task to cancel.
#[derive(Args)]
pub(crate) struct Cancel {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Id of the task.
    task: String,
}

pub(crate) async fn cancel(options: Cancel, screen: &Screen) -> Result<Code, Failure> {
    let client = options.agent.connect().await?;
    let task = client.cancel_task(options.task).await?;
    show::task(screen, &task)?;
    Ok(Code::Done)
}

/// Task to follow.
#[derive(Args)]
pub(crate) struct Subscribe {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Id of the task.
    task: String,
    /// Save artifacts as files in this directory; no file is overwritten.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) async fn subscribe(options: Subscribe, screen: &Screen) -> Result<Code, Failure> {
    let client = options.agent.connect().await?;
    let updates = client.subscribe(options.task).await?;
    follow(updates, options.out.as_deref(), None, screen).await
}
