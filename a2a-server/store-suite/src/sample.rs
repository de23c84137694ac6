//! Tasks and what happens to them, as the cases need them.

use std::time::Duration;

use a2a_server::{IdempotencyKey, Lease, NewTask, Owner, Principal, Retention};
use a2a_types::steps::{MARK, reasoning_artifact};
use a2a_types::{
    Artifact, AuthenticationInfo, ConfigId, Event, Message, Object, Part, ProtocolVersion, Role,
    Task, TaskArtifactUpdateEvent, TaskId, TaskPushNotificationConfig, TaskState, TaskStatus,
    TaskStatusUpdateEvent, Timestamp,
};
use serde_json::json;

/// Longer than any case takes.
pub(crate) const LONG: Duration = Duration::from_secs(3600);
/// Over as soon as it begins.
pub(crate) const NONE: Duration = Duration::ZERO;
/// Over before anybody gets tired.
pub(crate) const SHORT: Duration = Duration::from_millis(20);

/// Owner of the tasks of most cases.
pub(crate) fn ada() -> Owner {
    owner("ada")
}

pub(crate) fn owner(name: &str) -> Owner {
    Owner::from(Principal::named(name))
}

pub(crate) fn within(tenant: &str, owner: Owner) -> Owner {
    owner.tenant(Some(tenant.into()))
}

/// Returns the time `millis` milliseconds after some moment. Every store keeps milliseconds, and need not keep less.
pub(crate) fn time(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_760_000_000_000 + millis).expect("the calendar reaches that far")
}

/// A task that has just been accepted, with the message that began it.
pub(crate) fn task(id: &str) -> Task {
    Task {
        id: id.into(),
        context_id: Some("context".into()),
        status: TaskStatus {
            timestamp: Some(time(0)),
            ..TaskState::Submitted.into()
        },
        history: vec![message(&id.into(), "begin", "a phone")],
        metadata: Some(object("task", 1)),
        ..Task::default()
    }
}

/// A task to be kept, worked on by `h` for long.
pub(crate) fn new(id: &str) -> NewTask {
    NewTask::new(task(id).into(), ProtocolVersion::V1_0, "h".into(), LONG)
}

/// A task to be kept that a message of this receipt began.
pub(crate) fn new_by(receipt: IdempotencyKey, id: &str) -> NewTask {
    let mut new = new(id);
    new.receipt = Some(receipt);
    new
}

/// A task to be kept whose lease has this term.
pub(crate) fn new_for(term: Duration, id: &str) -> NewTask {
    let mut new = new(id);
    new.term = term;
    new
}

pub(crate) fn message(task: &TaskId, id: &str, text: &str) -> Message {
    Message {
        message_id: id.into(),
        context_id: Some("context".into()),
        // An empty id is read as no id.
        task_id: Some(task.clone()).filter(|task| !task.is_empty()),
        metadata: Some(object("said", 1)),
        extensions: vec!["urn:x".to_owned()],
        ..Message::user(text)
    }
}

/// A message of the caller.
pub(crate) fn said(task: &TaskId, id: &str) -> Event {
    Event::Message(message(task, id, id))
}

/// A step of the agent on its way to an answer.
pub(crate) fn step(task: &TaskId, id: &str) -> Event {
    Event::Message(Message {
        role: Role::Agent,
        extensions: vec![MARK.to_owned()],
        ..message(task, id, id)
    })
}

/// A thought of the agent's model.
pub(crate) fn thought(task: &TaskId, text: &str) -> Event {
    Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: task.clone(),
        context_id: Some("context".into()),
        artifact: reasoning_artifact("response", text),
        append: true,
        last_chunk: false,
        metadata: None,
    })
}

/// A status with nothing to say.
pub(crate) fn status(task: &TaskId, state: TaskState) -> Event {
    status_at(task, state, Some(time(1)))
}

pub(crate) fn status_at(task: &TaskId, state: TaskState, timestamp: Option<Timestamp>) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent {
        task_id: task.clone(),
        context_id: Some("context".into()),
        status: TaskStatus {
            state,
            message: None,
            timestamp,
        },
        metadata: None,
    })
}

/// A status that says something.
pub(crate) fn tells(task: &TaskId, state: TaskState, id: &str) -> Event {
    let mut event = status(task, state);
    if let Event::StatusUpdate(update) = &mut event {
        let said = Message::agent(id);
        let said = Message {
            message_id: id.into(),
            ..said
        };
        update.status.message = Some(said.into());
        update.metadata = Some(object("status", 1));
    }
    event
}

/// A piece of an artifact, or all of it.
pub(crate) fn chunk(task: &TaskId, artifact: &str, text: &str, append: bool) -> Event {
    Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: task.clone(),
        context_id: Some("context".into()),
        artifact: Artifact {
            artifact_id: artifact.into(),
            name: (!append).then(|| artifact.to_owned()),
            parts: vec![Part::text(text), Part::data(json!({"text": text}))],
            metadata: Some(object(text, 1)),
            ..Artifact::default()
        },
        append,
        last_chunk: false,
        metadata: None,
    })
}

pub(crate) fn object(member: &str, value: i64) -> Object {
    Object::from_iter([(member.to_owned(), json!(value))])
}

/// A receipt that is good for long.
pub(crate) fn receipt(message: &str) -> IdempotencyKey {
    receipt_for(message, LONG)
}

pub(crate) fn receipt_for(message: &str, term: Duration) -> IdempotencyKey {
    IdempotencyKey::new(message.into(), digest(message), term)
}

pub(crate) fn digest(text: &str) -> [u8; 32] {
    let mut digest = [0xff; 32];
    for (place, byte) in digest.iter_mut().zip(text.bytes()) {
        *place = byte;
    }
    digest
}

pub(crate) fn retention(age: Duration, count: usize, patience: Duration) -> Retention {
    let mut retention = Retention::default();
    (retention.age, retention.count, retention.patience) = (age, count, patience);
    retention
}

pub(crate) fn config(task: &TaskId, id: &str) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        tenant: Some("tenant".to_owned()),
        id: ConfigId::from(id),
        task_id: task.clone(),
        url: format!("https://example.com/{id}"),
        token: Some("token".to_owned()),
        authentication: Some(AuthenticationInfo {
            scheme: "Bearer".to_owned(),
            credentials: Some("secret".to_owned()),
        }),
    }
}

pub(crate) fn taken(holder: &str, term: Duration) -> Lease {
    let holder = holder.into();
    Lease::Acquire { holder, term }
}

pub(crate) fn seized(holder: &str, term: Duration) -> Lease {
    let holder = holder.into();
    Lease::TakeOver { holder, term }
}
