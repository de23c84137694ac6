//! Tasks in memory, gone when the process is.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_transport::BoxFuture;
use a2a_types::{ConfigId, Dialect, Event, Task, TaskId, TaskPushNotificationConfig};
use tokio::sync::watch;

use super::{Listing, Logged, NewTask, Owner, Page, Place, Snapshot, Store, StoreError};

/// Keeps tasks in memory; those that ended first make room for new ones.
#[derive(Debug)]
pub struct MemoryStore {
    capacity: usize,
    shelf: Mutex<Shelf>,
}

type Key = (Owner, TaskId);

#[derive(Debug, Default)]
struct Shelf {
    tasks: HashMap<Key, Arc<Record>>,
    /// Tasks that ended, in that order; one that was reopened since may be among them.
    ended: VecDeque<Key>,
}

#[derive(Debug)]
struct Record {
    dialect: Dialect,
    log: Mutex<Log>,
    generation: watch::Sender<u64>,
}

#[derive(Debug)]
struct Log {
    task: Task,
    /// Everything after the first entry, which is the new task itself.
    events: Vec<Event>,
    configs: Vec<TaskPushNotificationConfig>,
    /// How many messages the caller has sent.
    messages: usize,
}

impl Log {
    fn generation(&self) -> u64 {
        self.events.len() as u64 + 1
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::with_capacity(10_000)
    }
}

impl MemoryStore {
    /// A store of at most so many tasks.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            capacity,
            shelf: Mutex::default(),
        }
    }

    fn record(&self, owner: &Owner, task: &TaskId) -> Result<Arc<Record>, StoreError> {
        let key = (owner.clone(), task.clone());
        lock(&self.shelf)
            .tasks
            .get(&key)
            .cloned()
            .ok_or(StoreError::NoTask)
    }

    fn insert(&self, owner: &Owner, new: NewTask) -> Result<(), StoreError> {
        let key = (owner.clone(), new.task.id.clone());
        let mut shelf = lock(&self.shelf);
        if shelf.tasks.contains_key(&key) {
            return Err(StoreError::TaskExists);
        }
        if shelf.tasks.len() >= self.capacity {
            shelf.make_room().ok_or(StoreError::Full(self.capacity))?;
        }
        let record = Record {
            dialect: new.dialect,
            log: Mutex::new(Log {
                messages: new.task.history.len(),
                task: new.task,
                events: Vec::new(),
                configs: new.config.into_iter().collect(),
            }),
            generation: watch::Sender::new(1),
        };
        shelf.tasks.insert(key, Arc::new(record));
        Ok(())
    }

    /// Sorts the places first, and copies only the tasks of the page.
    fn page(&self, owner: &Owner, listing: &Listing) -> Page {
        let records: Vec<_> = {
            let shelf = lock(&self.shelf);
            let own = shelf.tasks.iter().filter(|((of, _), _)| of == owner);
            own.map(|(_, record)| Arc::clone(record)).collect()
        };
        let place = |record: &Arc<Record>| {
            let log = lock(&record.log);
            log.is_wanted(listing).then(|| Place::of(&log.task))
        };
        let mut places: Vec<_> = records
            .iter()
            .filter_map(|record| Some((place(record)?, record)))
            .collect();
        places.sort_by(|(one, _), (other, _)| one.cmp(other));
        let total = places.len();
        let begin = listing.after.as_ref().map_or(0, |after| {
            places.partition_point(|(place, _)| place <= after)
        });
        let rest = &places[begin..];
        Page {
            tasks: rest
                .iter()
                .take(listing.limit)
                .map(|(_, record)| lock(&record.log).task.clone())
                .collect(),
            total,
            more: rest.len() > listing.limit,
        }
    }

    fn add(&self, owner: &Owner, task: &TaskId, event: Event) -> Result<u64, StoreError> {
        let record = self.record(owner, task)?;
        let mut log = lock(&record.log);
        let is_message = matches!(event, Event::Message(_));
        if is_message && log.messages >= MOST_MESSAGES {
            return Err(StoreError::TooManyMessages(MOST_MESSAGES));
        }
        log.task.apply(&event)?;
        log.messages += usize::from(is_message);
        let ends = event
            .status()
            .is_some_and(|status| status.state.is_terminal());
        log.events.push(event);
        let generation = log.generation();
        drop(log);
        if ends {
            lock(&self.shelf)
                .ended
                .push_back((owner.clone(), task.clone()));
        }
        // Stored before anyone is woken.
        record.generation.send_if_modified(|known| {
            let newer = generation > *known;
            *known = generation.max(*known);
            newer
        });
        Ok(generation)
    }
}

impl Log {
    fn is_wanted(&self, listing: &Listing) -> bool {
        let task = &self.task;
        let of_context = listing.context_id.is_none() || listing.context_id == task.context_id;
        let in_state = listing
            .status
            .is_none_or(|state| state == task.status.state);
        let late_enough = listing
            .since
            .is_none_or(|since| task.status.timestamp.is_some_and(|time| time >= since));
        of_context && in_state && late_enough
    }
}

impl Shelf {
    /// Forgets the task that ended first; none if all are unfinished.
    fn make_room(&mut self) -> Option<()> {
        while let Some(key) = self.ended.pop_front() {
            let is_ended = |record: &Arc<Record>| lock(&record.log).task.status.state.is_terminal();
            if self.tasks.get(&key).is_some_and(is_ended) {
                self.tasks.remove(&key);
                return Some(());
            }
        }
        None
    }
}

/// How many messages of its caller a task takes: what a caller can send without end has one here.
const MOST_MESSAGES: usize = 1000;

/// How many events a reader gets at once: one that is far behind does not hold them all.
const BATCH: usize = 256;

/// How many webhooks a task may have.
const MOST_CONFIGS: usize = 16;

fn put(
    configs: &mut Vec<TaskPushNotificationConfig>,
    config: TaskPushNotificationConfig,
) -> Result<(), StoreError> {
    let known = configs.iter().position(|known| known.id == config.id);
    match known {
        Some(index) => configs[index] = config,
        None if configs.len() >= MOST_CONFIGS => {
            return Err(StoreError::TooManyConfigs(MOST_CONFIGS));
        }
        None => configs.push(config),
    }
    Ok(())
}

/// Nothing that is done under these locks can panic half-way.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn done<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl Store for MemoryStore {
    fn create<'a>(
        &'a self,
        owner: &'a Owner,
        new: NewTask,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        done(self.insert(owner, new))
    }

    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        event: Event,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        done(self.add(owner, task, event))
    }

    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, StoreError>> {
        let snapshot = self.record(owner, task).ok().map(|record| {
            let log = lock(&record.log);
            Snapshot {
                task: log.task.clone(),
                generation: log.generation(),
                dialect: record.dialect,
            }
        });
        done(Ok(snapshot))
    }

    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        generation: u64,
    ) -> BoxFuture<'a, Result<Vec<Logged>, StoreError>> {
        done(self.record(owner, task).map(|record| {
            let log = lock(&record.log);
            let seen = usize::try_from(generation.saturating_sub(1)).unwrap_or(usize::MAX);
            let later = log.events.iter().enumerate().skip(seen).take(BATCH);
            later
                .map(|(index, event)| Logged {
                    generation: index as u64 + 2,
                    event: event.clone(),
                })
                .collect()
        }))
    }

    fn watch<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<watch::Receiver<u64>, StoreError>> {
        done(
            self.record(owner, task)
                .map(|record| record.generation.subscribe()),
        )
    }

    fn list<'a>(
        &'a self,
        owner: &'a Owner,
        listing: Listing,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        done(Ok(self.page(owner, &listing)))
    }

    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let record = self.record(owner, &config.task_id);
        done(record.and_then(|record| put(&mut lock(&record.log).configs, config)))
    }

    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<Vec<TaskPushNotificationConfig>, StoreError>> {
        done(
            self.record(owner, task)
                .map(|record| lock(&record.log).configs.clone()),
        )
    }

    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let record = self.record(owner, task);
        done(record.map(|record| {
            lock(&record.log)
                .configs
                .retain(|known| known.id != *config)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a_transport::Principal;
    use a2a_types::{TaskState, TaskStatusUpdateEvent};

    fn new(id: &str) -> NewTask {
        NewTask {
            task: Task::submitted(id.into(), "c".into()),
            dialect: Dialect::V1_0,
            config: None,
        }
    }

    fn status(id: &str, state: TaskState) -> Event {
        Event::StatusUpdate(TaskStatusUpdateEvent {
            task_id: id.into(),
            context_id: None,
            status: state.into(),
            metadata: None,
        })
    }

    #[test]
    fn the_log_counts_and_remembers() {
        let (store, owner) = (MemoryStore::default(), Owner::from(Principal::anonymous()));
        store.insert(&owner, new("t")).unwrap();
        assert!(matches!(
            store.insert(&owner, new("t")),
            Err(StoreError::TaskExists)
        ));
        assert_eq!(
            store
                .add(&owner, &"t".into(), status("t", TaskState::Working))
                .unwrap(),
            2
        );
        let refused = store.add(&owner, &"t".into(), status("t", TaskState::Submitted));
        assert!(matches!(refused, Err(StoreError::Illegal(_))));
        assert_eq!(
            store
                .add(&owner, &"t".into(), status("t", TaskState::Completed))
                .unwrap(),
            3
        );
    }

    #[test]
    fn another_owners_task_is_not_there() {
        let (store, alice, bob) = (
            MemoryStore::default(),
            Owner::from(Principal::named("alice")),
            Owner::from(Principal::named("bob")),
        );
        store.insert(&alice, new("t")).unwrap();
        assert!(matches!(
            store.record(&bob, &"t".into()),
            Err(StoreError::NoTask)
        ));
        store.insert(&bob, new("t")).unwrap();
        store
            .add(&bob, &"t".into(), status("t", TaskState::Working))
            .unwrap();
        let log = store.record(&alice, &"t".into()).unwrap();
        assert_eq!(lock(&log.log).generation(), 1);
    }

    #[test]
    fn finished_tasks_make_room_and_unfinished_ones_do_not() {
        let (store, owner) = (
            MemoryStore::with_capacity(2),
            Owner::from(Principal::anonymous()),
        );
        store.insert(&owner, new("a")).unwrap();
        store.insert(&owner, new("b")).unwrap();
        assert!(matches!(
            store.insert(&owner, new("c")),
            Err(StoreError::Full(2))
        ));
        store
            .add(&owner, &"b".into(), status("b", TaskState::Completed))
            .unwrap();
        store.insert(&owner, new("c")).unwrap();
        assert!(store.record(&owner, &"a".into()).is_ok());
        assert!(store.record(&owner, &"b".into()).is_err());
    }
}
