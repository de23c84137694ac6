//! Webhooks of tasks, and the outbox of their notifications.

use std::time::Duration;

use a2a_server::{Notification, Owner, Settlement, StoreError, TraceContext, limits};
use a2a_types::{ConfigId, Dialect, TaskId, TaskPushNotificationConfig};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connections::{Query, Repeat};
use crate::log_rows::{parse, write};
use crate::names::{config_key, read_owner, task_key};
use crate::reads::{dialect, get, number};
use crate::statement::micros;
use crate::store::Inner;

impl Inner {
    /// Stores a webhook, in place of one with the same id. The task's row is locked meanwhile, so that it is not removed.
    /// Servers that do so at the same time may exceed the maximum number by a few.
    pub(crate) async fn put_config(
        &self,
        owner: &Owner,
        config: TaskPushNotificationConfig,
        dialect: Dialect,
    ) -> Result<(), StoreError> {
        limits::admit_config(&config)?;
        let (task, id) = (task_key(owner, &config.task_id), config_key(&config.id));
        let (body, version, most) = (
            write(&config)?,
            dialect.version(),
            limits::MAX_CONFIGS as i64,
        );
        for _ in 0..MAX_TRIES {
            let query = Query::new(PUT)
                .with(&task, Type::UUID)
                .with(&id, Type::UUID)
                .with(&version, Type::TEXT)
                .with(&body, Type::BYTEA)
                .with(&most, Type::INT8);
            let rows = self.connections.run(&query, Repeat::Harmless).await?;
            let row = rows.first().ok_or(StoreError::NoTask)?;
            if get::<i64>(row, 0)? > 0 {
                return Ok(());
            }
            if get::<i64>(row, 1)? >= most {
                return Err(StoreError::TooManyConfigs(limits::MAX_CONFIGS));
            }
        }
        Err(StoreError::unavailable(
            "others change the webhooks of the task all the time",
        ))
    }

    /// Reads the webhooks of a task.
    pub(crate) async fn configs(
        &self,
        owner: &Owner,
        task: &TaskId,
    ) -> Result<Vec<TaskPushNotificationConfig>, StoreError> {
        let task = task_key(owner, task);
        let query = Query::new(
            "select c.body from @task t left join @push_config c on c.task = t.seq
             where t.key = $1 order by c.position, c.config",
        );
        let query = query.with(&task, Type::UUID);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
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
        &self,
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
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        rows.first().map(drop).ok_or(StoreError::NoTask)
    }

    /// Takes the first notification of each webhook, if it is due.
    pub(crate) async fn take_notifications(
        &self,
        limit: usize,
        term: Duration,
    ) -> Result<Vec<Notification>, StoreError> {
        let (limit, term) = (i64::try_from(limit).unwrap_or(i64::MAX), micros(term));
        let query = Query::new(TAKE)
            .with(&limit, Type::INT8)
            .with(&term, Type::INT8);
        let rows = self.connections.run(&query, Repeat::Harmful).await?;
        rows.iter().map(notification).collect()
    }

    /// Reads the dead letters, the oldest first.
    pub(crate) async fn dead_letters(&self, limit: usize) -> Result<Vec<Notification>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = Query::new(
            "select t.owner, c.body, c.dialect, o.sequence, o.attempt, o.traceparent, o.tracestate
             from @push_outbox o join @task t on t.seq = o.task
               join @push_config c on c.task = o.task and c.config = o.config
             where o.dead is not null order by o.dead, o.sequence limit $1",
        );
        let query = query.with(&limit, Type::INT8);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        rows.iter().map(notification).collect()
    }

    /// Counts the notifications that are neither delivered nor given up.
    pub(crate) async fn undelivered(&self) -> Result<usize, StoreError> {
        let query = Query::new(
            "select count(*) from @push_outbox o
             where dead is null and exists (select from @task t where t.seq = o.task)",
        );
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        rows.first().map_or(Ok(0), |row| number(row, 0))
    }

    /// Records the outcome of a notification.
    pub(crate) async fn settle(
        &self,
        notification: &Notification,
        settlement: Settlement,
    ) -> Result<(), StoreError> {
        let config = &notification.config;
        let (task, id) = (
            task_key(&notification.owner, &config.task_id),
            config_key(&config.id),
        );
        let sequence = notification.sequence as i64;
        let (change, pause) = match settlement {
            Settlement::Delivered => ("delete from @push_outbox o using t", None),
            Settlement::GivenUp => (
                "update @push_outbox o set dead = clock_timestamp() from t",
                None,
            ),
            Settlement::Later(pause) => (
                "update @push_outbox o set dead = null,
                   next_at = clock_timestamp() + $4 * interval '1 microsecond' from t",
                Some(micros(pause)),
            ),
            Settlement::Untried(pause) => (
                "update @push_outbox o set dead = null, attempt = greatest(attempt - 1, 0),
                   next_at = clock_timestamp() + $4 * interval '1 microsecond' from t",
                Some(micros(pause)),
            ),
        };
        let mut query = Query::new(format!(
            "with t as (select seq from @task where key = $1)
             {change} where o.task = t.seq and o.config = $2 and o.sequence = $3"
        ));
        query = query
            .with(&task, Type::UUID)
            .with(&id, Type::UUID)
            .with(&sequence, Type::INT8);
        if pause.is_some() {
            query = query.with(&pause, Type::INT8);
        }
        // If it runs twice, two attempts may be subtracted: the receiver gets one delivery more.
        self.connections.run(&query, Repeat::Harmless).await?;
        Ok(())
    }
}

/// Stores a webhook. Returns the number of rows written, and of webhooks before; no row without the task.
const PUT: &str = "
with t as (select seq from @task where key = $1 for no key update),
known as (select count(*) as count, coalesce(max(position) + 1, 0) as next, coalesce(bool_or(config = $2), false) as has
  from @push_config where task = (select seq from t)),
put as (insert into @push_config(task, config, position, dialect, body)
  select t.seq, $2, known.next, $3, $4 from t, known where known.has or known.count < $5
  on conflict (task, config) do update set dialect = excluded.dialect, body = excluded.body returning 1)
select (select count(*) from put), known.count from t, known";

/// Takes the first notification of each webhook that is not dead, if it is due and no other server takes it.
const TAKE: &str = "
with due as (
  select o.task, o.config, o.sequence from @push_outbox o
  where o.dead is null and o.next_at <= clock_timestamp() and not exists (
    select from @push_outbox b where b.task = o.task and b.config = o.config
      and b.sequence < o.sequence and b.dead is null)
    and exists (select from @task t where t.seq = o.task)
  order by o.next_at limit $1 for update of o skip locked),
taken as (
  update @push_outbox o set attempt = attempt + 1, next_at = clock_timestamp() + $2 * interval '1 microsecond'
  from due where o.task = due.task and o.config = due.config and o.sequence = due.sequence
  returning o.task, o.config, o.sequence, o.attempt - 1 as attempt, o.traceparent, o.tracestate)
select t.owner, c.body, c.dialect, o.sequence, o.attempt, o.traceparent, o.tracestate
from taken o join @task t on t.seq = o.task
  join @push_config c on c.task = o.task and c.config = o.config
order by o.task, o.sequence";

fn notification(row: &Row) -> Result<Notification, StoreError> {
    let owner = read_owner(get(row, 0)?)?;
    let (config, sequence) = (parse(get(row, 1)?)?, number(row, 3)? as u64);
    let mut notification = Notification::new(owner, config, dialect(row, 2)?, sequence);
    notification.attempt = u32::try_from(number(row, 4)?).unwrap_or(u32::MAX);
    let (parent, state): (Option<&str>, Option<&str>) = (get(row, 5)?, get(row, 6)?);
    notification.trace = parent.and_then(|parent| TraceContext::parse(parent, state));
    Ok(notification)
}

/// Maximum number of tries to store a webhook while other servers change those of the task.
const MAX_TRIES: usize = 5;
