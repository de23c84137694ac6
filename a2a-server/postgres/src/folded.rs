//! A task as the fold of its log.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use a2a_server::limits::{self, FoldSize};
use a2a_server::{Logged, Owner, Snapshot, StoreError, Tail};
use a2a_transport::SharedEvent;
use a2a_types::size::size_of_object;
use a2a_types::{Dialect, Object, Task, TaskId, TaskState};

pub(crate) type Key = (Owner, TaskId);

/// A task as the fold of the first part of its log, and the last events of the log.
#[derive(Clone, Debug)]
pub(crate) struct Folded {
    /// Number of the task's row. A later task with the same id has another one.
    pub(crate) seq: i64,
    /// Database server that has stored it, by the time of its start. After a failover to another server, whose log may
    /// be another one, or back to a backup, this is another time.
    pub(crate) server: SystemTime,
    /// The task after the first `folded` entries of its log, shared with the callers that read it.
    pub(crate) base: Arc<Task>,
    pub(crate) size: FoldSize,
    pub(crate) folded: u64,
    pub(crate) sequence: u64,
    pub(crate) state: TaskState,
    pub(crate) dialect: Dialect,
    pub(crate) checkpoint: Option<Arc<Object>>,
    pub(crate) messages: usize,
    /// Number of the message whose turn began last.
    pub(crate) turn: usize,
    /// Bytes of the log.
    pub(crate) bytes: usize,
    /// Sequence number of the stored document.
    pub(crate) written: u64,
    /// The last events, each with its bytes: all that are not folded, and some before.
    pub(crate) tail: VecDeque<(Logged, usize)>,
}

impl Folded {
    /// Adds a stored event.
    pub(crate) fn remember(&mut self, logged: Logged) {
        if self.tail.len() >= MAX_TAIL {
            if self.unfolded().count() == self.tail.len() {
                self.fold();
            }
            self.tail.pop_front();
        }
        let bytes = limits::size_of_event(&logged.event);
        self.tail.push_back((logged, bytes));
    }

    /// Folds the remaining events.
    pub(crate) fn fold(&mut self) {
        if let Some((last, _)) = self.tail.back()
            && last.sequence > self.folded
        {
            let added = after(&self.tail, self.folded).map(|logged| &*logged.event);
            // Each event was checked before it was stored.
            Arc::make_mut(&mut self.base).fold(added.clone());
            self.size.grow(&self.base, added);
            self.folded = last.sequence;
        }
    }

    /// Returns the bytes that it holds in memory.
    pub(crate) fn held(&self) -> usize {
        let tail = self.tail.iter().map(|(_, bytes)| bytes).sum::<usize>();
        let checkpoint = self.checkpoint.as_deref().map_or(0, size_of_object);
        size_of::<Self>() + self.size.bytes() + tail + checkpoint
    }

    /// Refuses events that give the task more artifacts than it may have.
    pub(crate) fn admit_artifacts(&self, events: &[SharedEvent]) -> Result<(), StoreError> {
        let added = self.unfolded().map(|logged| &*logged.event);
        let added = added.chain(events.iter().map(|event| &**event));
        limits::admit_artifacts(&self.base, added)
    }

    /// Returns whether another state is of the same task on the same server.
    pub(crate) fn is_same_log(&self, other: &Self) -> bool {
        (self.seq, self.server) == (other.seq, other.server)
    }

    fn unfolded(&self) -> impl Iterator<Item = &Logged> + Clone {
        after(&self.tail, self.folded)
    }

    /// Returns a cheap copy for a writer: the task is shared, and folded events are left out.
    pub(crate) fn draft(&self) -> Self {
        let unfolded = |(logged, _): &&(Logged, usize)| logged.sequence > self.folded;
        Self {
            base: Arc::clone(&self.base),
            checkpoint: self.checkpoint.clone(),
            tail: self.tail.iter().filter(unfolded).cloned().collect(),
            ..*self
        }
    }

    /// Folds the events of a large task, and drops all but the last of them, which would take as much memory again.
    pub(crate) fn shorten(&mut self) {
        if self.bytes <= TAIL_BYTES {
            return;
        }
        self.fold();
        let mut all = 0;
        let fits = |(_, bytes): &&(Logged, usize)| {
            all += bytes;
            all <= TAIL_BYTES
        };
        let kept = self.tail.iter().rev().take_while(fits).count();
        self.tail.drain(..self.tail.len() - kept);
    }

    /// Adds the next events of the log.
    pub(crate) fn extend(&mut self, events: impl IntoIterator<Item = Logged>) {
        for logged in events {
            self.sequence = logged.sequence;
            if let Some(status) = logged.event.status() {
                self.state = status.state;
            }
            self.remember(logged);
        }
        if self.unfolded().count() > SHORT {
            self.fold();
        }
        self.shorten();
    }

    /// Returns the events after a sequence number, or `None` if some are not kept here.
    pub(crate) fn after(&self, sequence: u64) -> Option<Tail> {
        if sequence == 0 || sequence >= self.sequence {
            return None;
        }
        let first = self
            .tail
            .front()
            .map_or(self.sequence + 1, |(first, _)| first.sequence);
        let later = after(&self.tail, sequence);
        (first <= sequence + 1).then(|| limits::Batch::of(later.cloned()))
    }
}

impl From<Folded> for Snapshot {
    fn from(mut folded: Folded) -> Self {
        folded.fold();
        let mut snapshot = Self::new(folded.base, folded.sequence, folded.dialect);
        snapshot.checkpoint = folded.checkpoint.map(Arc::unwrap_or_clone);
        snapshot.turn = folded.turn;
        snapshot
    }
}

/// Returns the events after a sequence number.
fn after(tail: &VecDeque<(Logged, usize)>, sequence: u64) -> impl Iterator<Item = &Logged> + Clone {
    let events = tail.iter().map(|(logged, _)| logged);
    events.filter(move |logged| logged.sequence > sequence)
}

/// Maximum number of events kept in addition to a task, and of their bytes if the task is large.
const MAX_TAIL: usize = 64;
const TAIL_BYTES: usize = 1 << 20;
/// Number of events that may stay unfolded, so that each reader folds them again.
pub(crate) const SHORT: usize = 16;
