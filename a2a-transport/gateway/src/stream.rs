//! Streams of an agent in the ids of the caller, and by the rules of its version.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use a2a_transport::{Error, Transport, Update, UpdateStream};
use a2a_types::{
    Artifact, ArtifactId, Error as A2aError, ErrorKind, Event, Operation, ProtocolVersion, Task,
    TaskArtifactUpdateEvent, TaskId,
};
use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout};

use crate::capabilities::translate;
use crate::owned_call::OwnedCall;
use crate::rewrite::{Rewrite, last_word, status_update, stream_beginning};
use crate::settle::{Held, is_passing, read_task, settled};

/// A stream on its way from the agent to a caller.
pub(crate) struct GatewayStream<T> {
    pub(crate) agent: Arc<T>,
    /// Protocol version of the agent.
    pub(crate) version: ProtocolVersion,
    pub(crate) owned: OwnedCall,
    pub(crate) rewrite: Rewrite,
    pub(crate) updates: UpdateStream,
    /// Longest wait for a task whose stream has broken off.
    pub(crate) blocking_timeout: Duration,
    seen: SeenEvents,
    /// The next item of `updates`, if it was read.
    peeked: Option<Option<Result<Update, Error>>>,
    /// Updates for the caller.
    queue: VecDeque<Update>,
    /// Memory of the updates that were made of a task.
    held: Held,
    has_begun: bool,
    has_ended: bool,
}

impl<T: Transport> GatewayStream<T> {
    pub(crate) fn new(
        agent: Arc<T>,
        version: ProtocolVersion,
        (owned, rewrite): (OwnedCall, Rewrite),
        updates: UpdateStream,
        blocking_timeout: Duration,
    ) -> Self {
        Self {
            agent,
            version,
            owned,
            rewrite,
            updates,
            blocking_timeout,
            seen: SeenEvents::default(),
            peeked: None,
            queue: VecDeque::new(),
            held: None,
            has_begun: false,
            has_ended: false,
        }
    }

    /// Returns the updates for the caller. Errors: the agent's refusal, if its stream begins with one at once.
    pub(crate) async fn begin(mut self) -> Result<UpdateStream, Error> {
        if let Ok(first) = timeout(FIRST_EVENT, self.updates.next()).await {
            let is_error = matches!(first, Some(Err(_)));
            self.peeked = Some(first);
            if is_error && let Some(first) = self.next().await {
                self.queue.push_front(first?);
            }
        }
        Ok(Box::pin(stream::unfold(self, |mut stream| async move {
            let item = stream.next().await?;
            Some((item, stream))
        })))
    }

    async fn next(&mut self) -> Option<Result<Update, Error>> {
        loop {
            if let Some(update) = self.queue.pop_front() {
                return Some(Ok(update));
            }
            if self.has_ended {
                return None;
            }
            let item = match self.peeked.take() {
                Some(item) => item,
                None => self.updates.next().await,
            };
            let taken = match item {
                Some(Ok(update)) => self.take(update),
                Some(Err(error)) => self.recover(error).await,
                None if self.seen.may_end => {
                    self.has_ended = true;
                    Ok(())
                }
                None => self.recover(Error::Unfinished).await,
            };
            if let Err(error) = taken {
                self.has_ended = true;
                return Some(Err(error));
            }
        }
    }

    /// Queues what an update of the agent is for the caller.
    fn take(&mut self, update: Update) -> Result<(), Error> {
        self.seen.add(&update.event);
        let caller = self.owned.context().protocol_version;
        let update = self.rewrite.update(update)?;
        let status = update.event.status();
        if status.is_some_and(|status| status.state.ends_stream())
            && !caller.rules().follows_waiting_tasks
            && self.version.rules().follows_waiting_tasks
        {
            self.has_ended = true;
        }
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        match is_first && caller == ProtocolVersion::V1_0 && self.version != ProtocolVersion::V1_0 {
            // In 1.0 a stream begins with the task.
            true => self.queue.extend(stream_beginning(update)),
            false => self.queue.push_back(update),
        }
        Ok(())
    }

    /// Reads the task of a stream that has broken off or was refused, and queues what the caller has not seen
    /// of it.
    ///
    /// Errors: the stream was refused, or its task cannot be read, or goes on.
    async fn recover(&mut self, error: Error) -> Result<(), Error> {
        let error = match self.has_begun {
            true => error,
            false => match ended_task(&*self.agent, &self.owned, error).await {
                Ok(last) => {
                    self.take(last)?;
                    self.has_ended = true;
                    return Ok(());
                }
                Err(error) => error,
            },
        };
        let operation = self.owned.operation();
        let translated = |error| Err(translate(operation, self.version, error));
        let is_cut = match self.has_begun {
            true => is_passing(&error),
            false => matches!(error, Error::Unfinished),
        };
        let follows = operation == Operation::SubscribeToTask;
        let known = self.owned.known.as_ref().filter(|_| follows);
        let task = self.seen.task.as_ref().or(known.map(|known| &known.id));
        let Some(task) = task.filter(|_| is_cut).cloned() else {
            return translated(error);
        };
        tracing::debug!(%error, "the agent's stream has broken off: reading the task instead");
        let until = Instant::now() + self.blocking_timeout;
        let settled = settled(&*self.agent, &self.owned, &task, until).await;
        let Ok((task, held)) = settled else {
            return translated(error);
        };
        self.held = held;
        if !task.status.state.is_settled() {
            return translated(Error::Unfinished);
        }
        self.has_ended = true;
        for event in self.rest_of(task) {
            let update = self.rewrite.update(Update::new(event, None))?;
            self.queue.push_back(update);
        }
        Ok(())
    }

    /// Returns the events between what a caller has seen and a task.
    fn rest_of(&self, mut task: Task) -> Vec<Event> {
        if !self.has_begun && self.owned.context().protocol_version == ProtocolVersion::V1_0 {
            return vec![Event::Task(task)];
        }
        let artifacts = std::mem::take(&mut task.artifacts).into_iter();
        let unseen = artifacts.filter(|artifact| !self.seen.has(artifact));
        let unseen = unseen.map(|artifact| {
            Event::ArtifactUpdate(TaskArtifactUpdateEvent {
                task_id: task.id.clone(),
                context_id: task.context_id.clone(),
                artifact,
                append: false,
                last_chunk: true,
                metadata: None,
            })
        });
        let mut events: Vec<_> = unseen.collect();
        events.push(status_update(task));
        events
    }
}

/// Returns the one event of an ended task for a caller of an older version, whose subscription an agent of 1.0
/// refuses. Errors: `refusal`, if that is not what has happened.
async fn ended_task<T: Transport>(
    agent: &T,
    owned: &OwnedCall,
    refusal: Error,
) -> Result<Update, Error> {
    let caller = owned.context().protocol_version.rules();
    let is_refused = matches!(&refusal, Error::Agent(A2aError { kind, .. }) if *kind == ErrorKind::UnsupportedOperation);
    let id = owned.agent_task();
    match id {
        Some(id)
            if owned.operation() == Operation::SubscribeToTask
                && caller.subscribes_to_ended_tasks
                && is_refused =>
        {
            match read_task(agent, owned, id, Some(0)).await {
                Ok((task, _)) if task.status.state.is_terminal() => {
                    Ok(last_word(task, caller.ends_by_status))
                }
                _ => Err(refusal),
            }
        }
        _ => Err(refusal),
    }
}

/// Summary of the events of a stream, in the agent's ids.
#[derive(Default)]
struct SeenEvents {
    task: Option<TaskId>,
    /// The stream may end after the last event.
    may_end: bool,
    /// Number of parts of each artifact.
    artifacts: HashMap<ArtifactId, usize>,
    /// Bytes of the artifacts' names.
    bytes: usize,
}

impl SeenEvents {
    fn add(&mut self, event: &Event) {
        if let Some(status) = event.status() {
            self.may_end = status.state.is_settled();
        }
        if let Some(task) = event.task_id() {
            self.task = Some(task.clone());
        }
        match event {
            Event::Task(task) => {
                (self.artifacts, self.bytes) = (HashMap::new(), 0);
                for artifact in &task.artifacts {
                    self.add_artifact(artifact, false);
                }
            }
            Event::ArtifactUpdate(update) => self.add_artifact(&update.artifact, update.append),
            Event::Message(_) => self.may_end = true,
            Event::StatusUpdate(_) => {}
        }
    }

    fn add_artifact(&mut self, artifact: &Artifact, append: bool) {
        let id = &artifact.artifact_id;
        let parts = artifact.parts.len();
        if let Some(known) = self.artifacts.get_mut(id) {
            *known = if append { *known + parts } else { parts };
        } else if self.bytes < MAX_SEEN_BYTES {
            self.bytes += id.as_str().len() + ENTRY_BYTES;
            self.artifacts.insert(id.clone(), parts);
        }
    }

    fn has(&self, artifact: &Artifact) -> bool {
        self.artifacts.get(&artifact.artifact_id) == Some(&artifact.parts.len())
    }
}

/// Time in which a refusal by the first event becomes the answer to the call.
const FIRST_EVENT: Duration = Duration::from_secs(1);

/// Bytes of artifacts that a stream remembers; further ones are repeated if it breaks off.
const MAX_SEEN_BYTES: usize = 1 << 20;

/// Bytes of an artifact that is remembered, its name apart.
const ENTRY_BYTES: usize = 64;
