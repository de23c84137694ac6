//! Limits on what a store keeps of a task, for every store to apply alike.
//!
//! A store of your own keeps two numbers beside each log, the caller's messages and the bytes, and asks
//! [`Growth`] whether an append fits:
//!
//! ```
//! use a2a_server::{Append, StoreError, limits::Growth};
//!
//! fn admit(messages: usize, bytes: usize, append: &Append) -> Result<(usize, usize), StoreError> {
//!     Growth::of(append).admit(messages, bytes)
//! }
//! ```
//!
//! Sizes are estimates of memory, in bytes: content counts as it is, names, places of maps and arrays as the
//! allocator gives them.

use std::collections::HashSet;
use std::mem::size_of;

use a2a_transport::TraceContext;
use a2a_types::{
    Artifact, Content, Event, Message, Object, Part, Role, SendMessageRequest, Task,
    TaskPushNotificationConfig,
};
use serde_json::Value;

use super::{Append, Logged, Owner, StoreError, Tail};

/// Messages of its caller that a task takes.
pub const MAX_MESSAGES: usize = 1000;

/// Artifacts of a task.
pub const MAX_ARTIFACTS: usize = 10_000;

/// Bytes of the events of a task.
pub const MAX_LOG_BYTES: usize = 64 << 20;

/// Bytes beyond [`MAX_LOG_BYTES`] that the events which end a task may have: a task can always end.
pub const MAX_FINAL_BYTES: usize = 1 << 20;

/// Events of a [`Batch`].
const MAX_BATCH: usize = 32;
/// Bytes of a [`Batch`] with more than one event.
const MAX_BATCH_BYTES: usize = 64 << 10;

/// Push notification configs of a task.
pub const MAX_CONFIGS: usize = 16;

/// Bytes of a push notification config.
pub const MAX_CONFIG_BYTES: usize = 64 << 10;

/// Returns the bytes of a push notification config.
///
/// Errors: [`StoreError::ConfigTooLong`] above [`MAX_CONFIG_BYTES`].
pub fn admit_config(config: &TaskPushNotificationConfig) -> Result<usize, StoreError> {
    let bytes = size_of_config(config);
    match bytes <= MAX_CONFIG_BYTES {
        true => Ok(bytes),
        false => Err(StoreError::ConfigTooLong(MAX_CONFIG_BYTES)),
    }
}

/// Refuses events that give a task more than [`MAX_ARTIFACTS`] artifacts.
///
/// Errors: [`StoreError::TooManyArtifacts`].
pub fn admit_artifacts<'e>(
    task: &Task,
    events: impl Iterator<Item = &'e Event> + Clone,
) -> Result<(), StoreError> {
    let added = events.filter_map(|event| match event {
        Event::ArtifactUpdate(update) => Some(&update.artifact.artifact_id),
        _ => None,
    });
    let known = task.artifacts.len();
    // Nearly always there is room for all of them, even if each is a new one.
    if known + added.clone().count() <= MAX_ARTIFACTS {
        return Ok(());
    }
    let mut new: HashSet<_> = added.collect();
    for artifact in &task.artifacts {
        new.remove(&artifact.artifact_id);
    }
    match known + new.len() <= MAX_ARTIFACTS {
        true => Ok(()),
        false => Err(StoreError::TooManyArtifacts(MAX_ARTIFACTS)),
    }
}

/// Messages and bytes that an append adds to a task.
#[derive(Clone, Copy, Debug, Default)]
pub struct Growth {
    messages: usize,
    bytes: usize,
    ends: bool,
}

impl Growth {
    /// Measures an append.
    pub fn of(append: &Append) -> Self {
        let heard = |event: &&Event| matches!(event, Event::Message(it) if it.role != Role::Agent);
        Self {
            messages: append.events.iter().filter(heard).count(),
            bytes: size_of_append(append),
            ends: append.ends(),
        }
    }

    /// Returns how many messages and bytes a task holds with this that held so many before.
    ///
    /// Errors: [`StoreError::TooManyMessages`], [`StoreError::TooLong`].
    pub fn admit(&self, messages: usize, bytes: usize) -> Result<(usize, usize), StoreError> {
        let (messages, bytes) = (messages + self.messages, bytes + self.bytes);
        if self.messages > 0 && messages > MAX_MESSAGES {
            return Err(StoreError::TooManyMessages(MAX_MESSAGES));
        }
        let limit = match self.ends {
            true => MAX_LOG_BYTES + MAX_FINAL_BYTES,
            false => MAX_LOG_BYTES,
        };
        if bytes > limit {
            return Err(StoreError::TooLong(limit));
        }
        Ok((messages, bytes))
    }
}

/// Events that a reader gets at once, bounded in number and bytes: one that is far behind does not hold
/// all of them.
#[derive(Debug, Default)]
pub struct Batch {
    events: Vec<Logged>,
    bytes: usize,
}

impl Batch {
    /// Adds an event if there is room for it, and returns whether there is room for another. The first has
    /// room in any case.
    pub fn push(&mut self, logged: Logged) -> bool {
        self.bytes += size_of_event(&logged.event);
        if self.events.is_empty() || self.bytes <= MAX_BATCH_BYTES {
            self.events.push(logged);
        }
        self.events.len() < MAX_BATCH && self.bytes < MAX_BATCH_BYTES
    }

    /// Returns the events.
    pub fn into_tail(self) -> Tail {
        Tail::Events(self.events)
    }

    /// Returns the first of these, as many as fit.
    pub fn of(mut logged: impl Iterator<Item = Logged>) -> Tail {
        let mut batch = Self::default();
        while logged.next().is_some_and(|logged| batch.push(logged)) {}
        batch.into_tail()
    }
}

/// Bytes of the tasks of a [`Page`](super::Page).
#[derive(Clone, Copy, Debug, Default)]
pub struct PageSize(usize);

impl PageSize {
    /// Bytes of a page that has more than one task.
    pub const MAX: usize = 8 << 20;

    /// Counts a task of so many bytes, and returns whether there was room for it. The first has room in any
    /// case.
    pub fn admit(&mut self, bytes: usize) -> bool {
        let whole = self.0.saturating_add(bytes);
        let fits = self.0 == 0 || whole <= Self::MAX;
        if fits {
            self.0 = whole;
        }
        fits
    }

    /// Returns the bytes counted.
    pub fn bytes(&self) -> usize {
        self.0
    }
}

/// Estimates the bytes of an event.
pub fn size_of_event(event: &Event) -> usize {
    let content = match event {
        Event::Task(task) => size_of_task(task),
        Event::Message(said) => message(said),
        Event::StatusUpdate(update) => {
            update.status.message.as_deref().map_or(0, message) + object(update.metadata.as_ref())
        }
        Event::ArtifactUpdate(update) => {
            artifact(&update.artifact) + object(update.metadata.as_ref())
        }
    };
    FRAME + content
}

/// Estimates the bytes that an append adds.
pub fn size_of_append(append: &Append) -> usize {
    append.events.iter().map(size_of_event).sum()
}

/// Estimates the bytes of a task.
pub fn size_of_task(task: &Task) -> usize {
    let said = task.history.iter().chain(task.status.message.as_deref());
    let made = task.artifacts.iter().map(artifact);
    let context = task.context_id.as_ref().map_or(0, |id| id.as_str().len());
    FRAME
        + task.id.as_str().len()
        + context
        + said.map(message).sum::<usize>()
        + made.sum::<usize>()
        + object(task.metadata.as_ref())
}

/// Estimates the bytes of a push notification config.
pub fn size_of_config(config: &TaskPushNotificationConfig) -> usize {
    let TaskPushNotificationConfig {
        tenant,
        id,
        task_id: _,
        url,
        token,
        authentication,
    } = config;
    let credentials = authentication.iter().flat_map(|it| {
        let credentials = it.credentials.as_deref().map_or(0, str::len);
        [it.scheme.len(), credentials]
    });
    let texts = tenant.iter().chain(token).map(String::len);
    FRAME + id.as_str().len() + url.len() + texts.chain(credentials).sum::<usize>()
}

/// Estimates the bytes of the names of an owner.
pub fn size_of_owner(owner: &Owner) -> usize {
    let principal = owner.principal.name().map_or(0, str::len);
    principal + owner.tenant.as_deref().map_or(0, str::len)
}

/// Estimates the bytes of a queued notification.
pub fn size_of_notification(trace: Option<&TraceContext>) -> usize {
    let state = trace.and_then(TraceContext::tracestate);
    NOTIFICATION + state.map_or(0, str::len)
}

/// Roughly how many bytes a message holds.
pub(crate) fn message(message: &Message) -> usize {
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
    let context = context_id.as_ref().map_or(0, |id| id.as_str().len());
    let task = task_id.as_ref().map_or(0, |id| id.as_str().len());
    FRAME
        + message_id.as_str().len()
        + context
        + task
        + parts.iter().map(part).sum::<usize>()
        + object(metadata.as_ref())
        + extensions.iter().map(|uri| text(uri)).sum::<usize>()
        + reference_task_ids
            .iter()
            .map(|id| text(id.as_str()))
            .sum::<usize>()
}

/// Roughly how many bytes a request to send a message holds.
pub(crate) fn request(request: &SendMessageRequest) -> usize {
    message(&request.message) + object(request.metadata.as_ref())
}

fn artifact(artifact: &Artifact) -> usize {
    let Artifact {
        artifact_id,
        name,
        description,
        parts,
        metadata,
        extensions,
    } = artifact;
    artifact_id.as_str().len()
        + name
            .iter()
            .chain(description)
            .map(String::len)
            .sum::<usize>()
        + parts.iter().map(part).sum::<usize>()
        + object(metadata.as_ref())
        + extensions.iter().map(|uri| text(uri)).sum::<usize>()
}

fn part(part: &Part) -> usize {
    let content = match &part.content {
        Content::Text(text) | Content::Url(text) => text.len(),
        Content::Raw(raw) => raw.as_text().len(),
        Content::Data(data) => value(data),
    };
    let texts = part.media_type.iter().chain(&part.filename);
    PART + content + texts.map(String::len).sum::<usize>() + object(part.metadata.as_ref())
}

/// The heap that a value takes: an array that has just grown is half empty, and so are the nodes of a map.
fn value(value: &Value) -> usize {
    let inner = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => ALLOCATION + text.len(),
        Value::Array(values) => {
            let room = values.len() * size_of::<Value>();
            room + values.iter().map(self::value).sum::<usize>()
        }
        Value::Object(members) => object(Some(members)),
    };
    size_of::<Value>() + inner
}

fn object(object: Option<&Object>) -> usize {
    let members = object.into_iter().flatten();
    members
        .map(|(name, member)| MEMBER + ALLOCATION + name.len() + value(member))
        .sum()
}

fn text(text: &str) -> usize {
    size_of::<String>() + text.len()
}

/// What an event or message costs beside its content.
const FRAME: usize = 256;
/// What a notification costs beside the state of its trace.
const NOTIFICATION: usize = 256;
/// What a member of a map costs beside its value and the text of its name: its name's handle, and the
/// empty place beside it.
const MEMBER: usize = 2 * size_of::<String>() + size_of::<Value>();
/// What a text on the heap costs beside its content.
const ALLOCATION: usize = 16;
/// What a part costs beside its content.
const PART: usize = 64;
