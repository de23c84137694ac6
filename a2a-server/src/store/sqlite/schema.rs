//! The tables, and the opening of a database file.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::super::StoreError;

/// The tables, the same as in the database of a cluster: a thin row per task that is rewritten with every event, the
/// log, and for a long log also the task itself in a document that is rewritten seldom. Messages stand in the order
/// in which they came. Their index is in memory, as is the index of lists: index writes are expensive.
const TABLES: &str = "
create table task(
  seq integer primary key,
  owner text not null, id text not null,
  context_id text,
  protocol_version text not null,
  generation integer not null,
  state text not null,
  status_time integer not null,
  active integer not null,
  ended integer, waits integer,
  messages integer not null,
  bytes integer not null,
  lease_owner text not null, lease_epoch integer not null, lease_until integer not null,
  turn integer not null,
  unique(owner, id));
create index task_active on task(owner, status_time desc, id) where active = 1 or lease_until > 0;
create index task_ended on task(ended) where ended is not null;
create index task_waits on task(waits) where waits is not null;
create table task_doc(task integer primary key, generation integer not null, body blob not null);
create table task_event(
  task integer not null, generation integer not null, body blob not null,
  unique(task, generation));
create table task_checkpoint(task integer primary key, body blob not null);
create table push_config(
  task integer not null, position integer not null, id text not null,
  protocol_version text not null, body blob not null,
  primary key(task, id)) without rowid;
create table push_outbox(
  task integer not null, config_id text not null, generation integer not null,
  attempt integer not null, next_at integer not null, dead integer,
  taken integer not null default 0, traceparent text, tracestate text,
  primary key(task, config_id, generation)) without rowid;
create index push_outbox_due on push_outbox(next_at) where dead is null;
create index push_outbox_dead on push_outbox(dead) where dead is not null;
create table send_dedupe(
  seq integer primary key, owner text not null, message_id text not null,
  digest blob not null, task_id text, answer blob, expires integer not null);
";

/// `A2A!`: the file is ours.
pub(super) const APPLICATION: i32 = 0x4132_4121;
/// Version of the tables. Files of version 1 have another name for a column.
const VERSION: i32 = 2;

/// Opens the file for the only writer, and makes the tables in a new one.
pub(super) fn open_writer(path: &Path, pages: u64) -> Result<Connection, StoreError> {
    let connection = Connection::open(path).map_err(failed)?;
    let pragmas = format!(
        "pragma page_size = {PAGE};
         pragma auto_vacuum = incremental;
         pragma journal_mode = wal;
         pragma synchronous = full;
         pragma journal_size_limit = {MAX_WAL_BYTES};
         pragma wal_autocheckpoint = {CHECKPOINT};
         pragma cache_size = -{CACHE_KIB};
         pragma max_page_count = {pages};"
    );
    connection.execute_batch(&pragmas).map_err(failed)?;
    let number = |name: &str| {
        connection
            .pragma_query_value(None, name, |row| row.get::<_, i32>(0))
            .map_err(failed)
    };
    match (number("application_id")?, number("user_version")?) {
        (APPLICATION, VERSION) => {}
        (0, 0) if is_empty(&connection)? => {
            let begun = format!(
                "begin; {TABLES} pragma application_id = {APPLICATION};
                 pragma user_version = {VERSION}; commit;"
            );
            connection.execute_batch(&begun).map_err(failed)?;
        }
        (APPLICATION, version) => {
            let text = format!(
                "`{}` has tables of version {version}, expected {VERSION}: start with another file, or \
                 use the release that wrote this one",
                path.display()
            );
            return Err(StoreError::failed(text));
        }
        _ => {
            let text = format!("`{}` is a database of something else", path.display());
            return Err(StoreError::failed(text));
        }
    }
    connection.execute_batch(ABANDON).map_err(failed)?;
    keep_statements(&connection)?;
    Ok(connection)
}

/// Frees leases and taken notifications: the file is ours alone, so their holders are gone. An attempt of
/// unknown outcome does not count.
const ABANDON: &str = "
update task indexed by task_active set lease_until = 0
  where (active = 1 or lease_until > 0) and lease_until > 0;
update push_outbox set taken = 0, attempt = max(attempt - 1, 0), next_at = 0 where taken = 1;
";

fn is_empty(connection: &Connection) -> Result<bool, StoreError> {
    let tables = "select not exists(select 1 from sqlite_schema)";
    connection
        .query_row(tables, [], |row| row.get(0))
        .map_err(failed)
}

/// Opens the file for reading, while the writer has it open.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(MAX_BUSY_WAIT).map_err(failed)?;
    keep_statements(&connection)?;
    Ok(connection)
}

/// Makes SQLite prepare statements once. If the plan of a statement depended on its values, SQLite would prepare
/// it again whenever the values are cleared, as happens when the statement returns to the cache.
fn keep_statements(connection: &Connection) -> Result<(), StoreError> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let stable = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true);
    stable.map(drop).map_err(failed)
}

/// The bytes of a page.
pub(super) const PAGE: u64 = 4096;
/// Maximum bytes of the `-wal` file after a checkpoint.
const MAX_WAL_BYTES: u64 = 64 << 20;
/// Number of pages in the `-wal` after which they are taken into the tables: a page that was written many
/// times is taken once.
const CHECKPOINT: u64 = 4096;
/// KiB of the tables that the writer keeps in memory.
const CACHE_KIB: u64 = 16 << 10;
/// Number of statements that a connection keeps prepared: all of them.
const STATEMENTS: usize = 64;
/// Time that a reader waits while the file is recovered or checkpointed.
const MAX_BUSY_WAIT: Duration = Duration::from_secs(5);

/// Converts an error of SQLite; a full disk or file is [`StoreError::Full`].
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => StoreError::Full,
        _ => StoreError::failed(error),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::super::tables;
    use super::*;

    #[test]
    fn file_of_another_version_or_application_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("tasks.db");
        for (pragma, expected) in [
            ("user_version = 6", "tables of version 6, expected 2: "),
            ("application_id = 7", "a database of something else"),
        ] {
            let connection = open_writer(&file, 1000).unwrap();
            let changed = connection.execute_batch(&format!("pragma {pragma}"));
            changed.unwrap();
            drop(connection);
            let StoreError::Failed(error) = open_writer(&file, 1000).unwrap_err() else {
                panic!("another error");
            };
            assert!(error.to_string().contains(expected), "{error}");
            let own =
                format!("pragma application_id = {APPLICATION}; pragma user_version = {VERSION}");
            let connection = Connection::open(&file).unwrap();
            connection.execute_batch(&own).unwrap();
        }
    }

    #[test]
    fn statements_are_prepared_once() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("tasks.db");
        let writer = open_writer(&file, 1000).unwrap();
        for connection in [open_reader(&file).unwrap(), writer] {
            for _ in 0..10 {
                tables::each_event(&connection, 1, 0, |_| Ok(true)).unwrap();
            }
            let events = connection.prepare_cached(tables::EVENTS).unwrap();
            assert_eq!(events.get_status(StatementStatus::RePrepare), 0);
            assert_eq!(events.get_status(StatementStatus::Run), 10);
        }
    }
}
