//! The only writer of a SQLite file: one thread, which commits for many at once.

use std::sync::Arc;
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::super::StoreError;
use super::desk::Desk;
use super::schema::failed;
use super::shared::Shared;

/// A handle to the thread that writes. Whatever was handed in while it committed is committed next,
/// together: the disk is waited for once for all of it.
#[derive(Debug)]
pub(super) struct Writer {
    /// None once no more is written.
    jobs: Option<mpsc::Sender<Asked>>,
    thread: Option<JoinHandle<()>>,
}

/// A job, and the runtime of whoever waits for it.
struct Asked {
    job: Job,
    runtime: Option<Handle>,
}

/// Does its work within the transaction, and tells whoever waits once that is committed.
type Job = Box<dyn FnOnce(&mut Desk<'_>) -> Told + Send>;
type Told = Box<dyn FnOnce(Result<(), &str>) + Send>;

impl Writer {
    pub(super) fn start(connection: Connection, shared: Arc<Shared>) -> Result<Self, StoreError> {
        let (jobs, inbox) = mpsc::channel(MOST_WAITING);
        let unfinished = count_unfinished(&connection)?;
        let thread = std::thread::Builder::new().name("a2a-sqlite".to_owned());
        let thread = thread
            .spawn(move || match Desk::new(&connection, &shared, unfinished) {
                Ok(desk) => write(desk, inbox),
                // Whoever asks is told that the store is closed.
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "cannot write")
                }
            })
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
        let runtime = Handle::try_current().ok();
        let gone = || StoreError::failed("the store is closed");
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(Asked { job, runtime })
            .await
            .map_err(|_| gone())?;
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

fn write(mut desk: Desk<'_>, mut inbox: mpsc::Receiver<Asked>) {
    let mut jobs = Vec::new();
    while inbox.blocking_recv_many(&mut jobs, MOST_AT_ONCE) > 0 {
        let mut answers = Vec::new();
        let committed = transaction(&mut desk, &mut jobs, &mut answers);
        if let Err(reason) = &committed {
            tracing::error!(reason, "could not commit");
            desk.roll_back();
        }
        // Jobs that were not begun are dropped with their senders: their callers are told.
        jobs.clear();
        for mut answers in answers {
            answers.committed.clone_from(&committed);
            answers.send();
        }
    }
}

fn transaction(
    desk: &mut Desk<'_>,
    jobs: &mut Vec<Asked>,
    answers: &mut Vec<Answers>,
) -> Result<(), String> {
    desk.begin()?;
    for Asked { job, runtime } in jobs.drain(..) {
        let told = job(desk);
        match answers.last_mut().filter(|last| last.are_for(&runtime)) {
            Some(last) => last.told.push(told),
            None => answers.push(Answers::new(told, runtime)),
        }
        desk.is_whole()?;
    }
    desk.commit()
}

/// What those of one runtime are told after a commit. They are told there, by one of their own: they are
/// woken together, not one by one from another thread.
struct Answers {
    told: Vec<Told>,
    committed: Result<(), String>,
    runtime: Option<Handle>,
}

impl Answers {
    fn new(told: Told, runtime: Option<Handle>) -> Self {
        Self {
            told: vec![told],
            committed: Ok(()),
            runtime,
        }
    }

    fn are_for(&self, runtime: &Option<Handle>) -> bool {
        self.runtime.as_ref().map(Handle::id) == runtime.as_ref().map(Handle::id)
    }

    fn send(mut self) {
        // One is told at once from here, and so is everyone whose runtime is gone.
        if let Some(runtime) = self.runtime.take().filter(|_| self.told.len() > 1) {
            runtime.spawn(async move { drop(self) });
        }
    }
}

impl Drop for Answers {
    /// Whatever becomes of the runtime, everyone is told.
    fn drop(&mut self) {
        let committed = self.committed.as_ref().copied().map_err(String::as_str);
        for told in self.told.drain(..) {
            told(committed);
        }
    }
}

fn count_unfinished(connection: &Connection) -> Result<i64, StoreError> {
    let sql = "select count(*) from task where ended is null";
    connection
        .query_row(sql, [], |row| row.get(0))
        .map_err(failed)
}
