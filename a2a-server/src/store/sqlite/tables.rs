//! Queries of the writer and the readers.

use std::sync::Arc;

use a2a_types::{Event, Message, MessageId, Task, TaskId};
use rusqlite::{Connection, Row, params};

use super::super::fold::Fold;
use super::super::{
    IdempotencyRecord, ListQuery, LogEntry, LogPage, Orphan, Outcome, Page, Snapshot, StoreError,
    limits, log_rows,
};
use super::columns::{body, count, each_row, first_row, get, key, most, protocol_version, rows};
use super::schema::failed;
use super::task_index::IndexPage;

/// A value that was read, unless it is larger than it may be.
pub(super) enum BoundedValue<T> {
    Whole(T),
    /// The value has this number of bytes, and was not read.
    Larger(usize),
}

/// A task as the fold of its log.
pub(super) type FoldedTask = Fold<TaskRow>;

/// Columns of a task's row.
#[derive(Clone, Debug)]
pub(super) struct TaskRow {
    /// The task's number in the tables.
    pub(super) seq: i64,
    pub(super) epoch: u64,
    pub(super) has_configs: bool,
    /// Time of the status, by which the task is listed.
    pub(super) status_time: i64,
}

/// Reads a task: its last snapshot, and the events since.
pub(super) fn load(
    connection: &Connection,
    of: &str,
    task: &TaskId,
) -> Result<Option<FoldedTask>, StoreError> {
    match load_bounded(connection, of, task, usize::MAX)? {
        Some(BoundedValue::Whole(folded)) => Ok(Some(folded)),
        Some(BoundedValue::Larger(_)) | None => Ok(None),
    }
}

/// Loads a task as [`load`] does, if it has at most `limit` bytes.
pub(super) fn load_bounded(
    connection: &Connection,
    of: &str,
    task: &TaskId,
    limit: usize,
) -> Result<Option<BoundedValue<FoldedTask>>, StoreError> {
    let sql = "select seq, protocol_version, task.generation, messages, bytes, lease_epoch,
                 task_doc.generation, task_doc.body, task_checkpoint.body,
                 task_doc.body is not null, task_checkpoint.body is not null,
                 exists(select 1 from push_config where push_config.task = seq), turn, status_time
               from task left join task_doc on task_doc.task = seq
                 left join task_checkpoint on task_checkpoint.task = seq
               where owner = ?1 and id = ?2";
    first_row(connection, sql, params![of, task.as_str()], |row| {
        let bytes = count(row, 4)?;
        match bytes > limit {
            true => Ok(BoundedValue::Larger(bytes)),
            false => fold(connection, row, bytes).map(BoundedValue::Whole),
        }
    })
}

/// Folds a task from its row, its document and its log.
fn fold(connection: &Connection, row: &Row<'_>, bytes: usize) -> Result<FoldedTask, StoreError> {
    let table_row = TaskRow {
        seq: get(row, 0)?,
        epoch: count(row, 5)? as u64,
        has_configs: get(row, 11)?,
        status_time: get(row, 13)?,
    };
    let (seq, protocol_version) = (table_row.seq, protocol_version(row, 1)?);
    let begin = |sequence, task: Task| {
        let mut folded = Fold::new(table_row.clone(), task.into(), protocol_version, sequence);
        folded.bytes = bytes;
        folded
    };
    let mut folded = match get::<bool>(row, 9)? {
        true => Some(begin(count(row, 6)? as u64, body(row, 7)?)),
        false => None,
    };
    let since = folded.as_ref().map_or(0, |folded| folded.written);
    each_event(connection, seq, since, |logged| {
        match &mut folded {
            Some(folded) => folded.extend([logged.event]),
            // A log without a document begins with the task itself.
            None => match logged.event.into_event() {
                Event::Task(task) => folded = Some(begin(logged.sequence, task)),
                _ => return Err(StoreError::failed("a log does not begin with its task")),
            },
        }
        Ok(true)
    })?;
    let lost = || StoreError::failed("a task has neither a document nor a log");
    let mut folded = folded.ok_or_else(lost)?;
    if folded.sequence != count(row, 2)? as u64 {
        let text = "a log is not as long as its task says";
        return Err(StoreError::failed(text));
    }
    (folded.messages, folded.turn) = (count(row, 3)?, count(row, 12)?);
    if get(row, 10)? {
        folded.checkpoint = Some(Arc::new(body(row, 8)?));
    }
    Ok(folded)
}

/// The log of a task after a sequence number.
pub(super) fn after(
    connection: &Connection,
    of: &str,
    task: &TaskId,
    sequence: u64,
) -> Result<LogPage, StoreError> {
    let (seq, last) = place(connection, of, task)?;
    if sequence == 0 || sequence > last {
        return Ok(LogPage::Unknown);
    }
    let mut batch = limits::ReadBatch::default();
    each_event(connection, seq, sequence, |logged| Ok(batch.push(logged)))?;
    Ok(batch.into_tail())
}

/// Reads the log after a sequence number, for as long as more is wanted.
pub(super) fn each_event(
    connection: &Connection,
    seq: i64,
    sequence: u64,
    mut more: impl FnMut(LogEntry) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    each_row(connection, EVENTS, params![seq, sequence as i64], |row| {
        let lines = row.get_ref(1).map_err(failed)?;
        let lines = lines.as_blob().map_err(StoreError::failed)?;
        for logged in log_rows::events(count(row, 0)? as u64, lines, sequence)? {
            if !more(logged?)? {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// The log of a task after a sequence number.
pub(super) const EVENTS: &str = "select generation, body from task_event
  where task = ?1 and generation > ?2 order by generation";

/// A task's number in the tables, and the length of its log.
pub(super) fn place(
    connection: &Connection,
    of: &str,
    task: &TaskId,
) -> Result<(i64, u64), StoreError> {
    let sql = "select seq, generation from task where owner = ?1 and id = ?2";
    let place = first_row(connection, sql, params![of, task.as_str()], |row| {
        Ok((get(row, 0)?, count(row, 1)? as u64))
    })?;
    place.ok_or(StoreError::NoTask)
}

/// Reads the tasks of a page, if they have at most `limit` bytes.
pub(super) fn page(
    connection: &Connection,
    of: &str,
    listing: &ListQuery,
    found: IndexPage,
    limit: usize,
) -> Result<BoundedValue<Page>, StoreError> {
    let IndexPage {
        total,
        ids,
        mut more,
    } = found;
    let sql = "select bytes from task where owner = ?1 and id = ?2";
    let (mut size, mut tasks) = (limits::PageSize::default(), Vec::new());
    for id in ids {
        let bytes = first_row(connection, sql, params![of, id.as_str()], |row| {
            count(row, 0)
        })?;
        // It may have been removed meanwhile.
        let Some(bytes) = bytes else { continue };
        if !size.admit(bytes) {
            more = true;
            break;
        }
        if size.bytes() > limit {
            return Ok(BoundedValue::Larger(size.bytes()));
        }
        let Some(folded) = load(connection, of, &id)? else {
            continue;
        };
        let task = Arc::unwrap_or_clone(Snapshot::from(folded).task);
        // It may have changed meanwhile, or belong to another context with the same hash.
        if listing.wants(task.context_id.as_ref(), &task.status) {
            tasks.push(task);
        }
    }
    Ok(BoundedValue::Whole(Page::new(tasks, total, more)))
}

/// Returns the outcome of a message that stands in one of these rows, if in any.
pub(super) fn received(
    connection: &Connection,
    of: &str,
    message: &MessageId,
    places: &[i64],
    now: i64,
) -> Result<Option<IdempotencyRecord>, StoreError> {
    let sql = "select digest, task_id, answer from send_dedupe
               where seq = ?1 and owner = ?2 and message_id = ?3 and expires > ?4";
    for seq in places {
        let values = params![seq, of, message.as_str(), now];
        let received = first_row(connection, sql, values, |row| {
            let task: Option<String> = get(row, 1)?;
            let outcome = match task {
                Some(task) => Outcome::Task(task.into()),
                None => Outcome::Message(Box::new(body::<Message>(row, 2)?)),
            };
            Ok(IdempotencyRecord::new(get(row, 0)?, outcome))
        })?;
        if received.is_some() {
            return Ok(received);
        }
    }
    Ok(None)
}

/// A received message as it stands in the tables.
pub(super) struct StoredReceipt {
    pub(super) seq: i64,
    pub(super) owner: String,
    pub(super) message: String,
    pub(super) expires: i64,
    /// Bytes of the answer.
    pub(super) answer: usize,
}

/// Reads at most `limit` messages in the order in which they came, until `more` returns `false`.
pub(super) fn each_receipt(
    connection: &Connection,
    limit: i64,
    mut more: impl FnMut(StoredReceipt) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let sql = "select seq, owner, message_id, expires, coalesce(length(answer), 0)
               from send_dedupe order by seq limit ?1";
    each_row(connection, sql, [limit], |row| {
        more(StoredReceipt {
            seq: get(row, 0)?,
            owner: get(row, 1)?,
            message: get(row, 2)?,
            expires: get(row, 3)?,
            answer: count(row, 4)?,
        })
    })
}

/// Active tasks whose lease has run out.
pub(super) fn orphans(
    connection: &Connection,
    limit: usize,
    now: i64,
) -> Result<Vec<Orphan>, StoreError> {
    let sql = "select owner, id from task indexed by task_active
               where (active = 1 or lease_until > 0) and active = 1 and lease_until <= ?1
               order by lease_until limit ?2";
    rows(connection, sql, params![now, most(limit)], |row| {
        let (owner, task) = key(row)?;
        Ok(Orphan::new(owner, task))
    })
}
