//! Limits on what a store keeps of a task, for every store to apply alike.
//!
//! A store of your own keeps two numbers with each log, the caller's messages and the bytes, and asks
//! [`LogUsage`] whether an append fits:
//!
//! ```
//! use a2a_server::{Append, StoreError, limits::LogUsage};
//!
//! fn admit(messages: usize, bytes: usize, append: &Append) -> Result<(usize, usize), StoreError> {
//!     LogUsage::of(append).admit(messages, bytes)
//! }
//! ```
//!
//! Sizes are bytes of memory, as the allocator gives them: see [`a2a_types::size`].

use std::collections::HashSet;

use a2a_transport::TraceContext;
use a2a_types::size::growth_of_fold;
pub use a2a_types::size::{FoldSize, size_of_config, size_of_event, size_of_task};
use a2a_types::{Event, Task, TaskPushNotificationConfig, TaskState};

use super::read::is_of_caller;
use super::{Append, LogEntry, LogPage, Owner, StoreError};

/// Messages of its caller that a task takes.
pub const MAX_MESSAGES: usize = 1000;

/// Artifacts of a task.
pub const MAX_ARTIFACTS: usize = 10_000;

/// Bytes of the events of a task.
pub const MAX_LOG_BYTES: usize = 64 << 20;

/// Bytes beyond [`MAX_LOG_BYTES`] that the events which end a task may have: a task can always end.
pub const MAX_FINAL_BYTES: usize = 1 << 20;

/// Events of a [`ReadBatch`].
const MAX_BATCH: usize = 32;
/// Bytes of a [`ReadBatch`] with more than one event.
const MAX_BATCH_BYTES: usize = 64 << 10;

/// Push notification configs of a task.
pub const MAX_CONFIGS: usize = 16;

/// Bytes of a push notification config.
pub const MAX_CONFIG_BYTES: usize = 64 << 10;

/// Returns the bytes of a push notification config.
///
/// Errors: [`StoreError::ConfigTooLong`] above [`MAX_CONFIG_BYTES`].
pub fn admit_config(config: &TaskPushNotificationConfig) -> Result<usize, StoreError> {
    let bytes = size_of_config(config);
    match bytes <= MAX_CONFIG_BYTES {
        true => Ok(bytes),
        false => Err(StoreError::ConfigTooLong(MAX_CONFIG_BYTES)),
    }
}

/// Refuses events that give a task more than [`MAX_ARTIFACTS`] artifacts.
///
/// Errors: [`StoreError::TooManyArtifacts`].
pub fn admit_artifacts<'e>(
    task: &Task,
    events: impl Iterator<Item = &'e Event> + Clone,
) -> Result<(), StoreError> {
    let added = events.filter_map(|event| match event {
        Event::ArtifactUpdate(update) => Some(&update.artifact.artifact_id),
        _ => None,
    });
    let known = task.artifacts.len();
    // Nearly always there is room for all of them, even if each is a new one.
    if known + added.clone().count() <= MAX_ARTIFACTS {
        return Ok(());
    }
    let mut new: HashSet<_> = added.collect();
    for artifact in &task.artifacts {
        new.remove(&artifact.artifact_id);
    }
    match known + new.len() <= MAX_ARTIFACTS {
        true => Ok(()),
        false => Err(StoreError::TooManyArtifacts(MAX_ARTIFACTS)),
    }
}

/// Returns whether an agent has to work on a task in this state: it is neither terminal nor
/// interrupted, or it is interrupted and a message waits for its turn. `turn` is the number of the message whose turn began last, of `messages` in all. Without a
/// lease, such a task is among [`Store::orphans`](super::Store::orphans).
pub fn is_active(state: TaskState, turn: usize, messages: usize) -> bool {
    !state.is_terminal() && (!state.is_interrupted() || turn < messages)
}

/// Messages and bytes that an append adds to a task.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogUsage {
    messages: usize,
    bytes: usize,
    /// Bytes that the events add to the fold of the log.
    folded: usize,
    ends: bool,
}

impl LogUsage {
    /// Measures an append.
    pub fn of(append: &Append) -> Self {
        let is_message = |event: &&Event| matches!(event, Event::Message(it) if is_of_caller(it));
        Self {
            messages: append.events.iter().filter(is_message).count(),
            bytes: append.events.iter().map(size_of_event).sum(),
            folded: append.events.iter().map(growth_of_fold).sum(),
            ends: append.ends(),
        }
    }

    /// Returns the bytes of the events.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the bytes that the events add to the fold of the log.
    pub(crate) fn folded(&self) -> usize {
        self.folded
    }

    /// Returns how many messages and bytes a task holds after this append, if it held `messages` and `bytes` before.
    ///
    /// Errors: [`StoreError::TooManyMessages`], [`StoreError::TooLong`].
    pub fn admit(&self, messages: usize, bytes: usize) -> Result<(usize, usize), StoreError> {
        let (messages, bytes) = (messages + self.messages, bytes + self.bytes);
        if self.messages > 0 && messages > MAX_MESSAGES {
            return Err(StoreError::TooManyMessages(MAX_MESSAGES));
        }
        let limit = match self.ends {
            true => MAX_LOG_BYTES + MAX_FINAL_BYTES,
            false => MAX_LOG_BYTES,
        };
        if bytes > limit {
            return Err(StoreError::TooLong(limit));
        }
        Ok((messages, bytes))
    }
}

/// Events that a reader gets at once, bounded in number and bytes: one that is far behind does not hold
/// all of them.
#[derive(Debug, Default)]
pub struct ReadBatch {
    events: Vec<LogEntry>,
    bytes: usize,
}

impl ReadBatch {
    /// Adds an event if there is room for it, and returns whether there is room for another. The first has
    /// room in any case.
    pub fn push(&mut self, logged: LogEntry) -> bool {
        self.bytes += size_of_event(&logged.event);
        if self.events.is_empty() || self.bytes <= MAX_BATCH_BYTES {
            self.events.push(logged);
        }
        self.events.len() < MAX_BATCH && self.bytes < MAX_BATCH_BYTES
    }

    /// Returns the events.
    pub fn into_tail(self) -> LogPage {
        LogPage::Events(self.events)
    }

    /// Returns the first of these, as many as fit.
    pub fn of(mut logged: impl Iterator<Item = LogEntry>) -> LogPage {
        let mut batch = Self::default();
        while logged.next().is_some_and(|logged| batch.push(logged)) {}
        batch.into_tail()
    }
}

/// Bytes of the tasks of a [`Page`](super::Page).
#[derive(Clone, Copy, Debug, Default)]
pub struct PageSize(usize);

impl PageSize {
    /// Bytes of a page that has more than one task.
    pub const MAX: usize = 8 << 20;

    /// Counts a task of `bytes` bytes, and returns whether there was room for it. The first has room in any
    /// case.
    pub fn admit(&mut self, bytes: usize) -> bool {
        let whole = self.0.saturating_add(bytes);
        let fits = self.0 == 0 || whole <= Self::MAX;
        if fits {
            self.0 = whole;
        }
        fits
    }

    /// Returns the bytes counted.
    pub fn bytes(&self) -> usize {
        self.0
    }
}

/// Returns the bytes of the names of an owner.
pub fn size_of_owner(owner: &Owner) -> usize {
    let names = owner.principal.iter().chain(&owner.tenant);
    names.map(|name| NAME + name.len()).sum()
}

/// Estimates the bytes of a queued notification.
pub fn size_of_notification(trace: Option<&TraceContext>) -> usize {
    let state = trace.and_then(TraceContext::tracestate);
    NOTIFICATION + state.map_or(0, str::len)
}

/// Overhead in bytes of a shared name.
pub(crate) const NAME: usize = 32;
/// Bytes that a notification costs in addition to the state of its trace.
const NOTIFICATION: usize = 256;
