//! Webhooks of tasks, and the outbox of their notifications.

use std::time::Duration;

use a2a_transport::TraceContext;
use a2a_types::{ConfigId, ProtocolVersion, TaskId, TaskPushNotificationConfig};
use rusqlite::{Connection, Params, params};

use super::super::log_rows::{LogRows, write};
use super::super::{DeliveryResult, Notification, Owner, StoreError, TaskKey, limits};
use super::columns::{body, count, first_row, get, most, owner, protocol_version, rows, trace};
use super::tables::place;
use super::transaction::WriteTransaction;

/// Stores a webhook, in place of one with the same id.
pub(super) fn put_config(
    transaction: &mut WriteTransaction<'_>,
    owner: &Owner,
    config: &TaskPushNotificationConfig,
    protocol_version: ProtocolVersion,
) -> Result<(), StoreError> {
    limits::admit_config(config)?;
    let key = (owner.clone(), config.task_id.clone());
    let of = key.0.to_json();
    let (seq, _) = place(transaction.connection, &of, &key.1)?;
    let sql = "update push_config set body = ?3, protocol_version = ?4 where task = ?1 and id = ?2";
    let (body, version) = (write(config)?, protocol_version.version());
    if transaction.execute(sql, params![seq, config.id.as_str(), &body, version])? == 0 {
        let sql = "select count(*) from push_config where task = ?1";
        let known = first_row(transaction.connection, sql, [seq], |row| count(row, 0))?;
        if known >= Some(limits::MAX_CONFIGS) {
            return Err(StoreError::TooManyConfigs(limits::MAX_CONFIGS));
        }
        insert_config(transaction, seq, &config.id, protocol_version, &body)?;
    }
    let mut folded = transaction.take(&key, &of)?;
    folded.row.has_configs = true;
    transaction.keep(key, folded);
    Ok(())
}

/// Adds a webhook after the others of its task.
pub(super) fn insert_config(
    transaction: &WriteTransaction<'_>,
    seq: i64,
    id: &ConfigId,
    protocol_version: ProtocolVersion,
    body: &[u8],
) -> Result<(), StoreError> {
    transaction.execute(
        "insert into push_config(task, position, id, protocol_version, body)
         select ?1, coalesce(max(position) + 1, 0), ?2, ?3, ?4
         from push_config where task = ?1",
        params![seq, id.as_str(), protocol_version.version(), body],
    )?;
    Ok(())
}

/// Removes a webhook, and its notifications.
pub(super) fn delete_config(
    transaction: &WriteTransaction<'_>,
    key: &TaskKey,
    config: &ConfigId,
) -> Result<(), StoreError> {
    let (seq, _) = place(transaction.connection, &key.0.to_json(), &key.1)?;
    for sql in [
        "delete from push_config where task = ?1 and id = ?2",
        "delete from push_outbox where task = ?1 and config_id = ?2",
    ] {
        transaction.execute(sql, params![seq, config.as_str()])?;
    }
    Ok(())
}

/// Reads the webhooks of a task, in order of creation.
pub(super) fn configs(
    connection: &Connection,
    of: &str,
    task: &TaskId,
) -> Result<Vec<TaskPushNotificationConfig>, StoreError> {
    let (seq, _) = place(connection, of, task)?;
    let sql = "select body from push_config where task = ?1 order by position";
    rows(connection, sql, [seq], |row| body(row, 0))
}

/// Queues notifications of the written events for the task's webhooks.
pub(super) fn enqueue(
    transaction: &WriteTransaction<'_>,
    seq: i64,
    log_rows: &LogRows,
) -> Result<(), StoreError> {
    let trace = log_rows.trace.as_ref();
    for sequence in &log_rows.notified {
        transaction.execute(
            "insert into push_outbox(task, config_id, generation, attempt, next_at,
               traceparent, tracestate)
             select task, id, ?2, 0, iif(exists(
                 select 1 from push_outbox before where before.task = push_config.task
                   and before.config_id = push_config.id and before.dead is null), ?6, ?3),
               ?4, ?5 from push_config where task = ?1",
            params![
                seq,
                *sequence as i64,
                transaction.now,
                trace.map(TraceContext::traceparent),
                trace.and_then(TraceContext::tracestate),
                BEHIND,
            ],
        )?;
    }
    Ok(())
}

/// Takes the first notification of each webhook, if it is due.
pub(super) fn take(
    transaction: &WriteTransaction<'_>,
    limit: usize,
    term: Duration,
) -> Result<Vec<Notification>, StoreError> {
    let (now, until) = (transaction.now, transaction.until(term));
    let due = "o.dead is null and o.next_at <= ?1 and not exists(
                 select 1 from push_outbox before where before.task = o.task
                   and before.config_id = o.config_id and before.generation < o.generation
                   and before.dead is null)
               order by o.next_at limit ?2";
    let due = notifications(transaction.connection, due, params![now, most(limit)])?;
    let mut taken = Vec::new();
    for (seq, notification) in due {
        let (config, sequence) = (&notification.config.id, notification.sequence as i64);
        transaction.execute(
            "update push_outbox set attempt = attempt + 1, next_at = ?4, taken = 1
             where task = ?1 and config_id = ?2 and generation = ?3",
            params![seq, config.as_str(), sequence, until],
        )?;
        taken.push(notification);
    }
    Ok(taken)
}

/// Records the outcome of an attempt to deliver a notification.
pub(super) fn record_delivery(
    transaction: &WriteTransaction<'_>,
    key: &TaskKey,
    config: &ConfigId,
    (sequence, attempt): (u64, u32),
    settlement: DeliveryResult,
) -> Result<(), StoreError> {
    // A task that was removed has no notification to settle.
    let seq = match place(transaction.connection, &key.0.to_json(), &key.1) {
        Err(StoreError::NoTask) => return Ok(()),
        place => place?.0,
    };
    let (config, sequence, now) = (config.as_str(), sequence as i64, transaction.now);
    let update = |change: &str, at: i64| {
        let sql = format!(
            "update push_outbox set {change}, taken = 0 where task = ?1 and config_id = ?2
               and generation = ?3 and attempt = ?5 + (dead is null)"
        );
        transaction.execute(&sql, params![seq, config, sequence, at, attempt])
    };
    match settlement {
        DeliveryResult::Delivered => transaction.execute(
            "delete from push_outbox where task = ?1 and config_id = ?2 and generation = ?3",
            params![seq, config, sequence],
        )?,
        DeliveryResult::Retry(pause) => {
            update("next_at = ?4, dead = null", transaction.until(pause))?
        }
        DeliveryResult::Deferred(pause) => {
            let change = "next_at = ?4, dead = null, attempt = max(attempt - 1, 0)";
            update(change, transaction.until(pause))?
        }
        DeliveryResult::DeadLetter => update("dead = ?4", now)?,
    };
    if matches!(
        settlement,
        DeliveryResult::Delivered | DeliveryResult::DeadLetter
    ) {
        // The next one of that webhook may go.
        transaction.execute(
            "update push_outbox set next_at = ?3
             where task = ?1 and config_id = ?2 and next_at = ?4 and generation = (
               select min(generation) from push_outbox
               where task = ?1 and config_id = ?2 and dead is null)",
            params![seq, config, now, BEHIND],
        )?;
    }
    Ok(())
}

/// Reads the notifications that were given up.
pub(super) fn dead_letters(
    connection: &Connection,
    limit: usize,
) -> Result<Vec<Notification>, StoreError> {
    let dead = "o.dead is not null order by o.dead, o.generation limit ?1";
    let dead = notifications(connection, dead, [most(limit)])?;
    Ok(dead.into_iter().map(|(_, dead)| dead).collect())
}

/// Counts the notifications that are neither delivered nor given up.
pub(super) fn undelivered(connection: &Connection) -> Result<usize, StoreError> {
    let sql = "select count(*) from push_outbox where dead is null";
    let undelivered = first_row(connection, sql, [], |row| count(row, 0))?;
    Ok(undelivered.unwrap_or_default())
}

/// Reads the notifications with these properties; with the numbers of their tasks in the tables.
fn notifications(
    connection: &Connection,
    wanted: &str,
    values: impl Params,
) -> Result<Vec<(i64, Notification)>, StoreError> {
    let sql = format!(
        "select owner, push_config.body, push_config.protocol_version, o.generation, o.attempt, o.task,
           o.traceparent, o.tracestate
         from push_outbox o join task on task.seq = o.task
           join push_config on push_config.task = o.task and push_config.id = o.config_id
         where {wanted}"
    );
    rows(connection, &sql, values, |row| {
        let notification = Notification {
            owner: owner(row, 0)?,
            config: body(row, 1)?,
            protocol_version: protocol_version(row, 2)?,
            sequence: count(row, 3)? as u64,
            attempt: u32::try_from(count(row, 4)?).unwrap_or(u32::MAX),
            trace: trace(row, 6, 7)?,
        };
        Ok((get(row, 5)?, notification))
    })
}

/// Due time of a notification that waits behind another of its webhook, which gets its real due time when
/// that one is settled. So a search for due notifications skips all that wait behind an unreachable
/// webhook.
const BEHIND: i64 = i64::MAX;
