//! Estimates of the bytes of memory that tasks and their parts take, too many rather than too few.
//!
//! Stores and clients use them to bound what a peer can make them keep.

use serde_json::Value;

use crate::{Artifact, Content, Event, Message, Object, Part, SendMessageRequest, Task};

/// Estimates the bytes of an event.
pub fn size_of_event(event: &Event) -> usize {
    let content = match event {
        Event::Task(task) => size_of_task(task),
        Event::Message(message) => size_of_message(message),
        Event::StatusUpdate(update) => {
            update.status.message.as_deref().map_or(0, size_of_message)
                + object(update.metadata.as_ref())
        }
        Event::ArtifactUpdate(update) => {
            artifact(&update.artifact) + object(update.metadata.as_ref())
        }
    };
    FRAME + content
}

/// Estimates the bytes of a task.
pub fn size_of_task(task: &Task) -> usize {
    let messages = task.history.iter().chain(task.status.message.as_deref());
    let artifacts = task.artifacts.iter().map(|it| FRAME + artifact(it));
    let context = task.context_id.as_ref().map_or(0, |id| id.as_str().len());
    FRAME
        + task.id.as_str().len()
        + context
        + messages.map(size_of_message).sum::<usize>()
        + artifacts.sum::<usize>()
        + object(task.metadata.as_ref())
}

/// Estimates the bytes of a message.
pub fn size_of_message(message: &Message) -> usize {
    let Message {
        message_id,
        context_id,
        task_id,
        role: _,
        parts,
        metadata,
        extensions,
        reference_task_ids,
    } = message;
    let context = context_id.as_ref().map_or(0, |id| id.as_str().len());
    let task = task_id.as_ref().map_or(0, |id| id.as_str().len());
    FRAME
        + message_id.as_str().len()
        + context
        + task
        + size_of_parts(parts)
        + object(metadata.as_ref())
        + extensions.iter().map(|uri| text(uri)).sum::<usize>()
        + reference_task_ids
            .iter()
            .map(|id| text(id.as_str()))
            .sum::<usize>()
}

/// Estimates the bytes of a request to send a message.
pub fn size_of_request(request: &SendMessageRequest) -> usize {
    size_of_message(&request.message) + object(request.metadata.as_ref())
}

/// Estimates the bytes of the parts of a message or an artifact.
pub fn size_of_parts(parts: &[Part]) -> usize {
    parts.iter().map(part).sum()
}

fn artifact(artifact: &Artifact) -> usize {
    let Artifact {
        artifact_id,
        name,
        description,
        parts,
        metadata,
        extensions,
    } = artifact;
    artifact_id.as_str().len()
        + name
            .iter()
            .chain(description)
            .map(String::len)
            .sum::<usize>()
        + size_of_parts(parts)
        + object(metadata.as_ref())
        + extensions.iter().map(|uri| text(uri)).sum::<usize>()
}

fn part(part: &Part) -> usize {
    let content = match &part.content {
        Content::Text(text) | Content::Url(text) => text.len(),
        Content::Raw(raw) => raw.as_text().len(),
        Content::Data(data) => value(data),
    };
    let texts = part.media_type.iter().chain(&part.filename);
    PART + content + texts.map(String::len).sum::<usize>() + object(part.metadata.as_ref())
}

/// Estimates the heap of a value: an array that has just grown is half empty, and so are the nodes of a map.
fn value(value: &Value) -> usize {
    let inner = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => ALLOCATION + text.len(),
        Value::Array(values) => {
            let room = values.len() * size_of::<Value>();
            room + values.iter().map(self::value).sum::<usize>()
        }
        Value::Object(members) => object(Some(members)),
    };
    size_of::<Value>() + inner
}

fn object(object: Option<&Object>) -> usize {
    let members = object.into_iter().flatten();
    members
        .map(|(name, member)| MEMBER + ALLOCATION + name.len() + value(member))
        .sum()
}

fn text(text: &str) -> usize {
    size_of::<String>() + text.len()
}

/// Bytes of an event, a message or an artifact beside its content.
const FRAME: usize = 256;
/// Bytes of a member of a map beside its value and the text of its name: the handle of the name, and the
/// empty place beside it.
const MEMBER: usize = 2 * size_of::<String>() + size_of::<Value>();
/// Bytes of a text on the heap beside its content.
const ALLOCATION: usize = 16;
/// Bytes of a part beside its content.
const PART: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TaskState, TaskStatus, TaskStatusUpdateEvent};

    #[test]
    fn what_is_held_counts() {
        let mut task = Task::default();
        assert_eq!(size_of_task(&task), FRAME);
        let artifact = Artifact {
            parts: vec![Part::text("x".repeat(10_000))],
            ..Artifact::default()
        };
        task.artifacts.push(artifact);
        assert!((10_500..11_000).contains(&size_of_task(&task)));
        let numbers = Value::from(vec![1; 10_000]);
        task.status.message = Some(Message::agent("hello").into());
        task.history.push(Message {
            parts: vec![Part::data(numbers)],
            ..Message::default()
        });
        assert!(size_of_task(&task) > 300_000);
        assert_eq!(
            size_of_event(&Event::Task(task.clone())),
            FRAME + size_of_task(&task)
        );
    }

    #[test]
    fn names_count() {
        let long = "x".repeat(10_000);
        let message = Message {
            message_id: long.clone().into(),
            context_id: Some(long.clone().into()),
            task_id: Some(long.clone().into()),
            ..Message::default()
        };
        let update = TaskStatusUpdateEvent {
            task_id: long.clone().into(),
            context_id: Some(long.clone().into()),
            status: TaskStatus {
                message: Some(message.clone().into()),
                ..TaskState::Working.into()
            },
            metadata: None,
        };
        let mut task = Task::submitted(long.clone().into(), long.into());
        assert!(size_of_task(&task) >= 20_000);
        task.status = update.status.clone();
        assert!(size_of_task(&task) > 50_000);
        assert!(size_of_event(&Event::Message(message)) > 30_000);
        assert!(size_of_event(&Event::StatusUpdate(update)) > 30_000);
    }
}
