//! Values read from a store.

use std::cmp::Reverse;
use std::sync::Arc;

use a2a_transport::{SharedEvent, TraceContext};
use a2a_types::{
    ContextId, Message, Object, ProtocolVersion, Role, Task, TaskId, TaskPushNotificationConfig,
    TaskState, TaskStatus, Timestamp,
};

use super::{Owner, TaskShare};

/// A task at a sequence number of its log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// The task, shared with a store that keeps it so.
    pub task: Arc<Task>,
    /// The length of its log.
    pub sequence: u64,
    /// Protocol version in which it was created.
    pub protocol_version: ProtocolVersion,
    /// Checkpoint of the agent, for a turn that resumes after a crash.
    pub checkpoint: Option<Object>,
    /// Number of the caller's message whose turn began last, counted from 1: see [`Append::turn`](super::Append::turn).
    pub turn: usize,
    /// Share of the memory that the store allows for large tasks: held for as long as the task is.
    pub share: TaskShare,
}

impl Snapshot {
    /// Makes the snapshot of a task at a sequence number, in the turn of its first message and without a checkpoint.
    pub fn new(task: Arc<Task>, sequence: u64, protocol_version: ProtocolVersion) -> Self {
        Self {
            task,
            sequence,
            protocol_version,
            checkpoint: None,
            turn: 1,
            share: TaskShare::default(),
        }
    }

    /// Returns the number of the caller's messages in the history.
    pub fn messages(&self) -> usize {
        self.task
            .history
            .iter()
            .filter(|it| is_of_caller(it))
            .count()
    }

    /// Returns the caller's message of this number, counted from 1.
    pub(crate) fn message(&self, number: usize) -> Option<&Message> {
        let mut messages = self.task.history.iter().filter(|it| is_of_caller(it));
        messages.nth(number.checked_sub(1)?)
    }
}

/// Returns whether a message in a task's history is of the caller.
pub(crate) fn is_of_caller(message: &Message) -> bool {
    message.role != Role::Agent
}

/// Events of a log after a sequence number.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LogPage {
    /// These events, and perhaps more after them.
    Events(Vec<LogEntry>),
    /// The store no longer has them, or the log is not that long: begin with the task as it stands.
    Unknown,
}

/// An event of a log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogEntry {
    /// Its sequence number in the log.
    pub sequence: u64,
    /// The event, shared by all its readers.
    pub event: SharedEvent,
}

impl LogEntry {
    /// Makes the event at a place of a log.
    pub fn new(sequence: u64, event: impl Into<SharedEvent>) -> Self {
        Self {
            sequence,
            event: event.into(),
        }
    }
}

/// Filter and limit of a list of tasks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListQuery {
    /// Only tasks of this conversation.
    pub context_id: Option<ContextId>,
    /// Only tasks in this state.
    pub status: Option<TaskState>,
    /// Only tasks whose status is of this time or later.
    pub since: Option<Timestamp>,
    /// Only tasks that come after this place: where the page before ended.
    pub after: Option<ListCursor>,
    /// Maximum number of tasks. A store may yield fewer, but at least one, so that a page does not hold too
    /// many bytes.
    pub limit: usize,
}

impl ListQuery {
    /// Asks for all tasks, from the first, `limit` to a page.
    pub const fn new(limit: usize) -> Self {
        Self {
            context_id: None,
            status: None,
            since: None,
            after: None,
            limit,
        }
    }

    /// Returns whether a task of this context and status is listed, on whichever page.
    pub fn wants(&self, context: Option<&ContextId>, status: &TaskStatus) -> bool {
        let of_context = self.context_id.is_none() || self.context_id.as_ref() == context;
        let in_state = self.status.is_none_or(|state| state == status.state);
        let late = |since| status.timestamp.is_some_and(|time| time >= since);
        of_context && in_state && self.since.is_none_or(late)
    }
}

/// A task's place in a listing: by the time of its status, the latest first, then by its id.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct ListCursor {
    /// The time of the status, in milliseconds since the Unix epoch.
    pub time: Reverse<i64>,
    /// The task.
    pub task: TaskId,
}

impl ListCursor {
    /// Returns the place of a task.
    pub fn of(task: &Task) -> Self {
        Self::at(&task.id, &task.status)
    }

    /// Returns the place of a task of this status.
    pub fn at(task: &TaskId, status: &TaskStatus) -> Self {
        Self {
            time: Reverse(status.timestamp.map_or(i64::MIN, Timestamp::as_millis)),
            task: task.clone(),
        }
    }
}

/// One page of a listing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page {
    /// The tasks, whole.
    pub tasks: Vec<Task>,
    /// Number of matching tasks, on all pages.
    pub total: usize,
    /// `true` if more come after these.
    pub more: bool,
    /// Share of the memory that the store allows for large tasks: held for as long as they are.
    pub share: TaskShare,
}

impl Page {
    /// Makes a page of these tasks. `total` is the number of all tasks that match, `more` whether others follow.
    pub fn new(tasks: Vec<Task>, total: usize, more: bool) -> Self {
        Self {
            tasks,
            total,
            more,
            share: TaskShare::default(),
        }
    }
}

/// An active task that no server has a lease of.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Orphan {
    /// Owner of the task.
    pub owner: Owner,
    /// The task.
    pub task: TaskId,
}

impl Orphan {
    /// Names a task of this owner as one that no server works on.
    pub const fn new(owner: Owner, task: TaskId) -> Self {
        Self { owner, task }
    }
}

/// Record of a received message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IdempotencyRecord {
    /// SHA-256 of what was asked.
    pub digest: [u8; 32],
    /// Outcome of the message.
    pub outcome: Outcome,
}

impl IdempotencyRecord {
    /// Makes the record of a message from what was asked and what came of it.
    pub const fn new(digest: [u8; 32], outcome: Outcome) -> Self {
        Self { digest, outcome }
    }
}

/// Outcome of a message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is in the history of this task.
    Task(TaskId),
    /// It was answered by a message alone.
    Message(Box<Message>),
}

/// An event to be delivered to a webhook.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Notification {
    /// Owner of the task.
    pub owner: Owner,
    /// The webhook, and its task.
    pub config: TaskPushNotificationConfig,
    /// Protocol version in which the webhook was asked for.
    pub protocol_version: ProtocolVersion,
    /// Sequence number of the event in the log of the task.
    pub sequence: u64,
    /// Number of earlier attempts.
    pub attempt: u32,
    /// The trace that the event belongs to.
    pub trace: Option<TraceContext>,
}

impl Notification {
    /// Makes the notification of an event that was not tried before and belongs to no trace.
    pub const fn new(
        owner: Owner,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
        sequence: u64,
    ) -> Self {
        Self {
            owner,
            config,
            protocol_version,
            sequence,
            attempt: 0,
            trace: None,
        }
    }
}
