//! Tasks in memory, gone when the process is.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use a2a_transport::BoxFuture;
use a2a_types::{
    ConfigId, Dialect, Event, MessageId, Object, Task, TaskId, TaskPushNotificationConfig,
};
use tokio::sync::watch;

use super::{
    Append, Appended, Lease, Listing, Logged, NewTask, Orphan, Owner, Page, Place, Receipt,
    Retention, Snapshot, Store, StoreError, Tail, limits,
};

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
    ended: VecDeque<(Key, Instant)>,
    received: Received,
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
    events: Vec<Arc<Event>>,
    configs: Vec<TaskPushNotificationConfig>,
    checkpoint: Option<Object>,
    tenure: Tenure,
    /// How many messages the caller has sent.
    messages: usize,
    /// How much the events hold.
    bytes: usize,
}

/// Who writes to a log.
#[derive(Clone, Debug)]
struct Tenure {
    holder: Arc<str>,
    epoch: u64,
    /// Until when; none if nobody does.
    until: Option<Instant>,
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
        let record = lock(&self.shelf).tasks.get(&key).cloned();
        record.ok_or(StoreError::NoTask)
    }

    fn insert(&self, owner: &Owner, new: NewTask) -> Result<(), StoreError> {
        let key = (owner.clone(), new.task.id.clone());
        let mut shelf = lock(&self.shelf);
        if let Some(receipt) = &new.receipt {
            shelf.received.check(owner, receipt)?;
        }
        if shelf.tasks.contains_key(&key) {
            return Err(StoreError::TaskExists);
        }
        if shelf.tasks.len() >= self.capacity {
            shelf.make_room().ok_or(StoreError::Full(self.capacity))?;
        }
        if let Some(receipt) = new.receipt {
            shelf.received.note(owner, receipt, &new.task.id);
        }
        let record = Record {
            dialect: new.dialect,
            log: Mutex::new(Log {
                messages: new.task.history.len(),
                task: new.task,
                events: Vec::new(),
                configs: new.config.into_iter().collect(),
                checkpoint: None,
                tenure: Tenure::taken(new.holder, 1, new.term),
                bytes: 0,
            }),
            generation: watch::Sender::new(1),
        };
        shelf.tasks.insert(key, Arc::new(record));
        Ok(())
    }

    fn add(&self, owner: &Owner, task: &TaskId, append: Append) -> Result<Appended, StoreError> {
        let record = self.record(owner, task)?;
        if let Some(receipt) = &append.receipt {
            lock(&self.shelf).received.check(owner, receipt)?;
        }
        let receipt = append.receipt.clone();
        let mut log = lock(&record.log);
        let (appended, ends) = log.add(append)?;
        drop(log);
        let mut shelf = lock(&self.shelf);
        if let Some(receipt) = receipt {
            shelf.received.note(owner, receipt, task);
        }
        if ends {
            let key = (owner.clone(), task.clone());
            shelf.ended.push_back((key, Instant::now()));
        }
        drop(shelf);
        // Stored before anyone is woken.
        record.generation.send_if_modified(|known| {
            let newer = appended.generation > *known;
            *known = appended.generation.max(*known);
            newer
        });
        Ok(appended)
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
            listing.wants(&log.task).then(|| Place::of(&log.task))
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

    fn abandoned(&self, limit: usize) -> Vec<Orphan> {
        let shelf = lock(&self.shelf);
        let now = Instant::now();
        let orphaned = |record: &Record| {
            let log = lock(&record.log);
            let state = log.task.status.state;
            !state.is_terminal() && !state.is_interrupted() && !log.tenure.lasts(now)
        };
        let orphans = shelf.tasks.iter().filter(|(_, record)| orphaned(record));
        let orphans = orphans.map(|((owner, task), _)| Orphan {
            owner: owner.clone(),
            task: task.clone(),
        });
        orphans.take(limit).collect()
    }

    fn prolong(&self, holder: &str, term: Duration) {
        let records: Vec<_> = lock(&self.shelf).tasks.values().cloned().collect();
        let now = Instant::now();
        for record in records {
            let tenure = &mut lock(&record.log).tenure;
            if &*tenure.holder == holder && tenure.lasts(now) {
                tenure.until = Some(now + term);
            }
        }
    }
}

impl Log {
    fn generation(&self) -> u64 {
        self.events.len() as u64 + 1
    }

    /// All of it or nothing; tells whether the task has ended by it.
    fn add(&mut self, append: Append) -> Result<(Appended, bool), StoreError> {
        if append.after != self.generation() {
            return Err(StoreError::Behind(self.generation()));
        }
        let tenure = self.tenure.next(&append.lease)?;
        let heard = |event: &&Event| matches!(event, Event::Message(_));
        let messages = self.messages + append.events.iter().filter(heard).count();
        if messages > limits::MESSAGES && messages > self.messages {
            return Err(StoreError::TooManyMessages(limits::MESSAGES));
        }
        let bytes = self.bytes + append.events.iter().map(limits::size).sum::<usize>();
        let is_last = |event: &Event| {
            event
                .status()
                .is_some_and(|status| status.state.is_terminal())
        };
        let ends = append.events.iter().any(is_last);
        // A task can always end.
        if bytes > limits::LOG && !ends {
            return Err(StoreError::TooLong(limits::LOG));
        }
        match append.events.as_slice() {
            [] => {}
            [event] => self.task.apply(event)?,
            events => {
                let mut task = self.task.clone();
                events.iter().try_for_each(|event| task.apply(event))?;
                self.task = task;
            }
        }
        (self.messages, self.bytes, self.tenure) = (messages, bytes, tenure);
        if append.release {
            self.tenure.until = None;
        }
        if append.checkpoint.is_some() {
            self.checkpoint = append.checkpoint;
        }
        self.events.extend(append.events.into_iter().map(Arc::new));
        let appended = Appended {
            generation: self.generation(),
            epoch: self.tenure.epoch,
        };
        Ok((appended, ends))
    }

    fn after(&self, generation: u64) -> Tail {
        let Some(seen) = generation
            .checked_sub(1)
            .filter(|_| generation <= self.generation())
        else {
            return Tail::Unknown;
        };
        let seen = usize::try_from(seen).unwrap_or(usize::MAX);
        let mut bytes = 0;
        let later = self.events.iter().enumerate().skip(seen);
        let batch = later.take(limits::BATCH).take_while(|(_, event)| {
            let first = bytes == 0;
            bytes += limits::size(event.as_ref());
            first || bytes <= limits::BATCH_BYTES
        });
        let logged = batch.map(|(index, event)| Logged {
            generation: index as u64 + 2,
            event: Arc::clone(event),
        });
        Tail::Events(logged.collect())
    }
}

impl Tenure {
    fn taken(holder: Arc<str>, epoch: u64, term: Duration) -> Self {
        Self {
            holder,
            epoch,
            until: Some(Instant::now() + term),
        }
    }

    fn lasts(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until > now)
    }

    fn next(&self, lease: &Lease) -> Result<Self, StoreError> {
        match lease {
            Lease::Held { epoch } if *epoch == self.epoch => Ok(self.clone()),
            Lease::Held { .. } => Err(StoreError::Fenced),
            Lease::Taken { holder, .. }
                if self.lasts(Instant::now()) && **holder != *self.holder =>
            {
                Err(StoreError::Leased)
            }
            Lease::Taken { holder, term } | Lease::Seized { holder, term } => {
                Ok(Self::taken(Arc::clone(holder), self.epoch + 1, *term))
            }
        }
    }
}

impl Shelf {
    /// Forgets the task that ended first; none if all are unfinished.
    fn make_room(&mut self) -> Option<()> {
        while let Some((key, _)) = self.ended.pop_front() {
            if self.forget(&key) {
                return Some(());
            }
        }
        None
    }

    /// Forgets a task if it has ended.
    fn forget(&mut self, key: &Key) -> bool {
        let is_ended = |record: &Arc<Record>| lock(&record.log).task.status.state.is_terminal();
        self.tasks.get(key).is_some_and(is_ended) && self.tasks.remove(key).is_some()
    }

    fn sweep(&mut self, retention: Retention) -> usize {
        let mut swept = 0;
        while let Some((_, since)) = self.ended.front()
            && (since.elapsed() > retention.age || self.ended.len() > retention.count)
            && let Some((key, _)) = self.ended.pop_front()
        {
            swept += usize::from(self.forget(&key));
        }
        self.received.sweep();
        swept
    }
}

/// The messages that were received not long ago, the oldest of which make room for new ones.
#[derive(Debug, Default)]
struct Received {
    by_message: HashMap<(Owner, MessageId), ([u8; 32], TaskId, Instant)>,
    order: VecDeque<(Owner, MessageId)>,
}

impl Received {
    fn check(&self, owner: &Owner, receipt: &Receipt) -> Result<(), StoreError> {
        match self
            .by_message
            .get(&(owner.clone(), receipt.message.clone()))
        {
            Some((digest, task, until)) if *until > Instant::now() => Err(StoreError::Received {
                task: task.clone(),
                same: *digest == receipt.digest,
            }),
            _ => Ok(()),
        }
    }

    fn note(&mut self, owner: &Owner, receipt: Receipt, task: &TaskId) {
        if self.order.len() >= limits::RECEIPTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_message.remove(&oldest);
        }
        let key = (owner.clone(), receipt.message);
        let until = Instant::now() + receipt.term;
        let entry = (receipt.digest, task.clone(), until);
        if self.by_message.insert(key.clone(), entry).is_none() {
            self.order.push_back(key);
        }
    }

    fn sweep(&mut self) {
        let now = Instant::now();
        self.by_message.retain(|_, (.., until)| *until > now);
        self.order.retain(|key| self.by_message.contains_key(key));
    }
}

fn put(
    configs: &mut Vec<TaskPushNotificationConfig>,
    config: TaskPushNotificationConfig,
) -> Result<(), StoreError> {
    let known = configs.iter().position(|known| known.id == config.id);
    match known {
        Some(index) => configs[index] = config,
        None if configs.len() >= limits::CONFIGS => {
            return Err(StoreError::TooManyConfigs(limits::CONFIGS));
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
        append: Append,
    ) -> BoxFuture<'a, Result<Appended, StoreError>> {
        done(self.add(owner, task, append))
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
                checkpoint: log.checkpoint.clone(),
            }
        });
        done(Ok(snapshot))
    }

    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        generation: u64,
    ) -> BoxFuture<'a, Result<Tail, StoreError>> {
        let record = self.record(owner, task);
        done(record.map(|record| lock(&record.log).after(generation)))
    }

    fn watch<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<watch::Receiver<u64>, StoreError>> {
        let record = self.record(owner, task);
        done(record.map(|record| record.generation.subscribe()))
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
        let record = self.record(owner, task);
        done(record.map(|record| lock(&record.log).configs.clone()))
    }

    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let record = self.record(owner, task);
        done(record.map(|record| {
            let configs = &mut lock(&record.log).configs;
            configs.retain(|known| known.id != *config);
        }))
    }

    fn renew<'a>(
        &'a self,
        holder: &'a str,
        term: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        done(Ok(self.prolong(holder, term)))
    }

    fn orphans(&self, limit: usize) -> BoxFuture<'_, Result<Vec<Orphan>, StoreError>> {
        done(Ok(self.abandoned(limit)))
    }

    fn sweep(&self, retention: Retention) -> BoxFuture<'_, Result<usize, StoreError>> {
        done(Ok(lock(&self.shelf).sweep(retention)))
    }
}
