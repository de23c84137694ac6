//! What was got, in the few words that every client can say, whatever the generation.

use a2a_client::Error;
use a2a_types::{
    AgentCard, Artifact, Event, Message, Part, SendMessageResponse, Task,
    TaskPushNotificationConfig, TaskState, TaskStatus,
};
use serde_json::{Value, json};

pub(super) fn response(response: &SendMessageResponse) -> Value {
    match response {
        SendMessageResponse::Task(task) => json!({"task": self::task(task)}),
        SendMessageResponse::Message(message) => json!({"message": self::message(message)}),
    }
}

pub(super) fn event(event: &Event) -> Value {
    match event {
        Event::Task(task) => json!({"task": self::task(task)}),
        Event::Message(message) => json!({"message": self::message(message)}),
        Event::StatusUpdate(update) => json!({"status": {
            "task": update.task_id,
            "context": update.context_id,
            "state": state(update.status.state),
            "text": status_text(&update.status),
        }}),
        Event::ArtifactUpdate(update) => json!({"artifact": {
            "task": update.task_id,
            "context": update.context_id,
            "id": artifact_id(&update.artifact),
            "text": text(&update.artifact.parts),
            "append": update.append,
            "last": update.last_chunk,
        }}),
    }
}

pub(super) fn task(task: &Task) -> Value {
    let artifact =
        |artifact: &Artifact| json!({"id": artifact_id(artifact), "text": text(&artifact.parts)});
    json!({
        "id": task.id,
        "context": task.context_id,
        "state": state(task.status.state),
        "text": status_text(&task.status),
        "artifacts": task.artifacts.iter().map(artifact).collect::<Vec<_>>(),
    })
}

/// In 0.1 artifacts have a number, which our client puts into words.
fn artifact_id(artifact: &Artifact) -> &str {
    let id = artifact.artifact_id.as_str();
    id.strip_prefix("index-").unwrap_or(id)
}

fn message(message: &Message) -> Value {
    json!({"id": message.message_id, "text": text(&message.parts)})
}

pub(super) fn config(config: &TaskPushNotificationConfig) -> Value {
    json!({"id": config.id, "task": config.task_id, "url": config.url})
}

pub(super) fn card(card: &AgentCard) -> Value {
    json!({"name": card.name, "streaming": card.capabilities.streaming.unwrap_or_default()})
}

fn status_text(status: &TaskStatus) -> String {
    status
        .message
        .as_ref()
        .map(Message::text)
        .unwrap_or_default()
}

fn text(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}

fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::InputRequired => "input-required",
        TaskState::AuthRequired => "auth-required",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "canceled",
        TaskState::Rejected => "rejected",
        _ => "unknown",
    }
}

/// What an error is: the reason of the agent's, or what happened here.
pub(super) fn error(error: &Error) -> Value {
    let kind = match error {
        Error::Agent(error) | Error::Busy { answer: error, .. } => error.kind.reason(),
        Error::Refused { status: 403, .. } => "PERMISSION_DENIED",
        Error::Refused { .. } => "UNAUTHENTICATED",
        Error::NotSupported { .. } => super::super::errand::UNIMPLEMENTED,
        Error::Redirected { .. } => "REDIRECTED",
        Error::Credentials(_) => "CREDENTIALS",
        Error::Malformed(_) | Error::NotA2a { .. } => "MALFORMED",
        Error::TooLarge { .. } => "TOO_LARGE",
        Error::Timeout { .. } => "TIMEOUT",
        Error::Unreachable(_) | Error::Connection(_) | Error::Unfinished => "CONNECTION",
        _ => "OTHER",
    };
    json!({"error": {"kind": kind, "message": error.to_string()}})
}
