//! How much a store keeps of one task.

use std::collections::HashSet;
use std::mem::size_of;

use a2a_transport::TraceContext;
use a2a_types::{
    Artifact, Content, Event, Message, Object, Part, Role, SendMessageRequest, Task,
    TaskPushNotificationConfig,
};
use serde_json::Value;

use super::{Append, Logged, Owner, StoreError, Tail};

/// How many messages of its caller a task takes: what a caller can send without end has one here.
pub(crate) const MESSAGES: usize = 1000;

/// How many artifacts a task may have.
pub(crate) const ARTIFACTS: usize = 10_000;

/// How many bytes the events of a task may hold, measured roughly.
const LOG: usize = 64 << 20;

/// How many bytes the events that end a task may have beyond that.
const LAST: usize = 1 << 20;

/// How many events a reader gets at once, and how many bytes: one that is far behind does not hold
/// them all.
const BATCH: usize = 32;
/// How many bytes a reader gets at once, unless a single event has more.
const BATCH_BYTES: usize = 64 << 10;

/// How many webhooks a task may have.
pub(crate) const CONFIGS: usize = 16;

/// How many bytes a webhook may hold.
pub(crate) const CONFIG: usize = 64 << 10;

/// The bytes of a webhook, if it may hold so many.
pub(crate) fn admit_config(config: &TaskPushNotificationConfig) -> Result<usize, StoreError> {
    let bytes = size_of_config(config);
    match bytes <= CONFIG {
        true => Ok(bytes),
        false => Err(StoreError::ConfigTooLong(CONFIG)),
    }
}

/// How many messages and bytes a task holds with what is added, if it may have that much. A task
/// can always end by a small event.
pub(crate) fn admit(
    messages: usize,
    bytes: usize,
    append: &Append,
) -> Result<(usize, usize), StoreError> {
    Growth::of(append).admit(messages, bytes)
}

/// Refuses events that give a task more than [`ARTIFACTS`] artifacts.
pub(crate) fn admit_artifacts<'e>(
    task: &Task,
    events: impl Iterator<Item = &'e Event> + Clone,
) -> Result<(), StoreError> {
    let added = events.filter_map(|event| match event {
        Event::ArtifactUpdate(update) => Some(&update.artifact.artifact_id),
        _ => None,
    });
    let known = task.artifacts.len();
    // Nearly always there is room for all of them, even if each is a new one.
    if known + added.clone().count() <= ARTIFACTS {
        return Ok(());
    }
    let mut new: HashSet<_> = added.collect();
    for artifact in &task.artifacts {
        new.remove(&artifact.artifact_id);
    }
    match known + new.len() <= ARTIFACTS {
        true => Ok(()),
        false => Err(StoreError::TooManyArtifacts(ARTIFACTS)),
    }
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
            bytes: size_of_append(append),
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
        let limit = match self.ends {
            true => LOG + LAST,
            false => LOG,
        };
        if bytes > limit {
            return Err(StoreError::TooLong(limit));
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

/// How many bytes the tasks of a page hold.
#[derive(Clone, Copy, Default)]
pub(crate) struct PageSize(usize);

impl PageSize {
    /// The bytes of all tasks of a page that has more than one.
    const LIMIT: usize = 8 << 20;

    /// Counts a task of so many bytes, if there is room for it. The first has room in any case.
    pub(crate) fn admit(&mut self, bytes: usize) -> bool {
        let whole = self.0.saturating_add(bytes);
        let fits = self.0 == 0 || whole <= Self::LIMIT;
        if fits {
            self.0 = whole;
        }
        fits
    }

    /// How many bytes were counted.
    #[cfg(feature = "sqlite")]
    pub(crate) fn bytes(&self) -> usize {
        self.0
    }
}

/// Roughly how many bytes an event holds.
pub(crate) fn size(event: &Event) -> usize {
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

/// Roughly how many bytes an append adds.
pub(crate) fn size_of_append(append: &Append) -> usize {
    append.events.iter().map(size).sum()
}

/// Roughly how many bytes a task holds.
pub(crate) fn size_of_task(task: &Task) -> usize {
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

/// Roughly how many bytes a webhook holds.
pub(crate) fn size_of_config(config: &TaskPushNotificationConfig) -> usize {
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

/// Roughly how many bytes the names of an owner hold.
pub(crate) fn size_of_owner(owner: &Owner) -> usize {
    let principal = owner.principal.name().map_or(0, str::len);
    principal + owner.tenant.as_deref().map_or(0, str::len)
}

/// Roughly how many bytes a notification holds that waits for its webhook.
pub(crate) fn size_of_notification(trace: Option<&TraceContext>) -> usize {
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
