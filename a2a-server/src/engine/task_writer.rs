//! The only writer of a task's log, for as long as a turn lasts.

mod signals;

pub(crate) use self::signals::FirstStep;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use a2a_transport::TraceContext;
use a2a_types::{
    ContextId, Event, Message, Object, Task, TaskArtifactUpdateEvent, TaskId, TaskState,
    TaskStatus, TaskStatusUpdateEvent, Timestamp,
};
use futures_util::future::Either;
use tokio::sync::{Mutex, MutexGuard};
use uuid::Uuid;

use crate::engine::chunk_buffer::{ChunkBuffer, Pushed, is_mere_text};
use crate::engine::log_writer::{Entry, Pen, leaves_idle};
use crate::engine::run_state::{Board, Progress};
use crate::engine::store_handle::{Account, Ledger};
use crate::engine::update::{ArtifactUpdate, UpdateError};
use crate::store::{NewTask, Owner, Receipt, Snapshot, StoreError};

/// Writes the log of one task.
///
/// A new task is kept back until somebody needs it: the agent by its first update, a caller who
/// does not want to wait, or a generation that knows no answer without a task.
pub(crate) struct Runner {
    account: Account,
    context: ContextId,
    /// Held, too, by whoever makes the answer one with a task, or one without.
    pen: Mutex<Pen>,
    /// Text for the task's log that waits for the pen.
    kept: ChunkBuffer,
    /// Whether the task is known to be stored, so that text can wait for the pen.
    is_stored: AtomicBool,
    /// With which update from here the agent pauses: the first, if that is 1; none, if it is 0.
    pause: AtomicU8,
    board: Board,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner")
            .field("task", self.task_id())
            .finish_non_exhaustive()
    }
}

impl Runner {
    /// A runner for a task that is not stored yet.
    pub(crate) fn for_new(ledger: Arc<Ledger>, owner: Owner, new: NewTask) -> Self {
        let task = Arc::clone(&new.task);
        Self::new(ledger, owner, &task, Pen::for_new(new))
    }

    /// A runner for a task of the store, as it stood.
    pub(crate) fn for_known(ledger: Arc<Ledger>, owner: Owner, known: &Snapshot) -> Self {
        Self::new(ledger, owner, &known.task, Pen::at(known.generation))
    }

    fn new(ledger: Arc<Ledger>, owner: Owner, task: &Task, pen: Pen) -> Self {
        Self {
            account: Account {
                ledger,
                owner,
                task: task.id.clone(),
            },
            context: task.context_id.clone().unwrap_or_default(),
            pen: Mutex::new(pen),
            kept: ChunkBuffer::default(),
            is_stored: AtomicBool::new(false),
            pause: AtomicU8::default(),
            board: Board::default(),
        }
    }

    fn ledger(&self) -> &Ledger {
        &self.account.ledger
    }

    pub(crate) fn task_id(&self) -> &TaskId {
        &self.account.task
    }

    pub(crate) fn context_id(&self) -> &ContextId {
        &self.context
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.account.owner
    }

    /// Whatever happens to the task from now on belongs to this trace.
    pub(crate) async fn belong_to(&self, trace: Option<TraceContext>) {
        self.pen.lock().await.belong_to(trace);
    }

    /// How far the work is.
    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    /// Stores the task, unless that has been done, or the answer was a message.
    pub(crate) async fn open(&self) -> Result<(), StoreError> {
        let mut pen = self.pen.lock().await;
        if pen.new_task().is_none() || self.is_answered() {
            return Ok(());
        }
        let (begun, _) = Box::pin(pen.create(&self.account, Vec::new())).await?;
        self.tell(Progress::Open(begun));
        Ok(())
    }

    /// What the agent may see of another task of the same owner.
    pub(crate) async fn other(&self, task: &TaskId) -> Result<Option<Task>, StoreError> {
        let Account { ledger, owner, .. } = &self.account;
        let snapshot = ledger.store.snapshot(owner, task).await?;
        Ok(snapshot.map(|snapshot| Arc::unwrap_or_clone(snapshot.task)))
    }

    /// The pen, once there is a task to write to.
    async fn ready(&self) -> Result<MutexGuard<'_, Pen>, UpdateError> {
        self.open().await?;
        match self.is_answered() {
            true => Err(UpdateError::Answered),
            false => Ok(self.pen.lock().await),
        }
    }

    /// Writes events; the first ones together with the task.
    async fn append(&self, events: Vec<Event>) -> Result<(), UpdateError> {
        let mut pen = self.pen.lock().await;
        if self.is_answered() {
            return Err(UpdateError::Answered);
        }
        let pauses = self.pauses_with(&events);
        if pen.new_task().is_some() {
            self.create(&mut pen, events).await?;
        } else {
            self.write(&mut pen, Entry::of(events).into()).await?;
        }
        drop(pen);
        if pauses {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Whether the agent pauses with this update, so that what it has begun with is told before it goes
    /// on. Who says how it stands, and is not done, most often means to take a while.
    fn pauses_with(&self, events: &[Event]) -> bool {
        let says_so = events.iter().any(|event| event.status().is_some());
        // Of several updates at once more than one may pause, which is one too many and no harm.
        let left = self.pause.load(Ordering::Relaxed);
        let next = if says_so { 0 } else { left.saturating_sub(1) };
        self.pause.store(next, Ordering::Relaxed);
        left > next && next == 0 && !leaves_idle(events)
    }

    async fn create(&self, pen: &mut Pen, events: Vec<Event>) -> Result<(), UpdateError> {
        let settles = leaves_idle(&events);
        let (begun, left) = pen.create(&self.account, events).await?;
        self.board.change(|stage| {
            stage.progress = Progress::Open(begun);
            if settles && left.is_empty() {
                stage.settled = pen.generation();
            }
        });
        match left.is_empty() {
            true => Ok(()),
            false => self.write(pen, Entry::of(left).into()).await,
        }
    }

    async fn write(&self, pen: &mut Pen, entry: Box<Entry>) -> Result<(), UpdateError> {
        let settles = leaves_idle(&entry.events);
        match pen.write(&self.account, entry, &self.kept).await {
            Ok(()) if settles => {
                self.board.change(|stage| stage.settled = pen.generation());
            }
            Err(StoreError::Fenced) => {
                self.lose();
                return Err(StoreError::Fenced.into());
            }
            written => written?,
        }
        Ok(())
    }

    fn tell(&self, progress: Progress) {
        self.board.change(|stage| stage.progress = progress);
    }

    /// The task as it stands in the store.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        self.account.known().await
    }

    /// The task as it stands, or as it would be created.
    pub(crate) async fn task(&self) -> Result<Arc<Task>, StoreError> {
        self.pen.lock().await.task(&self.account).await
    }

    /// In which state the task is, as far as is known here.
    pub(crate) async fn state(&self) -> Result<TaskState, StoreError> {
        self.pen.lock().await.state(&self.account).await
    }

    /// Whether the task is in the store.
    pub(crate) async fn is_stored(&self) -> bool {
        self.pen.lock().await.new_task().is_none()
    }

    pub(crate) fn status(
        &self,
        state: TaskState,
        message: Option<Message>,
        metadata: Option<Object>,
    ) -> impl Future<Output = Result<(), UpdateError>> + Send {
        self.append(vec![self.status_event(state, message, metadata)])
    }

    fn status_event(
        &self,
        state: TaskState,
        message: Option<Message>,
        metadata: Option<Object>,
    ) -> Event {
        Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: self.task_id().clone(),
            context_id: Some(self.context.clone()),
            status: TaskStatus {
                state,
                message: message.map(|message| self.placed(message).into()),
                timestamp: Some(Timestamp::now()),
            },
            metadata,
        })
    }

    /// Writes an artifact or a chunk of one. Text that is only added to one is written by a task of its own:
    /// the agent goes on, and what it adds meanwhile becomes one event.
    pub(crate) fn artifact(
        self: &Arc<Self>,
        update: ArtifactUpdate,
    ) -> impl Future<Output = Result<(), UpdateError>> + Send {
        let event = self.artifact_event(update);
        match !self.ledger().merges_chunks || !is_mere_text(&event) {
            true => Either::Left(self.append(vec![Event::ArtifactUpdate(event)])),
            false => Either::Right(self.collect(Box::new(event))),
        }
    }

    /// Writes an artifact or the last of it, and completes the task, in one stroke.
    pub(crate) fn complete_with(
        &self,
        update: ArtifactUpdate,
    ) -> impl Future<Output = Result<(), UpdateError>> + Send {
        let artifact = Event::ArtifactUpdate(self.artifact_event(update));
        let completed = self.status_event(TaskState::Completed, None, None);
        self.append(vec![artifact, completed])
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
        let pauses = self.pauses_with(&[]);
        if !self.is_stored.load(Ordering::Relaxed) {
            drop(self.ready().await?);
            self.is_stored.store(true, Ordering::Relaxed);
        }
        loop {
            match self.kept.push(text) {
                Pushed::Kept => break,
                Pushed::First => {
                    let runner = Arc::clone(self);
                    tokio::spawn(async move { runner.write_kept().await });
                    break;
                }
                Pushed::Refused(again) => {
                    text = again;
                    self.flush().await?;
                }
            }
        }
        match pauses {
            true => tokio::task::yield_now().await,
            // An agent that has all its text at once is not to keep the writer from its work.
            false => tokio::task::coop::consume_budget().await,
        }
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
        let mut pen = self.pen.lock().await;
        self.write(&mut pen, Box::default()).await
    }

    /// Adds a message of the caller to the history, with what follows from it for the task; yields where the
    /// log ends after that.
    pub(crate) async fn hear(
        &self,
        message: Message,
        then: Option<TaskState>,
        receipt: Option<Receipt>,
    ) -> Result<u64, UpdateError> {
        let mut pen = self.ready().await?;
        let mut events = vec![Event::Message(self.placed(message))];
        events.extend(then.map(|state| self.status_event(state, None, None)));
        // An ended task is submitted before it hears anything.
        if then == Some(TaskState::Submitted) {
            events.reverse();
        }
        let entry = Entry {
            receipt,
            ..Entry::of(events)
        };
        self.write(&mut pen, entry.into()).await?;
        Ok(pen.generation())
    }

    /// Writes a step on the way to an answer, if steps are kept.
    pub(crate) async fn step(&self, step: Message) -> Result<(), UpdateError> {
        match self.ledger().keeps_steps {
            true => self.append(vec![Event::Message(self.placed(step))]).await,
            false => Ok(()),
        }
    }

    /// Whether steps on the way to an answer are kept.
    pub(crate) fn keeps_steps(&self) -> bool {
        self.ledger().keeps_steps
    }

    /// Keeps what the agent wants to know if it has to go on after a crash.
    pub(crate) async fn checkpoint(&self, checkpoint: Object) -> Result<(), UpdateError> {
        let mut pen = self.ready().await?;
        let entry = Entry {
            checkpoint: Some(checkpoint),
            ..Entry::default()
        };
        self.write(&mut pen, entry.into()).await
    }

    /// Becomes the only writer of a task that nobody else writes to.
    pub(crate) async fn take_over(&self) -> Result<(), UpdateError> {
        let entry = Entry {
            takes: true,
            ..Entry::default()
        };
        self.write(&mut *self.pen.lock().await, entry.into()).await
    }

    /// Gives the task its last status, whoever works on it: they can write no more.
    pub(crate) async fn seize(&self, state: TaskState) -> Result<(), UpdateError> {
        let entry = Entry {
            seizes: true,
            ..Entry::of(vec![self.status_event(state, None, None)])
        };
        self.write(&mut *self.pen.lock().await, entry.into()).await
    }

    /// Gives the lease back, so that whoever comes next need not wait until it runs out.
    pub(crate) async fn hand_back(&self) -> Result<(), UpdateError> {
        let mut pen = self.pen.lock().await;
        if !pen.has_lease() {
            return Ok(());
        }
        let entry = Entry {
            release: true,
            ..Entry::default()
        };
        self.write(&mut pen, entry.into()).await
    }

    /// Answers with a message: alone if there is no task yet, else by completing the task.
    pub(crate) async fn reply(&self, message: Message) -> Result<(), UpdateError> {
        let mut pen = self.pen.lock().await;
        if self.is_answered() {
            return Err(UpdateError::Answered);
        }
        if let Some(begun) = pen.begun_unseen(&self.account).await? {
            self.tell(Progress::Open(begun));
        }
        let Some(new) = pen.new_task() else {
            let completed = self.status_event(TaskState::Completed, Some(message), None);
            let entry = Entry::of(vec![completed]);
            return self.write(&mut pen, entry.into()).await;
        };
        let answer = Message {
            context_id: Some(self.context.clone()),
            ..message
        };
        if let Some(receipt) = new.receipt.clone() {
            let Account { ledger, owner, .. } = &self.account;
            let answer = answer.clone();
            ledger.store.keep_answer(owner, receipt, answer).await?;
        }
        self.tell(Progress::Answered(Arc::new(answer)));
        Ok(())
    }

    pub(crate) async fn detach(&self) -> Result<(), UpdateError> {
        drop(self.ready().await?);
        self.board.change(|stage| stage.detached += 1);
        Ok(())
    }

    /// Whether the agent answered with a message alone.
    pub(crate) fn is_answered(&self) -> bool {
        self.board
            .is(|stage| matches!(stage.progress, Progress::Answered(_)))
    }

    /// A message of this task says so.
    pub(crate) fn placed(&self, mut message: Message) -> Message {
        self.place(&mut message);
        message
    }

    /// Has a message name this task and its context.
    pub(crate) fn place(&self, message: &mut Message) {
        message.task_id = Some(self.task_id().clone());
        message.context_id = Some(self.context.clone());
    }

    /// Tells the callers who wait, and the followers, that the end of the turn could not be stored.
    pub(crate) fn tell_stuck(&self, failure: Uuid) {
        self.board.change(|stage| stage.stuck = Some(failure));
        let Account {
            ledger,
            owner,
            task,
        } = &self.account;
        ledger.audiences.fail(owner, task, failure);
    }

    /// Tells that what could not be stored is stored.
    pub(crate) fn tell_unstuck(&self) {
        if self.board.is(|stage| stage.stuck.is_some()) {
            self.board.change(|stage| stage.stuck = None);
        }
    }
}
