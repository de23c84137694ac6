//! The only writer of a task's log, for as long as a turn lasts.

use std::sync::{Arc, OnceLock};

use a2a_types::{
    Content, ContextId, Dialect, Event, Message, Object, Part, Task, TaskArtifactUpdateEvent,
    TaskId, TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp,
};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use crate::ledger::Ledger;
use crate::store::{Append, Lease, NewTask, Owner, Receipt, Snapshot, StoreError};
use crate::turn::{ArtifactUpdate, UpdateError};

/// Writes the log of one task.
///
/// A new task is kept back until somebody needs it: the agent by its first update, a caller who
/// does not want to wait, or a generation that knows no answer without a task.
pub(crate) struct Runner {
    ledger: Arc<Ledger>,
    owner: Owner,
    task: TaskId,
    context: ContextId,
    new: Option<NewTask>,
    opened: OnceLock<()>,
    /// Held by whoever makes the answer one with a task, or one without.
    choice: Mutex<()>,
    pen: Mutex<Pen>,
    stage: watch::Sender<Stage>,
    cancel: CancellationToken,
    /// The task is somebody else's work now.
    lost: CancellationToken,
    /// The first turn has begun, or will not.
    begun: CancellationToken,
    ended: CancellationToken,
}

/// The right to write, and where the log ends.
#[derive(Debug)]
struct Pen {
    generation: u64,
    /// The epoch of the lease; none if there is none.
    epoch: Option<u64>,
    /// Text that is collected before it is written.
    collected: Option<TaskArtifactUpdateEvent>,
}

/// How far the answer to the first message is.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// Whether there is a task, or an answer without one.
    pub(crate) progress: Progress,
    /// How often the agent let waiting callers go.
    pub(crate) detached: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Progress {
    /// Nothing yet.
    Pending,
    /// There is a task; this is how it began.
    Open(Arc<Snapshot>),
    /// The agent answered with a message, there will be no task.
    Answered(Arc<Message>),
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner")
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}

impl Runner {
    /// A runner for a task that is not stored yet.
    pub(crate) fn for_new(ledger: Arc<Ledger>, owner: Owner, new: NewTask) -> Self {
        let context = new.task.context_id.clone().unwrap_or_default();
        let pen = Pen {
            generation: 1,
            epoch: Some(1),
            collected: None,
        };
        Self::new(ledger, owner, new.task.id.clone(), context, pen, Some(new))
    }

    /// A runner for a task of the store, as it stood.
    pub(crate) fn for_known(ledger: Arc<Ledger>, owner: Owner, known: &Snapshot) -> Self {
        let context = known.task.context_id.clone().unwrap_or_default();
        let pen = Pen {
            generation: known.generation,
            epoch: None,
            collected: None,
        };
        Self::new(ledger, owner, known.task.id.clone(), context, pen, None)
    }

    fn new(
        ledger: Arc<Ledger>,
        owner: Owner,
        task: TaskId,
        context: ContextId,
        pen: Pen,
        new: Option<NewTask>,
    ) -> Self {
        Self {
            ledger,
            owner,
            task,
            context,
            opened: new
                .is_none()
                .then_some(())
                .map_or_else(OnceLock::new, OnceLock::from),
            choice: Mutex::new(()),
            new,
            pen: Mutex::new(pen),
            stage: watch::Sender::new(Stage {
                progress: Progress::Pending,
                detached: 0,
            }),
            cancel: CancellationToken::new(),
            lost: CancellationToken::new(),
            begun: CancellationToken::new(),
            ended: CancellationToken::new(),
        }
    }

    pub(crate) fn task_id(&self) -> &TaskId {
        &self.task
    }

    pub(crate) fn context_id(&self) -> &ContextId {
        &self.context
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    pub(crate) fn progress(&self) -> Progress {
        self.stage.borrow().progress.clone()
    }

    pub(crate) fn stage(&self) -> watch::Receiver<Stage> {
        self.stage.subscribe()
    }

    /// Stores the task, unless that has been done, or the answer was a message.
    pub(crate) async fn open(&self) -> Result<(), StoreError> {
        self.open_with(Vec::new()).await.map(drop)
    }

    /// Stores the task with its first events in one stroke; tells whether it did.
    async fn open_with(&self, events: Vec<Event>) -> Result<bool, StoreError> {
        let Some(new) = self.new.as_ref().filter(|_| !self.is_open()) else {
            return Ok(false);
        };
        let _choice = self.choice.lock().await;
        if self.is_open() || self.is_answered() {
            return Ok(false);
        }
        let mut pen = self.pen.lock().await;
        let snapshot = Snapshot {
            task: new.task.clone(),
            generation: 1,
            dialect: new.dialect,
            checkpoint: None,
        };
        let generation = 1 + events.len() as u64;
        let release = leaves_idle(&events);
        let new = NewTask {
            events,
            release,
            notify: self.ledger.notify,
            ..new.clone()
        };
        self.ledger.store.create(&self.owner, new).await?;
        pen.generation = generation;
        pen.epoch = (!release).then_some(1);
        self.opened.get_or_init(|| ());
        self.tell(Progress::Open(Arc::new(snapshot)));
        Ok(true)
    }

    fn is_open(&self) -> bool {
        self.opened.get().is_some()
    }

    /// What the agent may see of another task of the same owner.
    pub(crate) async fn other(&self, task: &TaskId) -> Result<Option<Task>, StoreError> {
        let snapshot = self.ledger.store.snapshot(&self.owner, task).await?;
        Ok(snapshot.map(|snapshot| snapshot.task))
    }

    /// Makes sure that there is a task to write to.
    async fn ready(&self) -> Result<(), UpdateError> {
        self.open().await?;
        match self.is_answered() {
            true => Err(UpdateError::Answered),
            false => Ok(()),
        }
    }

    fn tell(&self, progress: Progress) {
        self.stage.send_modify(|stage| stage.progress = progress);
    }

    /// The task as it stands in the store.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let snapshot = self.ledger.store.snapshot(&self.owner, &self.task).await?;
        snapshot.ok_or(StoreError::NoTask)
    }

    /// The task as it stands, or as it would be created.
    pub(crate) async fn task(&self) -> Result<Task, StoreError> {
        match (&self.new, self.is_open()) {
            (Some(new), false) => Ok(new.task.clone()),
            _ => Ok(self.snapshot().await?.task),
        }
    }

    pub(crate) async fn status(
        &self,
        state: TaskState,
        message: Option<Message>,
        metadata: Option<Object>,
    ) -> Result<(), UpdateError> {
        self.append(self.status_event(state, message, metadata))
            .await
    }

    fn status_event(
        &self,
        state: TaskState,
        message: Option<Message>,
        metadata: Option<Object>,
    ) -> Event {
        Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: self.task.clone(),
            context_id: Some(self.context.clone()),
            status: TaskStatus {
                state,
                message: message.map(|message| self.placed(message)),
                timestamp: Some(Timestamp::now()),
            },
            metadata,
        })
    }

    /// Writes an artifact or a chunk of one. Text that is only added to an artifact is collected for
    /// a moment: models speak in syllables.
    pub(crate) async fn artifact(
        self: &Arc<Self>,
        update: ArtifactUpdate,
    ) -> Result<(), UpdateError> {
        let event = TaskArtifactUpdateEvent {
            task_id: self.task.clone(),
            context_id: Some(self.context.clone()),
            artifact: update.artifact,
            append: update.append,
            last_chunk: update.last_chunk,
            metadata: update.metadata,
        };
        if self.ledger.merge.is_zero() || !is_mere_text(&event) {
            return self.append(Event::ArtifactUpdate(event)).await;
        }
        self.ready().await?;
        let mut pen = self.pen.lock().await;
        match &mut pen.collected {
            Some(collected) if collected.artifact.artifact_id == event.artifact.artifact_id => {
                collected.artifact.parts.extend(event.artifact.parts);
                match text_of(collected) >= MOST_COLLECTED {
                    true => self.write(&mut pen, Entry::default()).await,
                    false => Ok(()),
                }
            }
            _ => {
                self.write(&mut pen, Entry::default()).await?;
                pen.collected = Some(event);
                let runner = Arc::clone(self);
                tokio::spawn(async move {
                    tokio::time::sleep(runner.ledger.merge).await;
                    let mut pen = runner.pen.lock().await;
                    if let Err(error) = runner.write(&mut pen, Entry::default()).await {
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(task = %runner.task, error, "could not write what was collected");
                    }
                });
                Ok(())
            }
        }
    }

    /// Adds a message of the caller to the history, with what follows from it for the task.
    pub(crate) async fn hear(
        &self,
        message: Message,
        then: Option<TaskState>,
        receipt: Option<Receipt>,
    ) -> Result<(), UpdateError> {
        self.ready().await?;
        let mut events = vec![Event::Message(self.placed(message))];
        events.extend(then.map(|state| self.status_event(state, None, None)));
        // An ended task is submitted before it hears anything.
        if then == Some(TaskState::Submitted) {
            events.reverse();
        }
        let entry = Entry {
            events,
            receipt,
            ..Entry::default()
        };
        self.write(&mut *self.pen.lock().await, entry).await
    }

    /// Keeps what the agent wants to know if it has to go on after a crash.
    pub(crate) async fn checkpoint(&self, checkpoint: Object) -> Result<(), UpdateError> {
        self.ready().await?;
        let entry = Entry {
            checkpoint: Some(checkpoint),
            ..Entry::default()
        };
        self.write(&mut *self.pen.lock().await, entry).await
    }

    /// Becomes the only writer of a task that nobody else writes to.
    pub(crate) async fn take_over(&self) -> Result<(), UpdateError> {
        let entry = Entry {
            takes: true,
            ..Entry::default()
        };
        self.write(&mut *self.pen.lock().await, entry).await
    }

    /// Gives the task its last status, whoever works on it: they can write no more.
    pub(crate) async fn seize(&self, state: TaskState) -> Result<(), UpdateError> {
        let entry = Entry {
            seizes: true,
            ..Entry::of(self.status_event(state, None, None))
        };
        self.write(&mut *self.pen.lock().await, entry).await
    }

    /// Gives the lease back, so that whoever comes next need not wait until it runs out.
    pub(crate) async fn hand_back(&self) -> Result<(), UpdateError> {
        if !self.is_open() {
            return Ok(());
        }
        let mut pen = self.pen.lock().await;
        if pen.epoch.is_none() {
            return Ok(());
        }
        let entry = Entry {
            release: true,
            ..Entry::default()
        };
        self.write(&mut pen, entry).await
    }

    /// Answers with a message: alone if there is no task yet, else by completing the task.
    pub(crate) async fn reply(&self, message: Message) -> Result<(), UpdateError> {
        let choice = self.choice.lock().await;
        if self.is_open() {
            drop(choice);
            return self.status(TaskState::Completed, Some(message), None).await;
        }
        if self.is_answered() {
            return Err(UpdateError::Answered);
        }
        let answer = Message {
            context_id: Some(self.context.clone()),
            ..message
        };
        if let Some(receipt) = self.new.as_ref().and_then(|new| new.receipt.clone()) {
            let store = &self.ledger.store;
            store
                .keep_answer(&self.owner, receipt, answer.clone())
                .await?;
        }
        self.tell(Progress::Answered(Arc::new(answer)));
        Ok(())
    }

    pub(crate) async fn detach(&self) -> Result<(), UpdateError> {
        self.ready().await?;
        self.stage.send_modify(|stage| stage.detached += 1);
        Ok(())
    }

    async fn append(&self, event: Event) -> Result<(), UpdateError> {
        if !self.is_open() && self.open_with(vec![event.clone()]).await? {
            return Ok(());
        }
        self.ready().await?;
        let mut pen = self.pen.lock().await;
        self.write(&mut pen, Entry::of(event)).await
    }

    /// Writes what was collected, and then the entry, in one stroke.
    async fn write(&self, pen: &mut Pen, entry: Entry) -> Result<(), UpdateError> {
        let collected = pen.collected.take().map(Event::ArtifactUpdate);
        if collected.is_none() && entry.is_empty() {
            return Ok(());
        }
        let Entry {
            mut events,
            receipt,
            checkpoint,
            release,
            takes: _,
            seizes,
        } = entry;
        let idle = leaves_idle(&events);
        let before = collected.clone();
        events.splice(0..0, collected);
        let append = Append {
            after: pen.generation,
            lease: match pen.epoch {
                _ if seizes => self.ledger.seize(),
                Some(epoch) => Lease::Held { epoch },
                None => self.ledger.take(),
            },
            release: release || idle,
            notify: self.ledger.notify,
            events,
            receipt,
            checkpoint,
        };
        let released = append.release;
        let store = &self.ledger.store;
        match store.append(&self.owner, &self.task, append).await {
            Ok(appended) => {
                pen.generation = appended.generation;
                pen.epoch = (!released).then_some(appended.epoch);
                Ok(())
            }
            Err(StoreError::Illegal(illegal)) => {
                // What was collected was legal: it does not go with what is not.
                if let Some(before) = before {
                    Box::pin(self.write(pen, Entry::of(before))).await?;
                }
                Err(UpdateError::Illegal(illegal))
            }
            Err(error) => {
                if let StoreError::Fenced = error {
                    self.lost.cancel();
                }
                Err(error.into())
            }
        }
    }

    /// Whether the agent answered with a message alone.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(self.stage.borrow().progress, Progress::Answered(_))
    }

    /// A message of this task says so.
    pub(crate) fn placed(&self, message: Message) -> Message {
        Message {
            task_id: Some(self.task.clone()),
            context_id: Some(self.context.clone()),
            ..message
        }
    }

    /// Asks the agent to stop.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    pub(crate) async fn canceled(&self) {
        self.cancel.cancelled().await;
    }

    pub(crate) fn is_canceled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Stops the turn where it stands: the task is left to somebody else.
    pub(crate) fn lose(&self) {
        self.lost.cancel();
    }

    /// Resolves when the task is somebody else's.
    pub(crate) async fn lost(&self) {
        self.lost.cancelled().await;
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_cancelled()
    }

    /// Tells that the first turn begins.
    pub(crate) fn begin(&self) {
        self.begun.cancel();
    }

    /// Resolves when the first turn has begun, or will not.
    pub(crate) async fn begun(&self) {
        self.begun.cancelled().await;
    }

    /// Tells that the runner writes no more.
    pub(crate) fn end(&self) {
        self.begun.cancel();
        self.ended.cancel();
    }

    /// Resolves when the runner writes no more.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }
}

/// What is written in one stroke.
#[derive(Default)]
struct Entry {
    events: Vec<Event>,
    receipt: Option<Receipt>,
    checkpoint: Option<Object>,
    /// Whether the lease ends with this.
    release: bool,
    /// Whether a lease is taken even if there is nothing to write.
    takes: bool,
    /// Whether the lease is taken from whoever has it.
    seizes: bool,
}

impl Entry {
    fn of(event: Event) -> Self {
        Self {
            events: vec![event],
            ..Self::default()
        }
    }

    fn is_empty(&self) -> bool {
        self.events.is_empty() && self.checkpoint.is_none() && !self.release && !self.takes
    }
}

/// Whether nobody works on a task after these events.
fn leaves_idle(events: &[Event]) -> bool {
    let state = |event: &Event| Some(event.status()?.state);
    let last = events.iter().rev().find_map(state);
    last.is_some_and(TaskState::is_settled)
}

/// How much text is collected at most before it is written.
const MOST_COLLECTED: usize = 4096;

/// Whether an update only adds text to an artifact, so that it can be told together with the next.
fn is_mere_text(event: &TaskArtifactUpdateEvent) -> bool {
    let plain = |part: &Part| {
        let is_text = matches!(part.content, Content::Text(_));
        is_text && part.metadata.is_none() && part.media_type.is_none() && part.filename.is_none()
    };
    let artifact = &event.artifact;
    event.append
        && !event.last_chunk
        && event.metadata.is_none()
        && artifact.metadata.is_none()
        && artifact.description.is_none()
        && artifact.parts.len() == 1
        && artifact.parts.iter().all(plain)
}

fn text_of(collected: &TaskArtifactUpdateEvent) -> usize {
    let texts = collected.artifact.parts.iter().filter_map(Part::as_text);
    texts.map(str::len).sum()
}

/// A task that a message begins, and the message as it stands in it.
pub(crate) fn new_task(
    message: Message,
    dialect: Dialect,
    config: Option<TaskPushNotificationConfig>,
    receipt: Option<Receipt>,
    ledger: &Ledger,
) -> (NewTask, Message) {
    let id = message.task_id.clone().unwrap_or_else(TaskId::random);
    let context = message.context_id.clone().unwrap_or_else(ContextId::random);
    let message = Message {
        task_id: Some(id.clone()),
        context_id: Some(context.clone()),
        ..message
    };
    let mut task = Task::submitted(id.clone(), context);
    task.history.push(message.clone());
    let config = config.map(|config| TaskPushNotificationConfig {
        task_id: id,
        ..config
    });
    (
        NewTask {
            task,
            dialect,
            config,
            receipt,
            holder: Arc::clone(&ledger.holder),
            term: ledger.term,
            events: Vec::new(),
            release: false,
            notify: false,
        },
        message,
    )
}
