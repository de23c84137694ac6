//! The only writer of a SQLite file: one thread, which commits for many at once.

use std::sync::Arc;
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::super::StoreError;
use super::schema::failed;
use super::shared::Shared;
use super::tables::FoldedTask;
use super::transaction::{Counts, WriteTransaction, repeated};

/// A handle to the writer thread. Jobs that arrive while it commits are committed next, together, so
/// that all of them share one wait for the disk.
pub(super) struct Writer {
    /// `None` once the writer is being dropped.
    jobs: Option<mpsc::Sender<QueuedJob>>,
    thread: Option<JoinHandle<()>>,
}

/// A job, and the runtime of the caller that waits for it.
struct QueuedJob {
    job: Box<dyn Job>,
    runtime: Option<Handle>,
}

/// A write that a caller waits for. It returns to the caller with all its memory, because freeing
/// memory on another thread is slow for both threads.
trait Job: Send {
    /// Does it within the transaction.
    fn work(&mut self, transaction: &mut WriteTransaction<'_>);
    /// Answers the caller, once that is committed, or could not be.
    fn complete(self: Box<Self>, committed: Result<(), &StoreError>);
}

struct WriteJob<W, T> {
    work: W,
    outcome: Option<Result<T, StoreError>>,
    sender: oneshot::Sender<Result<T, StoreError>>,
}

impl<W, T> Job for WriteJob<W, T>
where
    W: FnMut(&mut WriteTransaction<'_>) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn work(&mut self, transaction: &mut WriteTransaction<'_>) {
        self.outcome = Some(transaction.all_or_nothing(&mut self.work));
    }

    fn complete(self: Box<Self>, committed: Result<(), &StoreError>) {
        let outcome = match (self.outcome, committed) {
            (Some(outcome), Ok(())) => outcome,
            // A refused job stays refused, whatever became of the others.
            (Some(outcome), Err(reason)) => outcome.and(Err(repeated(reason))),
            (None, Err(reason)) => Err(repeated(reason)),
            (None, Ok(())) => return,
        };
        // The caller may have gone.
        let _ = self.sender.send(outcome);
    }
}

impl Writer {
    /// Starts the thread; at most `receipts` received messages are remembered.
    pub(super) fn start(
        connection: Connection,
        shared: Arc<Shared>,
        receipts: usize,
    ) -> Result<Self, StoreError> {
        let (jobs, inbox) = mpsc::channel(MAX_WAITING);
        let counts = count(&connection)?;
        let thread = std::thread::Builder::new().name("a2a-sqlite".to_owned());
        let thread = thread
            .spawn(move || {
                match WriteTransaction::new(&connection, &shared, counts, receipts) {
                    Ok(transaction) => write(transaction, inbox),
                    // Callers get the error that the store is closed.
                    Err(error) => {
                        tracing::error!(
                            error = &error as &dyn std::error::Error,
                            "could not write to the SQLite file"
                        )
                    }
                }
            })
            .map_err(StoreError::failed)?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Runs the job in the next transaction, as a whole or not at all. Resolves when it is on disk.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut WriteTransaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let (sender, receiver) = oneshot::channel();
        // The future of the caller holds only the receiver.
        let job: Box<dyn Job> = Box::new(WriteJob {
            work,
            outcome: None,
            sender,
        });
        async move {
            let runtime = Handle::try_current().ok();
            let gone = || StoreError::failed("the store is closed");
            let jobs = self.jobs.as_ref().ok_or_else(gone)?;
            let queued = jobs.send(QueuedJob { job, runtime }).await;
            queued.map_err(|_| gone())?;
            receiver.await.map_err(|_| gone())?
        }
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

/// Maximum number of jobs that wait for the disk; more wait for a place.
const MAX_WAITING: usize = 1024;
/// Maximum number of jobs committed at once.
const MAX_AT_ONCE: usize = 512;

fn write(mut transaction: WriteTransaction<'_>, mut inbox: mpsc::Receiver<QueuedJob>) {
    let mut jobs = Vec::new();
    while inbox.blocking_recv_many(&mut jobs, MAX_AT_ONCE) > 0 {
        let mut answers = Vec::new();
        let committed = write_all(&mut transaction, &mut jobs, &mut answers).map_err(Arc::new);
        if let Err(error) = &committed {
            let error = error as &dyn std::error::Error;
            tracing::error!(error, "could not commit to the SQLite file");
            transaction.roll_back();
        }
        for mut answers in answers {
            answers.committed.clone_from(&committed);
            answers.send();
        }
    }
}

/// Runs these jobs in one transaction. The jobs after one that fails half-way are not begun; all of them get an
/// answer.
fn write_all(
    transaction: &mut WriteTransaction<'_>,
    jobs: &mut Vec<QueuedJob>,
    answers: &mut Vec<Answers>,
) -> Result<(), StoreError> {
    let mut begun = transaction.begin();
    for QueuedJob { mut job, runtime } in jobs.drain(..) {
        if begun.is_ok() {
            job.work(transaction);
            begun = transaction.is_whole();
        }
        match answers.last_mut().filter(|last| last.are_for(&runtime)) {
            Some(last) => last.jobs.push(job),
            None => answers.push(Answers::new(job, runtime)),
        }
    }
    begun?;
    transaction.limit_receipts()?;
    let spent = transaction.commit()?;
    if let Some(last) = answers.last_mut() {
        last.spent = spent;
    }
    Ok(())
}

/// Answers to the jobs of one runtime after a commit. One task of that runtime sends them, so that the
/// callers are woken together and not one by one from another thread.
struct Answers {
    jobs: Vec<Box<dyn Job>>,
    committed: Result<(), Arc<StoreError>>,
    runtime: Option<Handle>,
    /// Tasks evicted from memory, to be dropped.
    spent: Vec<FoldedTask>,
}

impl Answers {
    fn new(job: Box<dyn Job>, runtime: Option<Handle>) -> Self {
        Self {
            jobs: vec![job],
            committed: Ok(()),
            runtime,
            spent: Vec::new(),
        }
    }

    fn are_for(&self, runtime: &Option<Handle>) -> bool {
        self.runtime.as_ref().map(Handle::id) == runtime.as_ref().map(Handle::id)
    }

    fn send(mut self) {
        // A single answer is sent from here, and so are those to callers outside a runtime.
        if let Some(runtime) = self.runtime.take().filter(|_| self.jobs.len() > 1) {
            runtime.spawn(async move { drop(self) });
        }
    }
}

impl Drop for Answers {
    /// Sends the answers, also if the runtime is gone.
    fn drop(&mut self) {
        let committed = self.committed.as_ref().copied().map_err(|error| &**error);
        for job in self.jobs.drain(..) {
            job.complete(committed);
        }
    }
}

fn count(connection: &Connection) -> Result<Counts, StoreError> {
    let sql = "select (select count(*) from task),
                 (select count(*) from task where ended is not null)";
    let counts = connection.query_row(sql, [], |row| {
        let (all, ended) = (row.get::<_, i64>(0)?, row.get(1)?);
        Ok(Counts {
            unfinished: all - ended,
            ended,
        })
    });
    counts.map_err(failed)
}
