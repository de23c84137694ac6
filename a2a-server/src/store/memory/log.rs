//! The log of one task, in memory.

use std::sync::Arc;
use std::time::Duration;

use a2a_types::{ConfigId, Dialect, Event, Object, Task, TaskPushNotificationConfig};
use tokio::time::Instant;

use super::super::{Append, Lease, Logged, StoreError, Tail, limits};

/// The log of a task, and everything else that belongs to it.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) task: Task,
    /// Everything after the first entry, which is the new task itself.
    events: Vec<Arc<Event>>,
    /// The webhooks, each with the generation of the protocol in which it was asked for.
    pub(super) configs: Vec<(TaskPushNotificationConfig, Dialect)>,
    pub(super) checkpoint: Option<Object>,
    pub(super) tenure: Tenure,
    /// How many messages the caller has sent.
    messages: usize,
    /// How much the events hold.
    pub(super) bytes: usize,
    /// Since when nothing can follow.
    pub(super) ended: Option<Instant>,
    /// What the shelf knows of that.
    pub(super) noted: Option<Instant>,
    /// Whether the shelf has it no more.
    pub(super) is_forgotten: bool,
    /// Since when the task waits for its caller.
    pub(super) waits: Option<Instant>,
}

impl Log {
    pub(super) fn new(
        task: Task,
        webhook: Option<(TaskPushNotificationConfig, Dialect)>,
        tenure: Tenure,
    ) -> Self {
        Self {
            messages: task.history.len(),
            bytes: limits::size_of_task(&task),
            task,
            events: Vec::new(),
            configs: webhook.into_iter().collect(),
            checkpoint: None,
            tenure,
            ended: None,
            noted: None,
            is_forgotten: false,
            waits: None,
        }
    }

    pub(super) fn webhooks(&self) -> Vec<ConfigId> {
        self.configs
            .iter()
            .map(|(config, _)| config.id.clone())
            .collect()
    }

    pub(super) fn generation(&self) -> u64 {
        self.events.len() as u64 + 1
    }

    /// All of it or nothing.
    pub(super) fn add(&mut self, append: Append) -> Result<(), StoreError> {
        if self.is_forgotten {
            return Err(StoreError::NoTask);
        }
        if append.after != self.generation() {
            return Err(StoreError::Behind(self.generation()));
        }
        let tenure = self.tenure.next(&append.lease)?;
        let (messages, bytes) = limits::admit(self.messages, self.bytes, &append)?;
        self.task.apply_all(&append.events)?;
        (self.messages, self.bytes, self.tenure) = (messages, bytes, tenure);
        if append.release {
            self.tenure.until = None;
        }
        if append.checkpoint.is_some() {
            self.checkpoint = append.checkpoint;
        }
        if append.events.iter().any(|event| event.status().is_some()) {
            let state = self.task.status.state;
            self.ended = state.is_terminal().then(Instant::now);
            self.waits = state.is_interrupted().then(Instant::now);
        }
        self.events.extend(append.events.into_iter().map(Arc::new));
        Ok(())
    }

    pub(super) fn after(&self, generation: u64) -> Tail {
        let Some(seen) = generation
            .checked_sub(1)
            .filter(|_| generation <= self.generation())
        else {
            return Tail::Unknown;
        };
        let seen = usize::try_from(seen).unwrap_or(usize::MAX);
        let later = self.events.iter().enumerate().skip(seen);
        let logged = later.map(|(index, event)| Logged {
            generation: index as u64 + 2,
            event: Arc::clone(event).into(),
        });
        limits::Batch::of(logged)
    }

    pub(super) fn put_config(
        &mut self,
        config: TaskPushNotificationConfig,
        dialect: Dialect,
    ) -> Result<(), StoreError> {
        if self.is_forgotten {
            return Err(StoreError::NoTask);
        }
        let same = |(known, _): &(TaskPushNotificationConfig, _)| known.id == config.id;
        let known = self.configs.iter().position(same);
        match known {
            Some(index) => self.configs[index] = (config, dialect),
            None if self.configs.len() >= limits::CONFIGS => {
                return Err(StoreError::TooManyConfigs(limits::CONFIGS));
            }
            None => self.configs.push((config, dialect)),
        }
        Ok(())
    }
}

/// Who writes to a log.
#[derive(Clone, Debug)]
pub(super) struct Tenure {
    pub(super) holder: Arc<str>,
    pub(super) epoch: u64,
    /// Until when; none if it was given back.
    pub(super) until: Option<Instant>,
}

impl Tenure {
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
            Lease::Taken { holder, .. } if self.lasts() && **holder != *self.holder => {
                Err(StoreError::Leased)
            }
            Lease::Taken { holder, term } | Lease::Seized { holder, term } => {
                Ok(Self::taken(Arc::clone(holder), self.epoch + 1, *term))
            }
        }
    }
}
