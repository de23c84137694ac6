//! The right to write to a task's log, and where the log ends.

use std::sync::Arc;

use a2a_transport::TraceContext;
use a2a_types::extension::trpc::is_reasoning;
use a2a_types::{
    Content, Event, IllegalEvent, Object, Part, Task, TaskArtifactUpdateEvent, TaskState,
};

use crate::ledger::Account;
use crate::store::{Append, Lease, NewTask, Receipt, Snapshot, StoreError};

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
    /// Text that is kept until there is more.
    collected: Option<Box<TaskArtifactUpdateEvent>>,
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

/// What became of a chunk.
pub(crate) enum Collected {
    /// It is kept with others.
    Added,
    /// It is the first that is kept.
    First,
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
            collected: None,
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

    /// Stores the new task with its first events in one stroke; yields the task as it was before them, and
    /// what is still to be written, if an earlier stroke had stored the task.
    pub(crate) async fn create(
        &mut self,
        account: &Account,
        events: Vec<Event>,
    ) -> Result<(Snapshot, Vec<Event>), StoreError> {
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
        let begun = self.begun()?;
        self.state = Some(last.unwrap_or(begun.task.status.state));
        Ok((begun, Vec::new()))
    }

    /// The task as it was before anything happened to it: it is stored now.
    fn begun(&mut self) -> Result<Snapshot, StoreError> {
        let new = *self.new.take().ok_or(StoreError::TaskExists)?;
        Ok(Snapshot {
            task: new.task,
            generation: 1,
            dialect: new.dialect,
            checkpoint: None,
        })
    }

    /// Looks up where the log of the task ends, which was stored by a stroke that nobody has seen the
    /// end of; yields the task as it began.
    async fn find(&mut self, account: &Account) -> Result<Snapshot, StoreError> {
        let stored = account.known().await?;
        self.generation = stored.generation;
        self.epoch = None;
        self.doubt = None;
        self.begun()
    }

    /// Finds out whether a stroke that nobody has seen the end of has stored the task; yields it as it
    /// began, if so.
    pub(crate) async fn begun_unseen(
        &mut self,
        account: &Account,
    ) -> Result<Option<Snapshot>, StoreError> {
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

    /// Writes what was collected, and then the entry, in one stroke.
    pub(crate) async fn write(
        &mut self,
        account: &Account,
        entry: Box<Entry>,
    ) -> Result<(), StoreError> {
        self.settle_doubt(account).await?;
        if self.collected.is_none() && entry.is_empty() {
            return Ok(());
        }
        let append = self.stroke(account, *entry);
        match self.append(account, append).await {
            Ok(()) => {
                self.collected = None;
                Ok(())
            }
            Err(StoreError::Illegal(illegal)) => self.refuse(account, illegal).await,
            Err(error) => Err(error),
        }
    }

    /// What was collected, and then the entry.
    fn stroke(&self, account: &Account, entry: Entry) -> Append {
        let collected = self.collected.as_deref().cloned();
        let collected = collected.map(Event::ArtifactUpdate);
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
            events: collected.into_iter().chain(entry.events).collect(),
            receipt: entry.receipt,
            checkpoint: entry.checkpoint,
            trace: self.trace.clone(),
        }
    }

    /// What was collected is legal, and does not go with what is not.
    async fn refuse(&mut self, account: &Account, illegal: IllegalEvent) -> Result<(), StoreError> {
        if self.collected.is_some() {
            Box::pin(self.write(account, Box::default())).await?;
        }
        Err(StoreError::Illegal(illegal))
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
                    self.collected = None;
                }
                Err(error) => return Err(error),
            }
        }
        self.doubt = None;
        Ok(())
    }

    /// Keeps text that is only added to an artifact: models speak in syllables. Text for another
    /// artifact, or that becomes too much, has what is kept written.
    pub(crate) async fn collect(
        &mut self,
        account: &Account,
        event: Box<TaskArtifactUpdateEvent>,
    ) -> Result<Collected, StoreError> {
        // What is kept may have been written by now: nothing can be added to that.
        self.settle_doubt(account).await?;
        if let Some(collected) = &mut self.collected
            && collected.artifact.artifact_id == event.artifact.artifact_id
        {
            collected.artifact.parts.extend(event.artifact.parts);
            if text_of(collected) >= MOST_COLLECTED {
                self.write(account, Box::default()).await?;
            }
            return Ok(Collected::Added);
        }
        self.write(account, Box::default()).await?;
        self.collected = Some(event);
        Ok(Collected::First)
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

/// How much text is collected at most before it is written.
const MOST_COLLECTED: usize = 4096;

/// Whether an update only adds text to an artifact, so that it can be told together with the next.
pub(crate) fn is_mere_text(event: &TaskArtifactUpdateEvent) -> bool {
    let plain = |part: &Part| {
        let is_text = matches!(part.content, Content::Text(_));
        let bare = part.metadata.is_none() || is_reasoning(part);
        is_text && bare && part.media_type.is_none() && part.filename.is_none()
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
