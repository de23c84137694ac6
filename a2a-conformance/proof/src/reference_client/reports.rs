//! Short reports of results, in a format that does not depend on the version.

use a2a_client::Error;
use a2a_types::{
    AgentCard, Artifact, Event, Message, Part, SendMessageResponse, Task,
    TaskPushNotificationConfig, TaskState, TaskStatus,
};
use serde_json::{Value, json};

pub(super) fn response(response: &SendMessageResponse, detail: bool) -> Value {
    match response {
        SendMessageResponse::Task(task) => json!({"task": self::task(task, detail)}),
        SendMessageResponse::Message(message) => json!({"message": self::message(message, detail)}),
    }
}

pub(super) fn event(event: &Event, detail: bool) -> Value {
    match event {
        Event::Task(task) => json!({"task": self::task(task, detail)}),
        Event::Message(message) => json!({"message": self::message(message, detail)}),
        Event::StatusUpdate(update) => json!({"status": {
            "task": update.task_id,
            "context": update.context_id,
            "state": state(update.status.state),
            "text": status_text(&update.status),
        }}),
        Event::ArtifactUpdate(update) => {
            let mut report = artifact(&update.artifact, detail);
            report["task"] = json!(update.task_id);
            report["context"] = json!(update.context_id);
            report["append"] = update.append.into();
            report["last"] = update.last_chunk.into();
            json!({"artifact": report})
        }
    }
}

pub(super) fn task(task: &Task, detail: bool) -> Value {
    let artifact = |one: &Artifact| artifact(one, detail);
    json!({
        "id": task.id,
        "context": task.context_id,
        "state": state(task.status.state),
        "text": status_text(&task.status),
        "artifacts": task.artifacts.iter().map(artifact).collect::<Vec<_>>(),
    })
}

/// Returns the id of an artifact; in 0.1 its number, which our client writes as `index-…`.
fn artifact_id(artifact: &Artifact) -> &str {
    let id = artifact.artifact_id.as_str();
    id.strip_prefix("index-").unwrap_or(id)
}

fn artifact(artifact: &Artifact, detail: bool) -> Value {
    let report = json!({"id": artifact_id(artifact), "text": text(&artifact.parts)});
    with_parts(report, &artifact.parts, detail)
}

fn message(message: &Message, detail: bool) -> Value {
    let report = json!({"id": message.message_id, "text": text(&message.parts)});
    with_parts(report, &message.parts, detail)
}

/// Adds the parts as they are if `detail` is set.
fn with_parts(mut report: Value, parts: &[Part], detail: bool) -> Value {
    if detail {
        report["parts"] = json!(parts);
    }
    report
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
        .as_deref()
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

/// Returns an error report: the reason that the agent gave, or the kind of failure in the client.
pub(super) fn error(error: &Error) -> Value {
    let kind = match error {
        Error::Agent(error) | Error::Busy { answer: error, .. } => error.kind.reason(),
        Error::Refused { status: 403, .. } => "PERMISSION_DENIED",
        Error::Refused { .. } => "UNAUTHENTICATED",
        Error::NotSupported { .. } => a2a_conformance::client::UNIMPLEMENTED,
        Error::Redirected { .. } => "REDIRECTED",
        Error::Credentials(_) => "CREDENTIALS",
        Error::Unverified(_) => "SIGNATURE",
        Error::Malformed(_) | Error::NotA2a { .. } => "MALFORMED",
        Error::TooLarge { .. } => "TOO_LARGE",
        Error::Timeout { .. } => "TIMEOUT",
        Error::Unreachable(_) | Error::Connection(_) | Error::Unfinished => "CONNECTION",
        _ => "OTHER",
    };
    json!({"error": {"kind": kind, "message": error.to_string()}})
}
