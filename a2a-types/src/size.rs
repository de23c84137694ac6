//! Memory sizes of JSON, events and tasks, in bytes.
//!
//! Stores, readers and clients use them to bound the memory that a peer can occupy. Sizes are those of the glibc
//! allocator, spare capacity of lists included. Values read from JSON are counted to within a fifth; a map built
//! at once from sorted members is denser and may be counted up to 50 % too large.

use std::sync::Arc;

use serde_json::Value;

use crate::extension::usage::TokenUsage;
use crate::{
    Artifact, Content, ContextId, Event, Message, Object, Part, SendMessageConfiguration,
    SendMessageRequest, Task, TaskPushNotificationConfig,
};

/// Returns the bytes of an event in a list of shared ones.
pub fn size_of_event(event: &Event) -> usize {
    let content = match event {
        Event::Task(task) => content_of_task(task),
        Event::Message(message) => content_of_message(message),
        Event::StatusUpdate(update) => {
            let ids = shared_id(update.task_id.shared()) + context(&update.context_id);
            let message = update.status.message.as_deref().map_or(0, size_of_message);
            ids + message + object(update.metadata.as_ref())
        }
        Event::ArtifactUpdate(update) => {
            let ids = shared_id(update.task_id.shared()) + context(&update.context_id);
            ids + content_of_artifact(&update.artifact) + object(update.metadata.as_ref())
        }
    };
    PLACE + shared::<Event>() + content
}

/// Returns the bytes of a shared task.
pub fn size_of_task(task: &Task) -> usize {
    shared::<Task>() + content_of_task(task)
}

/// Returns the bytes of a message by itself.
pub fn size_of_message(message: &Message) -> usize {
    allocation(size_of::<Message>()) + content_of_message(message)
}

/// Returns the bytes of a request to send a message.
pub fn size_of_request(request: &SendMessageRequest) -> usize {
    let SendMessageRequest {
        tenant,
        message,
        configuration,
        metadata,
    } = request;
    allocation(size_of::<SendMessageRequest>())
        + optional_text(tenant)
        + content_of_message(message)
        + configuration.as_ref().map_or(0, content_of_configuration)
        + object(metadata.as_ref())
}

/// Returns the bytes of a push notification config in a list.
pub fn size_of_config(config: &TaskPushNotificationConfig) -> usize {
    // A list that grows has room for twice as many.
    2 * size_of::<TaskPushNotificationConfig>() + content_of_config(config)
}

/// Returns the bytes of the parts of a message or an artifact.
pub fn size_of_parts(parts: &Vec<Part>) -> usize {
    list(parts, |part| {
        let content = match &part.content {
            Content::Text(content) | Content::Url(content) => text(content),
            Content::Raw(raw) => allocation(raw.as_text().len()),
            Content::Data(data) => size_of_value(data),
        };
        let texts = optional_text(&part.media_type) + optional_text(&part.filename);
        content + texts + object(part.metadata.as_ref())
    })
}

/// Returns the bytes of a value on the heap, without the [`Value`] itself.
pub fn size_of_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(string) => text(string),
        Value::Array(values) => list(values, size_of_value),
        Value::Object(members) => size_of_object(members),
    }
}

/// Returns the bytes of an object on the heap, without the [`Object`] itself.
pub fn size_of_object(object: &Object) -> usize {
    let content = object
        .iter()
        .map(|(name, member)| text(name) + size_of_value(member));
    nodes(object.len(), LEAF) + content.sum::<usize>()
}

/// Size of a task that is the fold of its log. Most events are counted without measuring all of the task.
#[derive(Clone, Copy, Debug, Default)]
pub struct FoldSize {
    bytes: usize,
    /// Bytes when all of the task was last measured.
    measured: usize,
    /// Number of places in the lists that grow most.
    places: usize,
}

impl FoldSize {
    /// Measures a task.
    pub fn of(task: &Task) -> Self {
        let bytes = size_of_task(task);
        Self {
            bytes,
            measured: bytes,
            places: places(task),
        }
    }

    /// Counts events that were applied to the task.
    pub fn grow<'e>(&mut self, task: &Task, events: impl IntoIterator<Item = &'e Event>) {
        self.bytes += events.into_iter().map(growth_of_fold).sum::<usize>();
        let places = places(task);
        let has_grown = self.bytes - self.measured > self.measured / 8 + 1024;
        // Content may have been replaced, or a list have doubled. So each part of a task is measured few times.
        match has_grown || places > self.places + self.places / 4 + 8 {
            true => *self = Self::of(task),
            false => self.places = places,
        }
    }

    /// Returns the bytes.
    pub fn bytes(self) -> usize {
        self.bytes
    }
}

/// Returns the bytes that an event adds to the fold of its log.
pub fn growth_of_fold(event: &Event) -> usize {
    match event {
        Event::Task(task) => content_of_task(task),
        Event::Message(message) => size_of_message(message),
        // It moves to the history with the next one.
        Event::StatusUpdate(update) => {
            let usage = TokenUsage::of(update.metadata.as_ref());
            let message = update.status.message.as_deref();
            message.map_or(0, size_of_message) + usage.map_or(0, size_of_usage)
        }
        Event::ArtifactUpdate(update) if update.append => {
            size_of_parts(&update.artifact.parts) + object(update.artifact.metadata.as_ref())
        }
        Event::ArtifactUpdate(update) => {
            size_of::<Artifact>() + content_of_artifact(&update.artifact)
        }
    }
}

/// Returns the bytes of a task's usage in its metadata.
fn size_of_usage(usage: TokenUsage) -> usize {
    let mut metadata = Object::new();
    usage.put_into(&mut metadata);
    object(Some(&metadata))
}

/// Returns the number of places in the lists of a task that grow with most events.
fn places(task: &Task) -> usize {
    let parts = task
        .artifacts
        .last()
        .map_or(0, |last| last.parts.capacity());
    task.history.capacity() + task.artifacts.capacity() + parts
}

fn content_of_task(task: &Task) -> usize {
    let Task {
        id: task_id,
        context_id,
        status,
        artifacts,
        history,
        metadata,
    } = task;
    id(task_id.shared())
        + context_id.as_ref().map_or(0, |it| id(it.shared()))
        + status.message.as_deref().map_or(0, size_of_message)
        + list(artifacts, content_of_artifact)
        + list(history, content_of_message)
        + object(metadata.as_ref())
}

fn content_of_message(message: &Message) -> usize {
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
    id(message_id.shared())
        + context(context_id)
        + task_id.as_ref().map_or(0, |it| shared_id(it.shared()))
        + size_of_parts(parts)
        + object(metadata.as_ref())
        + list(extensions, text)
        + list(reference_task_ids, |it| id(it.shared()))
}

fn content_of_artifact(artifact: &Artifact) -> usize {
    let Artifact {
        artifact_id,
        name,
        description,
        parts,
        metadata,
        extensions,
    } = artifact;
    id(artifact_id.shared())
        + optional_text(name)
        + optional_text(description)
        + size_of_parts(parts)
        + object(metadata.as_ref())
        + list(extensions, text)
}

fn content_of_configuration(configuration: &SendMessageConfiguration) -> usize {
    let SendMessageConfiguration {
        accepted_output_modes,
        task_push_notification_config,
        history_length: _,
        return_immediately: _,
    } = configuration;
    let config = task_push_notification_config.as_deref();
    list(accepted_output_modes, text) + config.map_or(0, size_of_config)
}

fn content_of_config(config: &TaskPushNotificationConfig) -> usize {
    let TaskPushNotificationConfig {
        tenant,
        id: config_id,
        task_id,
        url,
        token,
        authentication,
    } = config;
    let authentication = authentication.as_ref();
    let secrets = authentication.map_or(0, |it| text(&it.scheme) + optional_text(&it.credentials));
    id(config_id.shared())
        + id(task_id.shared())
        + text(url)
        + optional_text(tenant)
        + optional_text(token)
        + secrets
}

fn id(id: &Arc<str>) -> usize {
    match id.len() {
        0 => 0,
        bytes => allocation(COUNTS + bytes),
    }
}

/// Returns the bytes of an identifier in an event: that of the task and its context is often shared with the task,
/// which counts it.
fn shared_id(shared: &Arc<str>) -> usize {
    match Arc::strong_count(shared) {
        1 => id(shared),
        _ => 0,
    }
}

fn context(context: &Option<ContextId>) -> usize {
    context.as_ref().map_or(0, |it| shared_id(it.shared()))
}

fn object(object: Option<&Object>) -> usize {
    object.map_or(0, size_of_object)
}

fn list<T>(items: &Vec<T>, content: impl Fn(&T) -> usize) -> usize {
    allocation(items.capacity() * size_of::<T>()) + items.iter().map(content).sum::<usize>()
}

fn text(text: &String) -> usize {
    allocation(text.capacity())
}

fn optional_text(optional: &Option<String>) -> usize {
    optional.as_ref().map_or(0, text)
}

/// Returns the bytes of the nodes of a B-tree after `members` members were added in the order of their names. A
/// node that is full is split, and one half of it gets no more.
fn nodes(members: usize, node: usize) -> usize {
    match members {
        0 => 0,
        1..=NODE_CAPACITY => allocation(node),
        _ => {
            // One member of a full node moves up.
            let halves = (members - NODE_CAPACITY).div_ceil(NODE_CAPACITY / 2 + 2);
            (1 + halves) * allocation(node) + nodes(halves, INNER_NODE)
        }
    }
}

/// Returns the bytes of an `Arc`.
fn shared<T>() -> usize {
    allocation(COUNTS + size_of::<T>())
}

/// Returns the bytes that the allocator takes for `bytes`: with its header, in steps of 16, at least 32.
fn allocation(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        _ => (bytes + size_of::<usize>()).next_multiple_of(16).max(32),
    }
}

/// Bytes of the counters of an `Arc`.
const COUNTS: usize = 2 * size_of::<usize>();
/// Bytes of a place in a list of shared values that grows: half of them are free.
const PLACE: usize = 2 * size_of::<usize>();
/// Members of a node of a map.
const NODE_CAPACITY: usize = 11;
/// Bytes of a node of a map: its members, whether there are any or not, its place in its parent, and its length.
const LEAF: usize =
    NODE_CAPACITY * (size_of::<String>() + size_of::<Value>()) + 2 * size_of::<usize>();
/// Bytes of a node that has nodes below it.
const INNER_NODE: usize = LEAF + (NODE_CAPACITY + 1) * size_of::<usize>();
