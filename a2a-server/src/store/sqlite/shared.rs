//! What the writer and the readers of a SQLite store have in common: recent tasks, and who waits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_transport::SharedEvent;
use a2a_types::{Dialect, Object, Task, TaskId, TaskState};
use ahash::HashMap;
use lru::LruCache;
use tokio::sync::watch;

use super::super::{Logged, Owner, Snapshot, StoreError, Tail, limits};
use super::seen::Seen;

pub(super) type Key = (Owner, TaskId);

/// Tasks that were written not long ago, and who waits for tasks to be written.
///
/// What is in here is on the disk: the writer works on drafts, and puts them in when they are committed.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) seen: Seen,
    recent: Mutex<Recent>,
    watched: Mutex<HashMap<Key, watch::Sender<u64>>>,
}

#[derive(Debug)]
struct Recent {
    tasks: LruCache<Key, Folded, ahash::RandomState>,
    bytes: usize,
}

/// A task as the fold of its log, as far as that is folded, and the end of the log.
#[derive(Clone, Debug)]
pub(super) struct Folded {
    /// The task's number in the tables.
    pub(super) seq: i64,
    /// The task after the first so many entries of its log. It is shared with whoever has asked for it.
    pub(super) base: Arc<Task>,
    pub(super) folded: u64,
    pub(super) generation: u64,
    pub(super) state: TaskState,
    pub(super) dialect: Dialect,
    pub(super) checkpoint: Option<Arc<Object>>,
    pub(super) epoch: u64,
    pub(super) messages: usize,
    pub(super) bytes: usize,
    /// At which generation the task was last written down as a whole.
    pub(super) written: u64,
    pub(super) has_configs: bool,
    /// The last events: all that are not folded, and some before.
    pub(super) tail: VecDeque<Logged>,
}

impl Folded {
    /// Notes an event that was written.
    pub(super) fn remember(&mut self, logged: Logged) {
        if self.tail.len() >= TAIL {
            if self.unfolded().count() == self.tail.len() {
                self.fold();
            }
            self.tail.pop_front();
        }
        self.tail.push_back(logged);
    }

    /// Folds what is not folded.
    pub(super) fn fold(&mut self) {
        let folded = self.folded;
        let later = |logged: &&Logged| logged.generation > folded;
        apply(&mut self.base, self.tail.iter().filter(later));
        self.folded = self.tail.back().map_or(folded, |last| last.generation);
    }

    /// Refuses events that give the task more artifacts than it may have.
    pub(super) fn admit_artifacts(&self, events: &[SharedEvent]) -> Result<(), StoreError> {
        let added = self.unfolded().map(|logged| &*logged.event);
        let added = added.chain(events.iter().map(|event| &**event));
        limits::admit_artifacts(&self.base, added)
    }

    fn unfolded(&self) -> impl Iterator<Item = &Logged> + Clone {
        let folded = self.folded;
        let later = move |logged: &&Logged| logged.generation > folded;
        self.tail.iter().filter(later)
    }

    /// As much of it as the writer needs, and nothing that is copied with effort.
    fn draft(&self) -> Self {
        Self {
            base: Arc::clone(&self.base),
            checkpoint: self.checkpoint.clone(),
            tail: self.unfolded().cloned().collect(),
            ..*self
        }
    }

    /// Becomes what the writer has made of a draft of it.
    fn succeed(&mut self, later: Self) {
        let (known, mut tail) = (self.generation, std::mem::take(&mut self.tail));
        let first = later.tail.iter().find(|logged| logged.generation > known);
        if first.is_none_or(|first| first.generation > known + 1) && later.generation > known {
            // Too many at once to have them all.
            tail.clear();
        }
        let added = later.tail;
        *self = Self { tail, ..later };
        for logged in added.into_iter().filter(|logged| logged.generation > known) {
            self.remember(logged);
        }
        if self.unfolded().count() > SHORT {
            self.fold();
        }
        self.shorten();
    }

    /// Folds the events of a large task, and lets go of all but the last of them: they would hold as much again.
    pub(super) fn shorten(&mut self) {
        if self.bytes <= TAIL_BYTES {
            return;
        }
        self.fold();
        let mut bytes = 0;
        let fits = |logged: &&Logged| {
            bytes += limits::size(&logged.event);
            bytes <= TAIL_BYTES
        };
        let kept = self.tail.iter().rev().take_while(fits).count();
        self.tail.drain(..self.tail.len() - kept);
    }

    /// What comes after a generation, if that is known here.
    fn after(&self, generation: u64) -> Option<Tail> {
        if generation == 0 || generation > self.generation {
            return Some(Tail::Unknown);
        }
        let first = self
            .tail
            .front()
            .map_or(self.generation + 1, |first| first.generation);
        let later = self
            .tail
            .iter()
            .filter(|logged| logged.generation > generation);
        (first <= generation + 1).then(|| limits::Batch::of(later.cloned()))
    }
}

impl Shared {
    pub(super) fn new(seen: Seen) -> Self {
        Self {
            seen,
            recent: Mutex::new(Recent {
                tasks: LruCache::unbounded_with_hasher(ahash::RandomState::new()),
                bytes: 0,
            }),
            watched: Mutex::default(),
        }
    }

    /// A task to write to.
    pub(super) fn draft(&self, key: &Key) -> Option<Folded> {
        Some(lock(&self.recent).tasks.peek(key)?.draft())
    }

    /// Puts tasks in as they were committed, and tells who waits for them; yields those that were not used
    /// for long and make room.
    pub(super) fn publish(&self, written: impl Iterator<Item = (Key, Folded)>) -> Vec<Folded> {
        let mut recent = lock(&self.recent);
        let mut longer = Vec::new();
        for (key, later) in written {
            longer.push((key.clone(), later.generation));
            recent.put(key, later);
        }
        let spent = recent.make_room();
        drop(recent);
        let watched = !lock(&self.watched).is_empty();
        for (key, generation) in longer.iter().filter(|_| watched) {
            self.wake(key, *generation);
        }
        spent
    }

    pub(super) fn snapshot(&self, key: &Key) -> Option<Snapshot> {
        let mut recent = lock(&self.recent);
        // Folded when nobody is kept waiting by that.
        let draft = recent.tasks.get(key)?.draft();
        drop(recent);
        Some(draft.into())
    }

    pub(super) fn after(&self, key: &Key, generation: u64) -> Option<Tail> {
        lock(&self.recent).tasks.get(key)?.after(generation)
    }

    pub(super) fn generation(&self, key: &Key) -> Option<u64> {
        Some(lock(&self.recent).tasks.peek(key)?.generation)
    }

    /// Whoever waits for the task, from now on.
    pub(super) fn subscribe(&self, key: &Key) -> watch::Receiver<u64> {
        let mut watched = lock(&self.watched);
        if watched.len() >= 1024 && watched.len().is_power_of_two() {
            watched.retain(|_, sender| sender.receiver_count() > 0);
        }
        let sender = watched.entry(key.clone());
        sender.or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// Tells who waits that the log has so many entries.
    pub(super) fn wake(&self, key: &Key, generation: u64) {
        let mut watched = lock(&self.watched);
        let Some(sender) = watched.get(key) else {
            return;
        };
        if sender.receiver_count() == 0 {
            watched.remove(key);
            return;
        }
        sender.send_if_modified(|known| {
            let newer = generation > *known;
            *known = generation.max(*known);
            newer
        });
    }

    /// Forgets a task that is gone; who waits for it is told.
    pub(super) fn forget(&self, key: &Key) {
        let mut recent = lock(&self.recent);
        if let Some(gone) = recent.tasks.pop(key) {
            recent.bytes -= size(key, &gone);
        }
        drop(recent);
        lock(&self.watched).remove(key);
    }
}

impl Recent {
    fn put(&mut self, key: Key, later: Folded) {
        self.bytes += size(&key, &later);
        match self.tasks.get_mut(&key) {
            Some(known) => {
                self.bytes -= size(&key, known);
                known.succeed(later);
            }
            None => drop(self.tasks.put(key, later)),
        }
    }

    fn make_room(&mut self) -> Vec<Folded> {
        let mut spent = Vec::new();
        while self.bytes > MOST_BYTES || self.tasks.len() > MOST_TASKS {
            let Some((key, oldest)) = self.tasks.pop_lru() else {
                break;
            };
            self.bytes -= size(&key, &oldest);
            spent.push(oldest);
        }
        spent
    }
}

/// Roughly how many bytes a task holds here.
fn size((owner, _): &Key, task: &Folded) -> usize {
    limits::size_of_owner(owner) + task.bytes
}

fn apply<'e>(task: &mut Arc<Task>, events: impl Iterator<Item = &'e Logged>) {
    let mut events = events.peekable();
    if events.peek().is_some() {
        // Each was legal when it came.
        Arc::make_mut(task).fold(events.map(|logged| &*logged.event));
    }
}

/// How many events are kept beside a task, and how many bytes they have if the task is large.
const TAIL: usize = 64;
const TAIL_BYTES: usize = 1 << 20;
/// How many events are folded anew for whoever asks for the task.
pub(super) const SHORT: usize = 16;
/// How many tasks are kept, and how much they hold together.
const MOST_TASKS: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// Nothing that is done under these locks can panic half-way.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
