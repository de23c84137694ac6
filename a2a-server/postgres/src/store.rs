//! The PostgreSQL store: its parts, and the traits that it implements.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use a2a_server::{
    Append, Appended, BoxFuture, Listing, Mail, NewTask, Notification, Orphan, Owner, Page,
    Receipt, Received, Retention, Settlement, SharedStore, Snapshot, Store, StoreError, Tail,
    TaskBudget, WakeHub,
};
use a2a_types::{ConfigId, Dialect, Message, MessageId, TaskId, TaskPushNotificationConfig};
use futures_util::{StreamExt, stream};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use uuid::Uuid;

use crate::connections::Connections;
use crate::doubts::Doubts;
use crate::hints::{Hints, LOOK_EVERY, LOOK_EVERY_UNHEARD};
use crate::names::{Key, message_key, task_key};
use crate::reads::{self, Loaded};
use crate::recent::{Folded, Recent};
use crate::unfinished::Unfinished;
use crate::{PostgresError, PostgresOptions, schema};

/// Store of tasks in PostgreSQL, 15 or later, for any number of servers.
///
/// Each write is one statement, and is on the disk of the database when its method returns. Clones share one store; other
/// servers open stores of their own with the same options. Their appends wake followers here within milliseconds, and at
/// the latest after half a second.
///
/// While the database cannot be reached, every method fails with [`StoreError::Unavailable`] within a few seconds.
#[derive(Clone)]
pub struct PostgresStore(Arc<Running>);

/// The store and its background tasks, which end with it.
struct Running {
    inner: Arc<Inner>,
    tasks: Vec<AbortHandle>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

/// The parts of the store.
pub(crate) struct Inner {
    pub(crate) connections: Connections,
    pub(crate) recent: Recent,
    pub(crate) doubts: Doubts,
    pub(crate) hints: Hints,
    pub(crate) wake_hub: WakeHub,
    /// Memory budget of large tasks that callers hold.
    loaded: TaskBudget,
    /// Maximum number of receipts.
    pub(crate) receipts: u64,
    /// Time of the last count of receipts.
    pub(crate) trimmed: Mutex<Option<Instant>>,
    pub(crate) reservations: Reservations,
    pub(crate) unfinished: Unfinished,
    /// No more mail is posted because too much of it waits.
    pub(crate) mail_is_full: AtomicBool,
    #[cfg(feature = "faults")]
    fault: Option<crate::Fault>,
}

/// The reservations of this process that are neither released nor known to have ended, by number: no others are
/// renewed. There are as many as messages in flight, and as end until the next renewal.
#[derive(Default)]
pub(crate) struct Reservations(Mutex<HashMap<u64, Box<str>>>);

impl Reservations {
    pub(crate) fn of(&self, holder: &str) -> Vec<i64> {
        let held = self.lock();
        let own = held.iter().filter(|(_, of)| &***of == holder);
        own.map(|(number, _)| *number as i64).collect()
    }

    /// Locks a mutex. No code that holds it panics half-way, so a poisoned one is still consistent.
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<u64, Box<str>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PostgresStore {
    /// Connects to the database at a URL, creates or migrates the tables, and starts to listen for other servers' events.
    ///
    /// Errors: the database cannot be reached, or this release cannot work with its tables.
    pub async fn connect(url: &str) -> Result<Self, PostgresError> {
        Self::open(PostgresOptions::new(url)?).await
    }

    /// Connects to a database with these options.
    ///
    /// Errors: the database cannot be reached, or this release cannot work with its tables.
    pub async fn open(options: PostgresOptions) -> Result<Self, PostgresError> {
        let connections = Connections::new(&options)?;
        if options.migrate {
            schema::migrate_on(&connections, &options).await?;
        }
        schema::check(&connections, &options).await?;
        let inner = Arc::new(Inner {
            connections,
            recent: Recent::new(options.cache_bytes),
            doubts: Doubts::default(),
            hints: Hints::new(&options.schema, options.listens()),
            wake_hub: WakeHub::default(),
            loaded: TaskBudget::default(),
            receipts: options.receipts,
            trimmed: Mutex::default(),
            reservations: Reservations::default(),
            unfinished: Unfinished::new(options.unfinished),
            mail_is_full: AtomicBool::default(),
            #[cfg(feature = "faults")]
            fault: options.fault,
        });
        let mut tasks = Vec::new();
        let every = match options.listens() {
            true => {
                tasks.push(tokio::spawn(Arc::clone(&inner).send_hints()).abort_handle());
                tasks.push(tokio::spawn(Arc::clone(&inner).listen()).abort_handle());
                LOOK_EVERY
            }
            false => LOOK_EVERY_UNHEARD,
        };
        tasks.push(tokio::spawn(Arc::clone(&inner).look_often(every)).abort_handle());
        Ok(Self(Arc::new(Running { inner, tasks })))
    }

    fn inner(&self) -> &Inner {
        &self.0.inner
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl Inner {
    /// Wakes the followers in this process, and queues a hint for other servers, after a log has grown.
    pub(crate) fn announce(&self, (owner, task): &Key, id: Uuid, sequence: u64) {
        self.wake_hub.wake(owner, task, sequence);
        if !self.is_deaf() {
            self.hints.add(id, sequence);
        }
    }

    /// Returns the key of a message.
    pub(crate) fn message_key(&self, owner: &Owner, message: &MessageId) -> Uuid {
        #[cfg(feature = "faults")]
        if self.fault == Some(crate::Fault::MixesOwners) {
            return message_key(&Owner::from(a2a_server::Principal::anonymous()), message);
        }
        message_key(owner, message)
    }

    /// Returns a receipt with the key of its message.
    pub(crate) fn keyed<'r>(
        &self,
        owner: &Owner,
        receipt: Option<&'r Receipt>,
    ) -> Option<(Uuid, &'r Receipt)> {
        receipt.map(|receipt| (self.message_key(owner, &receipt.message), receipt))
    }

    /// Drops a removed task from the cache, and ends the watches of its followers.
    pub(crate) fn forget(&self, owner: &Owner, task: &TaskId) {
        self.recent.forget(&(owner.clone(), task.clone()));
        self.wake_hub.remove(owner, task);
    }

    /// Reads a task: from the database only the part that the cache does not have.
    pub(crate) async fn load(
        &self,
        key: &Key,
        id: Uuid,
        limit: usize,
    ) -> Result<Option<Folded>, StoreError> {
        match self.load_bounded(key, id, limit).await? {
            Some(Loaded::Whole(folded)) => Ok(Some(folded)),
            Some(Loaded::Larger(_)) | None => Ok(None),
        }
    }

    async fn load_bounded(
        &self,
        key: &Key,
        id: Uuid,
        limit: usize,
    ) -> Result<Option<Loaded>, StoreError> {
        let known = self.recent.draft(key);
        let cached = known.as_ref().map_or(0, |known| known.sequence);
        let loaded = reads::load(&self.connections, id, known, limit).await?;
        match &loaded {
            Some(Loaded::Whole(folded)) => {
                if folded.sequence < cached {
                    // The end of the log is lost.
                    self.recent.forget(key);
                }
                self.recent.keep(key, folded);
            }
            Some(Loaded::Larger(_)) => {}
            None => self.recent.forget(key),
        }
        Ok(loaded)
    }

    async fn snapshot(&self, owner: &Owner, task: &TaskId) -> Result<Option<Snapshot>, StoreError> {
        let (key, id) = ((owner.clone(), task.clone()), task_key(owner, task));
        let large = match self.load_bounded(&key, id, TaskBudget::SMALL).await? {
            None => return Ok(None),
            Some(Loaded::Whole(folded)) => return Ok(Some(folded.into())),
            Some(Loaded::Larger(bytes)) => bytes,
        };
        let share = self.loaded.take(large).await?;
        let folded = self.load(&key, id, usize::MAX).await?;
        Ok(folded.map(|folded| {
            let mut snapshot = Snapshot::from(folded);
            snapshot.share = share;
            snapshot
        }))
    }

    async fn list(&self, owner: &Owner, listing: &Listing) -> Result<Page, StoreError> {
        let ids = reads::page(&self.connections, owner, listing).await?;
        let share = self.loaded.take(ids.bytes).await?;
        let load = |id| reads::load(&self.connections, id, None, usize::MAX);
        let loads = ids.keys.iter().copied().map(load);
        let mut loads = stream::iter(loads).buffered(LOADED_AT_ONCE);
        let mut tasks = Vec::new();
        while let Some(loaded) = loads.next().await {
            if let Some(Loaded::Whole(folded)) = loaded? {
                tasks.push(folded);
            }
        }
        let mut page = reads::to_page(&ids, tasks);
        page.share = share;
        Ok(page)
    }

    async fn events_after(
        &self,
        owner: &Owner,
        task: &TaskId,
        sequence: u64,
    ) -> Result<Tail, StoreError> {
        let key = (owner.clone(), task.clone());
        if let Some(tail) = self.recent.after(&key, sequence) {
            return Ok(tail);
        }
        reads::after(&self.connections, task_key(owner, task), sequence).await
    }

    async fn head(&self, owner: &Owner, task: &TaskId) -> Result<u64, StoreError> {
        let id = task_key(owner, task);
        self.hints.follow(id, owner, task);
        let (head, server) = reads::head(&self.connections, id).await?;
        self.recent.note_server(server);
        Ok(head)
    }

    /// Returns whether the store has the fault that it neither sends nor receives hints.
    pub(crate) fn is_deaf(&self) -> bool {
        #[cfg(feature = "faults")]
        return self.fault == Some(crate::Fault::LosesHints);
        #[cfg(not(feature = "faults"))]
        false
    }
}

/// Number of tasks of a page that are read concurrently.
const LOADED_AT_ONCE: usize = 8;

impl Store for PostgresStore {
    fn create<'a>(
        &'a self,
        owner: &'a Owner,
        new: NewTask,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let key = (owner.clone(), new.task.id.clone());
        Box::pin(async move { self.inner().create(&key, new).await })
    }

    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        append: Append,
    ) -> BoxFuture<'a, Result<Appended, StoreError>> {
        let key = (owner.clone(), task.clone());
        Box::pin(async move { self.inner().append(&key, append).await })
    }

    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, StoreError>> {
        Box::pin(self.inner().snapshot(owner, task))
    }

    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        sequence: u64,
    ) -> BoxFuture<'a, Result<Tail, StoreError>> {
        Box::pin(self.inner().events_after(owner, task, sequence))
    }

    fn head<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(self.inner().head(owner, task))
    }

    fn wake_hub(&self) -> &WakeHub {
        &self.inner().wake_hub
    }

    fn list<'a>(
        &'a self,
        owner: &'a Owner,
        listing: Listing,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        Box::pin(async move { self.inner().list(owner, &listing).await })
    }

    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
        dialect: Dialect,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.inner().put_config(owner, config, dialect))
    }

    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> BoxFuture<'a, Result<Vec<TaskPushNotificationConfig>, StoreError>> {
        Box::pin(self.inner().configs(owner, task))
    }

    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.inner().delete_config(owner, task, config))
    }

    fn received<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
    ) -> BoxFuture<'a, Result<Option<Received>, StoreError>> {
        Box::pin(self.inner().received(owner, message))
    }

    fn keep_answer<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: Receipt,
        answer: Message,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.inner().keep_answer(owner, receipt, answer))
    }

    fn notifications(
        &self,
        limit: usize,
        term: Duration,
    ) -> BoxFuture<'_, Result<Vec<Notification>, StoreError>> {
        Box::pin(self.inner().take_notifications(limit, term))
    }

    fn dead_letters(&self, limit: usize) -> BoxFuture<'_, Result<Vec<Notification>, StoreError>> {
        Box::pin(self.inner().dead_letters(limit))
    }

    fn undelivered(&self) -> BoxFuture<'_, Result<usize, StoreError>> {
        Box::pin(self.inner().undelivered())
    }

    fn settle<'a>(
        &'a self,
        notification: &'a Notification,
        settlement: Settlement,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.inner().settle(notification, settlement))
    }

    fn renew<'a>(
        &'a self,
        holder: &'a str,
        term: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.inner().renew(holder, term).await?;
            self.inner().renew_reservations(holder, term).await?;
            self.inner().review_doubts().await
        })
    }

    fn orphans(&self, limit: usize) -> BoxFuture<'_, Result<Vec<Orphan>, StoreError>> {
        Box::pin(self.inner().orphans(limit))
    }

    fn sweep(&self, retention: Retention) -> BoxFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            self.inner().sweep_mail().await?;
            self.inner().count_unfinished().await?;
            self.inner().sweep(retention).await
        })
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        Some(self)
    }
}

impl SharedStore for PostgresStore {
    fn reserve<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: &'a Receipt,
        holder: &'a str,
        term: Duration,
        replaces: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        let inner = self.inner();
        Box::pin(inner.reserve(owner, receipt, holder, term, replaces))
    }

    fn release<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
        reservation: u64,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.inner().release(owner, message, reservation))
    }

    fn post(&self, mail: Mail) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.inner().post(mail))
    }

    fn withdraw<'a>(&'a self, mail: &'a Mail) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.inner().withdraw(mail))
    }

    fn take_mail<'a>(
        &'a self,
        holder: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Mail>, StoreError>> {
        Box::pin(self.inner().take_mail(holder, limit))
    }

    fn mail_posted(&self) -> Option<&Notify> {
        Some(&self.inner().hints.mail)
    }
}
