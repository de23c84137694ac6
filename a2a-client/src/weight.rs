//! What the memory of a task weighs.

use std::mem::size_of;

use a2a_types::{Artifact, Content, ContextId, Event, Message, Object, Part, Task, TaskId};
use serde_json::Value;

/// How many bytes of memory a task takes, about, and rather too many than too few.
pub(crate) fn of_task(task: &Task) -> usize {
    let history = task.history.iter().chain(task.status.message.as_deref());
    history.map(of_message).sum::<usize>()
        + task.artifacts.iter().map(of_artifact).sum::<usize>()
        + of_object(task.metadata.as_ref())
        + of_names(&task.id, task.context_id.as_ref())
}

/// How many bytes of memory a task takes more, at most, after an event.
pub(crate) fn of_event(event: &Event) -> usize {
    match event {
        Event::Task(task) => of_task(task),
        Event::Message(message) => of_message(message),
        Event::StatusUpdate(update) => {
            update.status.message.as_deref().map_or(0, of_message)
                + of_names(&update.task_id, update.context_id.as_ref())
        }
        Event::ArtifactUpdate(update) => {
            of_artifact(&update.artifact) + update.task_id.as_str().len()
        }
    }
}

fn of_names(task: &TaskId, context: Option<&ContextId>) -> usize {
    task.as_str().len() + context.map_or(0, |id| id.as_str().len())
}

fn of_message(message: &Message) -> usize {
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
    let tasks = task_id.iter().chain(reference_task_ids);
    let tasks = tasks.map(|id| of_text(id.as_str()));
    let context = context_id.as_ref().map_or(0, |id| of_text(id.as_str()));
    FRAME
        + of_text(message_id.as_str())
        + context
        + of_parts(parts)
        + of_object(metadata.as_ref())
        + of_texts(extensions)
        + tasks.sum::<usize>()
}

fn of_artifact(artifact: &Artifact) -> usize {
    let Artifact {
        artifact_id,
        name,
        description,
        parts,
        metadata,
        extensions,
    } = artifact;
    let texts = name.iter().chain(description).map(|text| of_text(text));
    FRAME
        + of_text(artifact_id.as_str())
        + texts.sum::<usize>()
        + of_parts(parts)
        + of_object(metadata.as_ref())
        + of_texts(extensions)
}

pub(crate) fn of_parts(parts: &[Part]) -> usize {
    let each = |part: &Part| {
        let content = match &part.content {
            Content::Text(text) => text.len(),
            Content::Url(url) => url.len(),
            Content::Raw(bytes) => bytes.as_text().len(),
            Content::Data(value) => of_value(value),
        };
        let texts = part.media_type.iter().chain(&part.filename);
        let texts = texts.map(|text| of_text(text)).sum::<usize>();
        size_of::<Part>() + content + texts + of_object(part.metadata.as_ref())
    };
    parts.iter().map(each).sum()
}

fn of_value(value: &Value) -> usize {
    let inner = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(of_value).sum(),
        Value::Object(object) => of_object(Some(object)),
    };
    size_of::<Value>() + inner
}

fn of_object(object: Option<&Object>) -> usize {
    let members = object.into_iter().flatten();
    // A tree of them has room for more.
    let each = |(name, value): (&String, &Value)| 2 * (of_text(name) + of_value(value));
    members.map(each).sum()
}

fn of_texts(texts: &[String]) -> usize {
    texts.iter().map(|text| of_text(text)).sum()
}

pub(crate) fn of_text(text: &str) -> usize {
    size_of::<String>() + text.len()
}

/// A message or an artifact, and what looking it up among the others costs.
pub(crate) const FRAME: usize = 1024;

#[cfg(test)]
mod tests {
    use a2a_types::{TaskState, TaskStatus, TaskStatusUpdateEvent};

    use super::*;

    #[test]
    fn what_is_held_counts() {
        let mut task = Task::default();
        assert_eq!(of_task(&task), 0);
        let artifact = Artifact {
            parts: vec![Part::text("x".repeat(10_000))],
            ..Artifact::default()
        };
        task.artifacts.push(artifact);
        assert!((11_000..13_000).contains(&of_task(&task)));
        let numbers = Value::from(vec![1; 10_000]);
        task.status.message = Some(Message::agent("hello").into());
        task.history.push(Message {
            parts: vec![Part::data(numbers)],
            ..Message::default()
        });
        assert!(of_task(&task) > 300_000);
        assert!(of_event(&Event::Task(task.clone())) == of_task(&task));
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
        assert!(of_task(&task) >= 20_000);
        task.status = update.status.clone();
        assert!(of_task(&task) > 50_000);
        assert!(of_event(&Event::Message(message)) > 30_000);
        assert!(of_event(&Event::StatusUpdate(update)) > 50_000);
    }
}
