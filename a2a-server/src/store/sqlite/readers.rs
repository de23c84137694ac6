//! The connections of a SQLite file that only read.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{Semaphore, oneshot};

use super::super::StoreError;
use super::schema::{failed, open_reader};

/// A few threads, each with a connection: readers and the writer do not wait for each other. A thread takes
/// the next waiting job without being woken for it.
pub(super) struct Readers {
    path: PathBuf,
    /// Permits to wait.
    places: Arc<Semaphore>,
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    came: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// Number of threads, and of threads that have nothing to do.
    threads: usize,
    idle: usize,
    is_closed: bool,
}

/// Reads, and answers the caller; without a connection it answers why there is none.
type Job = Box<dyn FnOnce(Result<&Connection, StoreError>) + Send>;

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            places: Arc::new(Semaphore::new(MAX_WAITING)),
            queue: Arc::default(),
            threads: Mutex::default(),
        }
    }

    /// Reads, seeing the tables as they were at one moment.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(StoreError::failed)?;
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move |connection: Result<&Connection, StoreError>| {
            // The caller may have gone.
            if !sender.is_closed() {
                let outcome = connection.and_then(|connection| at_one_moment(connection, read));
                let _ = sender.send(outcome);
            }
            drop(place);
        });
        self.hand_in(job)?;
        let failed = |_| StoreError::failed("what was to be read could not be read");
        receiver.await.map_err(failed)?
    }

    fn hand_in(&self, job: Job) -> Result<(), StoreError> {
        let mut waiting = self.queue.lock();
        waiting.jobs.push_back(job);
        if waiting.idle > 0 {
            self.queue.came.notify_one();
        }
        if waiting.jobs.len() > waiting.idle && waiting.threads < MAX_THREADS {
            let (queue, path) = (Arc::clone(&self.queue), self.path.clone());
            let thread = std::thread::Builder::new().name("a2a-sqlite-read".to_owned());
            let begun = thread.spawn(move || queue.work(&path));
            match begun {
                Ok(thread) => {
                    waiting.threads += 1;
                    lock(&self.threads).push(thread);
                }
                Err(error) if waiting.threads == 0 => {
                    waiting.jobs.clear();
                    return Err(StoreError::failed(error));
                }
                Err(_) => {}
            }
        }
        Ok(())
    }
}

impl Drop for Readers {
    /// Waits until no reader has the file open any more.
    fn drop(&mut self) {
        self.queue.lock().is_closed = true;
        self.queue.came.notify_all();
        for thread in lock(&self.threads).drain(..) {
            // Its caller has got an error.
            drop(thread.join());
        }
    }
}

impl Queue {
    /// Runs jobs until the store is closed.
    fn work(&self, path: &std::path::Path) {
        let mut connection = None;
        while let Some(job) = self.next() {
            let opened = match connection.take() {
                Some(connection) => Ok(connection),
                None => open_reader(path),
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| match opened {
                Ok(connection) => {
                    job(Ok(&connection));
                    Some(connection)
                }
                Err(error) => {
                    job(Err(error));
                    None
                }
            }));
            // A connection on which a job failed within a transaction is not used again.
            let whole = |connection: &Connection| connection.is_autocommit();
            connection = outcome.ok().flatten().filter(whole);
        }
    }

    fn next(&self) -> Option<Job> {
        let mut waiting = self.lock();
        loop {
            if waiting.is_closed {
                return None;
            }
            if let Some(job) = waiting.jobs.pop_front() {
                return Some(job);
            }
            waiting.idle += 1;
            let woken = self.came.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
            waiting.idle -= 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }
}

fn at_one_moment<T>(
    connection: &Connection,
    read: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    run(connection, "begin")?;
    let outcome = read(connection);
    run(connection, "commit")?;
    outcome
}

fn run(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    statement.execute([]).map_err(failed)?;
    Ok(())
}

/// No code under these locks panics half-way, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum number of threads: the tables are in the file system's cache, so more threads would only
/// compete for the processors.
const MAX_THREADS: usize = 4;
/// Maximum number of jobs at once; more wait for a place.
const MAX_WAITING: usize = 1024;
