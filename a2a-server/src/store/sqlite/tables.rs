//! Queries of the writer and the readers.

use std::sync::Arc;

use a2a_types::{
    ContextId, Event, Message, MessageId, Task, TaskId, TaskPushNotificationConfig, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::fold::Fold;
use super::super::{
    Listing, Logged, Notification, Orphan, Outcome, Page, Received, Snapshot, StoreError, Tail,
    TaskKey, limits, log_rows,
};
use super::columns::{body, count, dialect, get, key, most, trace};
use super::schema::failed;

/// A value that was read, unless it is larger than it may be.
pub(super) enum BoundedValue<T> {
    Whole(T),
    /// It has this number of bytes, and was not read.
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
}

/// Reads a task: the last time that it was written down, and what came since.
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
    let sql = "select seq, dialect, task.generation, messages, bytes, lease_epoch,
                 task_doc.generation, task_doc.body, task_checkpoint.body,
                 task_doc.body is not null, task_checkpoint.body is not null,
                 exists(select 1 from push_config where push_config.task = seq), turn
               from task left join task_doc on task_doc.task = seq
                 left join task_checkpoint on task_checkpoint.task = seq
               where owner = ?1 and id = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement
        .query(params![of, task.as_str()])
        .map_err(failed)?;
    let Some(row) = rows.next().map_err(failed)? else {
        return Ok(None);
    };
    let bytes = count(row, 4)?;
    if bytes > limit {
        return Ok(Some(BoundedValue::Larger(bytes)));
    }
    let table_row = TaskRow {
        seq: get(row, 0)?,
        epoch: count(row, 5)? as u64,
        has_configs: get(row, 11)?,
    };
    let (seq, dialect) = (table_row.seq, dialect(row, 1)?);
    let fold = |sequence, task: Task| {
        let mut folded = Fold::new(table_row.clone(), task.into(), dialect, sequence);
        folded.bytes = bytes;
        folded
    };
    let mut folded = match get::<bool>(row, 9)? {
        true => Some(fold(count(row, 6)? as u64, body(row, 7)?)),
        false => None,
    };
    let since = folded.as_ref().map_or(0, |folded| folded.written);
    each_event(connection, seq, since, |logged| {
        match &mut folded {
            Some(folded) => folded.extend([logged.event]),
            // A log without a document begins with the task itself.
            None => match logged.event.into_event() {
                Event::Task(task) => folded = Some(fold(logged.sequence, task)),
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
    Ok(Some(BoundedValue::Whole(folded)))
}

/// The log of a task after a sequence number.
pub(super) fn after(
    connection: &Connection,
    of: &str,
    task: &TaskId,
    sequence: u64,
) -> Result<Tail, StoreError> {
    let (seq, last) = place(connection, of, task)?.ok_or(StoreError::NoTask)?;
    if sequence == 0 || sequence > last {
        return Ok(Tail::Unknown);
    }
    let mut batch = limits::Batch::default();
    each_event(connection, seq, sequence, |logged| Ok(batch.push(logged)))?;
    Ok(batch.into_tail())
}

/// Reads the log after a sequence number, for as long as more is wanted.
pub(super) fn each_event(
    connection: &Connection,
    seq: i64,
    sequence: u64,
    mut more: impl FnMut(Logged) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(EVENTS).map_err(failed)?;
    let values = params![seq, sequence as i64];
    let mut rows = statement.query(values).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let lines = row.get_ref(1).map_err(failed)?;
        let lines = lines.as_blob().map_err(StoreError::failed)?;
        for logged in log_rows::events(count(row, 0)? as u64, lines, sequence)? {
            if !more(logged?)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The log of a task after a sequence number.
pub(super) const EVENTS: &str = "select generation, body from task_event
  where task = ?1 and generation > ?2 order by generation";

/// A task's number in the tables, and the length of its log.
pub(super) fn place(
    connection: &Connection,
    of: &str,
    task: &TaskId,
) -> Result<Option<(i64, u64)>, StoreError> {
    let sql = "select seq, generation from task where owner = ?1 and id = ?2";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let place = statement
        .query_row(params![of, task.as_str()], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)? as u64))
        })
        .optional();
    place.map_err(failed)
}

/// Reads one page of an owner's tasks, if they have at most `limit` bytes.
pub(super) fn page(
    connection: &Connection,
    of: &str,
    listing: &Listing,
    limit: usize,
) -> Result<BoundedValue<Page>, StoreError> {
    let context = listing.context_id.as_ref().map(ContextId::as_str);
    let state = listing.status.map(|state| state.as_str());
    let since = listing.since.map(Timestamp::as_millis);
    let count_sql = format!("select (select count(*) {IDLE}) + (select count(*) {ACTIVE})");
    let mut statement = connection.prepare_cached(&count_sql).map_err(failed)?;
    let total: i64 = statement
        .query_row(params![of, context, state, since], |row| row.get(0))
        .map_err(failed)?;
    let page_sql = format!(
        "select id, status_time, bytes {IDLE} {LATER}
         union all select id, status_time, bytes {ACTIVE} {LATER}
         order by status_time desc, id limit ?7"
    );
    let mut statement = connection.prepare_cached(&page_sql).map_err(failed)?;
    let time = listing.after.as_ref().map(|after| after.time.0);
    let id = listing.after.as_ref().map(|after| after.task.as_str());
    let one_more = most(listing.limit).saturating_add(1);
    let values = params![of, context, state, since, time, id, one_more];
    let mut rows = statement.query(values).map_err(failed)?;
    let (mut ids, mut size, mut more) = (Vec::new(), limits::PageSize::default(), false);
    while let Some(row) = rows.next().map_err(failed)? {
        more = ids.len() == listing.limit || !size.admit(count(row, 2)?);
        if more {
            break;
        }
        ids.push(TaskId::from(get::<String>(row, 0)?));
    }
    drop(rows);
    if size.bytes() > limit {
        return Ok(BoundedValue::Larger(size.bytes()));
    }
    let load = |id: TaskId| {
        let folded = load(connection, of, &id)?.ok_or(StoreError::NoTask)?;
        Ok(Arc::unwrap_or_clone(Snapshot::from(folded).task))
    };
    let tasks: Result<_, StoreError> = ids.into_iter().map(load).collect();
    Ok(BoundedValue::Whole(Page::new(tasks?, total as usize, more)))
}

/// Filter of a listing, for tasks that are not worked on.
const IDLE: &str = "from task indexed by task_list where active = 0 and owner = ?1
  and (?2 is null or context_id = ?2) and (?3 is null or state = ?3)
  and (?4 is null or status_time >= ?4)";
/// The same for tasks that are worked on.
const ACTIVE: &str = "from task indexed by task_active where active = 1
  and (active = 1 or lease_until > 0) and owner = ?1
  and (?2 is null or context_id = ?2) and (?3 is null or state = ?3)
  and (?4 is null or status_time >= ?4)";
/// Only tasks after the page before.
const LATER: &str = "and (?5 is null or status_time < ?5 or (status_time = ?5 and id > ?6))";

/// The webhooks of a task, in order of creation.
pub(super) fn configs(
    connection: &Connection,
    of: &str,
    task: &TaskId,
) -> Result<Vec<TaskPushNotificationConfig>, StoreError> {
    let (seq, _) = place(connection, of, task)?.ok_or(StoreError::NoTask)?;
    let sql = "select body from push_config where task = ?1 order by position";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query(params![seq]).map_err(failed)?;
    let mut configs = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        configs.push(body(row, 0)?);
    }
    Ok(configs)
}

/// Returns the outcome of a message that stands in one of these rows, if in any.
pub(super) fn received(
    connection: &Connection,
    of: &str,
    message: &MessageId,
    places: &[i64],
    now: i64,
) -> Result<Option<Received>, StoreError> {
    let sql = "select digest, task_id, answer from send_dedupe
               where seq = ?1 and owner = ?2 and message_id = ?3 and expires > ?4";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    for seq in places {
        let values = params![seq, of, message.as_str(), now];
        let mut rows = statement.query(values).map_err(failed)?;
        let Some(row) = rows.next().map_err(failed)? else {
            continue;
        };
        let task: Option<String> = get(row, 1)?;
        let outcome = match task {
            Some(task) => Outcome::Task(task.into()),
            None => Outcome::Message(Box::new(body::<Message>(row, 2)?)),
        };
        let digest = get(row, 0)?;
        return Ok(Some(Received::new(digest, outcome)));
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
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query(params![limit]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let stored = StoredReceipt {
            seq: get(row, 0)?,
            owner: get(row, 1)?,
            message: get(row, 2)?,
            expires: get(row, 3)?,
            answer: count(row, 4)?,
        };
        if !more(stored)? {
            break;
        }
    }
    Ok(())
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
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query(params![now, most(limit)]).map_err(failed)?;
    let mut orphans = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let (owner, task) = key(row, 0, 1)?;
        orphans.push(Orphan::new(owner, task));
    }
    Ok(orphans)
}

/// The first notification of each webhook, if it is due; with its task's number in the tables.
pub(super) fn due(
    connection: &Connection,
    limit: usize,
    now: i64,
) -> Result<Vec<(i64, Notification)>, StoreError> {
    let sql =
        "select owner, task.id, push_config.body, push_config.dialect, o.generation, o.attempt,
                 o.task, o.traceparent, o.tracestate
               from push_outbox o join task on task.seq = o.task
                 join push_config on push_config.task = o.task and push_config.id = o.config_id
               where o.dead is null and o.next_at <= ?1 and not exists(
                 select 1 from push_outbox before where before.task = o.task
                   and before.config_id = o.config_id and before.generation < o.generation
                   and before.dead is null)
               order by o.next_at limit ?2";
    notifications(connection, sql, params![now, most(limit)])
}

/// Notifications that were given up.
pub(super) fn dead_letters(
    connection: &Connection,
    limit: usize,
) -> Result<Vec<Notification>, StoreError> {
    let sql =
        "select owner, task.id, push_config.body, push_config.dialect, o.generation, o.attempt,
                 o.task, o.traceparent, o.tracestate
               from push_outbox o join task on task.seq = o.task
                 join push_config on push_config.task = o.task and push_config.id = o.config_id
               where o.dead is not null order by o.dead, o.generation limit ?1";
    let dead = notifications(connection, sql, params![most(limit)])?;
    Ok(dead
        .into_iter()
        .map(|(_, notification)| notification)
        .collect())
}

/// Counts the notifications that are neither delivered nor given up.
pub(super) fn undelivered(connection: &Connection) -> Result<usize, StoreError> {
    let sql = "select count(*) from push_outbox where dead is null";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let count: i64 = statement.query_row([], |row| row.get(0)).map_err(failed)?;
    Ok(count.try_into().unwrap_or(usize::MAX))
}

fn notifications(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<(i64, Notification)>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query(values).map_err(failed)?;
    let mut notifications = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let (owner, _) = key(row, 0, 1)?;
        let notification = Notification {
            owner,
            config: body(row, 2)?,
            dialect: dialect(row, 3)?,
            sequence: count(row, 4)? as u64,
            attempt: u32::try_from(count(row, 5)?).unwrap_or(u32::MAX),
            trace: trace(row, 7, 8)?,
        };
        notifications.push((get(row, 6)?, notification));
    }
    Ok(notifications)
}

/// Returns tasks that ended at `before` or earlier, and in any case the `surplus` tasks that ended first; at most
/// `limit`.
pub(super) fn ended(
    connection: &Connection,
    before: i64,
    surplus: i64,
    limit: usize,
) -> Result<Vec<(i64, TaskKey)>, StoreError> {
    let sql = "select seq, owner, id, ended from task where ended is not null
               order by ended, seq limit ?1";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query(params![most(limit)]).map_err(failed)?;
    let mut ended = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let is_surplus = (ended.len() as i64) < surplus;
        if !is_surplus && get::<i64>(row, 3)? > before {
            break;
        }
        ended.push((get(row, 0)?, key(row, 1, 2)?));
    }
    Ok(ended)
}

/// Tasks that have waited for their caller since long ago; at most `limit`.
pub(super) fn waiting(
    connection: &Connection,
    before: i64,
    now: i64,
    limit: usize,
) -> Result<Vec<(i64, TaskKey)>, StoreError> {
    let sql = "select seq, owner, id from task where waits < ?1 and lease_until <= ?2
               order by waits limit ?3";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement
        .query(params![before, now, most(limit)])
        .map_err(failed)?;
    let mut waiting = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        waiting.push((get(row, 0)?, key(row, 1, 2)?));
    }
    Ok(waiting)
}
