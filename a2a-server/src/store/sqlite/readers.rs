//! The connections of a SQLite file that only read.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::super::StoreError;
use super::schema::{failed, open_reader};

/// A few connections, used in turn: readers do not wait for the writer, nor it for them.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    path: Arc<PathBuf>,
    places: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path: Arc::new(path),
            places: Arc::new(Semaphore::new(MOST)),
            idle: Arc::default(),
        }
    }

    /// Reads, seeing the tables as they were at one moment.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let readers = self.clone();
        let read = move || {
            let connection = match readers.idle().pop() {
                Some(connection) => connection,
                None => open_reader(&readers.path)?,
            };
            // All that is read is of one moment. A connection on which that fails is not used again.
            run(&connection, "begin")?;
            let outcome = read(&connection);
            run(&connection, "commit")?;
            readers.idle().push(connection);
            drop(place);
            outcome
        };
        let outcome = tokio::task::spawn_blocking(read).await;
        outcome.map_err(StoreError::failed)?
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    statement.execute([]).map_err(failed)?;
    Ok(())
}

/// How many read at once: the tables are in the file system's cache, more would only take turns.
const MOST: usize = 4;
