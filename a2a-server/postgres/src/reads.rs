//! Reads of tasks and their logs.

use std::sync::Arc;

use a2a_server::fold::Fold;
use a2a_server::log_rows::{events, parse};
use a2a_server::{ListQuery, LogPage, Owner, Page, Snapshot, StoreError, TaskBudget, limits};
use a2a_types::{ContextId, Event, Object, Task, TaskId, Timestamp};
use futures_util::{StreamExt, stream};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::{get, number, protocol_version};
use crate::connections::{Connections, Query, Repeat};
use crate::names::{Key, column, owner_key, task_key};
use crate::recent::{Folded, TaskRow};
use crate::store_state::StoreState;

/// Result of the read of a task.
enum Loaded {
    /// The task, folded.
    Whole(Folded),
    /// Number of bytes of a task that is over the limit and was not read.
    Larger(usize),
}

/// Reads a task as it stands.
pub(crate) async fn snapshot(
    store: &StoreState,
    owner: &Owner,
    task: &TaskId,
) -> Result<Option<Snapshot>, StoreError> {
    let (key, id) = ((owner.clone(), task.clone()), task_key(owner, task));
    let large = match load_bounded(store, &key, id, TaskBudget::SMALL).await? {
        None => return Ok(None),
        Some(Loaded::Whole(folded)) => return Ok(Some(folded.into())),
        Some(Loaded::Larger(bytes)) => bytes,
    };
    let share = store.loaded.take(large).await?;
    let folded = load(store, &key, id).await?;
    Ok(folded.map(|folded| {
        let mut snapshot = Snapshot::from(folded);
        snapshot.share = share;
        snapshot
    }))
}

/// Reads a task: from the database only the part that the cache does not have.
pub(crate) async fn load(
    store: &StoreState,
    key: &Key,
    id: Uuid,
) -> Result<Option<Folded>, StoreError> {
    match load_bounded(store, key, id, usize::MAX).await? {
        Some(Loaded::Whole(folded)) => Ok(Some(folded)),
        Some(Loaded::Larger(_)) | None => Ok(None),
    }
}

/// Loads a task as [`load`] does, if it has at most `limit` bytes.
async fn load_bounded(
    store: &StoreState,
    key: &Key,
    id: Uuid,
    limit: usize,
) -> Result<Option<Loaded>, StoreError> {
    let known = store.recent.draft(key);
    let cached = known.as_ref().map_or(0, |known| known.sequence);
    let loaded = load_rest(&store.connections, id, known, limit).await?;
    match &loaded {
        Some(Loaded::Whole(folded)) => {
            if folded.sequence < cached {
                // The end of the log is lost.
                store.recent.forget(key);
            }
            store.recent.keep(key, folded);
        }
        Some(Loaded::Larger(_)) => {}
        None => store.recent.forget(key),
    }
    Ok(loaded)
}

/// Reads a task of at most `limit` bytes; of a task that is `known`, only the rest of its log. It is read as a whole if the
/// known part is not of this log: if it is that of an earlier task, or comes from another server, whose last writes may
/// be lost.
async fn load_rest(
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
    let Some(row) = connections.row(&query, Repeat::Harmless).await? else {
        return Ok(None);
    };
    let bytes = number(&row, 4)?;
    if !get::<bool>(&row, 5)? {
        return Ok(Some(Loaded::Larger(bytes)));
    }
    let mut folded = match known {
        Some(known) if get(&row, 11)? => known,
        _ => from_document(&row)?,
    };
    let (sequences, bodies): (Vec<i64>, Vec<&[u8]>) = (get(&row, 9)?, get(&row, 10)?);
    for (last, body) in sequences.into_iter().zip(bodies) {
        for logged in events(last as u64, body, folded.sequence)? {
            folded.extend([logged?.event]);
        }
    }
    (folded.messages, folded.bytes) = (number(&row, 3)?, bytes);
    folded.turn = number(&row, 13)?;
    let checkpoint: Option<&[u8]> = get(&row, 8)?;
    folded.checkpoint = checkpoint.map(parse::<Object>).transpose()?.map(Arc::new);
    match folded.sequence == number(&row, 2)? as u64 {
        true => Ok(Some(Loaded::Whole(folded))),
        false => Err(StoreError::failed("a log is not as long as its task says")),
    }
}

/// A task and the end of its log, in one row. Of a task over the limit only the numbers are read. The last columns are
/// the log after the known part, or after the document; whether the known part is part of the log; and the server.
const LOAD: &str = "
with t as materialized (select seq, protocol_version, sequence, messages, bytes, turn,
  seq = $2 and sequence >= $3 and pg_postmaster_start_time() = $5 as is_known from @task where key = $1)
select t.seq, t.protocol_version, t.sequence, t.messages, t.bytes, t.bytes <= $4,
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
    Ok(Fold::new(
        stored,
        task.into(),
        protocol_version(get(row, 1)?)?,
        written,
    ))
}

/// Reads the log of a task after a sequence number.
pub(crate) async fn events_after(
    store: &StoreState,
    owner: &Owner,
    task: &TaskId,
    sequence: u64,
) -> Result<LogPage, StoreError> {
    if let Some(tail) = store.recent.after(&(owner.clone(), task.clone()), sequence) {
        return Ok(tail);
    }
    let key = task_key(owner, task);
    let place = i64::try_from(sequence).unwrap_or(i64::MAX);
    let query = Query::new(AFTER)
        .with(&key, Type::UUID)
        .with(&place, Type::INT8);
    let rows = store.connections.run(&query, Repeat::Harmless).await?;
    let first = rows.first().ok_or(StoreError::NoTask)?;
    if sequence == 0 || sequence > number(first, 0)? as u64 {
        return Ok(LogPage::Unknown);
    }
    let mut batch = limits::ReadBatch::default();
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

/// Reads the length of a log, whose task is followed from now on.
pub(crate) async fn head(
    store: &StoreState,
    owner: &Owner,
    task: &TaskId,
) -> Result<u64, StoreError> {
    let key = task_key(owner, task);
    store.hints.follow(key, owner, task);
    let query = Query::new("select sequence, pg_postmaster_start_time() from @task where key = $1");
    let query = query.with(&key, Type::UUID);
    let row = store.connections.row(&query, Repeat::Harmless).await?;
    let row = row.ok_or(StoreError::NoTask)?;
    store.recent.note_server(get(&row, 1)?);
    Ok(number(&row, 0)? as u64)
}

/// Reads one page of an owner's tasks. A task that is removed meanwhile is left out.
pub(crate) async fn list(
    store: &StoreState,
    owner: &Owner,
    listing: ListQuery,
) -> Result<Page, StoreError> {
    let ids = page_ids(&store.connections, owner, &listing).await?;
    let share = store.loaded.take(ids.bytes).await?;
    let load = |id| load_rest(&store.connections, id, None, usize::MAX);
    let mut loads = stream::iter(ids.keys.into_iter().map(load)).buffered(LOADED_AT_ONCE);
    let mut tasks = Vec::new();
    while let Some(loaded) = loads.next().await {
        if let Some(Loaded::Whole(folded)) = loaded? {
            tasks.push(Arc::unwrap_or_clone(Snapshot::from(folded).task));
        }
    }
    let mut page = Page::new(tasks, ids.total, ids.more);
    page.share = share;
    Ok(page)
}

/// Number of tasks of a page that are read concurrently.
const LOADED_AT_ONCE: usize = 8;

/// Keys of a page of tasks.
struct PageIds {
    keys: Vec<Uuid>,
    total: usize,
    more: bool,
    bytes: usize,
}

/// Reads the keys of the tasks on a page.
async fn page_ids(
    connections: &Connections,
    owner: &Owner,
    listing: &ListQuery,
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
    // The statement has only the conditions that it needs, so that the database can count in the index
    // alone.
    let wanted = |what: &'static str| {
        let mut query = Query::new(what);
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
            let count = wanted("select count(*)");
            let row = connections.row(&count, Repeat::Harmless).await?;
            row.map_or(Ok(0), |row| number(&row, 0))?
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
