//! The log of one task, in memory.

use std::sync::Arc;
use std::time::Duration;

use a2a_types::size::size_of_object;
use a2a_types::{
    ConfigId, Event, Object, ProtocolVersion, Task, TaskPushNotificationConfig, TaskState,
    TaskStatus,
};
use tokio::time::Instant;

use super::super::limits::{self, FoldSize, LogUsage};
use super::super::{Append, Lease, ListCursor, ListQuery, LogEntry, LogPage, StoreError, TaskKey};

/// The log of a task, and everything else that belongs to it.
#[derive(Debug)]
pub(super) struct Log {
    /// The task after the first `folded` of the events, shared with the callers that read it.
    task: Arc<Task>,
    folded: usize,
    size: FoldSize,
    /// Bytes of the task as it began.
    begun: usize,
    /// Bytes that the other events add to the task.
    unfolded: usize,
    /// Everything after the first entry, which is the new task itself.
    events: Vec<Arc<Event>>,
    /// The last of the events that gives the task its status.
    status: Option<Arc<Event>>,
    /// The webhooks, each with the protocol version in which it was asked for.
    pub(super) configs: Vec<(TaskPushNotificationConfig, ProtocolVersion)>,
    pub(super) checkpoint: Option<Object>,
    pub(super) held_lease: HeldLease,
    /// Number of messages that the caller has sent.
    pub(super) messages: usize,
    /// Number of the message whose turn began last.
    pub(super) turn: usize,
    /// Bytes of the task as it began and of the events.
    logged: usize,
    /// Bytes of the webhooks, the checkpoint, the names of the owner, and of the places that the log has.
    other_bytes: usize,
    /// Bytes of that which the task table has counted.
    pub(super) counted: usize,
    /// Time of the task's end, if it has ended.
    pub(super) ended: Option<Instant>,
    /// The end that the task table has noted.
    pub(super) noted: Option<End>,
    /// `true` once the task table has removed it.
    pub(super) is_forgotten: bool,
    /// Time since which the task waits for its caller.
    pub(super) waits: Option<Instant>,
}

/// Time at which a task ended, and the number of that end among those noted.
pub(super) type End = (Instant, u64);

impl Log {
    pub(super) fn new(
        task: Arc<Task>,
        webhook: Option<(TaskPushNotificationConfig, ProtocolVersion)>,
        held_lease: HeldLease,
        names: usize,
    ) -> Result<Self, StoreError> {
        let config = webhook.as_ref().map(|(it, _)| limits::admit_config(it));
        let size = FoldSize::of(&task);
        Ok(Self {
            messages: task.history.len(),
            turn: 1,
            logged: size.bytes(),
            other_bytes: RECORD + names + config.transpose()?.unwrap_or(0),
            counted: 0,
            task,
            folded: 0,
            size,
            begun: size.bytes(),
            unfolded: 0,
            events: Vec::new(),
            status: None,
            configs: webhook.into_iter().collect(),
            checkpoint: None,
            held_lease,
            ended: None,
            noted: None,
            is_forgotten: false,
            waits: None,
        })
    }

    pub(super) fn webhooks(&self) -> Vec<ConfigId> {
        self.configs
            .iter()
            .map(|(config, _)| config.id.clone())
            .collect()
    }

    pub(super) fn sequence(&self) -> u64 {
        self.events.len() as u64 + 1
    }

    /// Returns the bytes that the log holds. The fold of a short one is not kept.
    pub(super) fn bytes(&self) -> usize {
        let fold = match self.events.len() > SHORT {
            true => self.size.bytes() + self.unfolded,
            false => self.size.bytes(),
        };
        self.other_bytes + self.logged + fold.saturating_sub(self.begun)
    }

    /// Returns the bytes that these events add.
    pub(super) fn growth(&self, events: usize, growth: &LogUsage) -> usize {
        let (before, after) = (self.events.len(), self.events.len() + events);
        growth.bytes()
            + match after > SHORT {
                false => 0,
                true if before > SHORT => growth.folded(),
                true => growth.folded() + self.unfolded,
            }
    }

    /// All of it or nothing.
    pub(super) fn add(&mut self, append: Append, growth: &LogUsage) -> Result<(), StoreError> {
        if self.is_forgotten {
            return Err(StoreError::NoTask);
        }
        if append.after != self.sequence() {
            return Err(StoreError::SequenceConflict(self.sequence()));
        }
        let held_lease = self.held_lease.next(&append.lease)?;
        let (messages, logged) = growth.admit(self.messages, self.logged)?;
        self.task.state_after(self.state(), &append.events)?;
        self.admit_artifacts(&append.events)?;
        (self.messages, self.logged, self.held_lease) = (messages, logged, held_lease);
        self.unfolded += growth.folded();
        if append.release {
            self.held_lease.until = None;
        }
        if append.checkpoint.is_some() || append.turn.is_some() {
            self.other_bytes -= self.checkpoint.as_ref().map_or(0, size_of_object);
            self.checkpoint = append.checkpoint;
            self.other_bytes += self.checkpoint.as_ref().map_or(0, size_of_object);
        }
        self.turn = append.turn.unwrap_or(self.turn);
        let before = self.events.len();
        self.events.extend(append.events.into_iter().map(Arc::new));
        let added = &self.events[before..];
        if let Some(event) = added.iter().rfind(|event| event.status().is_some()) {
            self.status = Some(Arc::clone(event));
            let state = self.state();
            self.ended = state.is_terminal().then(Instant::now);
            self.waits = state.is_interrupted().then(Instant::now);
        }
        if added.iter().any(|event| matches!(**event, Event::Task(_))) {
            self.fold();
        }
        Ok(())
    }

    /// The fold of the log. That of a short one is not kept: its events say the same already.
    pub(super) fn task(&mut self) -> Arc<Task> {
        if self.events.len() > SHORT {
            self.fold();
        }
        let mut task = Arc::clone(&self.task);
        apply(&mut task, &self.events[self.folded..]);
        task
    }

    /// Refuses events that give the task more artifacts than it may have. Most logs have too few events for
    /// that.
    fn admit_artifacts(&mut self, events: &[Event]) -> Result<(), StoreError> {
        if self.task.artifacts.len() + self.events.len() - self.folded + events.len()
            <= limits::MAX_ARTIFACTS
        {
            return Ok(());
        }
        self.fold();
        limits::admit_artifacts(&self.task, events.iter())
    }

    fn fold(&mut self) {
        let added = &self.events[self.folded..];
        apply(&mut self.task, added);
        self.size
            .grow(&self.task, added.iter().map(|event| &**event));
        (self.folded, self.unfolded) = (self.events.len(), 0);
    }

    pub(super) fn state(&self) -> TaskState {
        self.status().state
    }

    fn status(&self) -> &TaskStatus {
        let event_status = self.status.as_ref().and_then(|event| event.status());
        event_status.unwrap_or(&self.task.status)
    }

    /// Returns the place of the task in a listing, or `None` if it is not wanted there.
    pub(super) fn place(&self, listing: &ListQuery) -> Option<ListCursor> {
        let wanted = listing.wants(self.task.context_id.as_ref(), self.status());
        wanted.then(|| ListCursor::at(&self.task.id, self.status()))
    }

    pub(super) fn after(&self, sequence: u64) -> LogPage {
        let Some(seen) = sequence
            .checked_sub(1)
            .filter(|_| sequence <= self.sequence())
        else {
            return LogPage::Unknown;
        };
        let seen = usize::try_from(seen).unwrap_or(usize::MAX);
        let later = self.events.iter().enumerate().skip(seen);
        let logged = later.map(|(index, event)| LogEntry::new(index as u64 + 2, Arc::clone(event)));
        limits::ReadBatch::of(logged)
    }

    /// Returns the bytes that a webhook adds to the log, if the log takes it.
    pub(super) fn admit_config(
        &self,
        config: &TaskPushNotificationConfig,
    ) -> Result<usize, StoreError> {
        if self.is_forgotten {
            return Err(StoreError::NoTask);
        }
        let bytes = limits::admit_config(config)?;
        match self.config(&config.id) {
            Some(index) => Ok(bytes.saturating_sub(limits::size_of_config(&self.configs[index].0))),
            None if self.configs.len() >= limits::MAX_CONFIGS => {
                Err(StoreError::TooManyConfigs(limits::MAX_CONFIGS))
            }
            None => Ok(bytes),
        }
    }

    pub(super) fn put_config(
        &mut self,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> Result<(), StoreError> {
        self.admit_config(&config)?;
        self.other_bytes += limits::size_of_config(&config);
        match self.config(&config.id) {
            Some(index) => {
                let (before, _) =
                    std::mem::replace(&mut self.configs[index], (config, protocol_version));
                self.other_bytes -= limits::size_of_config(&before);
            }
            None => self.configs.push((config, protocol_version)),
        }
        Ok(())
    }

    pub(super) fn delete_config(&mut self, id: &ConfigId) {
        if let Some(index) = self.config(id) {
            let (before, _) = self.configs.remove(index);
            self.other_bytes -= limits::size_of_config(&before);
        }
    }

    fn config(&self, id: &ConfigId) -> Option<usize> {
        self.configs.iter().position(|(known, _)| known.id == *id)
    }
}

fn apply(task: &mut Arc<Task>, events: &[Arc<Event>]) {
    if events.is_empty() {
        return;
    }
    // Each was legal when it came.
    Arc::make_mut(task).fold(events.iter().map(|event| &**event));
}

/// Number of events that each reader of the task folds again.
const SHORT: usize = 16;
/// Overhead in bytes of a log, in the table and in the list of ended tasks.
const RECORD: usize = size_of::<Log>() + 2 * size_of::<TaskKey>() + 144;

/// Lease of a log.
#[derive(Clone, Debug)]
pub(super) struct HeldLease {
    pub(super) holder: Arc<str>,
    pub(super) epoch: u64,
    /// End of the lease; `None` if it was given back.
    pub(super) until: Option<Instant>,
}

impl HeldLease {
    pub(super) fn taken(holder: Arc<str>, epoch: u64, term: Duration) -> Self {
        Self {
            holder,
            epoch,
            until: Some(Instant::now() + term),
        }
    }

    pub(super) fn lasts(&self) -> bool {
        self.until.is_some_and(|until| until > Instant::now())
    }

    fn next(&self, lease: &Lease) -> Result<Self, StoreError> {
        match lease {
            Lease::Held { epoch } if *epoch == self.epoch => Ok(self.clone()),
            Lease::Held { .. } => Err(StoreError::Fenced),
            Lease::Acquire { holder, .. } if self.lasts() && **holder != *self.holder => {
                Err(StoreError::Leased)
            }
            Lease::Acquire { holder, term } | Lease::TakeOver { holder, term } => {
                Ok(Self::taken(Arc::clone(holder), self.epoch + 1, *term))
            }
        }
    }
}
