//! Writer for the events of a task on a stream of the profile.

use std::collections::{BTreeMap, BTreeSet};

use super::artifact_content::ArtifactContent;
use super::portions::{MAX_LINE_BYTES, lines, portions};
use super::stored_steps::{is_step_message, unmark};
use super::{ObjectType, ResponseMetadata, Step, reasoning_id};
use crate::{
    Artifact, ArtifactId, ContextId, Event, Message, MessageId, Object, Part, Role, Task,
    TaskArtifactUpdateEvent, TaskId, TaskState, TaskStatus, TaskStatusUpdateEvent,
};

/// Writes the events of one stream.
///
/// Clients of the framework read chunks of artifacts and failures, and nothing else: the message of a
/// status is also sent as an artifact, no chunk with content is the last one, and nothing is
/// sent twice. Readers of plain A2A get the same result from it.
#[derive(Debug)]
pub struct StreamWriter {
    shows_steps: bool,
    start: StreamStart,
    has_begun: bool,
    task: TaskId,
    context: Option<ContextId>,
    /// Content sent, by the artifact's id in the task.
    contents: BTreeMap<ArtifactId, ArtifactContent>,
    /// Artifacts sent, by their id on the wire.
    sent: BTreeSet<ArtifactId>,
    messages: BTreeSet<MessageId>,
    last: Option<ArtifactId>,
}

/// Start of a stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StreamStart {
    /// A message: the earlier content of the task was sent in answer to earlier messages.
    Message(MessageId),
    /// The task in its current state, all of it new.
    Task,
}

impl StreamWriter {
    /// Returns a writer that sends steps, or leaves them out.
    pub fn new(start: StreamStart, shows_steps: bool) -> Self {
        Self {
            shows_steps,
            start,
            has_begun: false,
            task: TaskId::default(),
            context: None,
            contents: BTreeMap::new(),
            sent: BTreeSet::new(),
            messages: BTreeSet::new(),
            last: None,
        }
    }

    /// Returns the events to send for one event: none, one or more.
    pub fn write(&mut self, event: Event) -> Vec<Event> {
        if let Some(task) = event.task_id() {
            self.task.clone_from(task);
        }
        match event {
            Event::Task(task) => self.snapshot(task),
            Event::Message(message) => self.message(message),
            Event::ArtifactUpdate(update) => self.artifact(update),
            Event::StatusUpdate(update) => self.status(update),
        }
    }

    /// Returns a final event after an error, since clients of the framework ignore errors. `None` if no
    /// event of a task was written.
    pub fn break_off(&mut self, text: &str) -> Option<Event> {
        if self.task.is_empty() {
            return None;
        }
        Some(Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: self.task.clone(),
            context_id: self.context.clone(),
            status: TaskStatus {
                message: Some(Message::agent(text).into()),
                ..TaskState::Failed.into()
            },
            metadata: None,
        }))
    }

    fn snapshot(&mut self, task: Task) -> Vec<Event> {
        self.context.clone_from(&task.context_id);
        if !std::mem::replace(&mut self.has_begun, true) {
            self.skip_earlier_content(&task);
        }
        let mut artifacts = task.artifacts;
        let mut events = Vec::new();
        for message in task.history {
            if let Some(id) = ResponseMetadata::of(message.metadata.as_ref()).llm_response_id {
                // The text of a response comes before the tools that it calls.
                let of_it = |artifact: &mut Artifact| base_of(artifact).as_str() == id;
                for artifact in artifacts.extract_if(.., of_it) {
                    events.extend(self.full_artifact(artifact));
                }
            }
            events.extend(self.history_message(message));
        }
        for artifact in artifacts {
            events.extend(self.full_artifact(artifact));
        }
        events.extend(self.status(TaskStatusUpdateEvent {
            task_id: task.id,
            context_id: task.context_id,
            status: task.status,
            metadata: None,
        }));
        events
    }

    /// Skips what the task had before the message. If the task has only just resumed, all its artifacts
    /// are older; if it has gone further, new ones cannot be distinguished, and none may be lost.
    fn skip_earlier_content(&mut self, task: &Task) {
        let StreamStart::Message(asked) = &self.start else {
            return;
        };
        let place = task.history.iter().position(|it| it.message_id == *asked);
        let older = place.map_or(0, |place| place + 1);
        let ids = task
            .history
            .iter()
            .take(older)
            .map(|it| it.message_id.clone());
        self.messages.extend(ids);
        if older == task.history.len() && !task.status.state.is_settled() {
            for artifact in &task.artifacts {
                let content = self
                    .contents
                    .entry(artifact.artifact_id.clone())
                    .or_default();
                content.add(&artifact.parts);
                self.sent.insert(base_of(artifact));
            }
        }
    }

    fn message(&mut self, mut message: Message) -> Vec<Event> {
        if is_step_message(&message) {
            return self.history_message(message);
        }
        if message.role == Role::User {
            return Vec::new();
        }
        let id = message.message_id.as_str();
        ResponseMetadata::new(ObjectType::ChatCompletion, None, id).add_to(&mut message.metadata);
        unmark(&mut message.extensions);
        vec![Event::Message(message)]
    }

    /// Writes a message of the history: steps as they are, other messages of the agent as reasoning.
    fn history_message(&mut self, message: Message) -> Vec<Event> {
        if message.role == Role::User || !self.messages.insert(message.message_id.clone()) {
            return Vec::new();
        }
        if !is_step_message(&message) {
            return self.status_note(message);
        }
        if !self.shows_steps {
            return Vec::new();
        }
        let about = ResponseMetadata::of(message.metadata.as_ref());
        let id = about.llm_response_id.as_deref();
        let id = ArtifactId::from(id.unwrap_or(message.message_id.as_str()));
        let artifact = Artifact {
            artifact_id: id,
            ..Artifact::default()
        };
        self.write_parts(artifact, message.parts, message.metadata, about, false)
    }

    fn status_note(&mut self, message: Message) -> Vec<Event> {
        let id = message.message_id.to_string();
        let about = ResponseMetadata::new(ObjectType::ChatCompletionChunk, None, &id);
        let artifact = Artifact {
            artifact_id: ArtifactId::from(id),
            ..Artifact::default()
        };
        let parts = as_reasoning(message.parts);
        self.write_parts(artifact, parts, None, about, false)
    }

    fn full_artifact(&mut self, artifact: Artifact) -> Vec<Event> {
        self.artifact(TaskArtifactUpdateEvent {
            task_id: self.task.clone(),
            context_id: self.context.clone(),
            artifact,
            append: false,
            last_chunk: true,
            metadata: None,
        })
    }

    fn artifact(&mut self, update: TaskArtifactUpdateEvent) -> Vec<Event> {
        self.context = update.context_id.or(self.context.take());
        let mut artifact = update.artifact;
        if reasoning_id(&artifact).is_some() && !self.shows_steps {
            return Vec::new();
        }
        let parts = std::mem::take(&mut artifact.parts);
        let known = self.contents.contains_key(&artifact.artifact_id);
        let content = self
            .contents
            .entry(artifact.artifact_id.clone())
            .or_default();
        artifact.artifact_id = base_of(&artifact);
        unmark(&mut artifact.extensions);
        if update.append {
            // A client that joins a stream has received its beginning.
            self.sent.insert(artifact.artifact_id.clone());
        }
        let rest = (known && !update.append).then(|| content.rest(&parts));
        let (parts, replaces) = match rest {
            Some(None) => (content.replace(parts), true),
            Some(Some(rest)) => {
                content.add(&rest);
                (rest, false)
            }
            None => {
                content.add(&parts);
                (parts, false)
            }
        };
        let whole = replaces || !known && !update.append && update.last_chunk;
        let kind = match whole {
            true => ObjectType::ChatCompletion,
            false => ObjectType::ChatCompletionChunk,
        };
        let about = ResponseMetadata::new(kind, None, artifact.artifact_id.as_str());
        self.write_parts(artifact, parts, update.metadata, about, replaces)
    }

    fn status(&mut self, mut update: TaskStatusUpdateEvent) -> Vec<Event> {
        self.context = update.context_id.clone().or(self.context.take());
        self.has_begun = true;
        let state = update.status.state;
        let mut events = Vec::new();
        if let Some(message) = &mut update.status.message
            && !is_failure(state)
            && self.messages.insert(message.message_id.clone())
        {
            events = match state.is_settled() {
                true => self.full_artifact(status_artifact(message)),
                false => self.status_note(Message::clone(message)),
            };
        }
        if !is_failure(state) && update.status.message.as_deref().is_some_and(is_long) {
            // It has been sent as an artifact.
            update.status.message = None;
        }
        if state.ends_stream()
            && let Some(last) = self.last.take()
        {
            events.push(Event::ArtifactUpdate(TaskArtifactUpdateEvent {
                task_id: self.task.clone(),
                context_id: self.context.clone(),
                artifact: Artifact {
                    artifact_id: last,
                    ..Artifact::default()
                },
                append: true,
                last_chunk: true,
                metadata: None,
            }));
        }
        events.push(Event::StatusUpdate(update));
        events
    }

    /// Writes parts of an artifact, cut so that a client keeps all of them.
    fn write_parts(
        &mut self,
        artifact: Artifact,
        parts: Vec<Part>,
        metadata: Option<Object>,
        about: ResponseMetadata,
        replaces: bool,
    ) -> Vec<Event> {
        let mut metadata = metadata;
        about.add_to(&mut metadata);
        let mut first = Some(artifact);
        let mut events = Vec::new();
        for parts in portions(parts).into_iter().flat_map(lines) {
            let known = self.last.clone().unwrap_or_default();
            let artifact = first.take().unwrap_or_else(|| Artifact {
                artifact_id: known,
                ..Artifact::default()
            });
            self.last = Some(artifact.artifact_id.clone());
            let is_new = self.sent.insert(artifact.artifact_id.clone());
            let append = !is_new && (!replaces || !events.is_empty());
            events.push(Event::ArtifactUpdate(TaskArtifactUpdateEvent {
                task_id: self.task.clone(),
                context_id: self.context.clone(),
                artifact: Artifact { parts, ..artifact },
                append,
                last_chunk: false,
                metadata: metadata.clone(),
            }));
        }
        events
    }
}

/// Returns the id of the response that an artifact belongs to, which is its id on the wire.
pub(super) fn base_of(artifact: &Artifact) -> ArtifactId {
    match reasoning_id(artifact) {
        Some(id) => ArtifactId::from(id),
        None => artifact.artifact_id.clone(),
    }
}

/// Returns the message of a status as an artifact.
pub(super) fn status_artifact(message: &Message) -> Artifact {
    Artifact {
        artifact_id: ArtifactId::from(message.message_id.as_str()),
        parts: message.parts.clone(),
        ..Artifact::default()
    }
}

/// Returns the text among parts as reasoning: it is not part of the answer.
pub(super) fn as_reasoning(parts: Vec<Part>) -> Vec<Part> {
    let thought = |part: Part| match part.as_text() {
        Some(text) => Step::Reasoning(text.to_owned()).into(),
        None => part,
    };
    parts.into_iter().map(thought).collect()
}

/// Returns whether a message is too long for one line of a stream.
fn is_long(message: &Message) -> bool {
    let texts = message.parts.iter().filter_map(Part::as_text);
    texts.map(str::len).sum::<usize>() > MAX_LINE_BYTES
}

/// Returns whether clients of the framework make an error of a state and keep the status' message.
pub(super) fn is_failure(state: TaskState) -> bool {
    matches!(
        state,
        TaskState::Failed | TaskState::Canceled | TaskState::Rejected
    )
}
