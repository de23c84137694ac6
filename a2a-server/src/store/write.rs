//! Values written to a store.

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::TraceContext;
use a2a_types::steps::is_step;
use a2a_types::{
    Event, MessageId, Object, ProtocolVersion, Task, TaskPushNotificationConfig, TaskState,
};

use super::Snapshot;

/// A task to be kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewTask {
    /// The task, submitted.
    pub task: Arc<Task>,
    /// Protocol version in which it was asked for.
    pub protocol_version: ProtocolVersion,
    /// A webhook that came with it.
    pub config: Option<TaskPushNotificationConfig>,
    /// The message that began it, so that it begins none twice.
    pub receipt: Option<IdempotencyKey>,
    /// Holder of its lease.
    pub holder: Arc<str>,
    /// Time for which its lease lasts, by the store's clock.
    pub term: Duration,
    /// Events that have happened to it already, as if appended at once by its holder.
    pub events: Vec<Event>,
    /// `true` if its lease ends with these events.
    pub release: bool,
    /// `true` if its webhook is to be notified of these events.
    pub notify: bool,
    /// Trace of the request, kept with the notifications.
    pub trace: Option<TraceContext>,
}

impl NewTask {
    /// Creates a new task without events, webhook and receipt.
    pub fn new(
        task: Arc<Task>,
        protocol_version: ProtocolVersion,
        holder: Arc<str>,
        term: Duration,
    ) -> Self {
        Self {
            task,
            protocol_version,
            config: None,
            receipt: None,
            holder,
            term,
            events: Vec::new(),
            release: false,
            notify: false,
            trace: None,
        }
    }

    /// Returns the task as it begins, before [`events`](Self::events).
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(Arc::clone(&self.task), 1, self.protocol_version)
    }

    /// Takes the events that have happened to the task already, as the first append to its log.
    pub fn split(&mut self) -> Option<Append> {
        let events = std::mem::take(&mut self.events);
        let first = Append {
            release: self.release,
            notify: self.notify,
            trace: self.trace.take(),
            ..Append::held(1, 1, events)
        };
        (!first.events.is_empty()).then_some(first)
    }
}

/// Addition to a log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Append {
    /// The sequence number that the writer knows: the log must end there.
    pub after: u64,
    /// The writer's right to write.
    pub lease: Lease,
    /// `true` if the lease ends with this.
    pub release: bool,
    /// The events.
    pub events: Vec<Event>,
    /// The message among the events, so that it is not taken twice.
    pub receipt: Option<IdempotencyKey>,
    /// Replacement of the agent's checkpoint.
    pub checkpoint: Option<Object>,
    /// Number of the caller's message whose turn begins with this, counted from 1 over the task's history. The
    /// messages after it wait for their turns. A new task begins with the turn of its first message. The checkpoint of the
    /// turn before goes.
    pub turn: Option<usize>,
    /// `true` if the task's webhooks are to be notified of those events that streams get.
    pub notify: bool,
    /// The trace that the events belong to: kept with their notifications.
    pub trace: Option<TraceContext>,
}

impl Append {
    /// Makes the addition of these events after a sequence number, by the holder of the lease of this epoch.
    pub fn held(after: u64, epoch: u64, events: Vec<Event>) -> Self {
        Self {
            after,
            lease: Lease::Held { epoch },
            release: false,
            events,
            receipt: None,
            checkpoint: None,
            turn: None,
            notify: false,
            trace: None,
        }
    }

    /// Returns whether the task ends with this.
    pub fn ends(&self) -> bool {
        let state = |event: &Event| Some(event.status()?.state);
        self.events
            .iter()
            .rev()
            .find_map(state)
            .is_some_and(TaskState::is_terminal)
    }

    /// Returns the sequence numbers of the events that webhooks are notified of: none without
    /// [`notify`](Self::notify), and no messages.
    pub fn notified(&self) -> Vec<u64> {
        let places = (self.after + 1..).zip(&self.events);
        let silent = |event: &Event| matches!(event, Event::Message(_)) || is_step(event);
        let is_notified = |event: &Event| self.notify && !silent(event);
        places
            .filter(|(_, event)| is_notified(event))
            .map(|(sequence, _)| sequence)
            .collect()
    }
}

/// The right to write to a log. Every lease has an epoch, one more than the last one's: a writer that lost
/// its lease without knowing is recognised by its epoch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Lease {
    /// The writer's own, of this epoch, even if it ran out: no other writer has taken it since.
    Held {
        /// The epoch.
        epoch: u64,
    },
    /// A new one, if no writer has one that has not run out.
    Acquire {
        /// Holder of the lease from now on.
        holder: Arc<str>,
        /// Term of the lease, by the store's clock.
        term: Duration,
    },
    /// A new lease, even if another holder has one.
    TakeOver {
        /// Holder of the lease from now on.
        holder: Arc<str>,
        /// Term of the lease, by the store's clock.
        term: Duration,
    },
}

/// Outcome of an [`Append`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Appended {
    /// The length of the log.
    pub sequence: u64,
    /// The epoch of the writer's lease.
    pub epoch: u64,
    /// Number of the caller's messages in the log.
    pub messages: usize,
}

impl Appended {
    /// Makes the outcome of an append: the length of the log, the epoch of the writer's lease, and the number of the
    /// caller's messages in the log.
    pub const fn new(sequence: u64, epoch: u64, messages: usize) -> Self {
        Self {
            sequence,
            epoch,
            messages,
        }
    }
}

/// A message that was received: sent again by the same owner, it is recognised.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct IdempotencyKey {
    /// The message.
    pub message: MessageId,
    /// SHA-256 of what was asked.
    pub digest: [u8; 32],
    /// Time for which it is recognised, by the store's clock.
    pub term: Duration,
}

impl IdempotencyKey {
    /// Makes the receipt of a message, from what was asked and how long it is recognised.
    pub const fn new(message: MessageId, digest: [u8; 32], term: Duration) -> Self {
        Self {
            message,
            digest,
            term,
        }
    }
}

/// Outcome of an attempt to notify.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DeliveryResult {
    /// The webhook took it: the next one may go.
    Delivered,
    /// It is to be tried again after a while, by the store's clock.
    Retry(Duration),
    /// It was not tried at all: it is due again after a while, and this does not count as an attempt.
    Deferred(Duration),
    /// It was tried too often: it is a dead letter, and the next one may go.
    DeadLetter,
}

/// Limits on idle and ended tasks that are kept. Made with [`Default`], and its fields are set. A store removes all
/// ended tasks if they are 0; a server refuses that, since a task could be gone before its sender has the answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Retention {
    /// Time for which ended tasks are kept after their end.
    pub age: Duration,
    /// Maximum number of ended tasks.
    pub count: usize,
    /// Time for which tasks are kept that wait for their caller.
    pub patience: Duration,
}

impl Default for Retention {
    /// A week, 100,000 tasks; 30 days.
    fn default() -> Self {
        Self {
            age: Duration::from_secs(7 * 24 * 3600),
            count: 100_000,
            patience: Duration::from_secs(30 * 24 * 3600),
        }
    }
}
