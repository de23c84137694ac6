//! The only writer of a SQLite file: one thread, which commits for many at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::super::StoreError;
use super::schema::failed;
use super::shared::{Folded, Key, Shared};

/// A handle to the thread that writes. Whatever was handed in while it committed is committed next,
/// together: the disk is waited for once for all of it.
#[derive(Debug)]
pub(super) struct Writer {
    /// None once no more is written.
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// Does its work within the transaction, and tells whoever waits once that is committed.
type Job = Box<dyn FnOnce(&mut Desk<'_>) -> Told + Send>;
type Told = Box<dyn FnOnce(Result<(), &str>) + Send>;

/// What a job works with.
pub(super) struct Desk<'c> {
    pub(super) connection: &'c Connection,
    pub(super) now: i64,
    /// How many tasks have not ended.
    pub(super) unfinished: i64,
    pub(super) shared: &'c Shared,
    /// Tasks as they will be once this is committed.
    open: HashMap<Key, Folded>,
    gone: Vec<Key>,
}

impl Writer {
    pub(super) fn start(connection: Connection, shared: Arc<Shared>) -> Result<Self, StoreError> {
        let (jobs, inbox) = mpsc::channel(MOST_WAITING);
        let unfinished = count_unfinished(&connection)?;
        let thread = std::thread::Builder::new().name("a2a-sqlite".to_owned());
        let thread = thread
            .spawn(move || write(&connection, &shared, inbox, unfinished))
            .map_err(StoreError::failed)?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Does this in the next transaction; all of it or nothing. Resolves when it is on the disk.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = oneshot::channel();
        let job: Job = Box::new(move |desk| {
            let outcome = desk.all_or_nothing(work);
            Box::new(move |committed| {
                let outcome = match committed {
                    Ok(()) => outcome,
                    // What was refused is refused, whatever became of the others.
                    Err(reason) => outcome.and(Err(StoreError::failed(reason))),
                };
                // Whoever asked may have gone.
                let _ = tell.send(outcome);
            })
        });
        let gone = || StoreError::failed("the store is closed");
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(job).await.map_err(|_| gone())?;
        told.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    /// Waits until everything is written, and the file is free.
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that writes the SQLite file panicked");
        }
    }
}

/// How many jobs may wait for the disk; more wait for a place.
const MOST_WAITING: usize = 1024;
/// How many jobs are committed at once.
const MOST_AT_ONCE: usize = 512;

fn write(
    connection: &Connection,
    shared: &Shared,
    mut inbox: mpsc::Receiver<Job>,
    mut unfinished: i64,
) {
    let mut jobs = Vec::new();
    while inbox.blocking_recv_many(&mut jobs, MOST_AT_ONCE) > 0 {
        let mut desk = Desk {
            connection,
            now: now(),
            unfinished,
            shared,
            open: HashMap::new(),
            gone: Vec::new(),
        };
        let mut told = Vec::new();
        let committed = desk.transaction(&mut jobs, &mut told);
        match &committed {
            Ok(()) => unfinished = desk.publish(),
            Err(error) => {
                tracing::error!(error = error as &dyn std::error::Error, "could not commit");
                if !connection.is_autocommit() {
                    drop(connection.execute_batch("rollback"));
                }
            }
        }
        let reason = committed.map_err(|error| error.to_string());
        for told in told {
            told(reason.as_ref().copied().map_err(String::as_str));
        }
        // Jobs that were not begun are dropped with their senders: their callers are told.
        jobs.clear();
    }
}

impl Desk<'_> {
    fn transaction(&mut self, jobs: &mut Vec<Job>, told: &mut Vec<Told>) -> rusqlite::Result<()> {
        self.run("begin immediate")?;
        for job in jobs.drain(..) {
            told.push(job(self));
            if self.connection.is_autocommit() {
                // A full disk ends a transaction at once; the next job must not begin its own.
                return Err(rusqlite::Error::ExecuteReturnedResults);
            }
        }
        self.run("commit")
    }

    fn all_or_nothing<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let unfinished = self.unfinished;
        self.run("savepoint job").map_err(failed)?;
        let outcome = work(self);
        if outcome.is_err() {
            self.unfinished = unfinished;
            self.run("rollback to job").map_err(failed)?;
        }
        self.run("release job").map_err(failed)?;
        outcome
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    /// Takes a task out of the common store for as long as this transaction lasts.
    pub(super) fn take(&mut self, key: &Key) -> Option<Folded> {
        self.open.remove(key).or_else(|| self.shared.take(key))
    }

    /// The task is this from now on, if the transaction comes to an end.
    pub(super) fn keep(&mut self, key: Key, folded: Folded) {
        self.open.insert(key, folded);
    }

    /// The task is gone, if the transaction comes to an end.
    pub(super) fn forget(&mut self, key: Key) {
        self.open.remove(&key);
        self.gone.push(key);
    }

    /// Shows what was committed, and wakes those who wait for it.
    fn publish(self) -> i64 {
        for (key, folded) in self.open {
            let generation = folded.generation;
            self.shared.put(key.clone(), folded);
            self.shared.wake(&key, generation);
        }
        for key in &self.gone {
            self.shared.forget(key);
        }
        self.unfinished
    }
}

fn count_unfinished(connection: &Connection) -> Result<i64, StoreError> {
    let sql = "select count(*) from task where ended is null";
    connection
        .query_row(sql, [], |row| row.get(0))
        .map_err(failed)
}

/// The store's clock, in milliseconds since the Unix epoch.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}
