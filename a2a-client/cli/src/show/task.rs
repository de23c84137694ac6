//! Output of tasks, messages and push notification configs.

use std::collections::HashSet;

use a2a_client::credentials::shown_text;
use a2a_types::extension::question::AnswerForm;
use a2a_types::{
    Artifact, ContextId, ListTasksResponse, Message, Role, Task, TaskId,
    TaskPushNotificationConfig, TaskState, TaskStatus,
};

use super::{Screen, note, state_name};
use crate::failure::Failure;

/// Prints a task, with its history if that is wanted.
pub(crate) fn task(screen: &Screen, task: &Task, with_history: bool) -> Result<(), Failure> {
    ids(screen, Some(&task.id), task.context_id.as_ref())?;
    status(screen, &task.status)?;
    let mut artifacts = task.artifacts.iter();
    artifacts.try_for_each(|one| artifact(screen, one))?;
    if let Some(usage) = task.usage() {
        let text = format!("{} in, {} out", usage.input_tokens, usage.output_tokens);
        screen.field("Tokens", &text)?;
    }
    if screen.verbose
        && let Some(metadata) = &task.metadata
    {
        screen.metadata(metadata)?;
    }
    if with_history {
        return history(screen, task);
    }
    // Some agents have their answer in the history alone.
    let has_answer = !task.artifacts.is_empty() || task.status.message.is_some();
    let mut answers = task.answer_messages().filter(|_| !has_answer);
    answers.try_for_each(|answer| spoken(screen, "Message", answer))
}

/// Prints an artifact.
pub(super) fn artifact(screen: &Screen, artifact: &Artifact) -> Result<(), Failure> {
    let id = artifact.artifact_id.as_str();
    screen.field("Artifact", artifact.name.as_deref().unwrap_or(id))?;
    if screen.verbose {
        screen.field("Artifact id", id)?;
    }
    screen.parts(&artifact.parts)
}

/// Prints who speaks, and the parts of the message.
fn spoken(screen: &Screen, label: &str, message: &Message) -> Result<(), Failure> {
    let speaker = match message.role {
        Role::User => "user",
        _ => "agent",
    };
    screen.field(label, speaker)?;
    if screen.verbose {
        screen.field("Message id", message.message_id.as_str())?;
    }
    screen.parts(&message.parts)
}

/// Prints the ids of a task and of its context.
pub(super) fn ids(
    screen: &Screen,
    task: Option<&TaskId>,
    context: Option<&ContextId>,
) -> Result<(), Failure> {
    if let Some(task) = task {
        screen.field("Task", task.as_str())?;
    }
    match context {
        Some(context) => screen.field("Context", context.as_str()),
        None => Ok(()),
    }
}

/// Prints a status: the state, its time, and the agent's message.
pub(super) fn status(screen: &Screen, status: &TaskStatus) -> Result<(), Failure> {
    screen.field("State", state_name(status.state))?;
    if screen.verbose
        && let Some(time) = status.timestamp
    {
        screen.field("Time", &time.to_string())?;
    }
    let Some(says) = &status.message else {
        return Ok(());
    };
    spoken(screen, "Message", says)?;
    match AnswerForm::of(says) {
        Some(AnswerForm::Choices(choices)) => screen.field("Choices", &choices.join(" | ")),
        _ => Ok(()),
    }
}

/// Prints the history, each message once, without that of the status.
fn history(screen: &Screen, task: &Task) -> Result<(), Failure> {
    let with_status = task.status.message.as_ref();
    let with_status = with_status.map(|message| &message.message_id);
    let mut shown = HashSet::new();
    for message in &task.history {
        let id = &message.message_id;
        if Some(id) == with_status || !id.as_str().is_empty() && !shown.insert(id) {
            continue;
        }
        spoken(screen, "History", message)?;
    }
    Ok(())
}

/// Prints a message that an agent answered with.
pub(crate) fn message(screen: &Screen, message: &Message) -> Result<(), Failure> {
    ids(
        screen,
        message.task_id.as_ref(),
        message.context_id.as_ref(),
    )?;
    spoken(screen, "Message", message)?;
    match &message.metadata {
        Some(metadata) if screen.verbose => screen.metadata(metadata),
        _ => Ok(()),
    }
}

/// Prints the command that goes on with a task of `agent`, which is an option, and names an outcome other than success on
/// standard error.
pub(crate) fn outcome(screen: &Screen, task: &Task, agent: &str) -> Result<(), Failure> {
    let (state, id) = (task.status.state, &task.id);
    if !matches!(
        state,
        TaskState::Completed | TaskState::Submitted | TaskState::Working
    ) {
        note(&format!("warning: the task is {}", state_name(state)));
    }
    if state == TaskState::AuthRequired {
        note(&format!(
            "authenticate as the agent asks, and follow the task: a2a task subscribe {agent} {id}"
        ));
    }
    let next = match state {
        state if state.is_interrupted() => format!("send {agent} --task-id {id} \"<reply>\""),
        state if state.is_terminal() => match &task.context_id {
            Some(context) => format!("send {agent} --context-id {context} \"<message>\""),
            None => return Ok(()),
        },
        _ => format!("task get {agent} --wait {id}"),
    };
    match screen.json {
        true if state.is_interrupted() => note(&format!("continue with: a2a {next}")),
        true => {}
        false => screen.field("Next", &format!("a2a {next}"))?,
    }
    Ok(())
}

/// Prints a push notification config without its secrets.
pub(crate) fn push_config(
    screen: &Screen,
    config: &TaskPushNotificationConfig,
) -> Result<(), Failure> {
    ids(screen, Some(&config.task_id), None)?;
    screen.field("Push config", config.id.as_str())?;
    screen.field("URL", &shown_text(&config.url))?;
    let known = [
        ("a token", config.token.is_some()),
        ("credentials", config.authentication.is_some()),
    ];
    let known = known.iter().filter(|(_, is)| *is).map(|(name, _)| *name);
    match known.collect::<Vec<_>>() {
        empty if empty.is_empty() => Ok(()),
        known => screen.field("Authentication", &known.join(" and ")),
    }
}

/// Prints a page of tasks, each with its first words.
pub(crate) fn tasks(screen: &Screen, list: &ListTasksResponse) -> Result<(), Failure> {
    for task in &list.tasks {
        ids(screen, Some(&task.id), task.context_id.as_ref())?;
        screen.field("State", state_name(task.status.state))?;
        if let Some(time) = task.status.timestamp {
            screen.field("Time", &time.to_string())?;
        }
        let said = task.status.message.as_ref().map(|message| message.text());
        let said = said.or_else(|| Some(task.history.first()?.text()));
        if let Some(said) = said {
            let words: String = said.chars().take(MAX_WORDS).collect();
            screen.field("Message", &words)?;
        }
    }
    screen.field(
        "Tasks",
        &format!("{} of {}", list.tasks.len(), list.total_size),
    )?;
    match list.next_page_token.as_str() {
        "" => Ok(()),
        token => screen.field("Next page", token),
    }
}

/// Characters of a task's message in a list.
const MAX_WORDS: usize = 200;
