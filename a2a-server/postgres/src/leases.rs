//! Leases of tasks.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use a2a_server::{Orphan, StoreError};
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::{get, key, number};
use crate::connections::{Connections, Query, Repeat};
use crate::in_doubt_writes::{Doubts, REVIEW_AFTER};
use crate::statement::micros;

/// Drops in-doubt writes to tasks that are gone or that another writer has taken since.
pub(crate) async fn review_doubts(
    connections: &Connections,
    doubts: &Doubts,
) -> Result<(), StoreError> {
    let tasks = doubts.older_than(REVIEW_AFTER);
    if tasks.is_empty() {
        return Ok(());
    }
    let text = "select key, lease_epoch, lease_owner from @task where key = any($1)";
    let query = Query::new(text).with(&tasks, Type::UUID_ARRAY);
    let rows = connections.run(&query, Repeat::Harmless).await?;
    let mut leases = HashMap::new();
    for row in &rows {
        leases.insert(get(row, 0)?, (number(row, 1)? as u64, get(row, 2)?));
    }
    doubts.review(&tasks, &leases);
    Ok(())
}

/// Renews the leases of a holder, except the leases of tasks with an in-doubt write. Rows that other statements have
/// locked hold up no others: they are renewed afterwards, or by the next call if they stay locked.
pub(crate) async fn renew(
    connections: &Connections,
    doubts: &Doubts,
    holder: &str,
    term: Duration,
) -> Result<(), StoreError> {
    let (micros, in_doubt) = (micros(term), doubts.tasks());
    let query = Query::new(RENEW)
        .with(&holder, Type::TEXT)
        .with(&micros, Type::INT8)
        .with(&in_doubt, Type::UUID_ARRAY);
    let rows = connections.run(&query.urgent(), Repeat::Harmless).await?;
    let locked = rows.iter().map(|row| get(row, 0));
    let mut locked: Vec<Uuid> = locked.collect::<Result<_, _>>()?;
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
        match connections.run(&query.urgent(), Repeat::Harmless).await {
            Err(error) if !error.is_lock_timeout() => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Returns active tasks whose lease has expired.
pub(crate) async fn orphans(
    connections: &Connections,
    limit: usize,
) -> Result<Vec<Orphan>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let query = Query::new(
        "select owner, id from @task
         where busy and active and (lease_until is null or lease_until <= clock_timestamp())
         order by lease_until nulls first limit $1",
    );
    let query = query.with(&limit, Type::INT8);
    let rows = connections.run(&query, Repeat::Harmless).await?;
    let orphan = |(owner, task)| Orphan::new(owner, task);
    rows.iter().map(|row| key(row).map(orphan)).collect()
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
