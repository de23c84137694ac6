//! Strategies of tasks and their parts.

use a2a_types::{
    Artifact, ArtifactId, Base64, Content, ContextId, Event, Message, MessageId, Part, Role, Task,
    TaskArtifactUpdateEvent, TaskId, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use proptest::prelude::*;

use super::values::{id, maybe_text, metadata, small, text, texts, time};

pub(crate) fn part() -> BoxedStrategy<Part> {
    let content = prop_oneof![
        3 => ".{0,8}".prop_map(Content::Text),
        1 => prop::collection::vec(any::<u8>(), 0..6).prop_map(|bytes| Content::Raw(Base64::encode(bytes))),
        1 => text().prop_map(Content::Url),
        2 => small().prop_map(Content::Data),
    ];
    (content, maybe_text(), maybe_text(), metadata())
        .prop_map(|(content, media_type, filename, metadata)| Part {
            content,
            media_type,
            filename,
            metadata,
        })
        .boxed()
}

fn parts() -> BoxedStrategy<Vec<Part>> {
    prop::collection::vec(part(), 1..4).boxed()
}

pub(crate) fn message() -> BoxedStrategy<Message> {
    let ids = (
        id(),
        prop::option::of(id().prop_map(ContextId::from)),
        prop::option::of(id().prop_map(TaskId::from)),
        prop::collection::vec(id().prop_map(TaskId::from), 0..3),
    );
    let role = prop_oneof![
        8 => Just(Role::User),
        8 => Just(Role::Agent),
        1 => Just(Role::Unspecified),
    ];
    (ids, role, parts(), metadata(), texts())
        .prop_map(
            |(
                (message_id, context_id, task_id, reference_task_ids),
                role,
                parts,
                metadata,
                extensions,
            )| {
                Message {
                    message_id: MessageId::from(message_id),
                    context_id,
                    task_id,
                    role,
                    parts,
                    metadata,
                    extensions,
                    reference_task_ids,
                }
            },
        )
        .boxed()
}

pub(crate) fn state() -> BoxedStrategy<TaskState> {
    prop::sample::select(
        &[
            TaskState::Unspecified,
            TaskState::Submitted,
            TaskState::Working,
            TaskState::Completed,
            TaskState::Failed,
            TaskState::Canceled,
            TaskState::InputRequired,
            TaskState::Rejected,
            TaskState::AuthRequired,
        ][..],
    )
    .boxed()
}

pub(crate) fn status() -> BoxedStrategy<TaskStatus> {
    (state(), prop::option::of(message()), time())
        .prop_map(|(state, message, timestamp)| TaskStatus {
            state,
            message: message.map(Box::new),
            timestamp,
        })
        .boxed()
}

fn artifact_id() -> BoxedStrategy<ArtifactId> {
    let id = prop_oneof![id(), "index-[0-3]"];
    id.prop_map(ArtifactId::from).boxed()
}

fn artifact() -> BoxedStrategy<Artifact> {
    let names = (artifact_id(), maybe_text(), maybe_text());
    (names, parts(), metadata(), texts())
        .prop_map(
            |((artifact_id, name, description), parts, metadata, extensions)| Artifact {
                artifact_id,
                name,
                description,
                parts,
                metadata,
                extensions,
            },
        )
        .boxed()
}

/// Returns a task, which always names its conversation: 0.2 and 0.3 require it (§3.2).
pub(crate) fn task() -> BoxedStrategy<Task> {
    let artifacts = prop::collection::vec(artifact(), 0..4);
    let history = prop::collection::vec(message(), 0..3);
    (id(), id(), status(), artifacts, history, metadata())
        .prop_map(|(id, context, status, artifacts, history, metadata)| Task {
            id: id.into(),
            context_id: Some(context.into()),
            status,
            artifacts,
            history,
            metadata,
        })
        .boxed()
}

pub(crate) fn event() -> BoxedStrategy<Event> {
    let status =
        (id(), id(), status(), metadata()).prop_map(|(task, context, status, metadata)| {
            Event::StatusUpdate(TaskStatusUpdateEvent {
                task_id: task.into(),
                context_id: Some(context.into()),
                status,
                metadata,
            })
        });
    let flags = (any::<bool>(), any::<bool>());
    let artifact = (id(), id(), artifact(), flags, metadata()).prop_map(
        |(task, context, artifact, (append, last_chunk), metadata)| {
            Event::ArtifactUpdate(TaskArtifactUpdateEvent {
                task_id: task.into(),
                context_id: Some(context.into()),
                artifact,
                append,
                last_chunk,
                metadata,
            })
        },
    );
    prop_oneof![
        3 => status,
        3 => artifact,
        1 => task().prop_map(Event::Task),
        1 => message().prop_map(Event::Message),
    ]
    .boxed()
}
