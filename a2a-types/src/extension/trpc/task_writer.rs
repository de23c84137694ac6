//! Writer for the answer to a message in the form of the profile.

use super::portions::portions;
use super::stored_steps::{is_step_message, unmark};
use super::stream_writer::{as_reasoning, base_of, is_failure, status_artifact};
use super::{ObjectType, ResponseMetadata, reasoning_id};
use crate::{
    Artifact, ArtifactId, Message, MessageId, Part, Role, SendMessageResponse, Task, TaskState,
};

/// Choice between a message and its task, for an answer that is a single message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Collapse {
    /// The message alone, as the document specifies.
    One,
    /// The task: the caller wants it.
    Never,
}

/// Returns the answer to a message: the steps since then in the history, the final text in the
/// artifacts. Text before a tool call stands before the call.
///
/// Clients of the framework replay the history, the caller's own messages too, and ignore the message of
/// the status unless the task failed, and the artifacts if it did.
pub fn write_task(task: Task, shows_steps: bool, collapse: Collapse) -> SendMessageResponse {
    let answered = task.history.iter().rposition(|it| it.role == Role::User);
    let since = answered.map_or(0, |place| place + 1);
    let messages = task.history.into_iter().skip(since);
    let mut artifacts = joined(task.artifacts, shows_steps);
    let mut history = Vec::new();
    for mut message in messages {
        let is_step = is_step_message(&message);
        if is_step && !shows_steps {
            continue;
        }
        unmark(&mut message.extensions);
        match is_step {
            false => message.parts = as_reasoning(message.parts),
            true => {
                let id = ResponseMetadata::of(message.metadata.as_ref()).llm_response_id;
                let of_it =
                    |artifact: &mut Artifact| Some(artifact.artifact_id.as_str()) == id.as_deref();
                history.extend(artifacts.extract_if(.., of_it).map(as_message));
            }
        }
        history.push(message);
    }
    match &task.status.message {
        _ if is_failure(task.status.state) => history.extend(artifacts.drain(..).map(as_message)),
        Some(message) if task.status.state.is_settled() => artifacts.push(status_artifact(message)),
        Some(message) => history.push(Message {
            parts: as_reasoning(message.parts.clone()),
            ..Message::clone(message)
        }),
        None => {}
    }
    let mut task = Task {
        history: history.into_iter().flat_map(cut_message).collect(),
        artifacts: artifacts.into_iter().flat_map(cut_artifact).collect(),
        ..task
    };
    for message in &mut task.history {
        message.task_id = Some(task.id.clone());
        message.context_id.clone_from(&task.context_id);
    }
    let alone = collapse == Collapse::One
        && task.status.state == TaskState::Completed
        && task.history.is_empty()
        && task.artifacts.len() == 1;
    match task.artifacts.pop_if(|_| alone) {
        Some(artifact) => SendMessageResponse::Message(Message {
            context_id: task.context_id,
            ..as_message(artifact)
        }),
        None => SendMessageResponse::Task(task),
    }
}

/// Shows the steps of a task as the wire has them: reasoning and answer of a response together.
pub fn show_steps(task: &mut Task) {
    task.artifacts = joined(std::mem::take(&mut task.artifacts), true);
    for message in &mut task.history {
        if is_step_message(message) {
            unmark(&mut message.extensions);
        }
    }
}

/// Joins reasoning and answer of each response.
fn joined(artifacts: Vec<Artifact>, shows_steps: bool) -> Vec<Artifact> {
    let mut joined: Vec<Artifact> = Vec::new();
    for mut artifact in artifacts {
        let reasoning = reasoning_id(&artifact).is_some();
        if reasoning && !shows_steps {
            continue;
        }
        let id = base_of(&artifact);
        unmark(&mut artifact.extensions);
        match joined.iter_mut().find(|it| it.artifact_id == id) {
            Some(known) if reasoning => drop(known.parts.splice(0..0, artifact.parts)),
            Some(known) => {
                let thoughts = std::mem::take(&mut known.parts);
                artifact.parts.splice(0..0, thoughts);
                *known = artifact;
            }
            None => joined.push(Artifact {
                artifact_id: id,
                ..artifact
            }),
        }
    }
    joined.retain(|artifact| !artifact.parts.is_empty());
    for artifact in &mut joined {
        artifact.parts = merge_text(std::mem::take(&mut artifact.parts));
    }
    joined
}

/// Joins consecutive pieces of text.
fn merge_text(parts: Vec<Part>) -> Vec<Part> {
    let mut merged: Vec<Part> = Vec::new();
    for part in parts {
        let same_kind = |last: &&mut Part| {
            Part {
                content: part.content.clone(),
                ..(*last).clone()
            } == part
        };
        match (merged.last_mut().filter(same_kind), part.as_text()) {
            (
                Some(Part {
                    content: crate::Content::Text(text),
                    ..
                }),
                Some(more),
            ) => text.push_str(more),
            _ => merged.push(part),
        }
    }
    merged
}

/// Returns an artifact as a message.
fn as_message(artifact: Artifact) -> Message {
    let id = artifact.artifact_id.as_str();
    let mut message = Message {
        message_id: MessageId::from(id),
        metadata: artifact.metadata,
        extensions: artifact.extensions,
        ..Message::new(Role::Agent, artifact.parts)
    };
    ResponseMetadata::new(ObjectType::ChatCompletion, None, id).add_to(&mut message.metadata);
    message
}

fn cut_message(message: Message) -> Vec<Message> {
    let id = message.message_id.clone();
    let of = |(index, parts): (usize, Vec<Part>)| Message {
        message_id: MessageId::from(numbered(id.as_str(), index)),
        parts,
        ..message.clone()
    };
    portions(message.parts.clone())
        .into_iter()
        .enumerate()
        .map(of)
        .collect()
}

fn cut_artifact(artifact: Artifact) -> Vec<Artifact> {
    let id = artifact.artifact_id.clone();
    let of = |(index, parts): (usize, Vec<Part>)| Artifact {
        artifact_id: ArtifactId::from(numbered(id.as_str(), index)),
        parts,
        ..artifact.clone()
    };
    portions(artifact.parts.clone())
        .into_iter()
        .enumerate()
        .map(of)
        .collect()
}

/// Numbers an id from the second on; the first stays unchanged.
fn numbered(id: &str, index: usize) -> String {
    match index {
        0 => id.to_owned(),
        _ => format!("{id}-{}", index + 1),
    }
}
