//! Wake-up of the followers of tasks in this process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_types::TaskId;
use tokio::sync::watch;

use super::{NameMap, Owner, TaskKey};

/// Hub that wakes the followers of tasks in this process. Every store has one, and wakes it when a log has grown here or,
/// if the store can detect that, in another process.
#[derive(Debug, Default)]
pub struct TaskNotifier(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    senders: NameMap<TaskKey, watch::Sender<u64>>,
    /// Number of tasks at which tasks without followers are removed.
    swept_at: usize,
}

impl TaskNotifier {
    /// Wakes the followers of a task whose log has `sequence` stored entries. A number that is not higher than the one
    /// they know wakes no follower.
    pub fn wake(&self, owner: &Owner, task: &TaskId, sequence: u64) {
        let senders = &mut self.lock().senders;
        // Most stores are not followed most of the time.
        if senders.is_empty() {
            return;
        }
        let key = (owner.clone(), task.clone());
        let Some(sender) = senders.get(&key) else {
            return;
        };
        if sender.receiver_count() == 0 {
            senders.remove(&key);
            return;
        }
        sender.send_if_modified(|known| {
            let newer = sequence > *known;
            *known = sequence.max(*known);
            newer
        });
    }

    /// Reports to the followers of a task that it was removed.
    pub fn remove(&self, owner: &Owner, task: &TaskId) {
        let senders = &mut self.lock().senders;
        if !senders.is_empty() {
            senders.remove(&(owner.clone(), task.clone()));
        }
    }

    /// Returns the tasks that are followed, each with the last number of entries that `wake` reported: for a store that
    /// asks elsewhere whether there are more.
    pub fn watched(&self) -> Vec<(Owner, TaskId, u64)> {
        let mut watched = self.lock();
        watched.sweep();
        let all = watched.senders.iter();
        all.map(|((owner, task), sender)| (owner.clone(), task.clone(), *sender.borrow()))
            .collect()
    }

    /// Follows a task from here on; nothing is reported before the next [`wake`](Self::wake).
    pub(super) fn subscribe(&self, owner: &Owner, task: &TaskId) -> watch::Receiver<u64> {
        let mut watched = self.lock();
        if watched.senders.len() >= watched.swept_at {
            watched.sweep();
        }
        let sender = watched.senders.entry((owner.clone(), task.clone()));
        sender.or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// No code under this lock panics half-way, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// Removes the tasks without followers, and does so again when there are twice as many tasks.
    fn sweep(&mut self) {
        self.senders.retain(|_, sender| sender.receiver_count() > 0);
        self.swept_at = MIN_SWEPT.max(2 * self.senders.len());
    }
}

/// Number of tasks below which no task is removed. With 1,024, each removal delayed many short streams, whose p99
/// was 500 µs; with 32 it is 320 µs (`cargo xtask bench stream`).
const MIN_SWEPT: usize = 32;

#[cfg(test)]
mod tests {
    use a2a_transport::Principal;

    use super::*;

    #[test]
    fn followers_are_woken_by_growth_and_by_removal() {
        let (hub, ada) = (
            TaskNotifier::default(),
            Owner::from(Principal::named("ada")),
        );
        let mut one = hub.subscribe(&ada, &"t".into());
        let other = hub.subscribe(&ada, &"u".into());
        hub.wake(&ada, &"t".into(), 3);
        assert_eq!(*one.borrow_and_update(), 3);
        hub.wake(&ada, &"t".into(), 2);
        assert!(!one.has_changed().unwrap());
        assert!(!other.has_changed().unwrap());
        hub.remove(&ada, &"t".into());
        assert!(one.has_changed().is_err());
        assert!(other.has_changed().is_ok());
    }

    #[test]
    fn only_what_is_followed_is_kept() {
        let (hub, ada) = (
            TaskNotifier::default(),
            Owner::from(Principal::named("ada")),
        );
        let task = |number: usize| TaskId::from(number.to_string());
        let kept = hub.subscribe(&ada, &task(0));
        hub.wake(&ada, &task(0), 7);
        for number in 1..3000 {
            drop(hub.subscribe(&ada, &task(number)));
            assert!(hub.lock().senders.len() <= MIN_SWEPT);
        }
        assert_eq!(hub.watched(), [(ada.clone(), task(0), 7)]);
        drop(kept);
        hub.wake(&ada, &task(0), 8);
        assert!(hub.lock().senders.is_empty());
    }

    #[test]
    fn tasks_are_looked_through_only_when_they_have_doubled() {
        let (hub, ada) = (
            TaskNotifier::default(),
            Owner::from(Principal::named("ada")),
        );
        let task = |number: usize| TaskId::from(number.to_string());
        let followers: Vec<_> = (0..127)
            .map(|number| hub.subscribe(&ada, &task(number)))
            .collect();
        let mut sweeps = 0;
        for number in 127..1127 {
            let before = hub.lock().senders.len();
            drop(hub.subscribe(&ada, &task(number)));
            sweeps += usize::from(hub.lock().senders.len() < before);
        }
        assert!((1..=8).contains(&sweeps), "{sweeps}");
        assert_eq!(hub.watched().len(), followers.len());
    }
}
