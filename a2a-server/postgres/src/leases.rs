//! Leases of tasks, and removal of tasks that are old.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use a2a_server::{Orphan, Owner, Retention, StoreError};
use a2a_types::TaskId;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::connections::{Query, Repeat};
use crate::doubts::REVIEW_AFTER;
use crate::reads::{get, number, task_id};
use crate::statement::micros;
use crate::store::Inner;

impl Inner {
    /// Drops in-doubt writes to tasks that are gone or that another writer has taken since.
    pub(crate) async fn review_doubts(&self) -> Result<(), StoreError> {
        let tasks = self.doubts.older_than(REVIEW_AFTER);
        if tasks.is_empty() {
            return Ok(());
        }
        let text = "select key, lease_epoch, lease_owner from @task where key = any($1)";
        let query = Query::new(text).with(&tasks, Type::UUID_ARRAY);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        let mut leases = HashMap::new();
        for row in &rows {
            leases.insert(get(row, 0)?, (number(row, 1)? as u64, get(row, 2)?));
        }
        self.doubts.review(&tasks, &leases);
        Ok(())
    }

    /// Renews the leases of a holder, except the leases of tasks with an in-doubt write. Rows that other statements have
    /// locked hold up no others: they are renewed afterwards, or by the next call if they stay locked.
    pub(crate) async fn renew(&self, holder: &str, term: Duration) -> Result<(), StoreError> {
        let (micros, in_doubt) = (micros(term), self.doubts.tasks());
        let query = Query::new(RENEW)
            .with(&holder, Type::TEXT)
            .with(&micros, Type::INT8)
            .with(&in_doubt, Type::UUID_ARRAY);
        let rows = self
            .connections
            .run(&query.urgent(), Repeat::Harmless)
            .await?;
        let locked = rows.iter().map(|row| get(row, 0));
        let mut locked = locked.collect::<Result<Vec<Uuid>, _>>()?;
        // Some may stay locked for long, but not always the same ones come first.
        fastrand::shuffle(&mut locked);
        let due = Instant::now() + term / 12;
        while Instant::now() < due
            && let Some(key) = locked.pop()
        {
            let query = Query::new(RENEW_LOCKED)
                .with(&holder, Type::TEXT)
                .with(&micros, Type::INT8)
                .with(&key, Type::UUID);
            match self
                .connections
                .run(&query.urgent(), Repeat::Harmless)
                .await
            {
                Err(error) if !error.is_lock_timeout() => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns active tasks whose lease has expired.
    pub(crate) async fn orphans(&self, limit: usize) -> Result<Vec<Orphan>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = Query::new(
            "select owner, id from @task
             where busy and active and (lease_until is null or lease_until <= clock_timestamp())
             order by lease_until nulls first limit $1",
        );
        let query = query.with(&limit, Type::INT8);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        let orphan = |row| {
            Ok(Orphan::new(
                Owner::from_json(get(row, 0)?)?,
                task_id(row, 1)?,
            ))
        };
        rows.iter().map(orphan).collect()
    }

    /// Removes tasks beyond the retention and expired receipts, in batches; returns the number of removed tasks.
    pub(crate) async fn sweep(&self, retention: Retention) -> Result<usize, StoreError> {
        let mut swept = 0;
        loop {
            let gone = self.sweep_tasks(retention).await?;
            for (owner, task) in &gone {
                self.forget(owner, task);
            }
            let receipts = self.sweep_expired().await?;
            let rows = self.sweep_rows().await?;
            swept += gone.len();
            if (gone.len() as i64) < MAX_TASKS_PER_SWEEP
                && rows == 0
                && receipts < MAX_RECEIPTS_PER_SWEEP
            {
                self.trim_receipts().await?;
                return Ok(swept);
            }
        }
    }

    async fn sweep_tasks(&self, retention: Retention) -> Result<Vec<(Owner, TaskId)>, StoreError> {
        let (age, patience) = (micros(retention.age), micros(retention.patience));
        let count = i64::try_from(retention.count).unwrap_or(i64::MAX);
        let query = Query::new(SWEEP)
            .with(&age, Type::INT8)
            .with(&count, Type::INT8)
            .with(&patience, Type::INT8)
            .with(&MAX_TASKS_PER_SWEEP, Type::INT8);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        let key = |row| Ok((Owner::from_json(get(row, 0)?)?, task_id(row, 1)?));
        rows.iter().map(key).collect()
    }

    /// Deletes rows of removed tasks in other tables, and returns the number of tasks that had some, or have none left. A
    /// write of such a row locks the task, so none is added later.
    async fn sweep_rows(&self) -> Result<usize, StoreError> {
        let query = Query::new(SWEEP_ROWS)
            .with(&MAX_TASKS_PER_SWEEP, Type::INT8)
            .with(&MAX_ROWS_PER_SWEEP, Type::INT8)
            .with(&MAX_BYTES_PER_SWEEP, Type::INT8);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        rows.first().map_or(Ok(0), |row| number(row, 0))
    }

    /// Removes expired receipts and reservations, at most `MAX_RECEIPTS_PER_SWEEP` of each; returns the number of
    /// receipts.
    async fn sweep_expired(&self) -> Result<i64, StoreError> {
        let query = Query::new(SWEEP_EXPIRED).with(&MAX_RECEIPTS_PER_SWEEP, Type::INT8);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        rows.first().map_or(Ok(0), |row| get(row, 0))
    }

    /// Removes the receipts beyond the maximum number, the first to expire first, once in `TRIM_EVERY`: they are
    /// counted for that, unless they are few by the estimate of the last `analyze`. Only one server does it at a time.
    async fn trim_receipts(&self) -> Result<(), StoreError> {
        {
            let mut trimmed = self.trimmed.lock().unwrap_or_else(PoisonError::into_inner);
            if trimmed.is_some_and(|last| last.elapsed() < TRIM_EVERY) {
                return Ok(());
            }
            *trimmed = Some(Instant::now());
        }
        let max = i64::try_from(self.receipts).unwrap_or(i64::MAX);
        let query = Query::new(TRIM_RECEIPTS).with(&max, Type::INT8);
        self.connections.run(&query, Repeat::Harmful).await?;
        Ok(())
    }
}

/// Renews leases whose rows are not locked. Returns the tasks whose rows are: their own appends lock them again
/// and again.
const RENEW: &str = "
with free as materialized (select seq from @task
  where busy and lease_owner = $1 and lease_until is not null and key <> all($3)
  for no key update skip locked),
renewed as (update @task t set lease_until = clock_timestamp() + $2 * interval '1 microsecond'
  from free where t.seq = free.seq)
select key from @task
where busy and lease_owner = $1 and lease_until is not null and key <> all($3) and seq not in (select seq from free)";

/// Renews the lease of a task once its row is not locked, if that is soon.
const RENEW_LOCKED: &str = "
with patience as materialized (select set_config('lock_timeout', '100ms', true))
update @task set lease_until = clock_timestamp() + $2 * interval '1 microsecond' from patience
where key = $3 and busy and lease_owner = $1 and lease_until is not null";

/// Removes the oldest ended tasks beyond the age or the count, and tasks that have waited for too long and that no
/// server works on. Tasks are picked before they are locked: two servers that sweep at once pick the same tasks, not twice as
/// many.
const SWEEP: &str = "
with surplus as (select case
    when (select coalesce(max(seq) - min(seq) + 1, 0) from @task) > $2
    then (select count(*) from @task where ended is not null) - $2 else 0 end as count),
ended as materialized (
  select seq, ended, row_number() over (order by ended, seq) as place from (
    select seq, ended from @task where ended is not null order by ended, seq limit $4) first),
picked as materialized (
  select seq, ended, null::timestamptz as waits from ended, surplus
  where place <= surplus.count or ended < clock_timestamp() - $1 * interval '1 microsecond'
  union all
  (select seq, null, waits from @task
   where waits < clock_timestamp() - $3 * interval '1 microsecond'
     and (lease_until is null or lease_until <= clock_timestamp()) order by waits limit $4)),
locked as materialized (
  select t.seq from @task t join picked p on p.seq = t.seq
  where t.ended is not distinct from p.ended and t.waits is not distinct from p.waits
    and (p.waits is null or t.lease_until is null or t.lease_until <= clock_timestamp())
  for update of t skip locked),
gone as (delete from @task t using locked where t.seq = locked.seq returning t.seq, t.owner, t.id),
noted as (insert into @task_gone(task) select seq from gone)
select owner, id from gone";

/// Deletes a limited number of events and notifications of removed tasks, so that the statement ends in time, and all
/// else of the tasks that have none of them.
const SWEEP_ROWS: &str = "
with gone as materialized (select task from @task_gone limit $1 for update skip locked),
events as materialized (
  select row, sum(bytes) over (rows unbounded preceding) - bytes as before from (
    select e.row, e.bytes from gone cross join lateral (
      select ctid as row, length(body) as bytes from @task_event where task = gone.task limit $2) e
    limit $2) first),
a as (delete from @task_event where ctid = any(array(select row from events where before < $3))),
b as (delete from @push_outbox where ctid = any(array(
  select o.row from gone cross join lateral (
    select ctid as row from @push_outbox where task = gone.task limit $2) o
  limit $2))),
emptied as materialized (
  select gone.task, coalesce(sum(length(d.body)) over (rows unbounded preceding) - length(d.body), 0) as before
  from gone left join @task_doc d on d.task = gone.task
  where not exists (select from @task_event e where e.task = gone.task)
    and not exists (select from @push_outbox o where o.task = gone.task)),
last as materialized (select task from emptied where before < $3),
c as (delete from @task_doc r using last where r.task = last.task),
d as (delete from @task_checkpoint r using last where r.task = last.task),
e as (delete from @push_config r using last where r.task = last.task),
f as (delete from @mail r using last where r.task = last.task),
g as (delete from @task_gone r using last where r.task = last.task)
select count(*) from gone";

/// Removes expired receipts, and reservations that expired a while ago.
const SWEEP_EXPIRED: &str = "
with old as materialized (
  select key from @receipt where expires <= clock_timestamp()
  order by expires limit $1 for update skip locked),
gone as (delete from @receipt r using old where r.key = old.key returning 1),
ended as (delete from @reservation where key in (
  select key from @reservation where until <= clock_timestamp() - interval '1 minute'
  limit $1 for update skip locked))
select count(*) from gone";

const TRIM_RECEIPTS: &str = "
with surplus as materialized (select case
    when (select reltuples from pg_class where oid = '@receipt'::regclass) < $1 * 0.9 then 0
    when not pg_try_advisory_xact_lock(hashtextextended('@receipt', 0)) then 0
    else greatest((select count(*) from @receipt) - $1, 0) end as count),
old as (select key from @receipt order by expires limit (select count from surplus))
delete from @receipt r using old where r.key = old.key";

/// Maximum number of tasks removed by one statement.
const MAX_TASKS_PER_SWEEP: i64 = 100;
/// Maximum number of events, and of notifications, of removed tasks that one statement deletes, and of bytes of events
/// and documents unless it is one row.
const MAX_ROWS_PER_SWEEP: i64 = 1000;
const MAX_BYTES_PER_SWEEP: i64 = 16 << 20;
/// Maximum number of receipts removed by one statement.
const MAX_RECEIPTS_PER_SWEEP: i64 = 1000;
/// Interval at which a server counts receipts.
const TRIM_EVERY: Duration = Duration::from_secs(60);
