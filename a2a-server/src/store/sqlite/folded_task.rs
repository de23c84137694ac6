//! A task of a SQLite store as the fold of its log.

use std::collections::VecDeque;
use std::sync::Arc;

use a2a_transport::SharedEvent;
use a2a_types::size::size_of_object;
use a2a_types::{Dialect, Object, Task, TaskState};

use super::super::limits::{self, FoldSize};
use super::super::{Logged, StoreError, Tail};

/// A task as the fold of its log, as far as that is folded, and the end of the log.
#[derive(Clone, Debug)]
pub(super) struct FoldedTask {
    /// The task's number in the tables.
    pub(super) seq: i64,
    /// The task after the first `folded` entries of its log, shared with the callers that read it.
    pub(super) base: Arc<Task>,
    pub(super) size: FoldSize,
    pub(super) folded: u64,
    pub(super) sequence: u64,
    pub(super) state: TaskState,
    pub(super) dialect: Dialect,
    pub(super) checkpoint: Option<Arc<Object>>,
    pub(super) epoch: u64,
    pub(super) messages: usize,
    /// Number of the message whose turn began last.
    pub(super) turn: usize,
    /// Bytes of the log.
    pub(super) bytes: usize,
    /// Sequence number at which the task was last written as a whole.
    pub(super) written: u64,
    pub(super) has_configs: bool,
    /// The last events, each with its bytes: all that are not folded, and some before.
    pub(super) tail: VecDeque<(Logged, usize)>,
}

impl FoldedTask {
    /// Returns whether an agent has to work on the task.
    pub(super) fn is_active(&self) -> bool {
        limits::is_active(self.state, self.turn, self.messages)
    }

    /// Notes an event that was written.
    pub(super) fn remember(&mut self, logged: Logged) {
        let bytes = limits::size_of_event(&logged.event);
        self.push((logged, bytes));
    }

    fn push(&mut self, logged: (Logged, usize)) {
        if self.tail.len() >= MAX_TAIL_EVENTS {
            if self.unfolded().count() == self.tail.len() {
                self.fold();
            }
            self.tail.pop_front();
        }
        self.tail.push_back(logged);
    }

    /// Folds what is not folded.
    pub(super) fn fold(&mut self) {
        if let Some((last, _)) = self.tail.back()
            && last.sequence > self.folded
        {
            let added = after(&self.tail, self.folded).map(|logged| &*logged.event);
            // Each was legal when it came.
            Arc::make_mut(&mut self.base).fold(added.clone());
            self.size.grow(&self.base, added);
            self.folded = last.sequence;
        }
    }

    /// Returns the bytes that it holds in memory.
    pub(super) fn held(&self) -> usize {
        let tail = self.tail.iter().map(|(_, bytes)| bytes).sum::<usize>();
        let checkpoint = self.checkpoint.as_deref().map_or(0, size_of_object);
        size_of::<Self>() + self.size.bytes() + tail + checkpoint
    }

    /// Refuses events that give the task more artifacts than it may have.
    pub(super) fn admit_artifacts(&self, events: &[SharedEvent]) -> Result<(), StoreError> {
        let added = self.unfolded().map(|logged| &*logged.event);
        let added = added.chain(events.iter().map(|event| &**event));
        limits::admit_artifacts(&self.base, added)
    }

    fn unfolded(&self) -> impl Iterator<Item = &Logged> + Clone {
        after(&self.tail, self.folded)
    }

    /// As much of it as the writer needs, and nothing that is copied with effort.
    pub(super) fn draft(&self) -> Self {
        let unfolded = |(logged, _): &&(Logged, usize)| logged.sequence > self.folded;
        Self {
            base: Arc::clone(&self.base),
            checkpoint: self.checkpoint.clone(),
            tail: self.tail.iter().filter(unfolded).cloned().collect(),
            ..*self
        }
    }

    /// Becomes what the writer has made of a draft of it.
    pub(super) fn succeed(&mut self, later: Self) {
        let (known, mut tail) = (self.sequence, std::mem::take(&mut self.tail));
        let first = after(&later.tail, known).next();
        if first.is_none_or(|first| first.sequence > known + 1) && later.sequence > known {
            // Too many at once to have them all.
            tail.clear();
        }
        let added = later.tail;
        *self = Self { tail, ..later };
        for logged in added.into_iter().filter(|(it, _)| it.sequence > known) {
            self.push(logged);
        }
        if self.unfolded().count() > SHORT {
            self.fold();
        }
        self.shorten();
    }

    /// Folds the events of a large task, and lets go of all but the last of them: they would hold as much again.
    pub(super) fn shorten(&mut self) {
        if self.bytes <= MAX_TAIL_BYTES {
            return;
        }
        self.fold();
        let mut all = 0;
        let fits = |(_, bytes): &&(Logged, usize)| {
            all += bytes;
            all <= MAX_TAIL_BYTES
        };
        let kept = self.tail.iter().rev().take_while(fits).count();
        self.tail.drain(..self.tail.len() - kept);
    }

    /// Returns the events after a sequence number, or `None` if some are not kept here.
    pub(super) fn after(&self, sequence: u64) -> Option<Tail> {
        if sequence == 0 || sequence > self.sequence {
            return Some(Tail::Unknown);
        }
        let first = self
            .tail
            .front()
            .map_or(self.sequence + 1, |(first, _)| first.sequence);
        let later = after(&self.tail, sequence);
        (first <= sequence + 1).then(|| limits::Batch::of(later.cloned()))
    }
}

/// Returns the events after a sequence number.
fn after(tail: &VecDeque<(Logged, usize)>, sequence: u64) -> impl Iterator<Item = &Logged> + Clone {
    let events = tail.iter().map(|(logged, _)| logged);
    events.filter(move |logged| logged.sequence > sequence)
}

/// Maximum number of events kept with a task, and of their bytes if the task is large.
const MAX_TAIL_EVENTS: usize = 64;
const MAX_TAIL_BYTES: usize = 1 << 20;
/// Number of events that each reader of the task folds again.
pub(super) const SHORT: usize = 16;
