//! Writer of the log of one task: its lease, its place in the log, and the call to the store in progress.

use std::sync::Arc;

use a2a_transport::{BoxFuture, TraceContext};
use a2a_types::{Event, Message, Object, Task, TaskState};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::engine::chunk_buffer::ChunkBuffer;
use crate::engine::run_state::{Progress, StopReason};
use crate::engine::store_handle::ActiveTask;
use crate::store::{Append, Appended, IdempotencyKey, Lease, NewTask, Snapshot, StoreError};

/// Writes to the log of one task.
///
/// A caller may stop waiting in the middle of a call to the store. The call is kept here, and finished before
/// the next one, so that its outcome is always known.
pub(crate) struct LogWriter {
    active: Arc<ActiveTask>,
    /// The task, as long as it is not stored.
    new: Option<Box<NewTask>>,
    sequence: u64,
    /// The state of the task, if that is known.
    state: Option<TaskState>,
    /// The epoch of the lease; none if there is none.
    epoch: Option<u64>,
    /// Number of the caller's messages in the log.
    messages: usize,
    /// Number of the message whose turn began last.
    turn: usize,
    /// The trace that all appends belong to.
    trace: Option<TraceContext>,
    /// Events whose append has begun, and has not succeeded: they are written before all others.
    pending: Vec<Event>,
    /// Time at which the last successful call was made: the lease lasts for its term from then on, or longer.
    confirmed: Instant,
    writing: Option<StoreCall>,
}

/// A call to the store that has begun.
struct StoreCall {
    call: BoxFuture<'static, Result<Option<Appended>, StoreError>>,
    effect: CallEffect,
    asked: Instant,
}

/// Change that a successful call makes.
enum CallEffect {
    /// The log is longer, and the task may have another state.
    LogEntry {
        state: Option<TaskState>,
        turn: Option<usize>,
        released: bool,
    },
    /// The answer is a message, and there will be no task.
    Answered(Arc<Message>),
}

/// The parts of one append.
#[derive(Default)]
pub(crate) struct AppendRequest {
    pub(crate) events: Vec<Event>,
    pub(crate) receipt: Option<IdempotencyKey>,
    pub(crate) checkpoint: Option<Object>,
    /// Number of the message whose turn begins.
    pub(crate) turn: Option<usize>,
    /// `true` if the lease ends with this append.
    pub(crate) release: bool,
    /// `true` if a lease is taken, even if there is nothing to write and this writer has one.
    pub(crate) takes: bool,
    /// `true` if the lease is taken from its holder.
    pub(crate) seizes: bool,
    /// `true` if the events are kept to be written first by the next call, if a shared store is not available.
    pub(crate) keeps: bool,
}

impl LogWriter {
    /// Creates the writer of a task that is not stored yet.
    pub(crate) fn for_new(active: Arc<ActiveTask>, new: Box<NewTask>) -> Self {
        let mut writer = Self::at(active, &new.snapshot());
        writer.trace.clone_from(&new.trace);
        writer.new = Some(new);
        writer
    }

    /// Creates the writer of a stored task, from a snapshot of it.
    pub(crate) fn at(active: Arc<ActiveTask>, known: &Snapshot) -> Self {
        Self {
            active,
            new: None,
            sequence: known.sequence,
            messages: known.messages(),
            turn: known.turn,
            state: None,
            epoch: None,
            trace: None,
            pending: Vec::new(),
            confirmed: Instant::now(),
            writing: None,
        }
    }

    /// Sets the trace of all later appends.
    pub(crate) fn belong_to(&mut self, trace: Option<TraceContext>) {
        self.trace = trace;
    }

    /// Returns whether the task is in the store.
    pub(crate) fn is_stored(&self) -> bool {
        self.new.is_none()
    }

    /// Returns the sequence number at which the log ends.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns the number of the caller's messages in the log.
    pub(crate) fn messages(&self) -> usize {
        self.messages
    }

    /// Returns the number of the first message that waits for its turn, or `None` if none does.
    pub(crate) fn next_message(&self) -> Option<usize> {
        (self.turn < self.messages).then_some(self.turn + 1)
    }

    /// Has a message get no turn.
    pub(crate) fn skip(&mut self, message: usize) {
        self.turn = message;
    }

    /// Returns whether there is a lease to give back.
    pub(crate) fn has_lease(&self) -> bool {
        self.new.is_none() && self.epoch.is_some()
    }

    /// Returns whether the lease is known to last: see [`StoreHandle::is_recent`](super::store_handle::StoreHandle).
    pub(crate) fn is_confirmed(&self) -> bool {
        self.new.is_some() || self.active.store_handle.is_recent(self.confirmed)
    }

    /// Writes the events that are kept, with the task if it is not stored.
    pub(crate) async fn write_again(&mut self, kept: &ChunkBuffer) -> Result<(), StoreError> {
        match self.new.is_some() && !self.pending.is_empty() {
            true => self.create(Vec::new()).await,
            false => self.write(Box::default(), kept).await,
        }
    }

    /// Finishes the call in progress, if its caller stopped waiting.
    pub(crate) async fn finish(&mut self) -> Result<(), StoreError> {
        let Some(writing) = &mut self.writing else {
            return Ok(());
        };
        let done = writing.call.as_mut().await;
        self.active.store_handle.note_written(&done);
        let (effect, asked) = match self.writing.take() {
            Some(writing) => (Some(writing.effect), writing.asked),
            None => (None, self.confirmed),
        };
        if done.is_ok() {
            self.confirmed = asked;
        }
        match (done, effect) {
            (
                Ok(Some(appended)),
                Some(CallEffect::LogEntry {
                    state,
                    turn,
                    released,
                }),
            ) => {
                self.turn = turn.unwrap_or(self.turn);
                self.logged(appended, state, released);
                Ok(())
            }
            (Ok(_), Some(CallEffect::Answered(answer))) => {
                let answered = Progress::Answered(answer);
                self.active.run_state.change(|run| run.progress = answered);
                Ok(())
            }
            (Ok(_), _) => Ok(()),
            (Err(error), _) => {
                // Another server works on the task, or has an answer to its first message.
                let is_begun_elsewhere =
                    matches!(error, StoreError::DuplicateMessage) && self.new.is_some();
                if matches!(error, StoreError::Fenced) || is_begun_elsewhere {
                    self.active.run_state.stop(StopReason::Lost);
                }
                Err(error)
            }
        }
    }

    fn logged(&mut self, appended: Appended, state: Option<TaskState>, released: bool) {
        (self.sequence, self.messages) = (appended.sequence, appended.messages);
        self.state = state.or(self.state);
        self.epoch = (!released).then_some(appended.epoch);
        self.pending.clear();
        let begun = self.new.take().map(|new| new.protocol_version);
        let settled = state.is_some_and(TaskState::is_settled);
        if begun.is_some() || settled {
            self.active.run_state.change(|run| {
                if let Some(protocol_version) = begun {
                    run.progress = Progress::Open(protocol_version);
                }
                if settled {
                    run.settled = appended.sequence;
                }
            });
        }
        self.active.store_handle.announce();
    }

    /// Makes a call to the store. Its arguments are boxed before the future is made, because an `async fn` would hold
    /// them, too.
    fn call(
        &mut self,
        effect: CallEffect,
        call: impl Future<Output = Result<Option<Appended>, StoreError>> + Send + 'static,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        self.writing = Some(StoreCall {
            call: Box::pin(call),
            effect,
            asked: Instant::now(),
        });
        self.finish()
    }

    /// Stores the new task with its first events in one append. They are kept if the store is not available: see
    /// [`AppendRequest::keeps`].
    pub(crate) async fn create(&mut self, mut events: Vec<Event>) -> Result<(), StoreError> {
        events.splice(..0, self.pending.iter().cloned());
        let Some(new) = self.new.as_deref() else {
            return Err(StoreError::TaskExists);
        };
        let state = last_state(&events);
        let release = state.is_some_and(TaskState::is_settled);
        let created = Appended::new(1 + events.len() as u64, 1, self.messages);
        let effect = CallEffect::LogEntry {
            turn: None,
            state: Some(state.unwrap_or(new.task.status.state)),
            released: release,
        };
        let whole = NewTask {
            release,
            notify: self.active.store_handle.notify,
            trace: self.trace.clone(),
            events,
            ..NewTask::clone(new)
        };
        let kept = self
            .active
            .store_handle
            .is_shared()
            .then(|| whole.events.clone());
        let active = Arc::clone(&self.active);
        let create = async move {
            let store = &active.store_handle.store;
            store.create(&active.owner, whole).await?;
            Ok(Some(created))
        };
        let created = self.call(effect, create).await;
        if let (Err(StoreError::Unavailable(_)), Some(events)) = (&created, kept) {
            self.pending = events;
        }
        created
    }

    /// Answers the message that would have begun the task with a message alone, and keeps that for callers
    /// that send their message again.
    pub(crate) fn answer(
        &mut self,
        answer: Message,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let receipt = self.new.as_ref().and_then(|new| new.receipt.clone());
        let answer = Arc::new(answer);
        let effect = CallEffect::Answered(Arc::clone(&answer));
        let active = Arc::clone(&self.active);
        let keep = async move {
            if let Some(receipt) = receipt {
                let store = &active.store_handle.store;
                let answer = Message::clone(&answer);
                store.store_response(&active.owner, receipt, answer).await?;
            }
            Ok(None)
        };
        self.call(effect, keep)
    }

    /// Writes the text that is kept, and then the request, in one append. Text that does not fit is dropped if
    /// the request ends the task, so that it cannot prevent the end.
    pub(crate) async fn write(
        &mut self,
        request: Box<AppendRequest>,
        kept: &ChunkBuffer,
    ) -> Result<(), StoreError> {
        let ends = last_state(&request.events).is_some_and(TaskState::is_terminal);
        let written = self.write_kept(request, kept).await;
        if ends && matches!(written, Err(StoreError::TooLong(_))) {
            self.pending.clear();
            drop(kept.take());
        }
        written
    }

    async fn write_kept(
        &mut self,
        request: Box<AppendRequest>,
        kept: &ChunkBuffer,
    ) -> Result<(), StoreError> {
        let keeps = request.keeps && self.active.store_handle.is_shared();
        if !self.pending.is_empty()
            && !kept.is_empty()
            // An earlier append has failed. Its text is written first, so that it does not accumulate.
            && let Err(error) = self.write_pending().await
        {
            if keeps && matches!(error, StoreError::Unavailable(_)) {
                // The caller's events come after the text that is kept.
                self.pending.extend(taken(kept));
                self.pending.extend(request.events);
            }
            return Err(error);
        }
        if self.pending.is_empty() {
            self.pending.extend(taken(kept));
        }
        if request.is_empty() {
            return self.write_pending().await;
        }
        let append = self.to_append(*request);
        let events = keeps.then(|| append.events.clone());
        match self.append(append).await {
            Err(error @ StoreError::Unavailable(_)) => {
                if let Some(events) = events {
                    self.pending = events;
                }
                Err(error)
            }
            Err(StoreError::InvalidTransition(illegal)) => {
                // The buffered text may be legal, and must not be refused with the illegal event.
                self.write_pending().await?;
                Err(StoreError::InvalidTransition(illegal))
            }
            written => written,
        }
    }

    /// Writes the events whose append has begun; they are dropped if they are not legal for the
    /// task.
    async fn write_pending(&mut self) -> Result<(), StoreError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let append = self.to_append(AppendRequest::default());
        let appended = self.append(append).await;
        if matches!(appended, Err(StoreError::InvalidTransition(_))) {
            self.pending.clear();
        }
        appended
    }

    /// Returns an append of the pending events, followed by the request.
    fn to_append(&self, request: AppendRequest) -> Append {
        let store_handle = &self.active.store_handle;
        let pending = self.pending.iter().cloned();
        let events: Vec<_> = pending.chain(request.events).collect();
        let idle = last_state(&events).is_some_and(|state| match self.next_message() {
            Some(_) => state.is_terminal(),
            None => state.is_settled(),
        });
        Append {
            after: self.sequence,
            lease: match self.epoch {
                _ if request.seizes => store_handle.seize(),
                _ if request.takes => store_handle.take(),
                Some(epoch) => Lease::Held { epoch },
                None => store_handle.take(),
            },
            release: request.release || idle,
            notify: store_handle.notify,
            events,
            receipt: request.receipt,
            checkpoint: request.checkpoint,
            turn: request.turn,
            trace: self.trace.clone(),
        }
    }

    fn append(&mut self, append: Append) -> impl Future<Output = Result<(), StoreError>> + Send {
        let effect = CallEffect::LogEntry {
            state: last_state(&append.events),
            turn: append.turn,
            released: append.release,
        };
        let active = Arc::clone(&self.active);
        let append = async move {
            let store = &active.store_handle.store;
            let appended = store.append(&active.owner, &active.id, append).await?;
            Ok(Some(appended))
        };
        self.call(effect, append)
    }

    /// Returns the state of the task, as far as is known here: appends of others are noticed when this
    /// writer writes.
    pub(crate) async fn state(&mut self) -> Result<TaskState, StoreError> {
        match (&self.new, self.state) {
            (None, Some(state)) => Ok(state),
            _ => Ok(self.task().await?.status.state),
        }
    }

    /// The task as it stands, or as it would be created.
    pub(crate) async fn task(&mut self) -> Result<Arc<Task>, StoreError> {
        match &self.new {
            Some(new) => Ok(Arc::clone(&new.task)),
            None => Ok(self.active.snapshot().await?.task),
        }
    }
}

/// A call of the store is never dropped half-way while the runtime exists.
impl Drop for LogWriter {
    fn drop(&mut self) {
        if let Some(writing) = self.writing.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(writing.call);
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
        self.events.is_empty()
            && self.checkpoint.is_none()
            && self.turn.is_none()
            && !self.release
            && !self.takes
    }
}

/// Takes the text that is kept.
fn taken(kept: &ChunkBuffer) -> Option<Event> {
    kept.take().map(|text| Event::ArtifactUpdate(*text))
}

/// Returns whether these events leave a task idle.
pub(crate) fn leaves_idle(events: &[Event]) -> bool {
    last_state(events).is_some_and(TaskState::is_settled)
}

/// Returns the last state among these events.
fn last_state(events: &[Event]) -> Option<TaskState> {
    let state = |event: &Event| Some(event.status()?.state);
    events.iter().rev().find_map(state)
}
