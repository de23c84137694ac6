//! The right to write to a task's log, and where the log ends.

use std::sync::Arc;

use a2a_transport::TraceContext;
use a2a_types::{Dialect, Event, Object, Task, TaskArtifactUpdateEvent, TaskState};

use crate::engine::chunk_buffer::ChunkBuffer;
use crate::engine::store_handle::Account;
use crate::store::{Append, Lease, NewTask, Receipt, StoreError};

/// Writes to the log of one task.
///
/// Whoever writes may be stopped in the middle, and then nobody has seen whether it was written. So
/// that is noted before, and looked into before the next time.
pub(crate) struct Pen {
    /// The task, as long as it is not stored.
    new: Option<Box<NewTask>>,
    generation: u64,
    /// The state of the task, if that is known.
    state: Option<TaskState>,
    /// The epoch of the lease; none if there is none.
    epoch: Option<u64>,
    /// The trace that whatever is written belongs to.
    trace: Option<TraceContext>,
    /// Text whose append has begun, and has not succeeded.
    pending: Option<Box<TaskArtifactUpdateEvent>>,
    doubt: Option<Doubt>,
}

/// A stroke that has begun, and of which nobody has seen the end.
#[derive(Clone, Copy)]
struct Doubt {
    events: usize,
    changes_lease: bool,
}

/// What is written in one stroke.
#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) events: Vec<Event>,
    pub(crate) receipt: Option<Receipt>,
    pub(crate) checkpoint: Option<Object>,
    /// Whether the lease ends with this.
    pub(crate) release: bool,
    /// Whether a lease is taken even if there is nothing to write.
    pub(crate) takes: bool,
    /// Whether the lease is taken from whoever has it.
    pub(crate) seizes: bool,
}

impl Pen {
    /// For a task that is not stored yet.
    pub(crate) fn for_new(new: NewTask) -> Self {
        Self {
            trace: new.trace.clone(),
            new: Some(Box::new(new)),
            ..Self::at(1)
        }
    }

    /// For a task whose log ends at a generation.
    pub(crate) fn at(generation: u64) -> Self {
        Self {
            new: None,
            generation,
            state: None,
            epoch: None,
            trace: None,
            pending: None,
            doubt: None,
        }
    }

    /// Whatever is written from now on belongs to this trace.
    pub(crate) fn belong_to(&mut self, trace: Option<TraceContext>) {
        self.trace = trace;
    }

    /// The task, if it is not stored.
    pub(crate) fn new_task(&self) -> Option<&NewTask> {
        self.new.as_deref()
    }

    /// Where the log ends.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether there is a lease to give back.
    pub(crate) fn has_lease(&self) -> bool {
        self.new.is_none() && self.epoch.is_some()
    }

    /// Stores the new task with its first events in one stroke; yields the dialect in which it was begun, and
    /// what is still to be written, if an earlier stroke had stored the task.
    pub(crate) async fn create(
        &mut self,
        account: &Account,
        events: Vec<Event>,
    ) -> Result<(Dialect, Vec<Event>), StoreError> {
        let Some(new) = self.new.as_deref() else {
            return Err(StoreError::TaskExists);
        };
        // If an earlier stroke was stopped, the task may be there already.
        let again = self.doubt.is_some().then(|| events.clone());
        let generation = 1 + events.len() as u64;
        let last = last_state(&events);
        let release = last.is_some_and(TaskState::is_settled);
        let whole = NewTask {
            release,
            notify: account.ledger.notify,
            trace: self.trace.clone(),
            events,
            ..new.clone()
        };
        self.doubt = Some(Doubt {
            events: 1,
            changes_lease: true,
        });
        let created = account.ledger.store.create(&account.owner, whole).await;
        account.ledger.note_written(&created);
        match (created, again) {
            (Err(StoreError::TaskExists | StoreError::Received), Some(events)) => {
                return Ok((Box::pin(self.find(account)).await?, events));
            }
            (Err(error), again) => {
                self.doubt = self.doubt.filter(|_| again.is_some());
                return Err(error);
            }
            (Ok(()), _) => self.doubt = None,
        }
        self.generation = generation;
        self.epoch = (!release).then_some(1);
        account.ledger.announce();
        let new = self.new.take().ok_or(StoreError::TaskExists)?;
        self.state = Some(last.unwrap_or(new.task.status.state));
        Ok((new.dialect, Vec::new()))
    }

    /// The task is stored now; yields the dialect in which it was begun.
    fn begun(&mut self) -> Result<Dialect, StoreError> {
        let new = self.new.take().ok_or(StoreError::TaskExists)?;
        Ok(new.dialect)
    }

    /// Looks up where the log of the task ends, which was stored by a stroke that nobody has seen the
    /// end of; yields the dialect in which it was begun.
    async fn find(&mut self, account: &Account) -> Result<Dialect, StoreError> {
        let stored = account.known().await?;
        self.generation = stored.generation;
        self.epoch = None;
        self.doubt = None;
        self.begun()
    }

    /// Finds out whether a stroke that nobody has seen the end of has stored the task; yields the dialect in
    /// which it was begun, if so.
    pub(crate) async fn begun_unseen(
        &mut self,
        account: &Account,
    ) -> Result<Option<Dialect>, StoreError> {
        let (Some(_), Some(doubt)) = (&self.new, self.doubt) else {
            return Ok(None);
        };
        match Box::pin(self.look_back(account, doubt)).await {
            Ok(()) => self.begun().map(Some),
            Err(StoreError::NoTask) => {
                self.doubt = None;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the text that is kept, and then the entry, in one stroke.
    pub(crate) async fn write(
        &mut self,
        account: &Account,
        entry: Box<Entry>,
        kept: &ChunkBuffer,
    ) -> Result<(), StoreError> {
        self.settle_doubt(account).await?;
        if self.pending.is_some() && !kept.is_empty() {
            // An earlier append has failed: the text of that goes first, so that there is never more of it.
            self.write_pending(account).await?;
        }
        if self.pending.is_none() {
            self.pending = kept.take();
        }
        if entry.is_empty() {
            return self.write_pending(account).await;
        }
        let append = self.stroke(account, *entry);
        let ends = append.ends();
        match self.append(account, append).await {
            Ok(()) => {
                self.pending = None;
                Ok(())
            }
            Err(StoreError::Illegal(illegal)) => {
                // The text may be legal, and then does not go with what is not.
                self.write_pending(account).await?;
                Err(StoreError::Illegal(illegal))
            }
            Err(StoreError::TooLong(limit)) if ends => {
                // The text is not to keep the task from its end.
                self.pending = None;
                Err(StoreError::TooLong(limit))
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the text whose append has begun; it is dropped if it cannot happen to the task.
    async fn write_pending(&mut self, account: &Account) -> Result<(), StoreError> {
        if self.pending.is_none() {
            return Ok(());
        }
        let append = self.stroke(account, Entry::default());
        let appended = self.append(account, append).await;
        if matches!(appended, Ok(()) | Err(StoreError::Illegal(_))) {
            self.pending = None;
        }
        appended
    }

    /// The text whose append has begun, and then the entry.
    fn stroke(&self, account: &Account, entry: Entry) -> Append {
        let pending = self.pending.as_deref().cloned();
        let pending = pending.map(Event::ArtifactUpdate);
        let idle = leaves_idle(&entry.events);
        Append {
            after: self.generation,
            lease: match self.epoch {
                _ if entry.seizes => account.ledger.seize(),
                Some(epoch) => Lease::Held { epoch },
                None => account.ledger.take(),
            },
            release: entry.release || idle,
            notify: account.ledger.notify,
            events: pending.into_iter().chain(entry.events).collect(),
            receipt: entry.receipt,
            checkpoint: entry.checkpoint,
            trace: self.trace.clone(),
        }
    }

    fn append<'a>(
        &'a mut self,
        account: &'a Account,
        append: Append,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + use<'a> {
        let released = append.release;
        let state = last_state(&append.events);
        self.doubt = Some(Doubt {
            events: append.events.len(),
            changes_lease: released || !matches!(append.lease, Lease::Held { .. }),
        });
        let appending = account.append(append);
        async move {
            let appended = appending.await;
            self.doubt = None;
            let appended = appended?;
            self.generation = appended.generation;
            self.state = state.or(self.state);
            self.epoch = (!released).then_some(appended.epoch);
            account.ledger.announce();
            Ok(())
        }
    }

    /// Looks back, if nobody has seen the end of the last stroke.
    async fn settle_doubt(&mut self, account: &Account) -> Result<(), StoreError> {
        match self.doubt {
            Some(doubt) => Box::pin(self.look_back(account, doubt)).await,
            None => Ok(()),
        }
    }

    /// Finds out what became of a stroke. Whatever is asked of the store now is done after it.
    async fn look_back(&mut self, account: &Account, doubt: Doubt) -> Result<(), StoreError> {
        if doubt.changes_lease {
            self.epoch = None;
        }
        if doubt.events > 0 {
            let lease = match self.epoch {
                Some(epoch) => Lease::Held { epoch },
                None => account.ledger.take(),
            };
            let nothing = Append {
                lease,
                ..Append::held(self.generation, 0, Vec::new())
            };
            match account.append(nothing).await {
                Ok(appended) => self.epoch = Some(appended.epoch),
                Err(StoreError::Behind(generation)) => {
                    self.generation = generation;
                    self.state = None;
                    self.pending = None;
                }
                Err(error) => return Err(error),
            }
        }
        self.doubt = None;
        Ok(())
    }

    /// The state of the task, as far as is known here: of what others write to its log one learns when
    /// one writes.
    pub(crate) async fn state(&self, account: &Account) -> Result<TaskState, StoreError> {
        match (&self.new, self.state) {
            (None, Some(state)) => Ok(state),
            _ => Ok(self.task(account).await?.status.state),
        }
    }

    /// The task as it stands, or as it would be created.
    pub(crate) async fn task(&self, account: &Account) -> Result<Arc<Task>, StoreError> {
        match &self.new {
            Some(new) => Ok(Arc::clone(&new.task)),
            None => Ok(account.known().await?.task),
        }
    }
}

impl Entry {
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

/// Whether nobody works on a task after these events.
pub(crate) fn leaves_idle(events: &[Event]) -> bool {
    last_state(events).is_some_and(TaskState::is_settled)
}

/// The state that these events leave a task in, if they tell.
fn last_state(events: &[Event]) -> Option<TaskState> {
    let state = |event: &Event| Some(event.status()?.state);
    events.iter().rev().find_map(state)
}
