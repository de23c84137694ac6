//! Fan-out: events of a task, read and encoded once for all its followers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use a2a_types::TaskId;
use tokio::sync::watch;
use uuid::Uuid;

use crate::store::limits::size_of_event;
use crate::store::{LogEntry, NameMap, Owner, TaskKey};

/// The fan-outs of all tasks that are followed.
#[derive(Default)]
pub(crate) struct Fanouts {
    tasks: Mutex<NameMap<TaskKey, Weak<Fanout>>>,
    /// Bytes that all of them keep.
    bytes: AtomicUsize,
}

/// The followers of a task, and the last events that one of them has read.
///
/// Events are read from the store and put into JSON once for all followers that keep up. A follower that
/// falls behind, or comes later, reads for itself until it has caught up.
pub(crate) struct Fanout {
    pub(crate) owner: Owner,
    pub(crate) task: TaskId,
    /// Has the same sender as the watches of all followers here: a task that was removed and begun again
    /// under its id has another.
    changes: watch::Receiver<u64>,
    recent: Mutex<Recent>,
    /// Correlation id of the failure that ends the streams of all followers here.
    failure: watch::Sender<Option<Uuid>>,
    all: Arc<Fanouts>,
}

/// The last events that were read, without gaps.
#[derive(Default)]
struct Recent {
    /// Each event with its size in bytes.
    events: VecDeque<(LogEntry, usize)>,
    bytes: usize,
}

impl Fanouts {
    /// Joins the followers of a task; dropping the returned value leaves them.
    pub(crate) fn join(
        self: &Arc<Self>,
        owner: Owner,
        task: TaskId,
        changes: &watch::Receiver<u64>,
    ) -> Arc<Fanout> {
        let key = (owner.clone(), task.clone());
        let mut all = lock(&self.tasks);
        let present = match all.get(&key).and_then(Weak::upgrade) {
            Some(present) if present.changes.same_channel(changes) => return present,
            other => other,
        };
        let fanout = Arc::new(Fanout {
            owner,
            task,
            changes: changes.clone(),
            recent: Mutex::default(),
            failure: watch::Sender::new(None),
            all: Arc::clone(self),
        });
        all.insert(key, Arc::downgrade(&fanout));
        drop(all);
        // This may be the last reference, and its drop needs the lock.
        drop(present);
        fanout
    }

    /// Ends the streams of a task's followers; followers that join later are not affected.
    pub(crate) fn fail(&self, owner: &Owner, task: &TaskId, failure: Uuid) {
        let gone = lock(&self.tasks).remove(&(owner.clone(), task.clone()));
        if let Some(fanout) = gone.and_then(|gone| gone.upgrade()) {
            fanout.failure.send_replace(Some(failure));
        }
    }
}

impl Drop for Fanout {
    fn drop(&mut self) {
        let kept = lock(&self.recent).bytes;
        self.all.bytes.fetch_sub(kept, Ordering::Relaxed);
        let key = (self.owner.clone(), self.task.clone());
        let mut all = lock(&self.all.tasks);
        // Another one may have taken the place.
        if all.get(&key).is_some_and(|known| known.strong_count() == 0) {
            all.remove(&key);
        }
    }
}

impl Fanout {
    /// Waits until the streams of all followers here are to end; returns the correlation id of the failure.
    pub(crate) async fn failed(&self) -> Uuid {
        let mut failure = self.failure.subscribe();
        loop {
            if let Some(id) = *failure.borrow_and_update() {
                return id;
            }
            // The sender is ours.
            drop(failure.changed().await);
        }
    }

    /// Returns the events after a sequence number, as far as other followers have read them.
    pub(crate) fn after(&self, sequence: u64) -> VecDeque<LogEntry> {
        let recent = lock(&self.recent);
        let Some(place) = recent.place(sequence + 1) else {
            return VecDeque::new();
        };
        let later = recent.events.iter().skip(place);
        later.map(|(logged, _)| logged.clone()).collect()
    }

    /// Shares what was read with the other followers, and returns it as they get it.
    pub(crate) fn publish(self: &Arc<Self>, read: Vec<LogEntry>) -> VecDeque<LogEntry> {
        let mut recent = lock(&self.recent);
        let before = recent.bytes;
        let all = self.all.bytes.load(Ordering::Relaxed);
        // A lone follower has no other follower to share with.
        let read: VecDeque<_> = match Arc::strong_count(self) == 1 || all > MAX_ALL_BYTES {
            true => {
                *recent = Recent::default();
                read.into()
            }
            false => read.into_iter().map(|logged| recent.put(logged)).collect(),
        };
        self.all.bytes.fetch_add(recent.bytes, Ordering::Relaxed);
        self.all.bytes.fetch_sub(before, Ordering::Relaxed);
        read
    }
}

impl Recent {
    /// Returns the index of the event with a sequence number, or `None` if it is not kept.
    fn place(&self, sequence: u64) -> Option<usize> {
        let first = self.events.front()?.0.sequence;
        let place = usize::try_from(sequence.checked_sub(first)?).ok()?;
        (place < self.events.len()).then_some(place)
    }

    /// Adds the next event, and returns it as all followers get it.
    fn put(&mut self, logged: LogEntry) -> LogEntry {
        let place = self.place(logged.sequence);
        if let Some((known, _)) = place.and_then(|place| self.events.get(place)) {
            return known.clone();
        }
        let last = self.events.back().map(|(last, _)| last.sequence);
        if last.is_some_and(|last| last > logged.sequence) {
            // The event is older than all that are kept.
            return logged;
        }
        if last.is_some_and(|last| last + 1 != logged.sequence) {
            *self = Self::default();
        }
        let logged = LogEntry {
            event: logged.event.written_once(),
            ..logged
        };
        // The JSON of the event takes about as much again.
        let bytes = 2 * size_of_event(&logged.event);
        self.bytes += bytes;
        self.events.push_back((logged.clone(), bytes));
        while self.events.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            let Some((_, bytes)) = self.events.pop_front() else {
                break;
            };
            self.bytes -= bytes;
        }
        logged
    }
}

/// Maximum number of events kept for the followers of a task, and of the bytes of the events and their JSON: twice
/// what a reader gets at once.
const MAX_EVENTS: usize = 64;
const MAX_BYTES: usize = 256 << 10;
/// Bytes of all tasks beyond which no events are shared.
const MAX_ALL_BYTES: usize = 64 << 20;

/// No code under these locks panics half-way, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use a2a_types::{Event, Message};

    use super::*;

    fn read(sequences: std::ops::RangeInclusive<u64>) -> Vec<LogEntry> {
        let logged = |sequence: u64| {
            LogEntry::new(
                sequence,
                Event::Message(Message::agent(sequence.to_string())),
            )
        };
        sequences.map(logged).collect()
    }

    fn sequences(events: &VecDeque<LogEntry>) -> Vec<u64> {
        events.iter().map(|logged| logged.sequence).collect()
    }

    fn join(all: &Arc<Fanouts>, changes: &watch::Receiver<u64>) -> Arc<Fanout> {
        let ada = Owner::from(a2a_transport::Principal::named("ada"));
        all.join(ada, "t".into(), changes)
    }

    #[test]
    fn events_read_by_one_follower_are_shared_with_its_task_only() {
        let (all, (_sender, changes)) = (Arc::default(), watch::channel(1));
        let one = join(&all, &changes);
        assert_eq!(sequences(&one.publish(read(2..=3))), [2, 3]);
        assert!(one.after(1).is_empty(), "kept without another follower");

        let other = join(&all, &changes);
        assert_eq!(sequences(&one.publish(read(4..=6))), [4, 5, 6]);
        assert_eq!(sequences(&other.after(3)), [4, 5, 6]);
        assert_eq!(sequences(&other.after(5)), [6]);
        assert!(other.after(6).is_empty() && other.after(2).is_empty());
        // Two followers have read the same events concurrently: the first copy is shared.
        let again = other.publish(read(5..=7));
        assert_eq!(sequences(&again), [5, 6, 7]);
        assert_eq!(sequences(&one.after(3)), [4, 5, 6, 7]);
        // A follower that is behind reads for itself.
        assert_eq!(sequences(&one.publish(read(2..=3))), [2, 3]);
        assert_eq!(sequences(&one.after(3)), [4, 5, 6, 7]);
        // No event is left out.
        one.publish(read(9..=9));
        assert!(one.after(6).is_empty());
        assert_eq!(sequences(&one.after(8)), [9]);

        assert!(all.bytes.load(Ordering::Relaxed) > 0);
        drop((one, other));
        assert!(lock(&all.tasks).is_empty());
        assert_eq!(all.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn nothing_is_shared_while_all_tasks_keep_too_much() {
        let (all, (_sender, changes)) = (Arc::default(), watch::channel(1));
        let (one, other) = (join(&all, &changes), join(&all, &changes));
        one.publish(read(2..=3));
        all.bytes.fetch_add(MAX_ALL_BYTES, Ordering::Relaxed);
        assert_eq!(sequences(&one.publish(read(4..=5))), [4, 5]);
        assert!(other.after(1).is_empty() && other.after(3).is_empty());
        assert_eq!(all.bytes.load(Ordering::Relaxed), MAX_ALL_BYTES);
        all.bytes.fetch_sub(MAX_ALL_BYTES, Ordering::Relaxed);
        one.publish(read(6..=7));
        assert_eq!(sequences(&other.after(5)), [6, 7]);
    }

    #[test]
    fn shared_events_are_bounded_in_number_and_bytes() {
        let (all, (_sender, changes)) = (Arc::default(), watch::channel(1));
        let (one, other) = (join(&all, &changes), join(&all, &changes));
        one.publish(read(2..=1000));
        assert!(other.after(1000 - MAX_EVENTS as u64 - 1).is_empty());
        assert_eq!(other.after(1000 - MAX_EVENTS as u64).len(), MAX_EVENTS);
        let large = LogEntry::new(1001, Event::Message(Message::agent("x".repeat(MAX_BYTES))));
        one.publish(vec![large]);
        assert!(other.after(1000).is_empty());
        one.publish(read(1002..=1002));
        assert_eq!(sequences(&other.after(1001)), [1002]);
    }

    #[test]
    fn a_task_that_begins_again_has_another_audience() {
        let (all, (_sender, changes)) = (Arc::default(), watch::channel(1));
        let (one, two) = (join(&all, &changes), join(&all, &changes));
        one.publish(read(2..=3));
        let (_sender, begun_again) = watch::channel(1);
        let other = join(&all, &begun_again);
        assert!(other.after(1).is_empty());
        drop((one, two));
        assert_eq!(lock(&all.tasks).len(), 1);
        assert!(Arc::ptr_eq(&other, &join(&all, &begun_again)));
    }
}
