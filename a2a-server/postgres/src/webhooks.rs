//! Webhooks of tasks, and the outbox of their notifications.

use std::time::{Duration, SystemTime};

use a2a_server::log_rows::{parse, write};
use a2a_server::{DeliveryResult, Notification, Owner, StoreError, TraceContext, limits};
use a2a_types::{ConfigId, ProtocolVersion, TaskId, TaskPushNotificationConfig};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{get, number, protocol_version};
use crate::connections::{Connections, Query, Repeat};
use crate::names::{config_key, task_key};
use crate::statement::micros;

/// Stores a webhook, in place of one with the same id. The task's row is locked meanwhile, so that it is not removed.
/// Servers that do so at the same time may exceed the maximum number by a few.
pub(crate) async fn put_config(
    connections: &Connections,
    owner: &Owner,
    config: TaskPushNotificationConfig,
    protocol_version: ProtocolVersion,
) -> Result<(), StoreError> {
    limits::admit_config(&config)?;
    let (task, id) = (task_key(owner, &config.task_id), config_key(&config.id));
    let (body, version, most) = (
        write(&config)?,
        protocol_version.version(),
        limits::MAX_CONFIGS as i64,
    );
    for _ in 0..MAX_TRIES {
        let query = Query::new(PUT)
            .with(&task, Type::UUID)
            .with(&id, Type::UUID)
            .with(&version, Type::TEXT)
            .with(&body, Type::BYTEA)
            .with(&most, Type::INT8);
        let row = connections.row(&query, Repeat::Harmless).await?;
        let row = row.ok_or(StoreError::NoTask)?;
        if get::<i64>(&row, 0)? > 0 {
            return Ok(());
        }
        if get::<i64>(&row, 1)? >= most {
            return Err(StoreError::TooManyConfigs(limits::MAX_CONFIGS));
        }
    }
    Err(StoreError::unavailable(
        "others change the webhooks of the task all the time",
    ))
}

/// Reads the webhooks of a task.
pub(crate) async fn configs(
    connections: &Connections,
    owner: &Owner,
    task: &TaskId,
) -> Result<Vec<TaskPushNotificationConfig>, StoreError> {
    let task = task_key(owner, task);
    let query = Query::new(
        "select c.body from @task t left join @push_config c on c.task = t.seq
         where t.key = $1 order by c.position, c.config",
    );
    let query = query.with(&task, Type::UUID);
    let rows = connections.run(&query, Repeat::Harmless).await?;
    if rows.is_empty() {
        return Err(StoreError::NoTask);
    }
    let mut configs = Vec::new();
    for row in &rows {
        if let Some(body) = get::<Option<&[u8]>>(row, 0)? {
            configs.push(parse(body)?);
        }
    }
    Ok(configs)
}

/// Removes a webhook; its notifications go with it.
pub(crate) async fn delete_config(
    connections: &Connections,
    owner: &Owner,
    task: &TaskId,
    config: &ConfigId,
) -> Result<(), StoreError> {
    let (task, config) = (task_key(owner, task), config_key(config));
    let query = Query::new(
        "with t as (select seq from @task where key = $1),
         c as (delete from @push_config using t where task = t.seq and config = $2)
         select from t",
    );
    let query = query.with(&task, Type::UUID).with(&config, Type::UUID);
    let row = connections.row(&query, Repeat::Harmless).await?;
    row.map(drop).ok_or(StoreError::NoTask)
}

/// Takes the first notification of each webhook, if it is due.
pub(crate) async fn take(
    connections: &Connections,
    limit: usize,
    term: Duration,
) -> Result<Vec<Notification>, StoreError> {
    let (mut taken, mut before) = (Vec::new(), None::<SystemTime>);
    let term = micros(term);
    loop {
        let rest = (limit - taken.len()).min(MAX_AT_ONCE) as i64;
        let query = Query::new(TAKE)
            .with(&rest, Type::INT8)
            .with(&term, Type::INT8)
            .with(&before, Type::TIMESTAMPTZ);
        let rows = connections.run(&query, Repeat::Harmful).await?;
        for row in &rows {
            if get::<Option<i64>>(row, 3)?.is_some() {
                taken.push(notification(row)?);
            }
        }
        // Some of the webhooks may have had nothing that is due. This call takes none of the others again.
        if (rows.len() as i64) < rest || taken.len() >= limit {
            return Ok(taken);
        }
        before = rows.first().map(|row| get(row, 7)).transpose()?;
    }
}

/// Reads the dead letters, the oldest first.
pub(crate) async fn dead_letters(
    connections: &Connections,
    limit: usize,
) -> Result<Vec<Notification>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let query = Query::new(
        "select t.owner, c.body, c.protocol_version, o.sequence, o.attempt, o.traceparent, o.tracestate
         from @push_outbox o join @task t on t.seq = o.task
           join @push_config c on c.task = o.task and c.config = o.config
         where o.dead is not null order by o.dead, o.sequence limit $1",
    );
    let query = query.with(&limit, Type::INT8);
    let rows = connections.run(&query, Repeat::Harmless).await?;
    rows.iter().map(notification).collect()
}

/// Counts the notifications that are neither delivered nor given up.
pub(crate) async fn undelivered(connections: &Connections) -> Result<usize, StoreError> {
    let query = Query::new("select count(*) from @push_outbox where dead is null");
    let row = connections.row(&query, Repeat::Harmless).await?;
    row.map_or(Ok(0), |row| number(&row, 0))
}

/// Records the outcome of a notification. The outcome of an attempt before the last one is ignored, unless it is a
/// delivery.
pub(crate) async fn record_delivery(
    connections: &Connections,
    notification: &Notification,
    settlement: DeliveryResult,
) -> Result<(), StoreError> {
    let config = &notification.config;
    let (task, id) = (
        task_key(&notification.owner, &config.task_id),
        config_key(&config.id),
    );
    let (sequence, attempt) = (
        notification.sequence as i64,
        i32::try_from(notification.attempt).unwrap_or(i32::MAX),
    );
    let (change, pause) = match settlement {
        DeliveryResult::Delivered => ("delete from @push_outbox o using w", None),
        DeliveryResult::DeadLetter => (
            "update @push_outbox o set dead = clock_timestamp() from w",
            None,
        ),
        DeliveryResult::Retry(pause) => (
            "update @push_outbox o set dead = null,
               next_at = clock_timestamp() + $5 * interval '1 microsecond' from w",
            Some(micros(pause)),
        ),
        DeliveryResult::Deferred(pause) => (
            "update @push_outbox o set dead = null, attempt = greatest(attempt - 1, 0),
               next_at = clock_timestamp() + $5 * interval '1 microsecond' from w",
            Some(micros(pause)),
        ),
    };
    let last = match settlement {
        DeliveryResult::Delivered => "$4 = $4",
        _ => "o.attempt = $4 + case when o.dead is null then 1 else 0 end",
    };
    let due = match pause {
        Some(_) => "least(c.due, clock_timestamp() + $5 * interval '1 microsecond')",
        None => "clock_timestamp()",
    };
    let mut query = Query::new(format!(
        "with w as materialized (select c.task, c.config from @push_config c join @task t on t.seq = c.task
           where t.key = $1 and c.config = $2 for update of c),
         o as ({change} where o.task = w.task and o.config = w.config and o.sequence = $3 and {last}
           returning o.task, o.config)
         update @push_config c set due = {due} from o where c.task = o.task and c.config = o.config"
    ));
    query = query
        .with(&task, Type::UUID)
        .with(&id, Type::UUID)
        .with(&sequence, Type::INT8)
        .with(&attempt, Type::INT4);
    if pause.is_some() {
        query = query.with(&pause, Type::INT8);
    }
    connections.run(&query, Repeat::Harmless).await?;
    Ok(())
}

/// Stores a webhook. Returns the number of rows written, and of webhooks before; no row without the task.
const PUT: &str = "
with t as (select seq from @task where key = $1 for no key update),
known as (select count(*) as count, coalesce(max(position) + 1, 0) as next, coalesce(bool_or(config = $2), false) as has
  from @push_config where task = (select seq from t)),
put as (insert into @push_config(task, config, position, protocol_version, body)
  select t.seq, $2, known.next, $3, $4 from t, known where known.has or known.count < $5
  on conflict (task, config) do update set protocol_version = excluded.protocol_version, body = excluded.body returning 1)
select (select count(*) from put), known.count from t, known";

/// Takes the first notification of each webhook that is not dead, if it is due and no other server takes it. Returns a row
/// for each webhook that was looked at, with nulls if it had nothing that is due.
///
/// Only webhooks are looked at of which something may be due, so the length of their backlogs does not matter. A webhook
/// that was written to after this statement began, so that it does not see the present version of its row, is left to
/// the next statement: what this one sees of its notifications is old.
const TAKE: &str = "
with picked as materialized (
  select c.task, c.config from @push_config c
  where c.due <= coalesce($3, statement_timestamp()) and (select true from @push_config s where s.ctid = c.ctid)
  order by c.due limit $1 for update of c skip locked),
first as materialized (
  select p.task, p.config, f.sequence, f.next_at, coalesce(f.next_at <= clock_timestamp(), false) as is_due
  from (select task, config from picked limit 100) p left join lateral (
    select b.sequence, b.next_at from @push_outbox b
    where b.task = p.task and b.config = p.config and b.dead is null order by b.sequence limit 1) f on true),
noted as (
  update @push_config c set due = case
    when f.is_due then clock_timestamp() + $2 * interval '1 microsecond' else f.next_at end
  from first f where c.task = f.task and c.config = f.config),
taken as (
  update @push_outbox o set attempt = attempt + 1, next_at = clock_timestamp() + $2 * interval '1 microsecond'
  from first f where f.is_due and o.task = f.task and o.config = f.config and o.sequence = f.sequence
  returning o.task, o.config, o.sequence, o.attempt - 1 as attempt, o.traceparent, o.tracestate)
select t.owner, c.body, c.protocol_version, o.sequence, o.attempt, o.traceparent, o.tracestate,
  coalesce($3, statement_timestamp())
from first f join @task t on t.seq = f.task
  join @push_config c on c.task = f.task and c.config = f.config
  left join taken o on o.task = f.task and o.config = f.config
order by f.task, o.sequence";

fn notification(row: &Row) -> Result<Notification, StoreError> {
    let owner = Owner::from_json(get(row, 0)?)?;
    let (config, sequence) = (parse(get(row, 1)?)?, number(row, 3)? as u64);
    let mut notification =
        Notification::new(owner, config, protocol_version(get(row, 2)?)?, sequence);
    notification.attempt = u32::try_from(number(row, 4)?).unwrap_or(u32::MAX);
    let (parent, state): (Option<&str>, Option<&str>) = (get(row, 5)?, get(row, 6)?);
    notification.trace = parent.and_then(|parent| TraceContext::parse(parent, state));
    Ok(notification)
}

/// Maximum number of webhooks that one statement looks at. The statement has the number too: without it the planner, which
/// does not know how many are due, may read whole tables.
const MAX_AT_ONCE: usize = 100;
/// Maximum number of tries to store a webhook while other servers change the webhooks of the task.
const MAX_TRIES: usize = 5;
