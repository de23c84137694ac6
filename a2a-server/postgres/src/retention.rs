//! Removal of tasks that are old, or more than are kept.

use a2a_server::{Retention, StoreError};
use tokio_postgres::types::Type;

use crate::columns::{key, number};
use crate::connections::{Connections, Query, Repeat};
use crate::names::Key;
use crate::receipts;
use crate::statement::micros;
use crate::store_state::StoreState;

/// Removes tasks beyond the retention and expired receipts, in batches; returns the number of removed tasks.
pub(crate) async fn sweep(store: &StoreState, retention: Retention) -> Result<usize, StoreError> {
    let mut swept = 0;
    loop {
        let gone = sweep_tasks(&store.connections, retention).await?;
        gone.iter().for_each(|key| store.forget(key));
        let has_receipts = receipts::sweep(&store.connections).await?;
        let has_rows = sweep_rows(&store.connections).await?;
        swept += gone.len();
        if (gone.len() as i64) < MAX_TASKS_PER_SWEEP && !has_rows && !has_receipts {
            receipts::trim(&store.connections, store.receipts, &store.trimmed).await?;
            return Ok(swept);
        }
    }
}

async fn sweep_tasks(
    connections: &Connections,
    retention: Retention,
) -> Result<Vec<Key>, StoreError> {
    let (age, patience) = (micros(retention.age), micros(retention.patience));
    let count = i64::try_from(retention.count).unwrap_or(i64::MAX);
    let query = Query::new(SWEEP)
        .with(&age, Type::INT8)
        .with(&count, Type::INT8)
        .with(&patience, Type::INT8)
        .with(&MAX_TASKS_PER_SWEEP, Type::INT8);
    let rows = connections.run(&query, Repeat::Harmless).await?;
    rows.iter().map(key).collect()
}

/// Deletes rows of removed tasks in other tables; returns `false` once there are none. A write of such a row locks the
/// task, so none is added later.
async fn sweep_rows(connections: &Connections) -> Result<bool, StoreError> {
    let query = Query::new(SWEEP_ROWS)
        .with(&MAX_TASKS_PER_SWEEP, Type::INT8)
        .with(&MAX_ROWS_PER_SWEEP, Type::INT8)
        .with(&MAX_BYTES_PER_SWEEP, Type::INT8);
    let row = connections.row(&query, Repeat::Harmless).await?;
    row.map_or(Ok(false), |row| Ok(number(&row, 0)? > 0))
}

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
f as (delete from @command r using last where r.task = last.task),
g as (delete from @task_gone r using last where r.task = last.task)
select count(*) from gone";

/// Maximum number of tasks removed by one statement.
const MAX_TASKS_PER_SWEEP: i64 = 100;
/// Maximum number of events, and of notifications, of removed tasks that one statement deletes, and of bytes of events
/// and documents unless it is one row.
const MAX_ROWS_PER_SWEEP: i64 = 1000;
const MAX_BYTES_PER_SWEEP: i64 = 16 << 20;
