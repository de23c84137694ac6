//! Sample tasks and events.

use std::sync::Arc;
use std::time::Duration;

use a2a_server::{NewTask, Owner, Principal};
use a2a_types::{Artifact, Event, Part, ProtocolVersion, Task, TaskArtifactUpdateEvent};

/// Longer than any of these tests takes.
pub(crate) const LONG: Duration = Duration::from_secs(3600);

pub(crate) fn ada() -> Owner {
    Owner::from(Principal::named("ada"))
}

/// Returns a new task leased to `h`.
pub(crate) fn new(id: &str) -> NewTask {
    let task = Arc::new(Task::submitted(id.into(), "c".into()));
    NewTask::new(task, ProtocolVersion::V1_0, "h".into(), LONG)
}

/// Returns an event that appends text to an artifact.
pub(crate) fn chunk(task: &str, text: &str) -> Event {
    Event::ArtifactUpdate(TaskArtifactUpdateEvent {
        task_id: task.into(),
        context_id: Some("c".into()),
        artifact: Artifact {
            artifact_id: "a".into(),
            parts: vec![Part::text(text)],
            ..Artifact::default()
        },
        append: true,
        last_chunk: false,
        metadata: None,
    })
}
