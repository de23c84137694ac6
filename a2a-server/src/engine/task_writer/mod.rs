//! The only writer of an active task.

mod signals;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use a2a_transport::TraceContext;
use a2a_types::extension::usage::TokenUsage;
use a2a_types::{
    ArtifactId, ContextId, Event, Message, Object, Role, Task, TaskArtifactUpdateEvent, TaskId,
    TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp,
};
use futures_util::future::Either;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::engine::chunk_buffer::{ChunkBuffer, PushOutcome, is_mere_text};
use crate::engine::log_writer::{AppendRequest, LogWriter, leaves_idle};
use crate::engine::run_state::{Progress, SharedRunState};
use crate::engine::store_handle::{ActiveTask, StoreHandle};
use crate::engine::update::{ArtifactUpdate, UpdateError};
use crate::store::{IdempotencyKey, ListQuery, NewTask, Owner, Snapshot, StoreError};

/// Writes the log of one task.
///
/// A new task is not stored until it is needed: by the agent's first update, by a caller that does not want
/// to wait, or by a protocol version that has no answer without a task.
pub(crate) struct TaskWriter {
    active: Arc<ActiveTask>,
    context: ContextId,
    /// Also held while it is decided whether the answer has a task.
    log: Mutex<LogWriter>,
    /// Text for the task's log that waits for the log writer.
    kept: ChunkBuffer,
    /// Held while a message gets its places in the log and in the queue of messages: both are in the same order.
    pub(crate) message_order: Mutex<()>,
    artifact_names: ArtifactNames,
    /// Tokens that the task's metadata does not have yet.
    usage: std::sync::Mutex<TokenUsage>,
    /// `true` if the task is known to be stored, so that text can wait for the log writer.
    is_stored: AtomicBool,
}

/// Names of the artifacts that the turn of a message has begun, by their hashes, and how many of each.
#[derive(Default)]
struct ArtifactNames(std::sync::Mutex<(usize, BTreeMap<u64, u32>)>);

impl ArtifactNames {
    /// Counts an artifact of a turn, and returns how many of its name came before it.
    fn count(&self, message: usize, name: u64) -> u32 {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (turn, counts) = &mut *names;
        if *turn != message {
            *turn = message;
            counts.clear();
        }
        let count = counts.entry(name).or_default();
        *count += 1;
        *count - 1
    }
}

/// Place of a caller's message in its task.
pub(crate) struct MessagePlace {
    /// Sequence number at which the log ended with it.
    pub(crate) sequence: u64,
    /// Its number among the caller's messages, counted from 1.
    pub(crate) number: usize,
}

impl std::fmt::Debug for TaskWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskWriter")
            .field("task", self.task_id())
            .finish_non_exhaustive()
    }
}

impl TaskWriter {
    /// A writer for a task that is not stored yet.
    pub(crate) fn for_new(store_handle: Arc<StoreHandle>, owner: Owner, new: Box<NewTask>) -> Self {
        let task = Arc::clone(&new.task);
        Self::new(store_handle, owner, &task, |active| {
            LogWriter::for_new(active, new)
        })
    }

    /// A writer for a task of the store, as it stood.
    pub(crate) fn for_known(
        store_handle: Arc<StoreHandle>,
        owner: Owner,
        known: &Snapshot,
    ) -> Self {
        Self::new(store_handle, owner, &known.task, |active| {
            LogWriter::at(active, known)
        })
    }

    fn new(
        store_handle: Arc<StoreHandle>,
        owner: Owner,
        task: &Task,
        log: impl FnOnce(Arc<ActiveTask>) -> LogWriter,
    ) -> Self {
        let active = Arc::new(ActiveTask {
            store_handle,
            owner,
            id: task.id.clone(),
            run_state: SharedRunState::default(),
        });
        Self {
            context: task.context_id.clone().unwrap_or_default(),
            log: Mutex::new(log(Arc::clone(&active))),
            active,
            kept: ChunkBuffer::default(),
            message_order: Mutex::default(),
            artifact_names: ArtifactNames::default(),
            usage: std::sync::Mutex::default(),
            is_stored: AtomicBool::new(false),
        }
    }

    fn store_handle(&self) -> &StoreHandle {
        &self.active.store_handle
    }

    pub(crate) fn task_id(&self) -> &TaskId {
        &self.active.id
    }

    pub(crate) fn context_id(&self) -> &ContextId {
        &self.context
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.active.owner
    }

    /// Returns the state of the run.
    pub(crate) fn run_state(&self) -> &SharedRunState {
        &self.active.run_state
    }

    /// The log writer, with no call to the store in progress.
    async fn log(&self) -> MutexGuard<'_, LogWriter> {
        let mut log = self.log.lock().await;
        // No caller waits for the outcome of that call any more.
        drop(log.finish().await);
        log
    }

    /// Sets the trace that later events of the task belong to.
    pub(crate) async fn belong_to(&self, trace: Option<TraceContext>) {
        self.log().await.belong_to(trace);
    }

    /// Stores the task, unless that has been done, or the answer was a message.
    pub(crate) async fn open(&self) -> Result<(), StoreError> {
        let mut log = self.log().await;
        match log.is_stored() || self.is_answered() {
            true => Ok(()),
            false => log.create(Vec::new()).await,
        }
    }

    /// Repeats a step of the agent that failed because a shared store was not available, until it succeeds or fails
    /// otherwise. When the outage has lasted too long, the turn is interrupted: the task is left to the next writer.
    async fn outlast<T, F>(
        &self,
        first: Result<T, UpdateError>,
        again: impl Fn() -> F,
    ) -> Result<T, UpdateError>
    where
        F: Future<Output = Result<T, UpdateError>>,
    {
        let (begun, mut pause, mut tried) = (Instant::now(), FIRST_PAUSE, first);
        loop {
            let error = match tried {
                Err(UpdateError::Store(error @ StoreError::Unavailable(_)))
                    if self.store_handle().is_shared() && !self.is_lost() =>
                {
                    error
                }
                done => return done,
            };
            if self.is_outage_over(begun, &error) {
                return Err(error.into());
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(MAX_PAUSE),
                () = self.lost() => return Err(error.into()),
            }
            tried = again().await;
        }
    }

    /// Leaves the task to the next writer if the store has not been available since `begun` for too long.
    pub(crate) fn is_outage_over(&self, begun: Instant, error: &StoreError) -> bool {
        let limit = self.store_handle().max_outage;
        if begun.elapsed() < limit {
            return false;
        }
        let error = error as &dyn std::error::Error;
        tracing::error!(task = %self.task_id(), error, ?limit, "the store was not available for too long: the turn is interrupted");
        self.lose();
        true
    }

    /// Makes sure, before the agent begins, that no other server has taken over the task since the last write. If one may
    /// have, the lease is taken again.
    pub(crate) async fn confirm_lease(&self) {
        if self.store_handle().is_shared() && !self.log().await.is_confirmed() {
            // Rare. Boxed, so that it does not enlarge the future of every run.
            Box::pin(self.take_lease_again()).await;
        }
    }

    async fn take_lease_again(&self) {
        let confirm = || async {
            let request = AppendRequest {
                takes: true,
                ..AppendRequest::default()
            };
            Ok(self.log().await.write(request.into(), &self.kept).await?)
        };
        if let Err(error) = self.outlast(confirm().await, confirm).await {
            tracing::debug!(task = %self.task_id(), %error, "another server has taken over the task");
            self.lose();
        }
    }

    /// Returns another task of the same owner, or `None` if the store has none of that id.
    pub(crate) async fn other(&self, task: &TaskId) -> Result<Option<Task>, UpdateError> {
        let store = &self.store_handle().store;
        let read = || async {
            let snapshot = store.snapshot(self.owner(), task).await?;
            Ok(snapshot.map(|snapshot| Arc::unwrap_or_clone(snapshot.task)))
        };
        self.outlast(read().await, read).await
    }

    /// Returns the other tasks of this context and owner, the oldest first: the latest of them, as many as the store
    /// has on one page.
    pub(crate) async fn earlier_tasks(&self) -> Result<Vec<Task>, UpdateError> {
        let store = &self.store_handle().store;
        let query = ListQuery {
            context_id: Some(self.context.clone()),
            ..ListQuery::new(MAX_EARLIER_TASKS)
        };
        let read = || async { Ok(store.list(self.owner(), query.clone()).await?.tasks) };
        let mut tasks = self.outlast(read().await, read).await?;
        tasks.retain(|task| task.id != *self.task_id());
        tasks.reverse();
        Ok(tasks)
    }

    /// The log writer, once there is a task to write to.
    async fn ready(&self) -> Result<MutexGuard<'_, LogWriter>, UpdateError> {
        self.open().await?;
        match self.is_answered() {
            true => Err(UpdateError::Answered),
            false => Ok(self.log().await),
        }
    }

    /// Writes events; the first ones together with the task.
    async fn append(&self, events: Vec<Event>) -> Result<(), UpdateError> {
        let mut log = self.log().await;
        if self.is_answered() {
            return Err(UpdateError::Answered);
        }
        let begins = !log.is_stored();
        let has_status = events.iter().any(|event| event.status().is_some());
        let yields = (begins || has_status) && !leaves_idle(&events);
        let written = match log.is_stored() {
            true => {
                let request = AppendRequest {
                    keeps: true,
                    ..AppendRequest::of(events)
                };
                log.write(request.into(), &self.kept).await
            }
            false => log.create(events).await,
        };
        drop(log);
        if written.is_err() {
            let again = || async { Ok(self.log().await.write_again(&self.kept).await?) };
            // Rare. Boxed, so that it does not enlarge the future of every update.
            Box::pin(self.outlast(written.map_err(UpdateError::from), again)).await?;
        }
        if yields {
            // Lets followers get the first event, and each status, before an agent that never waits
            // continues.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Returns the id of the next artifact of this name in the turn of a message: the same one if the turn is run again.
    pub(crate) fn artifact_id(&self, message: usize, name: &str) -> ArtifactId {
        let name = hash(FNV_OFFSET, name.as_bytes());
        let repeated = self.artifact_names.count(message, name);
        let place = hash(name, &(message as u64).to_le_bytes());
        let place = hash(place, &repeated.to_le_bytes());
        let task = hash(place, self.task_id().as_str().as_bytes());
        let id = (u128::from(task) << 64) | u128::from(place);
        let id = uuid::Builder::from_custom_bytes(id.to_be_bytes()).into_uuid();
        let mut room = uuid::Uuid::encode_buffer();
        ArtifactId::from(&*id.hyphenated().encode_lower(&mut room))
    }

    /// The task as it stands in the store.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        self.active.snapshot().await
    }

    /// The task as it stands, or as it would be created.
    pub(crate) async fn task(&self) -> Result<Arc<Task>, StoreError> {
        self.log().await.task().await
    }

    /// The task as it stands, for its agent: see [`outlast`](Self::outlast).
    pub(crate) async fn task_for_agent(&self) -> Result<Arc<Task>, UpdateError> {
        let read = || async { Ok(self.task().await?) };
        self.outlast(read().await, read).await
    }

    /// Returns the state of the task, as far as is known here.
    pub(crate) async fn state(&self) -> Result<TaskState, StoreError> {
        self.log().await.state().await
    }

    /// Returns the state of the task, and the number of the first message that waits for its turn.
    pub(crate) async fn state_and_next_message(
        &self,
    ) -> Result<(TaskState, Option<usize>), StoreError> {
        let mut log = self.log().await;
        Ok((log.state().await?, log.next_message()))
    }

    /// Returns whether the task is in the store.
    pub(crate) async fn is_stored(&self) -> bool {
        self.log().await.is_stored()
    }

    /// Gives the task a status; one that ends a turn has the usage of the task in its metadata.
    pub(crate) fn status(
        &self,
        state: TaskState,
        message: Option<Message>,
        metadata: Option<Object>,
    ) -> impl Future<Output = Result<(), UpdateError>> + Send {
        let ending = self.status_event(state, message, metadata);
        self.append_with_usage(None, ending)
    }

    /// Adds tokens that a model used for the task.
    pub(crate) fn add_usage(&self, usage: TokenUsage) {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) += usage;
    }

    /// Returns the tokens that the task's metadata does not have yet, or `None`, and forgets them.
    fn take_usage(&self) -> Option<TokenUsage> {
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        Some(std::mem::take(&mut *usage)).filter(|usage| *usage != TokenUsage::default())
    }

    /// Writes an artifact, if there is one, and a status.
    fn append_with_usage(
        &self,
        artifact: Option<Event>,
        status: TaskStatusUpdateEvent,
    ) -> impl Future<Output = Result<(), UpdateError>> + Send {
        let ends_turn = status.status.state.is_settled();
        let usage = ends_turn.then(|| self.take_usage()).flatten();
        let events =
            |status| Vec::from_iter(artifact.into_iter().chain([Event::StatusUpdate(status)]));
        let Some(usage) = usage else {
            return Either::Left(self.append(events(status)));
        };
        // Boxed, so that it does not enlarge the future of every update.
        Either::Right(Box::pin(async move {
            let written = match self.task_for_agent().await {
                Ok(task) => self.append(events(with_usage(status, &task, usage))).await,
                Err(error) => Err(error),
            };
            if written.is_err() {
                self.add_usage(usage);
            }
            written
        }))
    }

    fn status_event(
        &self,
        state: TaskState,
        message: Option<Message>,
        metadata: Option<Object>,
    ) -> TaskStatusUpdateEvent {
        TaskStatusUpdateEvent {
            task_id: self.task_id().clone(),
            context_id: Some(self.context.clone()),
            status: TaskStatus {
                state,
                message: message.map(|message| {
                    let role = Role::Agent;
                    self.placed(Message { role, ..message }).into()
                }),
                timestamp: Some(Timestamp::now()),
            },
            metadata,
        }
    }

    /// Writes an artifact or a chunk of one. Text that is only appended is written by a separate tokio task:
    /// the agent continues, and the text that it adds meanwhile becomes one event.
    pub(crate) fn artifact(
        self: &Arc<Self>,
        update: ArtifactUpdate,
    ) -> impl Future<Output = Result<(), UpdateError>> + Send {
        let event = self.artifact_event(update);
        match !self.store_handle().merges_chunks || !is_mere_text(&event) {
            true => Either::Left(self.append(vec![Event::ArtifactUpdate(event)])),
            false => Either::Right(self.collect(Box::new(event))),
        }
    }

    /// Writes an artifact or the last of it, and completes the task, in one append.
    pub(crate) fn complete_with(
        &self,
        update: ArtifactUpdate,
    ) -> impl Future<Output = Result<(), UpdateError>> + Send {
        let artifact = Event::ArtifactUpdate(self.artifact_event(update));
        let completed = self.status_event(TaskState::Completed, None, None);
        self.append_with_usage(Some(artifact), completed)
    }

    fn artifact_event(&self, update: ArtifactUpdate) -> TaskArtifactUpdateEvent {
        TaskArtifactUpdateEvent {
            task_id: self.task_id().clone(),
            context_id: Some(self.context.clone()),
            artifact: update.artifact,
            append: update.append,
            last_chunk: update.last_chunk,
            metadata: update.metadata,
        }
    }

    async fn collect(
        self: &Arc<Self>,
        mut text: Box<TaskArtifactUpdateEvent>,
    ) -> Result<(), UpdateError> {
        if !self.is_stored.load(Ordering::Relaxed) {
            let ready = || async { self.ready().await.map(drop) };
            self.outlast(ready().await, ready).await?;
            self.is_stored.store(true, Ordering::Relaxed);
            // Followers get the first event first, as in `append`.
            tokio::task::yield_now().await;
        }
        loop {
            match self.kept.push(text) {
                PushOutcome::Kept => break,
                PushOutcome::First => {
                    let writer = Arc::clone(self);
                    tokio::spawn(async move { writer.write_kept().await });
                    break;
                }
                PushOutcome::Refused(again) => {
                    text = again;
                    self.flush().await?;
                }
            }
        }
        // An agent that sends all its text without a pause must not starve the writer.
        tokio::task::coop::consume_budget().await;
        Ok(())
    }

    /// Writes the text that is kept until there is no more.
    async fn write_kept(&self) {
        loop {
            if let Err(error) = self.flush().await {
                self.kept.give_up();
                let error = &error as &dyn std::error::Error;
                tracing::warn!(task = %self.task_id(), error, "could not write an artifact's text");
                return;
            }
            if self.kept.finish() {
                return;
            }
        }
    }

    async fn flush(&self) -> Result<(), UpdateError> {
        let write = || async {
            let mut log = self.log().await;
            Ok(log.write(Box::default(), &self.kept).await?)
        };
        self.outlast(write().await, write).await
    }

    /// Adds a message of the caller to the history, with the state that follows from it; its turn begins at once, or
    /// the message waits for a turn. Returns its position.
    pub(crate) async fn append_message(
        &self,
        message: Message,
        then: Option<TaskState>,
        receipt: Option<IdempotencyKey>,
        begins_turn: bool,
    ) -> Result<MessagePlace, UpdateError> {
        let mut log = self.ready().await?;
        let mut events = vec![Event::Message(self.placed(message))];
        let status = |state| Event::StatusUpdate(self.status_event(state, None, None));
        events.extend(then.map(status));
        // An ended task is submitted again before it gets the message.
        if then == Some(TaskState::Submitted) {
            events.reverse();
        }
        let request = AppendRequest {
            receipt,
            turn: begins_turn.then(|| log.messages() + 1),
            ..AppendRequest::of(events)
        };
        log.write(request.into(), &self.kept).await?;
        Ok(MessagePlace {
            sequence: log.sequence(),
            number: log.messages(),
        })
    }

    /// Begins the turn of a message that waited for it, with the state that follows from it.
    pub(crate) async fn begin_turn(
        &self,
        number: usize,
        state: Option<TaskState>,
    ) -> Result<(), UpdateError> {
        let mut log = self.ready().await?;
        let status = |state| Event::StatusUpdate(self.status_event(state, None, None));
        let status = state.map(status);
        let request = AppendRequest {
            turn: Some(number),
            ..AppendRequest::of(Vec::from_iter(status))
        };
        Ok(log.write(request.into(), &self.kept).await?)
    }

    /// Returns the number of the first message that waits for its turn, or `None` if none does.
    pub(crate) async fn next_message(&self) -> Option<usize> {
        self.log().await.next_message()
    }

    /// Marks a message as one without a turn, because its task has ended.
    pub(crate) async fn skip(&self, message: usize) {
        self.log().await.skip(message);
    }

    /// Writes a step on the way to an answer, if steps are kept.
    pub(crate) async fn step(&self, step: Message) -> Result<(), UpdateError> {
        match self.store_handle().keeps_steps {
            true => self.append(vec![Event::Message(self.placed(step))]).await,
            false => Ok(()),
        }
    }

    /// Returns whether steps on the way to an answer are kept.
    pub(crate) fn keeps_steps(&self) -> bool {
        self.store_handle().keeps_steps
    }

    /// Stores what the agent needs to go on after a crash.
    pub(crate) async fn checkpoint(&self, checkpoint: Object) -> Result<(), UpdateError> {
        let write = || async {
            let mut log = self.ready().await?;
            let request = AppendRequest {
                checkpoint: Some(checkpoint.clone()),
                ..AppendRequest::default()
            };
            Ok(log.write(request.into(), &self.kept).await?)
        };
        self.outlast(write().await, write).await
    }

    /// Becomes the only writer of a task that has no other writer.
    pub(crate) async fn take_over(&self) -> Result<(), UpdateError> {
        let request = AppendRequest {
            takes: true,
            ..AppendRequest::default()
        };
        Ok(self.log().await.write(request.into(), &self.kept).await?)
    }

    /// Gives the task its last status, and takes the lease from its holder, which can write no more.
    pub(crate) async fn seize(&self, state: TaskState) -> Result<(), UpdateError> {
        let status = self.status_event(state, None, None);
        let request = AppendRequest {
            seizes: true,
            ..AppendRequest::of(vec![Event::StatusUpdate(status)])
        };
        Ok(self.log().await.write(request.into(), &self.kept).await?)
    }

    /// Gives the lease back, so that the next writer need not wait until it runs out.
    pub(crate) async fn hand_back(&self) -> Result<(), UpdateError> {
        let mut log = self.log().await;
        if !log.has_lease() {
            return Ok(());
        }
        let request = AppendRequest {
            release: true,
            ..AppendRequest::default()
        };
        Ok(log.write(request.into(), &self.kept).await?)
    }

    /// Answers with a message: alone if there is no task yet, else by completing the task.
    pub(crate) async fn reply(&self, message: Message) -> Result<(), UpdateError> {
        let usage = self.take_usage();
        let replied = match self.store_handle().is_shared() {
            false => self.reply_once(message, usage).await,
            true => {
                let reply = || self.reply_once(message.clone(), usage);
                self.outlast(reply().await, reply).await
            }
        };
        if let (Err(_), Some(usage)) = (&replied, usage) {
            self.add_usage(usage);
        }
        replied
    }

    async fn reply_once(
        &self,
        message: Message,
        usage: Option<TokenUsage>,
    ) -> Result<(), UpdateError> {
        let mut log = self.log().await;
        if self.is_answered() {
            return Err(UpdateError::Answered);
        }
        if log.is_stored() {
            let mut completed = self.status_event(TaskState::Completed, Some(message), None);
            if let Some(usage) = usage {
                completed = with_usage(completed, &*log.task().await?, usage);
            }
            let request = AppendRequest::of(vec![Event::StatusUpdate(completed)]);
            return Ok(log.write(request.into(), &self.kept).await?);
        }
        let mut answer = Message {
            context_id: Some(self.context.clone()),
            ..message
        };
        if let Some(usage) = usage {
            usage.put_into(answer.metadata.get_or_insert_default());
        }
        Ok(log.answer(answer).await?)
    }

    pub(crate) async fn respond_early(&self) -> Result<(), UpdateError> {
        let ready = || async { self.ready().await.map(drop) };
        self.outlast(ready().await, ready).await?;
        self.run_state().change(|run| run.detached += 1);
        Ok(())
    }

    /// Returns whether the agent answered with a message alone.
    pub(crate) fn is_answered(&self) -> bool {
        self.run_state()
            .is(|run| matches!(run.progress, Progress::Answered(_)))
    }

    /// Returns the message with the ids of this task and its context.
    pub(crate) fn placed(&self, mut message: Message) -> Message {
        self.place(&mut message);
        message
    }

    /// Has a message name this task and its context.
    pub(crate) fn place(&self, message: &mut Message) {
        message.task_id = Some(self.task_id().clone());
        message.context_id = Some(self.context.clone());
    }
}

/// Puts the usage of a task into a status that ends a turn: what the task has, and these tokens.
fn with_usage(
    mut status: TaskStatusUpdateEvent,
    task: &Task,
    usage: TokenUsage,
) -> TaskStatusUpdateEvent {
    let mut total = task.usage().unwrap_or_default();
    total += usage;
    total.put_into(status.metadata.get_or_insert_default());
    status
}

/// Continues an FNV-1a hash, which is cheap and equal in every process.
fn hash(from: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(from, step)
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// Maximum number of earlier tasks of a context that are read.
const MAX_EARLIER_TASKS: usize = 100;

/// Delay before a step is tried again that the store was not available for, the first and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(1);
