//! How much a store keeps of one task.

use a2a_types::{Content, Event, Message, Part};

/// How many messages of its caller a task takes: what a caller can send without end has one here.
pub(crate) const MESSAGES: usize = 1000;

/// How many bytes the events of a task may hold, measured roughly.
pub(crate) const LOG: usize = 64 << 20;

/// How many events a reader gets at once, and how many bytes: one that is far behind does not hold
/// them all.
pub(crate) const BATCH: usize = 32;
/// How many bytes a reader gets at once, unless a single event has more.
pub(crate) const BATCH_BYTES: usize = 64 << 10;

/// How many webhooks a task may have.
pub(crate) const CONFIGS: usize = 16;

/// How many received messages are remembered in memory.
pub(crate) const RECEIPTS: usize = 100_000;

/// Roughly how many bytes an event holds.
pub(crate) fn size(event: &Event) -> usize {
    let content = match event {
        Event::Task(task) => {
            let said = task.history.iter().chain(&task.status.message);
            let made = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
            said.map(message).sum::<usize>() + made.map(part).sum::<usize>()
        }
        Event::Message(said) => message(said),
        Event::StatusUpdate(update) => update.status.message.as_ref().map_or(0, message),
        Event::ArtifactUpdate(update) => update.artifact.parts.iter().map(part).sum(),
    };
    FRAME + content
}

fn message(message: &Message) -> usize {
    FRAME + message.parts.iter().map(part).sum::<usize>()
}

fn part(part: &Part) -> usize {
    let content = match &part.content {
        Content::Text(text) | Content::Url(text) => text.len(),
        Content::Raw(raw) => raw.as_text().len(),
        Content::Data(data) => data.to_string().len(),
    };
    let metadata = part.metadata.as_ref();
    PART + content + metadata.map_or(0, |metadata| serde_json::json!(metadata).to_string().len())
}

/// What an event or message costs beside its content.
const FRAME: usize = 256;
/// What a part costs beside its content.
const PART: usize = 64;
