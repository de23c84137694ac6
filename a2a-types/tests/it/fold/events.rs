//! Logs, with what can happen and what cannot.

use a2a_types::{
    Artifact, Event, Message, Object, Part, Role, Task, TaskArtifactUpdateEvent, TaskState,
    TaskStatus, TaskStatusUpdateEvent, Timestamp,
};
use proptest::prelude::*;
use serde_json::json;

/// Returns some events, most of them of one task.
pub(crate) fn log() -> BoxedStrategy<Vec<Event>> {
    prop::collection::vec(event(), 0..24).boxed()
}

fn event() -> BoxedStrategy<Event> {
    let status = (task_id(), status(), metadata()).prop_map(|(task, status, metadata)| {
        Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: task.into(),
            context_id: Some("c".into()),
            status,
            metadata,
        })
    });
    let flags = (any::<bool>(), any::<bool>());
    let artifact = (task_id(), artifact(), flags).prop_map(|(task, artifact, flags)| {
        Event::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: task.into(),
            context_id: Some("c".into()),
            artifact,
            append: flags.0,
            last_chunk: flags.1,
            metadata: None,
        })
    });
    let of_task = prop_oneof![1 => Just(None), 8 => task_id().prop_map(Some)];
    let message = (of_task, message()).prop_map(|(task, message)| {
        Event::Message(Message {
            task_id: task.map(Into::into),
            ..message
        })
    });
    prop_oneof![
        5 => status,
        6 => artifact,
        4 => message,
        1 => task().prop_map(Event::Task),
    ]
    .boxed()
}

fn task_id() -> impl Strategy<Value = &'static str> {
    prop_oneof![20 => Just("t"), 1 => Just("u")]
}

fn state() -> impl Strategy<Value = TaskState> {
    prop_oneof![
        8 => Just(TaskState::Working),
        3 => Just(TaskState::InputRequired),
        2 => Just(TaskState::AuthRequired),
        4 => Just(TaskState::Submitted),
        1 => Just(TaskState::Completed),
        1 => Just(TaskState::Failed),
        1 => Just(TaskState::Canceled),
        1 => Just(TaskState::Rejected),
        1 => Just(TaskState::Unspecified),
    ]
}

fn status() -> impl Strategy<Value = TaskStatus> {
    let time = prop::option::of(-4_000_000_000_000_i64..4_000_000_000_000);
    let time = time.prop_map(|millis| millis.and_then(Timestamp::from_millis));
    (state(), prop::option::of(message()), time).prop_map(|(state, message, timestamp)| {
        TaskStatus {
            state,
            message: message.map(Box::new),
            timestamp,
        }
    })
}

fn message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just(Role::User), Just(Role::Agent)];
    ("[a-z]{0,3}", role, parts(), metadata()).prop_map(|(id, role, parts, metadata)| Message {
        message_id: id.into(),
        role,
        parts,
        metadata,
        ..Message::default()
    })
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let part = prop_oneof![
        3 => ".{0,3}".prop_map(Part::text),
        1 => any::<u8>().prop_map(|byte| Part::data(json!({"byte": byte}))),
        1 => prop::collection::vec(any::<u8>(), 0..3).prop_map(|it| Part::bytes(it, "image/png")),
        1 => "[a-z]".prop_map(Part::url),
    ];
    prop::collection::vec(part, 0..3)
}

fn metadata() -> impl Strategy<Value = Option<Object>> {
    let members = prop::collection::btree_map("[a-c]", any::<i8>(), 0..3);
    let object = |members: std::collections::BTreeMap<String, i8>| {
        let members = members
            .into_iter()
            .map(|(name, value)| (name, json!(value)));
        members.collect::<Object>()
    };
    prop::option::of(members.prop_map(object))
}

fn artifact() -> impl Strategy<Value = Artifact> {
    let name = || prop::option::of("[a-z]{0,2}");
    let extensions = prop::collection::vec("[x-z]", 0..3);
    let names = ("[a-c]", name(), name());
    (names, parts(), metadata(), extensions).prop_map(|(names, parts, metadata, extensions)| {
        let (id, name, description) = names;
        Artifact {
            artifact_id: id.into(),
            name,
            description,
            parts,
            metadata,
            extensions,
        }
    })
}

fn task() -> impl Strategy<Value = Task> {
    let artifacts = prop::collection::vec(artifact(), 0..4);
    let history = prop::collection::vec(message(), 0..3);
    let context = prop::option::of("[c-d]");
    let of_task = (task_id(), context, status());
    (of_task, artifacts, history, metadata()).prop_map(
        |(of_task, mut artifacts, history, metadata)| {
            let (id, context, status) = of_task;
            // Within a task an artifact's id is its own.
            artifacts.sort_by(|one, other| one.artifact_id.cmp(&other.artifact_id));
            artifacts.dedup_by(|one, other| one.artifact_id == other.artifact_id);
            artifacts.reverse();
            Task {
                id: id.into(),
                context_id: context.map(Into::into),
                status,
                artifacts,
                history,
                metadata,
            }
        },
    )
}
