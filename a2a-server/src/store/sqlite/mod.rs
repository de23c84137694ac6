//! Tasks in a SQLite file: acknowledged writes are on the disk.

mod check;
mod columns;
mod file_lock;
mod readers;
mod receipt_filter;
mod retention;
mod schema;
mod shared;
mod statements;
mod tables;
mod task_index;
mod task_writes;
mod transaction;
mod webhooks;
mod writer;

use std::future::ready;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use a2a_types::{
    ConfigId, Message, MessageId, ProtocolVersion, TaskId, TaskPushNotificationConfig,
};

pub use self::check::SqliteReport;
use self::file_lock::FileLock;
use self::readers::Readers;
use self::receipt_filter::ReceiptFilter;
use self::shared::Shared;
use self::tables::{BoundedValue, FoldedTask};
use self::task_index::TaskIndex;
use self::transaction::WriteTransaction;
use self::writer::Writer;
use super::log_rows::LogRows;
use super::{
    Append, Appended, DeliveryResult, IdempotencyKey, IdempotencyRecord, ListQuery, LogPage,
    NewTask, Notification, Orphan, Owner, Page, Retention, Snapshot, Store, StoreError,
    StoreFuture, TaskBudget, TaskKey, TaskNotifier,
};

/// Keeps tasks in a SQLite file, which any tool for SQLite can read.
///
/// A write survives the end of the process and a power failure once its method returns: the file is in WAL mode
/// with `synchronous=FULL`. One thread writes and commits for many callers at once, a few other connections
/// read at the same time. The file belongs to one process at a time.
///
/// A copy of `tasks.db` needs `tasks.db-wal` next to it, if there is one: without it the last writes are
/// lost. [`SqliteStore::check`] finds damaged pages.
pub struct SqliteStore {
    // Dropped in this order: the writer, as the last connection, takes all that is written from the `-wal`
    // into the tables, and then the file is unlocked.
    readers: Readers,
    writer: Writer,
    shared: Arc<Shared>,
    /// Large tasks that were read from the file and are still used.
    loaded: TaskBudget,
    unfinished: i64,
    _lock: FileLock,
}

/// Options of a [`SqliteStore`]. They are made with [`Default`], and their fields are set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SqliteOptions {
    /// Maximum size of the file in bytes; 16 GiB by default.
    pub bytes: u64,
    /// Maximum number of unfinished tasks; 100,000 by default.
    pub unfinished: usize,
    /// Maximum number of received messages that are remembered; 400,000 by default. The oldest are
    /// removed first, also when the names and answers of all exceed 256 MiB.
    pub receipts: usize,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            bytes: 16 << 30,
            unfinished: 100_000,
            receipts: 400_000,
        }
    }
}

impl SqliteStore {
    /// Opens the file, or begins it.
    ///
    /// Errors: the file cannot be opened, belongs to something else or to another process, or has tables of
    /// another version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, SqliteOptions::default())
    }

    /// Opens the file, or begins it, with other limits.
    pub fn open_with(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let lock = FileLock::take(path)?;
        let connection = schema::open_writer(path, options.bytes / schema::PAGE)?;
        let shared = Arc::new(Shared::new(
            ReceiptFilter::load(&connection)?,
            TaskIndex::load(&connection)?,
        ));
        Ok(Self {
            writer: Writer::start(connection, Arc::clone(&shared), options.receipts)?,
            readers: Readers::new(path.to_owned()),
            shared,
            loaded: TaskBudget::default(),
            unfinished: options.unfinished.try_into().unwrap_or(i64::MAX),
            _lock: lock,
        })
    }

    /// Checks the pages of a file for damage, not the content of tasks. Reads the whole file and changes nothing; a
    /// server may use it meanwhile. It does not notice that the `-wal` of the file was removed, and with it the
    /// last writes.
    ///
    /// Errors: the file cannot be opened.
    pub fn check(path: impl AsRef<Path>) -> Result<SqliteReport, StoreError> {
        check::check(path.as_ref())
    }

    /// Writes in the next transaction; resolves when it is on the disk.
    fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut WriteTransaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(self.writer.run(work))
    }

    /// Reads a task that is not among the recent ones, if it has at most `limit` bytes.
    async fn load(
        &self,
        owner: &Owner,
        task: &TaskId,
        limit: usize,
    ) -> Result<Option<BoundedValue<FoldedTask>>, StoreError> {
        let (of, task) = (owner.to_json(), task.clone());
        let read = move |connection: &_| tables::load_bounded(connection, &of, &task, limit);
        self.readers.run(read).await
    }

    /// Reads a page whose tasks have at most `limit` bytes.
    async fn page(
        &self,
        of: &str,
        listing: &ListQuery,
        limit: usize,
    ) -> Result<BoundedValue<Page>, StoreError> {
        loop {
            let found = self.shared.task_index.page(of, listing);
            let (of, listing) = (of.to_owned(), listing.clone());
            let read = move |connection: &_| tables::page(connection, &of, &listing, found, limit);
            match self.readers.run(read).await? {
                // All of them have changed since.
                BoundedValue::Whole(page) if page.tasks.is_empty() && page.more => {}
                read => return Ok(read),
            }
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        owner: &Owner,
        task: &TaskId,
        read: fn(&rusqlite::Connection, &str, &TaskId) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let (of, task) = (owner.to_json(), task.clone());
        let read = move |connection: &_| read(connection, &of, &task);
        self.readers.run(read).await
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

fn key(owner: &Owner, task: &TaskId) -> TaskKey {
    (owner.clone(), task.clone())
}

impl Store for SqliteStore {
    fn create<'a>(&'a self, owner: &'a Owner, mut new: NewTask) -> StoreFuture<'a, ()> {
        let (key, most) = (key(owner, &new.task.id), self.unfinished);
        let log_rows = match LogRows::of_new(&mut new) {
            Ok(log_rows) => log_rows,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        let of = owner.to_json();
        self.write(move |transaction| {
            task_writes::create(transaction, &key, &of, &new, &log_rows, most)
        })
    }

    fn append<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        mut append: Append,
    ) -> StoreFuture<'a, Appended> {
        let key = key(owner, task);
        let log_rows = match LogRows::of_append(&mut append) {
            Ok(log_rows) => log_rows,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        let of = owner.to_json();
        self.write(move |transaction| {
            task_writes::append(transaction, &key, &of, &append, &log_rows)
        })
    }

    fn snapshot<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Option<Snapshot>> {
        Box::pin(async move {
            if let Some(snapshot) = self.shared.snapshot(&key(owner, task)) {
                return Ok(Some(snapshot));
            }
            let large = match self.load(owner, task, TaskBudget::SMALL).await? {
                None => return Ok(None),
                Some(BoundedValue::Whole(folded)) => return Ok(Some(folded.into())),
                Some(BoundedValue::Larger(bytes)) => bytes,
            };
            let share = self.loaded.take(large).await?;
            // Another caller that waited may have brought it back.
            if let Some(snapshot) = self.shared.snapshot(&key(owner, task)) {
                return Ok(Some(snapshot));
            }
            match self.load(owner, task, usize::MAX).await? {
                Some(BoundedValue::Whole(folded)) => {
                    let snapshot = Snapshot::from(folded);
                    Ok(Some(Snapshot { share, ..snapshot }))
                }
                _ => Ok(None),
            }
        })
    }

    fn events_after<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        sequence: u64,
    ) -> StoreFuture<'a, LogPage> {
        Box::pin(async move {
            if let Some(tail) = self.shared.after(&key(owner, task), sequence) {
                return Ok(tail);
            }
            let (of, task) = (owner.to_json(), task.clone());
            let read = move |connection: &_| tables::after(connection, &of, &task, sequence);
            self.readers.run(read).await
        })
    }

    fn head<'a>(&'a self, owner: &'a Owner, task: &'a TaskId) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            if let Some(sequence) = self.shared.sequence(&key(owner, task)) {
                return Ok(sequence);
            }
            Ok(self.read(owner, task, tables::place).await?.1)
        })
    }

    fn task_notifier(&self) -> &TaskNotifier {
        &self.shared.task_notifier
    }

    fn list<'a>(&'a self, owner: &'a Owner, listing: ListQuery) -> StoreFuture<'a, Page> {
        let of = owner.to_json();
        Box::pin(async move {
            let large = match self.page(&of, &listing, TaskBudget::SMALL).await? {
                BoundedValue::Whole(page) => return Ok(page),
                BoundedValue::Larger(bytes) => bytes,
            };
            let share = self.loaded.take(large).await?;
            match self.page(&of, &listing, usize::MAX).await? {
                BoundedValue::Whole(page) => Ok(Page { share, ..page }),
                BoundedValue::Larger(_) => Err(StoreError::Busy),
            }
        })
    }

    fn put_config<'a>(
        &'a self,
        owner: &'a Owner,
        config: TaskPushNotificationConfig,
        protocol_version: ProtocolVersion,
    ) -> StoreFuture<'a, ()> {
        let owner = owner.clone();
        self.write(move |transaction| {
            webhooks::put_config(transaction, &owner, &config, protocol_version)
        })
    }

    fn configs<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
    ) -> StoreFuture<'a, Vec<TaskPushNotificationConfig>> {
        Box::pin(self.read(owner, task, webhooks::configs))
    }

    fn delete_config<'a>(
        &'a self,
        owner: &'a Owner,
        task: &'a TaskId,
        config: &'a ConfigId,
    ) -> StoreFuture<'a, ()> {
        let (key, config) = (key(owner, task), config.clone());
        self.write(move |transaction| webhooks::delete_config(transaction, &key, &config))
    }

    fn received<'a>(
        &'a self,
        owner: &'a Owner,
        message: &'a MessageId,
    ) -> StoreFuture<'a, Option<IdempotencyRecord>> {
        let (of, message) = (owner.to_json(), message.clone());
        Box::pin(async move {
            let places = self.shared.receipt_filter.find(&of, &message);
            if places.is_empty() {
                return Ok(None);
            }
            let now = transaction::now();
            let read =
                move |connection: &_| tables::received(connection, &of, &message, &places, now);
            self.readers.run(read).await
        })
    }

    fn store_response<'a>(
        &'a self,
        owner: &'a Owner,
        receipt: IdempotencyKey,
        answer: Message,
    ) -> StoreFuture<'a, ()> {
        let owner = owner.clone();
        self.write(move |transaction| {
            task_writes::store_response(transaction, &owner, &receipt, &answer)
        })
    }

    fn notifications(&self, limit: usize, term: Duration) -> StoreFuture<'_, Vec<Notification>> {
        self.write(move |transaction| webhooks::take(transaction, limit, term))
    }

    fn dead_letters(&self, limit: usize) -> StoreFuture<'_, Vec<Notification>> {
        let read = move |connection: &_| webhooks::dead_letters(connection, limit);
        Box::pin(self.readers.run(read))
    }

    fn undelivered(&self) -> StoreFuture<'_, usize> {
        Box::pin(self.readers.run(webhooks::undelivered))
    }

    fn record_delivery<'a>(
        &'a self,
        notification: &'a Notification,
        settlement: DeliveryResult,
    ) -> StoreFuture<'a, ()> {
        let config = notification.config.clone();
        let attempt = (notification.sequence, notification.attempt);
        let (key, id) = (key(&notification.owner, &config.task_id), config.id);
        self.write(move |transaction| {
            webhooks::record_delivery(transaction, &key, &id, attempt, settlement)
        })
    }

    fn renew<'a>(&'a self, holder: &'a str, term: Duration) -> StoreFuture<'a, ()> {
        let holder = holder.to_owned();
        self.write(move |transaction| task_writes::renew(transaction, &holder, term))
    }

    fn orphans(&self, limit: usize) -> StoreFuture<'_, Vec<Orphan>> {
        let read = move |connection: &_| tables::orphans(connection, limit, transaction::now());
        Box::pin(self.readers.run(read))
    }

    fn sweep(&self, retention: Retention) -> StoreFuture<'_, usize> {
        Box::pin(async move {
            let mut swept = 0;
            // In small steps, because others wait to write.
            loop {
                let step = self
                    .writer
                    .run(move |transaction| retention::sweep(transaction, retention));
                let step = step.await?;
                swept += step.tasks;
                if !step.more {
                    return Ok(swept);
                }
            }
        })
    }
}
