//! Leases of tasks, and removal of tasks that are old.

use std::time::Duration;

use a2a_server::{Orphan, Owner, Retention, StoreError};
use a2a_types::TaskId;
use tokio_postgres::types::Type;

use crate::connections::{Query, Repeat};
use crate::names::read_owner;
use crate::reads::{get, number, task_id};
use crate::statement::micros;
use crate::store::Inner;

impl Inner {
    /// Renews the leases and reservations of a holder, except the leases of tasks with an in-doubt write.
    pub(crate) async fn renew(&self, holder: &str, term: Duration) -> Result<(), StoreError> {
        self.note_term(term);
        let (term, in_doubt) = (micros(term), self.doubts.tasks());
        let query = Query::new(
            "with r as (update @reservation set until = clock_timestamp() + $2 * interval '1 microsecond'
               where holder = $1)
             update @task set lease_until = clock_timestamp() + $2 * interval '1 microsecond'
             where busy and lease_owner = $1 and lease_until is not null and key <> all($3)",
        );
        let query = query
            .with(&holder, Type::TEXT)
            .with(&term, Type::INT8)
            .with(&in_doubt, Type::UUID_ARRAY);
        self.connections.run(&query, Repeat::Harmless).await?;
        Ok(())
    }

    /// Returns active tasks whose lease has expired. Returns none until every server has had the time to renew its leases
    /// after an outage: leases that expired during the outage are not abandoned.
    pub(crate) async fn orphans(&self, limit: usize) -> Result<Vec<Orphan>, StoreError> {
        if !self.connections.is_steady(self.renewal_time()) {
            return Ok(Vec::new());
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = Query::new(
            "select owner, id from @task
             where busy and active and (lease_until is null or lease_until <= clock_timestamp())
             order by lease_until nulls first limit $1",
        );
        let query = query.with(&limit, Type::INT8);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        let orphan = |row| Ok(Orphan::new(read_owner(get(row, 0)?)?, task_id(row, 1)?));
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
            let rows = self.sweep_rows().await?;
            let receipts = self.sweep_receipts().await?;
            swept += gone.len();
            if (gone.len() as i64) < MAX_TASKS_PER_SWEEP
                && rows == 0
                && receipts < MAX_RECEIPTS_PER_SWEEP
            {
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
        let key = |row| Ok((read_owner(get(row, 0)?)?, task_id(row, 1)?));
        rows.iter().map(key).collect()
    }

    /// Deletes the rows of removed tasks in other tables. A write of such a row locks the task, so none is added later.
    async fn sweep_rows(&self) -> Result<usize, StoreError> {
        let query = Query::new(SWEEP_ROWS).with(&MAX_TASKS_PER_SWEEP, Type::INT8);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        rows.first().map_or(Ok(0), |row| number(row, 0))
    }

    async fn sweep_receipts(&self) -> Result<i64, StoreError> {
        let most = i64::try_from(self.receipts).unwrap_or(i64::MAX);
        let query = Query::new(SWEEP_RECEIPTS)
            .with(&MAX_RECEIPTS_PER_SWEEP, Type::INT8)
            .with(&most, Type::INT8);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        rows.first().map_or(Ok(0), |row| get(row, 0))
    }
}

/// Removes the oldest ended tasks beyond the age or the count, and tasks that have waited for too long. Tasks are picked
/// before they are locked: two servers that sweep at once pick the same tasks, not twice as many.
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
   where waits < clock_timestamp() - $3 * interval '1 microsecond' order by waits limit $4)),
locked as materialized (
  select t.seq from @task t join picked p on p.seq = t.seq
  where t.ended is not distinct from p.ended and t.waits is not distinct from p.waits
  for update of t skip locked),
gone as (delete from @task t using locked where t.seq = locked.seq returning t.seq, t.owner, t.id),
noted as (insert into @task_gone(task) select seq from gone)
select owner, id from gone";

const SWEEP_ROWS: &str = "
with gone as materialized (select task from @task_gone limit $1 for update skip locked),
a as (delete from @task_event r using gone where r.task = gone.task),
b as (delete from @task_doc r using gone where r.task = gone.task),
c as (delete from @task_checkpoint r using gone where r.task = gone.task),
d as (delete from @push_outbox r using gone where r.task = gone.task),
e as (delete from @push_config r using gone where r.task = gone.task),
f as (delete from @mail r using gone where r.task = gone.task),
g as (delete from @task_gone r using gone where r.task = gone.task)
select count(*) from gone";

/// Removes expired receipts, receipts beyond the maximum number by the estimate of the last `analyze`, and reservations
/// that expired a while ago.
const SWEEP_RECEIPTS: &str = "
with surplus as (select greatest(reltuples::bigint - $2, 0) as count
  from pg_class where oid = '@receipt'::regclass),
picked as materialized (
  select key, row_number() over (order by expires) as place, expires from (
    select key, expires from @receipt order by expires limit $1) first),
old as materialized (
  select r.key from @receipt r join picked p on p.key = r.key and p.expires = r.expires, surplus
  where p.expires <= clock_timestamp() or place <= surplus.count for update of r skip locked),
gone as (delete from @receipt r using old where r.key = old.key returning 1),
ended as (delete from @reservation where key in (
  select key from @reservation where until <= clock_timestamp() - interval '1 minute'
  limit $1 for update skip locked))
select count(*) from gone";

/// Maximum number of tasks removed by one statement.
const MAX_TASKS_PER_SWEEP: i64 = 100;
/// Maximum number of receipts removed by one statement.
const MAX_RECEIPTS_PER_SWEEP: i64 = 1000;
