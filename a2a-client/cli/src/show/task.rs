//! Output of tasks and webhooks.

use std::collections::HashSet;

use a2a_client::credentials::shown_text;
use a2a_client::terminal::escape_line;
use a2a_types::{Event, ListTasksResponse, Role, Task, TaskPushNotificationConfig};

use super::{Events, Screen, bold, dim, line, parts, state};
use crate::exit::Failure;

/// Prints a task without its history; for programs, all of it.
pub(crate) fn task(screen: &Screen, task: &Task) -> Result<(), Failure> {
    let event = Event::Task(task.clone());
    if screen.json {
        return screen.value(&event);
    }
    let mut events = Events::default();
    events.show(&event, screen)
}

/// Prints the history, without the message of the status, which comes with the task.
pub(crate) fn history(screen: &Screen, task: &Task) -> Result<(), Failure> {
    if screen.json {
        return Ok(());
    }
    let with_status = task.status.message.as_ref();
    let with_status = with_status.map(|message| &message.message_id);
    let mut shown = HashSet::new();
    for message in &task.history {
        let id = &message.message_id;
        if Some(id) == with_status || !id.as_str().is_empty() && !shown.insert(id) {
            continue;
        }
        let who = match message.role {
            Role::User => "you",
            _ => "agent",
        };
        screen.line(&format!("{} {}", dim(who), parts(&message.parts)))?;
    }
    Ok(())
}

/// Prints a webhook without its secrets.
pub(crate) fn webhook(screen: &Screen, config: &TaskPushNotificationConfig) -> Result<(), Failure> {
    if screen.json {
        return screen.value(config);
    }
    let known = [
        ("a token", config.token.is_some()),
        ("credentials", config.authentication.is_some()),
    ];
    let known: Vec<_> = known
        .iter()
        .filter(|(_, is)| *is)
        .map(|(name, _)| *name)
        .collect();
    let known = match known.is_empty() {
        true => String::new(),
        false => dim(&format!("  (with {})", known.join(" and "))),
    };
    let id = bold(&escape_line(config.id.as_str()));
    screen.line(&format!("{id}  {}{known}", line(&shown_text(&config.url))))
}

/// Prints tasks, one per line.
pub(crate) fn tasks(screen: &Screen, list: &ListTasksResponse) -> Result<(), Failure> {
    for task in &list.tasks {
        if screen.json {
            screen.value(&Event::Task(task.clone()))?;
            continue;
        }
        let since = task.status.timestamp.map(|time| time.to_string());
        let since = dim(&since.unwrap_or_default());
        let said = task.status.message.as_ref().map(|message| message.text());
        let said = said.or_else(|| Some(task.history.first()?.text()));
        let said = line(&said.unwrap_or_default());
        let id = bold(&escape_line(task.id.as_str()));
        screen.line(&format!(
            "{id}  {since}  {}  {said}",
            state(task.status.state)
        ))?;
    }
    Ok(())
}
