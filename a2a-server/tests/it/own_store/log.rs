//! The log of one task.

use std::sync::Arc;
use std::time::Duration;

use a2a_server::{
    Append, Appended, Lease, LogEntry, LogPage, NewTask, Snapshot, StoreError, limits,
};
use a2a_types::{ConfigId, Event, Object, ProtocolVersion, Task, TaskPushNotificationConfig};
use tokio::time::Instant;

pub(super) struct TaskLog {
    first: Arc<Task>,
    protocol_version: ProtocolVersion,
    events: Vec<Arc<Event>>,
    pub(super) configs: Vec<(TaskPushNotificationConfig, ProtocolVersion)>,
    checkpoint: Option<Object>,
    holder: Arc<str>,
    epoch: u64,
    leased_until: Option<Instant>,
    changed: Instant,
    messages: usize,
    turn: usize,
    bytes: usize,
}

impl TaskLog {
    pub(super) fn new(new: NewTask) -> Result<Self, StoreError> {
        new.config.as_ref().map_or(Ok(0), limits::admit_config)?;
        Ok(Self {
            messages: new.task.history.len(),
            turn: 1,
            bytes: limits::size_of_task(&new.task),
            first: new.task,
            protocol_version: new.protocol_version,
            events: Vec::new(),
            configs: new
                .config
                .into_iter()
                .map(|it| (it, new.protocol_version))
                .collect(),
            checkpoint: None,
            holder: new.holder,
            epoch: 1,
            leased_until: Some(Instant::now() + new.term),
            changed: Instant::now(),
        })
    }

    pub(super) fn sequence(&self) -> u64 {
        self.events.len() as u64 + 1
    }

    pub(super) fn task(&self) -> Task {
        let mut task = Task::clone(&self.first);
        task.fold(self.events.iter().map(|event| &**event));
        task
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let task = Arc::new(self.task());
        let mut snapshot = Snapshot::new(task, self.sequence(), self.protocol_version);
        snapshot.checkpoint = self.checkpoint.clone();
        snapshot.turn = self.turn;
        snapshot
    }

    /// Adds events, all or none.
    pub(super) fn append(&mut self, append: Append) -> Result<(), StoreError> {
        if append.after != self.sequence() {
            return Err(StoreError::SequenceConflict(self.sequence()));
        }
        let lease = self.leased(&append.lease)?;
        let growth = limits::LogUsage::of(&append);
        let (messages, bytes) = growth.admit(self.messages, self.bytes)?;
        let task = self.task();
        task.state_after(task.status.state, &append.events)?;
        limits::admit_artifacts(&task, append.events.iter())?;
        (self.messages, self.bytes) = (messages, bytes);
        self.turn = append.turn.unwrap_or(self.turn);
        (self.holder, self.epoch, self.leased_until) = lease;
        if append.release {
            self.leased_until = None;
        }
        if append.checkpoint.is_some() || append.turn.is_some() {
            self.checkpoint = append.checkpoint;
        }
        if append.events.iter().any(|event| event.status().is_some()) {
            self.changed = Instant::now();
        }
        self.events.extend(append.events.into_iter().map(Arc::new));
        Ok(())
    }

    /// Holder, epoch and end of the lease under which a writer writes.
    fn leased(&self, lease: &Lease) -> Result<(Arc<str>, u64, Option<Instant>), StoreError> {
        match lease {
            Lease::Held { epoch } if *epoch == self.epoch => {
                Ok((Arc::clone(&self.holder), self.epoch, self.leased_until))
            }
            Lease::Held { .. } => Err(StoreError::Fenced),
            Lease::Acquire { holder, .. } if self.is_leased() && **holder != *self.holder => {
                Err(StoreError::Leased)
            }
            Lease::Acquire { holder, term } | Lease::TakeOver { holder, term } => {
                let until = Some(Instant::now() + *term);
                Ok((Arc::clone(holder), self.epoch + 1, until))
            }
        }
    }

    /// Returns whether this holder has a lease that has not run out.
    pub(super) fn is_leased_to(&self, holder: &str) -> bool {
        *self.holder == *holder && self.is_leased()
    }

    fn is_leased(&self) -> bool {
        self.leased_until
            .is_some_and(|until| until > Instant::now())
    }

    pub(super) fn is_orphan(&self) -> bool {
        let state = self.task().status.state;
        !self.is_leased() && limits::is_active(state, self.turn, self.messages)
    }

    pub(super) fn renew(&mut self, holder: &str, term: Duration) {
        if *self.holder == *holder && self.leased_until.is_some() {
            self.leased_until = Some(Instant::now() + term);
        }
    }

    pub(super) fn appended(&self) -> Appended {
        Appended::new(self.sequence(), self.epoch, self.messages)
    }

    pub(super) fn after(&self, sequence: u64) -> LogPage {
        if sequence == 0 || sequence > self.sequence() {
            return LogPage::Unknown;
        }
        let numbered = (2..).zip(&self.events);
        let later = numbered.filter(|(number, _)| *number > sequence);
        limits::ReadBatch::of(
            later.map(|(sequence, event)| LogEntry::new(sequence, Arc::clone(event))),
        )
    }

    pub(super) fn put_config(
        &mut self,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> Result<(), StoreError> {
        limits::admit_config(&config)?;
        let known = self.configs.iter().position(|(it, _)| it.id == config.id);
        match known {
            Some(place) => self.configs[place] = (config, protocol_version),
            None if self.configs.len() >= limits::MAX_CONFIGS => {
                return Err(StoreError::TooManyConfigs(limits::MAX_CONFIGS));
            }
            None => self.configs.push((config, protocol_version)),
        }
        Ok(())
    }

    pub(super) fn delete_config(&mut self, config: &ConfigId) {
        self.configs.retain(|(it, _)| it.id != *config);
    }

    /// Since when the task has ended.
    pub(super) fn ended(&self) -> Option<Instant> {
        let ended = self.task().status.state.is_terminal();
        ended.then_some(self.changed)
    }

    /// Since when the task waits for its caller.
    pub(super) fn waits(&self) -> Option<Instant> {
        let waits = self.task().status.state.is_interrupted();
        (waits && !self.is_leased()).then_some(self.changed)
    }
}
