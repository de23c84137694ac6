//! A task as the fold of its log, for stores that keep logs in tables.

use std::collections::VecDeque;
use std::sync::Arc;

use a2a_transport::SharedEvent;
use a2a_types::size::size_of_object;
use a2a_types::{Object, ProtocolVersion, Task, TaskState};

use super::limits::{self, FoldSize};
use super::log_rows::{LogRows, write};
use super::{LogEntry, LogPage, Snapshot, StoreError};

/// The fold of the first part of a task's log, and the last events of the log.
#[derive(Clone, Debug)]
pub struct Fold<R> {
    /// The row of the task: facts that are not in its log.
    pub row: R,
    /// The task after the first `folded` entries of its log, shared with the callers that read it.
    base: Arc<Task>,
    size: FoldSize,
    folded: u64,
    /// The log's last sequence number.
    pub sequence: u64,
    /// State of the task at the end of the log.
    pub state: TaskState,
    /// Protocol version in which the task was begun.
    pub protocol_version: ProtocolVersion,
    /// Checkpoint that the agent stored in the turn.
    pub checkpoint: Option<Arc<Object>>,
    /// Number of messages that the caller has sent.
    pub messages: usize,
    /// Number of the message whose turn began last.
    pub turn: usize,
    /// Bytes of the log.
    pub bytes: usize,
    /// Sequence number of the stored document: the task as it was last written as a whole.
    pub written: u64,
    /// The last events, each with its bytes: all that are not folded, and some before.
    tail: VecDeque<(LogEntry, usize)>,
}

impl<R> Fold<R> {
    /// Makes the fold of a log up to a sequence number: 1 for a new task, or that of a document.
    pub fn new(row: R, task: Arc<Task>, protocol_version: ProtocolVersion, sequence: u64) -> Self {
        let size = FoldSize::of(&task);
        Self {
            row,
            size,
            folded: sequence,
            sequence,
            state: task.status.state,
            protocol_version,
            checkpoint: None,
            messages: task.history.len(),
            turn: 1,
            bytes: size.bytes(),
            written: sequence,
            tail: VecDeque::new(),
            base: task,
        }
    }

    /// Returns whether an agent has to work on the task.
    pub fn is_active(&self) -> bool {
        limits::is_active(self.state, self.turn, self.messages)
    }

    /// Returns how many messages and bytes the task holds after an append, and its state.
    ///
    /// Errors: [`StoreError::TooManyMessages`], [`StoreError::TooLong`], [`StoreError::InvalidTransition`],
    /// [`StoreError::TooManyArtifacts`].
    pub fn admit(&self, rows: &LogRows) -> Result<(usize, usize, TaskState), StoreError> {
        let (messages, bytes) = rows.growth.admit(self.messages, self.bytes)?;
        let after = |state, event: &SharedEvent| {
            self.base.state_after(state, std::slice::from_ref(&**event))
        };
        let state = rows.events.iter().try_fold(self.state, after)?;
        let added = self.unfolded().map(|logged| &*logged.event);
        let added = added.chain(rows.events.iter().map(|event| &**event));
        limits::admit_artifacts(&self.base, added)?;
        Ok((messages, bytes, state))
    }

    /// Adds the next event of the log.
    pub fn push(&mut self, event: SharedEvent) {
        self.sequence += 1;
        if let Some(status) = event.status() {
            self.state = status.state;
        }
        let bytes = limits::size_of_event(&event);
        self.remember((LogEntry::new(self.sequence, event), bytes));
    }

    /// Adds the next events of the log, and folds and drops what need not be kept.
    pub fn extend(&mut self, events: impl IntoIterator<Item = SharedEvent>) {
        events.into_iter().for_each(|event| self.push(event));
        self.shorten();
    }

    fn remember(&mut self, logged: (LogEntry, usize)) {
        if self.tail.len() >= MAX_TAIL_EVENTS {
            if self.unfolded().count() == self.tail.len() {
                self.fold();
            }
            self.tail.pop_front();
        }
        self.tail.push_back(logged);
    }

    /// Folds the remaining events.
    pub fn fold(&mut self) {
        if let Some((last, _)) = self.tail.back()
            && last.sequence > self.folded
        {
            let added = later(&self.tail, self.folded).map(|logged| &*logged.event);
            // Each event was checked before it was stored.
            Arc::make_mut(&mut self.base).fold(added.clone());
            self.size.grow(&self.base, added);
            self.folded = last.sequence;
        }
    }

    /// Returns the task as a document, if the store is to write one: after many events, or fewer ones if the
    /// task comes to rest, so not with every chunk. `before` is the state before the last events.
    pub fn document(&mut self, before: TaskState) -> Result<Option<Vec<u8>>, StoreError> {
        let rests = self.state != before && self.state.is_settled();
        let most = if rests { SHORT as u64 } else { SNAPSHOT_EVERY };
        if self.sequence - self.written <= most {
            return Ok(None);
        }
        self.fold();
        self.written = self.sequence;
        write(&*self.base).map(Some)
    }

    /// Returns the bytes that it holds in memory.
    pub fn held(&self) -> usize {
        let tail = self.tail.iter().map(|(_, bytes)| bytes).sum::<usize>();
        let checkpoint = self.checkpoint.as_deref().map_or(0, size_of_object);
        size_of::<Self>() + self.size.bytes() + tail + checkpoint
    }

    /// Returns the events after a sequence number of the log, or `None` if some are not kept here.
    pub fn after(&self, sequence: u64) -> Option<LogPage> {
        let first = self
            .tail
            .front()
            .map_or(self.sequence + 1, |(first, _)| first.sequence);
        let later = later(&self.tail, sequence);
        (first <= sequence + 1).then(|| limits::ReadBatch::of(later.cloned()))
    }

    fn unfolded(&self) -> impl Iterator<Item = &LogEntry> + Clone {
        later(&self.tail, self.folded)
    }

    /// Replaces itself by a written [draft](Self::draft).
    pub fn succeed(&mut self, written: Self) {
        let (known, mut tail) = (self.sequence, std::mem::take(&mut self.tail));
        let first = later(&written.tail, known).next();
        if first.is_none_or(|first| first.sequence > known + 1) && written.sequence > known {
            // The new tail lacks the events right after `known`, so it does not continue the old
            // one.
            tail.clear();
        }
        let added = written.tail;
        *self = Self { tail, ..written };
        for logged in added.into_iter().filter(|(it, _)| it.sequence > known) {
            self.remember(logged);
        }
        self.shorten();
    }

    /// Folds the events unless they are few. Of a large task it drops all but the last: they would hold as much
    /// again.
    fn shorten(&mut self) {
        let is_large = self.bytes > MAX_TAIL_BYTES;
        if is_large || self.unfolded().count() > SHORT {
            self.fold();
        }
        if is_large {
            let mut all = 0;
            let fits = |(_, bytes): &&(LogEntry, usize)| {
                all += bytes;
                all <= MAX_TAIL_BYTES
            };
            let kept = self.tail.iter().rev().take_while(fits).count();
            self.tail.drain(..self.tail.len() - kept);
        }
    }
}

impl<R: Clone> Fold<R> {
    /// Returns a cheap copy for a writer or a reader: the task is shared, and folded events are left out.
    pub fn draft(&self) -> Self {
        let unfolded = |(logged, _): &&(LogEntry, usize)| logged.sequence > self.folded;
        Self {
            row: self.row.clone(),
            base: Arc::clone(&self.base),
            checkpoint: self.checkpoint.clone(),
            tail: self.tail.iter().filter(unfolded).cloned().collect(),
            ..*self
        }
    }
}

impl<R> From<Fold<R>> for Snapshot {
    fn from(mut fold: Fold<R>) -> Self {
        fold.fold();
        Self {
            checkpoint: fold.checkpoint.map(Arc::unwrap_or_clone),
            turn: fold.turn,
            ..Self::new(fold.base, fold.sequence, fold.protocol_version)
        }
    }
}

/// Returns the events after a sequence number.
fn later(
    tail: &VecDeque<(LogEntry, usize)>,
    sequence: u64,
) -> impl Iterator<Item = &LogEntry> + Clone {
    let events = tail.iter().map(|(logged, _)| logged);
    events.filter(move |logged| logged.sequence > sequence)
}

/// Maximum number of events kept with a task, and of their bytes if the task is large.
const MAX_TAIL_EVENTS: usize = 64;
const MAX_TAIL_BYTES: usize = 1 << 20;
/// Number of events that may stay unfolded, so that each reader folds them again.
const SHORT: usize = 16;
/// Number of events after which a task is written as a whole, so that it is read quickly.
const SNAPSHOT_EVERY: u64 = 64;
