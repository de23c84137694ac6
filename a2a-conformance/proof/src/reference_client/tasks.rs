//! Messages of our client, and its ways to follow a task to its end.

use a2a_client::{Client, Error, SendMessageResponse, StreamExt};
use a2a_types::{
    Artifact, Event, Message, Part, SendMessageRequest, Task, TaskPushNotificationConfig, TaskState,
};
use serde_json::{Value, json};

use super::instruction::InstructionLine;
use super::performer::Performer;
use super::reports;
use crate::client::Bug;

/// Returns the message that a line asks for, ready to be sent.
pub(super) fn sending(
    performer: &Performer,
    line: &InstructionLine,
    client: &Client,
) -> a2a_client::SendMessageBuilder {
    let mut sending = client.send(SendMessageRequest::from(message(line)));
    if let Some(extension) = &line.extension {
        sending = sending.extensions([extension]);
    }
    if let Some(length) = line.history {
        sending = sending.history_length(length);
    }
    if !line.modes.is_empty() {
        sending = sending.accepted_output_modes(&line.modes);
    }
    if line.immediately {
        sending = sending.return_immediately();
    }
    if !line.metadata.is_empty() {
        sending = sending.metadata(line.metadata.clone());
    }
    if line.config.is_some() {
        sending = sending.webhook(config(performer, line));
    }
    sending
}

/// Returns the config that a line asks for; one that the client makes itself has a token of its own.
pub(super) fn config(performer: &Performer, line: &InstructionLine) -> TaskPushNotificationConfig {
    let Some(url) = &line.webhook else {
        let mut config = line.config.clone().unwrap_or_default();
        // The instruction names the task by `task`; `config.taskId` only repeats it.
        if line.op == "create_push_config" || config.task_id.as_str().is_empty() {
            config.task_id = line.task.clone().unwrap_or_default().into();
        }
        return config;
    };
    let token = match performer.subject.bug() {
        Some(Bug::OneToken) => uuid::Uuid::nil(),
        Some(Bug::CountsTokens) => uuid::Uuid::from_u128(performer.count()),
        _ => uuid::Uuid::new_v4(),
    };
    TaskPushNotificationConfig {
        task_id: line.task.clone().unwrap_or_default().into(),
        url: url.clone(),
        token: Some(token.to_string()),
        ..TaskPushNotificationConfig::default()
    }
}

/// Sends a message with `returnImmediately`, and then waits until the task ends or is interrupted.
pub(super) async fn send_and_wait(
    performer: &Performer,
    line: &InstructionLine,
    client: &Client,
) -> Result<Value, Error> {
    let answer = sending(performer, line, client)
        .return_immediately()
        .await?;
    let SendMessageResponse::Task(task) = answer else {
        return Ok(reports::response(&answer, line.detail));
    };
    let asks = task.status.state == TaskState::AuthRequired;
    let is_done = task.status.state.ends_stream()
        || performer.has(Bug::FirstAnswer)
        || performer.has(Bug::LeavesAuth) && asks;
    if is_done {
        return Ok(json!({"task": reports::task(&task, line.detail)}));
    }
    if performer.has(Bug::PollStorm) {
        loop {
            let task = client.get_task(task.id.clone(), None).await?;
            if task.status.state.ends_stream() {
                return Ok(json!({"task": reports::task(&task, line.detail)}));
            }
        }
    }
    let mut updates = client.subscribe(task.id.clone()).await?;
    while let Some(event) = updates.next().await {
        event?;
    }
    let last = updates.task().unwrap_or(&task);
    Ok(json!({"task": reports::task(last, line.detail)}))
}

/// Sends a message, and returns the task assembled from its events, or the message that answers it.
pub(super) async fn assemble(
    performer: &Performer,
    line: &InstructionLine,
    client: &Client,
) -> Result<Value, Error> {
    let mut updates = sending(performer, line, client).follow();
    let mut chunks = Vec::new();
    while let Some(event) = updates.next().await {
        match event? {
            Event::Message(message) => {
                return Ok(reports::response(
                    &SendMessageResponse::Message(message),
                    line.detail,
                ));
            }
            Event::ArtifactUpdate(update) => chunks.push(update.artifact),
            _ => {}
        }
    }
    let reconnected = updates.reconnections() > 0;
    let mut task = updates.task().cloned().unwrap_or_default();
    if performer.has(Bug::Replaces) {
        replace(&mut task, &chunks);
    }
    if performer.has(Bug::Repeats) && reconnected {
        task.artifacts.iter_mut().for_each(repeat);
    }
    Ok(json!({"task": reports::task(&task, line.detail)}))
}

/// Replaces the parts of each artifact by the parts of its last chunk.
fn replace(task: &mut Task, chunks: &[Artifact]) {
    for artifact in &mut task.artifacts {
        let mut last = chunks.iter().rev();
        if let Some(last) = last.find(|chunk| chunk.artifact_id == artifact.artifact_id) {
            artifact.parts.clone_from(&last.parts);
        }
    }
}

fn repeat(artifact: &mut Artifact) {
    let again: Vec<Part> = artifact.parts.first().cloned().into_iter().collect();
    artifact.parts.extend(again);
}

fn message(line: &InstructionLine) -> Message {
    let mut message = Message::user(line.text.clone().unwrap_or_else(|| "hello".to_owned()));
    if let Some(parts) = &line.parts {
        message.parts.clone_from(parts);
    }
    message.task_id = line.task.clone().map(Into::into);
    message.context_id = line.context.clone().map(Into::into);
    message.reference_task_ids.clone_from(&line.references);
    message
}
