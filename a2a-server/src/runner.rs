//! The only writer of a task's log, for as long as a turn lasts.

use std::sync::Arc;

use a2a_types::{
    ContextId, Dialect, Event, Message, Object, Task, TaskArtifactUpdateEvent, TaskId,
    TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp,
};
use tokio::sync::{OnceCell, watch};
use tokio_util::sync::CancellationToken;

use crate::store::{NewTask, Owner, Snapshot, Store, StoreError};
use crate::turn::{ArtifactUpdate, UpdateError};

/// Writes the log of one task.
///
/// A new task is kept back until somebody needs it: the agent by its first update, a caller who
/// does not want to wait, or a generation that knows no answer without a task.
pub(crate) struct Runner {
    store: Arc<dyn Store>,
    owner: Owner,
    task: TaskId,
    context: ContextId,
    new: Option<NewTask>,
    opened: OnceCell<()>,
    stage: watch::Sender<Stage>,
    cancel: CancellationToken,
    ended: CancellationToken,
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
    pub(crate) fn for_new(store: Arc<dyn Store>, owner: Owner, new: NewTask) -> Self {
        let context = new.task.context_id.clone().unwrap_or_default();
        Self::new(store, owner, new.task.id.clone(), context, Some(new))
    }

    /// A runner for a task of the store.
    pub(crate) fn for_known(store: Arc<dyn Store>, owner: Owner, task: &Task) -> Self {
        let context = task.context_id.clone().unwrap_or_default();
        Self::new(store, owner, task.id.clone(), context, None)
    }

    fn new(
        store: Arc<dyn Store>,
        owner: Owner,
        task: TaskId,
        context: ContextId,
        new: Option<NewTask>,
    ) -> Self {
        Self {
            store,
            owner,
            task,
            context,
            opened: OnceCell::new_with(new.is_none().then_some(())),
            new,
            stage: watch::Sender::new(Stage {
                progress: Progress::Pending,
                detached: 0,
            }),
            cancel: CancellationToken::new(),
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

    /// Stores the task, if that has not been done.
    pub(crate) async fn open(&self) -> Result<(), StoreError> {
        let create = || async {
            let Some(new) = self.new.clone() else {
                return Ok(());
            };
            let snapshot = Snapshot {
                task: new.task.clone(),
                generation: 1,
                dialect: new.dialect,
            };
            self.store.create(&self.owner, new).await?;
            self.tell(Progress::Open(Arc::new(snapshot)));
            Ok(())
        };
        self.opened.get_or_try_init(create).await.copied()
    }

    fn tell(&self, progress: Progress) {
        self.stage.send_modify(|stage| stage.progress = progress);
    }

    /// The task as it stands, or as it would be created.
    pub(crate) async fn task(&self) -> Result<Task, StoreError> {
        match (&self.new, self.opened.initialized()) {
            (Some(new), false) => Ok(new.task.clone()),
            _ => {
                let snapshot = self.store.snapshot(&self.owner, &self.task).await?;
                snapshot
                    .map(|snapshot| snapshot.task)
                    .ok_or(StoreError::NoTask)
            }
        }
    }

    pub(crate) async fn status(
        &self,
        state: TaskState,
        message: Option<Message>,
        metadata: Option<Object>,
    ) -> Result<(), UpdateError> {
        let message = message.map(|message| self.placed(message));
        self.append(Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: self.task.clone(),
            context_id: Some(self.context.clone()),
            status: TaskStatus {
                state,
                message,
                timestamp: Some(Timestamp::now()),
            },
            metadata,
        }))
        .await
    }

    pub(crate) async fn artifact(&self, update: ArtifactUpdate) -> Result<(), UpdateError> {
        self.append(Event::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: self.task.clone(),
            context_id: Some(self.context.clone()),
            artifact: update.artifact,
            append: update.append,
            last_chunk: update.last_chunk,
            metadata: update.metadata,
        }))
        .await
    }

    /// Adds a message of the caller to the history.
    pub(crate) async fn hear(&self, message: Message) -> Result<(), UpdateError> {
        self.append(Event::Message(self.placed(message))).await
    }

    /// Answers with a message: alone if there is no task yet, else by completing the task.
    pub(crate) async fn reply(&self, message: Message) -> Result<(), UpdateError> {
        if self.opened.initialized() {
            return self.status(TaskState::Completed, Some(message), None).await;
        }
        self.check_unanswered()?;
        let context_id = Some(self.context.clone());
        self.tell(Progress::Answered(Arc::new(Message {
            context_id,
            ..message
        })));
        Ok(())
    }

    pub(crate) async fn detach(&self) -> Result<(), UpdateError> {
        self.check_unanswered()?;
        self.open().await?;
        self.stage.send_modify(|stage| stage.detached += 1);
        Ok(())
    }

    async fn append(&self, event: Event) -> Result<(), UpdateError> {
        self.check_unanswered()?;
        self.open().await?;
        self.store.append(&self.owner, &self.task, event).await?;
        Ok(())
    }

    fn check_unanswered(&self) -> Result<(), UpdateError> {
        match self.is_answered() {
            true => Err(UpdateError::Answered),
            false => Ok(()),
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

    /// Tells that the runner writes no more.
    pub(crate) fn end(&self) {
        self.ended.cancel();
    }

    /// Resolves when the runner writes no more.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }
}

/// A task that a message begins, and the message as it stands in it.
pub(crate) fn new_task(
    message: Message,
    dialect: Dialect,
    config: Option<TaskPushNotificationConfig>,
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
        },
        message,
    )
}
