//! Reads of tasks and their logs.

use std::sync::Arc;
use std::time::SystemTime;

use a2a_server::fold::Fold;
use a2a_server::log_rows::{events, parse};
use a2a_server::{Listing, Owner, Page, Snapshot, StoreError, Tail, limits};
use a2a_types::{ContextId, Dialect, Event, Object, Task, TaskId, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};
use uuid::Uuid;

use crate::connections::{Connections, Query, Repeat};
use crate::error::unreadable;
use crate::names::{column, owner_key, read};
use crate::recent::{Folded, TaskRow};
use crate::statement::Statement;

/// Result of the read of a task.
pub(crate) enum Loaded {
    /// The task, folded.
    Whole(Folded),
    /// Number of bytes of a task that is over the limit and was not read.
    Larger(usize),
}

/// Reads a task of at most `limit` bytes; of a task that is `known`, only the rest of its log. It is read as a whole if the
/// known part is not of this log: if it is that of an earlier task, or comes from another server, whose last writes may
/// be lost.
pub(crate) async fn load(
    connections: &Connections,
    key: Uuid,
    known: Option<Folded>,
    limit: usize,
) -> Result<Option<Loaded>, StoreError> {
    let seq = known.as_ref().map_or(-1, |known| known.row.seq);
    let sequence = known.as_ref().map_or(0, |known| known.sequence as i64);
    let server = known.as_ref().map(|known| known.row.server);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let query = Query::new(LOAD)
        .with(&key, Type::UUID)
        .with(&seq, Type::INT8)
        .with(&sequence, Type::INT8)
        .with(&limit, Type::INT8)
        .with(&server, Type::TIMESTAMPTZ);
    let rows = connections.run(&query, Repeat::Harmless).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let bytes = number(row, 4)?;
    if !get::<bool>(row, 5)? {
        return Ok(Some(Loaded::Larger(bytes)));
    }
    let mut folded = match known {
        Some(known) if get(row, 11)? => known,
        _ => from_document(row)?,
    };
    let (sequences, bodies): (Vec<i64>, Vec<&[u8]>) = (get(row, 9)?, get(row, 10)?);
    for (last, body) in sequences.into_iter().zip(bodies) {
        for logged in events(last as u64, body, folded.sequence)? {
            folded.extend([logged?.event]);
        }
    }
    (folded.messages, folded.bytes) = (number(row, 3)?, bytes);
    folded.turn = number(row, 13)?;
    let checkpoint: Option<&[u8]> = get(row, 8)?;
    folded.checkpoint = checkpoint.map(parse::<Object>).transpose()?.map(Arc::new);
    match folded.sequence == number(row, 2)? as u64 {
        true => Ok(Some(Loaded::Whole(folded))),
        false => Err(StoreError::failed("a log is not as long as its task says")),
    }
}

/// A task and the end of its log, in one row. Of a task over the limit only the numbers are read. The last columns are
/// the log after the known part, or after the document; whether the known part is part of the log; and the server.
const LOAD: &str = "
with t as materialized (select seq, dialect, sequence, messages, bytes, turn,
  seq = $2 and sequence >= $3 and pg_postmaster_start_time() = $5 as is_known from @task where key = $1)
select t.seq, t.dialect, t.sequence, t.messages, t.bytes, t.bytes <= $4,
  d.sequence, d.body, c.body, l.sequences, l.bodies, t.is_known, pg_postmaster_start_time(),
  t.turn
from t
  left join @task_doc d on not t.is_known and t.bytes <= $4 and d.task = t.seq
  left join @task_checkpoint c on t.bytes <= $4 and c.task = t.seq
  left join lateral (
    select coalesce(array_agg(e.sequence order by e.sequence), '{}') as sequences,
      coalesce(array_agg(e.body order by e.sequence), '{}') as bodies
    from @task_event e
    where t.bytes <= $4 and e.task = t.seq
      and e.sequence > case when t.is_known then $3 else coalesce(d.sequence, 0) end) l on true";

/// Returns the task as its document has it, or the first entry of its log.
fn from_document(row: &Row) -> Result<Folded, StoreError> {
    let document: Option<&[u8]> = get(row, 7)?;
    let (written, task): (u64, Task) = match document {
        Some(body) => (number(row, 6)? as u64, parse(body)?),
        None => {
            let (sequences, bodies): (Vec<i64>, Vec<&[u8]>) = (get(row, 9)?, get(row, 10)?);
            let first = sequences.first().zip(bodies.first());
            let (last, body) = first.ok_or_else(|| StoreError::failed("a task has no log"))?;
            let first = events(*last as u64, body, 0)?.next();
            match first.transpose()?.map(|logged| logged.event.into_event()) {
                Some(Event::Task(task)) => (1, task),
                _ => return Err(StoreError::failed("a log does not begin with its task")),
            }
        }
    };
    let stored = TaskRow {
        seq: get(row, 0)?,
        server: get(row, 12)?,
    };
    Ok(Fold::new(stored, task.into(), dialect(row, 1)?, written))
}

/// Reads the log of a task after a sequence number.
pub(crate) async fn after(
    connections: &Connections,
    key: Uuid,
    sequence: u64,
) -> Result<Tail, StoreError> {
    let place = i64::try_from(sequence).unwrap_or(i64::MAX);
    let query = Query::new(AFTER)
        .with(&key, Type::UUID)
        .with(&place, Type::INT8);
    let rows = connections.run(&query, Repeat::Harmless).await?;
    let first = rows.first().ok_or(StoreError::NoTask)?;
    if sequence == 0 || sequence > number(first, 0)? as u64 {
        return Ok(Tail::Unknown);
    }
    let mut batch = limits::Batch::default();
    'rows: for row in &rows {
        let Some(last) = get::<Option<i64>>(row, 1)? else {
            break;
        };
        for logged in events(last as u64, get(row, 2)?, sequence)? {
            if !batch.push(logged?) {
                break 'rows;
            }
        }
    }
    Ok(batch.into_tail())
}

/// The length of a log, and its rows after a sequence number: as many as a batch may have, and few bytes more.
const AFTER: &str = "
select t.sequence, e.sequence, e.body from @task t left join lateral (
  select sequence, body from (
    select sequence, body, sum(length(body)) over (order by sequence) - length(body) as before
    from (select sequence, body from @task_event where task = t.seq and sequence > $2
      order by sequence limit 32) first) counted
  where before < 131072) e on true
where t.key = $1 order by e.sequence";

/// Returns the length of a log, and the server that has it.
pub(crate) async fn head(
    connections: &Connections,
    key: Uuid,
) -> Result<(u64, SystemTime), StoreError> {
    let query = Query::new("select sequence, pg_postmaster_start_time() from @task where key = $1");
    let query = query.with(&key, Type::UUID);
    let rows = connections.run(&query, Repeat::Harmless).await?;
    let row = rows.first().ok_or(StoreError::NoTask)?;
    Ok((number(row, 0)? as u64, get(row, 1)?))
}

/// Keys of a page of tasks.
pub(crate) struct PageIds {
    pub(crate) keys: Vec<Uuid>,
    pub(crate) total: usize,
    pub(crate) more: bool,
    pub(crate) bytes: usize,
}

/// Reads the keys of the tasks on a page.
pub(crate) async fn page(
    connections: &Connections,
    owner: &Owner,
    listing: &Listing,
) -> Result<PageIds, StoreError> {
    let of = owner_key(owner);
    let context = listing
        .context_id
        .as_ref()
        .map(ContextId::as_str)
        .map(column);
    let state = listing.status.map(|state| state.as_str());
    let since = listing.since.map(Timestamp::as_millis);
    let time = listing.after.as_ref().map(|after| after.time.0);
    let id = listing
        .after
        .as_ref()
        .map(|after| column(after.task.as_str()));
    let limit = i64::try_from(listing.limit)
        .unwrap_or(i64::MAX)
        .saturating_add(1);
    // Conditions that a statement does not have cannot keep the database from counting in the index alone.
    let wanted = |what: &str| {
        let mut query = Statement::default();
        query.add(what, &[]);
        query.add(" from @task where owner_key = ?", &[(&of, Type::UUID)]);
        if context.is_some() {
            query.add(" and context_id = ?", &[(&context, Type::TEXT)]);
        }
        if state.is_some() {
            query.add(" and state = ?", &[(&state, Type::TEXT)]);
        }
        if since.is_some() {
            query.add(" and status_time >= ?", &[(&since, Type::INT8)]);
        }
        query
    };
    let mut page = wanted("select key, bytes");
    if time.is_some() {
        page.add(
            " and status_time <= ? and (status_time < ? or id > ?)",
            &[(&time, Type::INT8), (&time, Type::INT8), (&id, Type::TEXT)],
        );
    }
    let order = " order by status_time desc, id limit ?";
    page.add(order, &[(&limit, Type::INT8)]);
    let page = page.into_query();
    let rows = connections.run(&page, Repeat::Harmless).await?;
    let (mut keys, mut size, mut more) = (Vec::new(), limits::PageSize::default(), false);
    for row in &rows {
        more = keys.len() == listing.limit || !size.admit(number(row, 1)?);
        if more {
            break;
        }
        keys.push(get(row, 0)?);
    }
    let total = match listing.after.is_none() && !more {
        true => keys.len(),
        false => {
            let count = wanted("select count(*)").into_query();
            let rows = connections.run(&count, Repeat::Harmless).await?;
            rows.first().map_or(Ok(0), |row| number(row, 0))?
        }
    };
    let bytes = size.bytes();
    Ok(PageIds {
        keys,
        total,
        more,
        bytes,
    })
}

/// Makes a page of tasks. A task that was removed in between is left out.
pub(crate) fn to_page(ids: &PageIds, tasks: Vec<Folded>) -> Page {
    let task = |folded| Arc::unwrap_or_clone(Snapshot::from(folded).task);
    Page::new(tasks.into_iter().map(task).collect(), ids.total, ids.more)
}

/// Reads a column.
pub(crate) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, StoreError> {
    row.try_get(column).map_err(unreadable)
}

/// Reads a number that is never negative.
pub(crate) fn number(row: &Row, column: usize) -> Result<usize, StoreError> {
    let number = match *row.columns()[column].type_() {
        Type::INT4 => i64::from(get::<i32>(row, column)?),
        _ => get::<i64>(row, column)?,
    };
    usize::try_from(number).map_err(unreadable)
}

/// Reads a protocol version.
pub(crate) fn dialect(row: &Row, column: usize) -> Result<Dialect, StoreError> {
    let version: &str = get(row, column)?;
    let unknown = || StoreError::failed(format!("there is no protocol version `{version}`"));
    Dialect::from_version(version).ok_or_else(unknown)
}

/// Reads the id of a task.
pub(crate) fn task_id(row: &Row, column: usize) -> Result<TaskId, StoreError> {
    Ok(read(get(row, column)?).into())
}
