//! Bugs of subscriptions to a task that already has a stream.

use a2a_transport::{CallRequest, Error, Update, UpdateStream};
use a2a_types::{Event, ProtocolVersion, Request, TaskArtifactUpdateEvent};
use futures_util::StreamExt;
use futures_util::stream::iter;

use super::bug::Bug;
use super::memory::Memory;

/// Returns the stream of a subscription as the bug has it; any other stream as it is.
pub(super) fn with_bug(
    bug: Bug,
    request: &CallRequest,
    updates: UpdateStream,
    memory: &Memory,
) -> UpdateStream {
    let Request::SubscribeToTask(params) = &request.request else {
        return updates;
    };
    let is_1_0 = request.context.protocol_version == ProtocolVersion::V1_0;
    let resumes = request.context.last_event_id.is_some();
    let chunk = memory.chunk(&params.id).map(Ok::<_, Error>);
    match bug {
        Bug::ResumedStreamMissesEvent if resumes => Box::pin(updates.skip(1)),
        Bug::ResumedStreamRepeatsEvent if resumes => Box::pin(iter(chunk).chain(updates)),
        Bug::SubscriptionRepeatsChunk if is_1_0 && !resumes => after_first(updates, chunk),
        Bug::EventOfOtherTask => {
            after_first(updates, chunk.map(|chunk| chunk.map(of_another_task)))
        }
        Bug::OldSubscriptionMissesEvent if !is_1_0 => Box::pin(updates.filter(|update| {
            let is_lost = update.as_ref().is_ok_and(is_chunk_7);
            std::future::ready(!is_lost)
        })),
        _ => updates,
    }
}

fn after_first(updates: UpdateStream, mut more: Option<Result<Update, Error>>) -> UpdateStream {
    Box::pin(updates.flat_map(move |update| iter(std::iter::once(update).chain(more.take()))))
}

fn of_another_task(update: Update) -> Update {
    let event = match update.event.into_event() {
        Event::ArtifactUpdate(chunk) => Event::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: "another-task".into(),
            ..chunk
        }),
        event => event,
    };
    Update::new(event, None)
}

/// Returns whether an update is the seventh chunk of `chunks N`.
fn is_chunk_7(update: &Update) -> bool {
    let Event::ArtifactUpdate(chunk) = &*update.event else {
        return false;
    };
    let mut parts = chunk.artifact.parts.iter();
    parts.any(|part| part.as_text() == Some("7 "))
}
