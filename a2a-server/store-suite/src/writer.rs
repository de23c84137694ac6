//! Writer of a task, and everything that can be read of the task.

use std::sync::Arc;

use a2a_server::{Append, Appended, Lease, LogEntry, LogPage, Owner, Snapshot, Store, StoreError};
use a2a_types::{
    Event, Object, ProtocolVersion, Task, TaskId, TaskPushNotificationConfig, TaskState,
};

use crate::observation::{Checked, Observation, same};
use crate::sample;

/// Writer of a task, at the end of its log and with a lease.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) owner: Owner,
    pub(crate) task: TaskId,
    pub(crate) sequence: u64,
    pub(crate) epoch: u64,
}

impl Writer {
    /// Returns the append of these events, by the holder of the lease.
    pub(crate) fn held(&self, events: Vec<Event>) -> Append {
        Append::held(self.sequence, self.epoch, events)
    }

    /// Returns the append of these events, with another lease.
    pub(crate) fn with(&self, lease: Lease, events: Vec<Event>) -> Append {
        let mut append = self.held(events);
        append.lease = lease;
        append
    }

    /// Appends, and returns whatever the store answers.
    pub(crate) async fn append(&self, append: Append) -> Result<Appended, StoreError> {
        self.store.append(&self.owner, &self.task, append).await
    }

    /// Appends; fails unless the store accepts it as expected.
    pub(crate) async fn write(&mut self, append: Append) -> Checked {
        let sequence = append.after + append.events.len() as u64;
        let epoch = match append.lease {
            Lease::Held { epoch } => epoch,
            Lease::Acquire { .. } | Lease::TakeOver { .. } => self.epoch + 1,
        };
        let appended = self.append(append).await?;
        let messages = appended.messages;
        same(
            "an append",
            appended,
            Appended::new(sequence, epoch, messages),
        )?;
        (self.sequence, self.epoch) = (sequence, epoch);
        Ok(())
    }

    pub(crate) async fn add(&mut self, events: Vec<Event>) -> Checked {
        self.write(self.held(events)).await
    }

    /// Takes the task to a state, with nothing to say.
    pub(crate) async fn become_(&mut self, state: TaskState) -> Checked {
        self.add(vec![sample::status(&self.task, state)]).await
    }

    /// Adds `count` chunks of which webhooks are notified.
    pub(crate) async fn work(&mut self, count: usize) -> Checked {
        let mut append = self.held(vec![sample::chunk(&self.task, "a", "1", true); count]);
        append.notify = true;
        self.write(append).await
    }

    pub(crate) async fn snapshot(&self) -> Checked<Snapshot> {
        let snapshot = self.store.snapshot(&self.owner, &self.task).await?;
        snapshot.ok_or_else(|| Observation::new(format!("there is no task {}", self.task)))
    }

    /// Returns whether the task is there.
    pub(crate) async fn exists(&self) -> Checked<bool> {
        let (owner, task) = (&self.owner, &self.task);
        Ok(self.store.snapshot(owner, task).await?.is_some())
    }

    /// One batch of the log.
    pub(crate) async fn batch(&self, after: u64) -> Checked<Vec<LogEntry>> {
        let store = &self.store;
        match store.events_after(&self.owner, &self.task, after).await? {
            LogPage::Events(events) => Ok(events),
            _ => Err(Observation::new(format!(
                "unknown what comes after {after}"
            ))),
        }
    }

    /// Everything in the log after a sequence number: each event once and in its place.
    pub(crate) async fn read(&self, after: u64) -> Checked<Vec<Event>> {
        let mut events = Vec::new();
        let mut seen = after;
        loop {
            let batch = self.batch(seen).await?;
            if batch.is_empty() {
                return Ok(events);
            }
            for logged in batch {
                same("the next sequence", logged.sequence, seen + 1)?;
                seen = logged.sequence;
                events.push(Event::clone(&logged.event));
            }
        }
    }

    /// Everything that can be read of the task.
    pub(crate) async fn look(&self) -> Checked<Look> {
        let snapshot = self.snapshot().await?;
        Ok(Look {
            task: Arc::unwrap_or_clone(snapshot.task),
            sequence: snapshot.sequence,
            protocol_version: snapshot.protocol_version,
            checkpoint: snapshot.checkpoint,
            turn: snapshot.turn,
            events: self.read(1).await?,
            configs: self.store.configs(&self.owner, &self.task).await?,
        })
    }
}

/// Everything that can be read of a task.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Look {
    pub(crate) task: Task,
    pub(crate) sequence: u64,
    pub(crate) protocol_version: ProtocolVersion,
    pub(crate) checkpoint: Option<Object>,
    pub(crate) turn: usize,
    pub(crate) events: Vec<Event>,
    pub(crate) configs: Vec<TaskPushNotificationConfig>,
}
