//! Writer of the log of one task: lease, place in the log, and appends in doubt.

use std::sync::Arc;

use a2a_transport::TraceContext;
use a2a_types::{Dialect, Event, Object, Task, TaskArtifactUpdateEvent, TaskState};

use crate::engine::chunk_buffer::ChunkBuffer;
use crate::engine::store_handle::TaskHandle;
use crate::store::{Append, Lease, NewTask, Receipt, StoreError};

/// Writes to the log of one task.
///
/// A writer may be stopped in the middle of an append, and then its outcome is unknown. So each append is
/// noted before it begins, and looked up before the next one.
pub(crate) struct LogWriter {
    /// The task, as long as it is not stored.
    new: Option<Box<NewTask>>,
    generation: u64,
    /// The state of the task, if that is known.
    state: Option<TaskState>,
    /// The epoch of the lease; none if there is none.
    epoch: Option<u64>,
    /// The trace that all appends belong to.
    trace: Option<TraceContext>,
    /// Text whose append has begun, and has not succeeded.
    pending: Option<Box<TaskArtifactUpdateEvent>>,
    in_doubt: Option<InDoubtAppend>,
}

/// An append whose outcome is unknown because its future was dropped.
#[derive(Clone, Copy)]
struct InDoubtAppend {
    events: usize,
    changes_lease: bool,
}

/// The parts of one append.
#[derive(Default)]
pub(crate) struct AppendRequest {
    pub(crate) events: Vec<Event>,
    pub(crate) receipt: Option<Receipt>,
    pub(crate) checkpoint: Option<Object>,
    /// `true` if the lease ends with this append.
    pub(crate) release: bool,
    /// `true` if a lease is taken even if there is nothing to write.
    pub(crate) takes: bool,
    /// `true` if the lease is taken from its holder.
    pub(crate) seizes: bool,
}

impl LogWriter {
    /// For a task that is not stored yet.
    pub(crate) fn for_new(new: NewTask) -> Self {
        Self {
            trace: new.trace.clone(),
            new: Some(Box::new(new)),
            ..Self::at(1)
        }
    }

    /// For a task whose log ends at a sequence number (`generation`).
    pub(crate) fn at(generation: u64) -> Self {
        Self {
            new: None,
            generation,
            state: None,
            epoch: None,
            trace: None,
            pending: None,
            in_doubt: None,
        }
    }

    /// Sets the trace of all later appends.
    pub(crate) fn belong_to(&mut self, trace: Option<TraceContext>) {
        self.trace = trace;
    }

    /// The task, if it is not stored.
    pub(crate) fn new_task(&self) -> Option<&NewTask> {
        self.new.as_deref()
    }

    /// Returns the sequence number (`generation`) at which the log ends.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns whether there is a lease to give back.
    pub(crate) fn has_lease(&self) -> bool {
        self.new.is_none() && self.epoch.is_some()
    }

    /// Stores the new task with its first events in one append; yields the dialect in which it was begun, and
    /// what is still to be written, if an earlier append had stored the task.
    pub(crate) async fn create(
        &mut self,
        task_handle: &TaskHandle,
        events: Vec<Event>,
    ) -> Result<(Dialect, Vec<Event>), StoreError> {
        let Some(new) = self.new.as_deref() else {
            return Err(StoreError::TaskExists);
        };
        // If an earlier append was dropped, the task may be there already.
        let again = self.in_doubt.is_some().then(|| events.clone());
        let generation = 1 + events.len() as u64;
        let last = last_state(&events);
        let release = last.is_some_and(TaskState::is_settled);
        let whole = NewTask {
            release,
            notify: task_handle.store_handle.notify,
            trace: self.trace.clone(),
            events,
            ..new.clone()
        };
        self.in_doubt = Some(InDoubtAppend {
            events: 1,
            changes_lease: true,
        });
        let created = task_handle
            .store_handle
            .store
            .create(&task_handle.owner, whole)
            .await;
        task_handle.store_handle.note_written(&created);
        match (created, again) {
            (Err(StoreError::TaskExists | StoreError::Received), Some(events)) => {
                return Ok((Box::pin(self.find(task_handle)).await?, events));
            }
            (Err(error), again) => {
                self.in_doubt = self.in_doubt.filter(|_| again.is_some());
                return Err(error);
            }
            (Ok(()), _) => self.in_doubt = None,
        }
        self.generation = generation;
        self.epoch = (!release).then_some(1);
        task_handle.store_handle.announce();
        let new = self.new.take().ok_or(StoreError::TaskExists)?;
        self.state = Some(last.unwrap_or(new.task.status.state));
        Ok((new.dialect, Vec::new()))
    }

    /// The task is stored now; yields the dialect in which it was begun.
    fn begun(&mut self) -> Result<Dialect, StoreError> {
        let new = self.new.take().ok_or(StoreError::TaskExists)?;
        Ok(new.dialect)
    }

    /// Reads where the log of the task ends that an append in doubt has stored; returns the dialect in
    /// which it was begun.
    async fn find(&mut self, task_handle: &TaskHandle) -> Result<Dialect, StoreError> {
        let stored = task_handle.known().await?;
        self.generation = stored.generation;
        self.epoch = None;
        self.in_doubt = None;
        self.begun()
    }

    /// Finds out whether an append in doubt has stored the task; returns the dialect in which it was begun,
    /// if so.
    pub(crate) async fn begun_unseen(
        &mut self,
        task_handle: &TaskHandle,
    ) -> Result<Option<Dialect>, StoreError> {
        let (Some(_), Some(in_doubt)) = (&self.new, self.in_doubt) else {
            return Ok(None);
        };
        match Box::pin(self.look_back(task_handle, in_doubt)).await {
            Ok(()) => self.begun().map(Some),
            Err(StoreError::NoTask) => {
                self.in_doubt = None;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the text that is kept, and then the request, in one append. Text that does not fit is dropped if
    /// the task ends with the request: it is not to keep the task from its end.
    pub(crate) async fn write(
        &mut self,
        task_handle: &TaskHandle,
        request: Box<AppendRequest>,
        kept: &ChunkBuffer,
    ) -> Result<(), StoreError> {
        let ends = last_state(&request.events).is_some_and(TaskState::is_terminal);
        let written = self.write_kept(task_handle, request, kept).await;
        if ends && matches!(written, Err(StoreError::TooLong(_))) {
            self.pending = None;
            drop(kept.take());
        }
        written
    }

    async fn write_kept(
        &mut self,
        task_handle: &TaskHandle,
        request: Box<AppendRequest>,
        kept: &ChunkBuffer,
    ) -> Result<(), StoreError> {
        self.settle_in_doubt(task_handle).await?;
        if self.pending.is_some() && !kept.is_empty() {
            // An earlier append has failed: the text of that goes first, so that there is never more of it.
            self.write_pending(task_handle).await?;
        }
        if self.pending.is_none() {
            self.pending = kept.take();
        }
        if request.is_empty() {
            return self.write_pending(task_handle).await;
        }
        let append = self.to_append(task_handle, *request);
        match self.append(task_handle, append).await {
            Ok(()) => {
                self.pending = None;
                Ok(())
            }
            Err(StoreError::Illegal(illegal)) => {
                // The text may be legal, and then does not go with what is not.
                self.write_pending(task_handle).await?;
                Err(StoreError::Illegal(illegal))
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the text whose append has begun; it is dropped if it cannot happen to the task.
    async fn write_pending(&mut self, task_handle: &TaskHandle) -> Result<(), StoreError> {
        if self.pending.is_none() {
            return Ok(());
        }
        let append = self.to_append(task_handle, AppendRequest::default());
        let appended = self.append(task_handle, append).await;
        if matches!(appended, Ok(()) | Err(StoreError::Illegal(_))) {
            self.pending = None;
        }
        appended
    }

    /// Returns an append of the pending text, followed by the request.
    fn to_append(&self, task_handle: &TaskHandle, request: AppendRequest) -> Append {
        let pending = self.pending.as_deref().cloned();
        let pending = pending.map(Event::ArtifactUpdate);
        let idle = leaves_idle(&request.events);
        Append {
            after: self.generation,
            lease: match self.epoch {
                _ if request.seizes => task_handle.store_handle.seize(),
                Some(epoch) => Lease::Held { epoch },
                None => task_handle.store_handle.take(),
            },
            release: request.release || idle,
            notify: task_handle.store_handle.notify,
            events: pending.into_iter().chain(request.events).collect(),
            receipt: request.receipt,
            checkpoint: request.checkpoint,
            trace: self.trace.clone(),
        }
    }

    fn append<'a>(
        &'a mut self,
        task_handle: &'a TaskHandle,
        append: Append,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + use<'a> {
        let released = append.release;
        let state = last_state(&append.events);
        self.in_doubt = Some(InDoubtAppend {
            events: append.events.len(),
            changes_lease: released || !matches!(append.lease, Lease::Held { .. }),
        });
        let appending = task_handle.append(append);
        async move {
            let appended = appending.await;
            self.in_doubt = None;
            let appended = appended?;
            self.generation = appended.generation;
            self.state = state.or(self.state);
            self.epoch = (!released).then_some(appended.epoch);
            task_handle.store_handle.announce();
            Ok(())
        }
    }

    /// Looks back, if the outcome of the last append is unknown.
    async fn settle_in_doubt(&mut self, task_handle: &TaskHandle) -> Result<(), StoreError> {
        match self.in_doubt {
            Some(in_doubt) => Box::pin(self.look_back(task_handle, in_doubt)).await,
            None => Ok(()),
        }
    }

    /// Finds out the outcome of an append. The store does what it is asked now after that append.
    async fn look_back(
        &mut self,
        task_handle: &TaskHandle,
        in_doubt: InDoubtAppend,
    ) -> Result<(), StoreError> {
        if in_doubt.changes_lease {
            self.epoch = None;
        }
        if in_doubt.events > 0 {
            let lease = match self.epoch {
                Some(epoch) => Lease::Held { epoch },
                None => task_handle.store_handle.take(),
            };
            let nothing = Append {
                lease,
                ..Append::held(self.generation, 0, Vec::new())
            };
            match task_handle.append(nothing).await {
                Ok(appended) => self.epoch = Some(appended.epoch),
                Err(StoreError::Behind(generation)) => {
                    self.generation = generation;
                    self.state = None;
                    self.pending = None;
                }
                Err(error) => return Err(error),
            }
        }
        self.in_doubt = None;
        Ok(())
    }

    /// Returns the state of the task, as far as is known here: appends of others are noticed when this
    /// writer writes.
    pub(crate) async fn state(&self, task_handle: &TaskHandle) -> Result<TaskState, StoreError> {
        match (&self.new, self.state) {
            (None, Some(state)) => Ok(state),
            _ => Ok(self.task(task_handle).await?.status.state),
        }
    }

    /// The task as it stands, or as it would be created.
    pub(crate) async fn task(&self, task_handle: &TaskHandle) -> Result<Arc<Task>, StoreError> {
        match &self.new {
            Some(new) => Ok(Arc::clone(&new.task)),
            None => Ok(task_handle.known().await?.task),
        }
    }
}

impl AppendRequest {
    pub(crate) fn of(events: Vec<Event>) -> Self {
        Self {
            events,
            ..Self::default()
        }
    }

    fn is_empty(&self) -> bool {
        self.events.is_empty() && self.checkpoint.is_none() && !self.release && !self.takes
    }
}

/// Returns whether these events leave a task idle.
pub(crate) fn leaves_idle(events: &[Event]) -> bool {
    last_state(events).is_some_and(TaskState::is_settled)
}

/// The state that these events leave a task in, if they tell.
fn last_state(events: &[Event]) -> Option<TaskState> {
    let state = |event: &Event| Some(event.status()?.state);
    events.iter().rev().find_map(state)
}
