//! How much a store keeps of one task.

use a2a_types::{Content, Event, Message, Part, Role, Task};

use super::{Append, Logged, StoreError, Tail};

/// How many messages of its caller a task takes: what a caller can send without end has one here.
pub(crate) const MESSAGES: usize = 1000;

/// How many bytes the events of a task may hold, measured roughly.
const LOG: usize = 64 << 20;

/// How many events a reader gets at once, and how many bytes: one that is far behind does not hold
/// them all.
const BATCH: usize = 32;
/// How many bytes a reader gets at once, unless a single event has more.
const BATCH_BYTES: usize = 64 << 10;

/// How many webhooks a task may have.
pub(crate) const CONFIGS: usize = 16;

/// How many messages and bytes a task holds with what is added, if it may have that much. A task
/// can always end.
pub(crate) fn admit(
    messages: usize,
    bytes: usize,
    append: &Append,
) -> Result<(usize, usize), StoreError> {
    Growth::of(append).admit(messages, bytes)
}

/// How much is added to a task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Growth {
    messages: usize,
    bytes: usize,
    ends: bool,
}

impl Growth {
    pub(crate) fn of(append: &Append) -> Self {
        let heard = |event: &&Event| matches!(event, Event::Message(it) if it.role != Role::Agent);
        Self {
            messages: append.events.iter().filter(heard).count(),
            bytes: append.size(),
            ends: append.ends(),
        }
    }

    /// How much a task holds with that, if it may.
    pub(crate) fn admit(
        &self,
        messages: usize,
        bytes: usize,
    ) -> Result<(usize, usize), StoreError> {
        let (messages, bytes) = (messages + self.messages, bytes + self.bytes);
        if self.messages > 0 && messages > MESSAGES {
            return Err(StoreError::TooManyMessages(MESSAGES));
        }
        if bytes > LOG && !self.ends {
            return Err(StoreError::TooLong(LOG));
        }
        Ok((messages, bytes))
    }
}

/// As many events as a reader gets at once.
#[derive(Default)]
pub(crate) struct Batch {
    events: Vec<Logged>,
    bytes: usize,
}

impl Batch {
    /// Takes one more, and tells whether there is room for another.
    pub(crate) fn push(&mut self, logged: Logged) -> bool {
        self.bytes += size(&logged.event);
        if self.events.is_empty() || self.bytes <= BATCH_BYTES {
            self.events.push(logged);
        }
        self.events.len() < BATCH && self.bytes < BATCH_BYTES
    }

    /// The events.
    pub(crate) fn into_tail(self) -> Tail {
        Tail::Events(self.events)
    }

    /// The first of these.
    pub(crate) fn of(mut logged: impl Iterator<Item = Logged>) -> Tail {
        let mut batch = Self::default();
        while logged.next().is_some_and(|logged| batch.push(logged)) {}
        batch.into_tail()
    }
}

/// Roughly how many bytes an event holds.
pub(crate) fn size(event: &Event) -> usize {
    let content = match event {
        Event::Task(task) => size_of_task(task),
        Event::Message(said) => message(said),
        Event::StatusUpdate(update) => update.status.message.as_deref().map_or(0, message),
        Event::ArtifactUpdate(update) => update.artifact.parts.iter().map(part).sum(),
    };
    FRAME + content
}

/// Roughly how many bytes a task holds.
pub(crate) fn size_of_task(task: &Task) -> usize {
    let said = task.history.iter().chain(task.status.message.as_deref());
    let made = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    FRAME + said.map(message).sum::<usize>() + made.map(part).sum::<usize>()
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
