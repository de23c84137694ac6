//! Receipts of messages, and the answers to messages that began no task.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use a2a_server::log_rows::{parse, write};
use a2a_server::{IdempotencyKey, IdempotencyRecord, Outcome, StoreError};
use a2a_types::Message;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::PostgresError;
use crate::columns::get;
use crate::connections::{Connections, Query, Repeat};
use crate::names::read;
use crate::statement::micros;
use crate::unfinished::is_due;

/// Reads the outcome of a message.
pub(crate) async fn received(
    connections: &Connections,
    message: Uuid,
) -> Result<Option<IdempotencyRecord>, StoreError> {
    let query = Query::new(
        "select digest, task_id, answer from @receipt where key = $1 and expires > clock_timestamp()",
    );
    let query = query.with(&message, Type::UUID);
    let Some(row) = connections.row(&query, Repeat::Harmless).await? else {
        return Ok(None);
    };
    let digest: &[u8] = get(&row, 0)?;
    let digest = digest.try_into().map_err(StoreError::failed)?;
    let task: Option<String> = get(&row, 1)?;
    let outcome = match task {
        Some(task) => Outcome::Task(read(task).into()),
        None => Outcome::Message(Box::new(parse(get(&row, 2)?)?)),
    };
    Ok(Some(IdempotencyRecord::new(digest, outcome)))
}

/// Handles a write that was refused because of a receipt: removes an expired one, otherwise fails with
/// [`StoreError::DuplicateMessage`].
pub(crate) async fn received_or_expired(
    connections: &Connections,
    receipt: Option<(Uuid, &IdempotencyKey)>,
) -> Result<(), StoreError> {
    let Some((message, _)) = receipt else {
        return Err(StoreError::DuplicateMessage);
    };
    if received(connections, message).await?.is_some() {
        return Err(StoreError::DuplicateMessage);
    }
    let query = Query::new("delete from @receipt where key = $1 and expires <= clock_timestamp()");
    let query = query.with(&message, Type::UUID);
    connections.run(&query, Repeat::Harmless).await?;
    Ok(())
}

/// Stores the answer to a message.
pub(crate) async fn store_response(
    connections: &Connections,
    message: Uuid,
    receipt: IdempotencyKey,
    answer: Message,
) -> Result<(), StoreError> {
    let (digest, body, term) = (&receipt.digest[..], write(&answer)?, micros(receipt.term));
    let query = Query::new(
        "with r as (insert into @receipt as known (key, digest, answer, expires)
           values ($1, $2, $3, clock_timestamp() + $4 * interval '1 microsecond')
           on conflict (key) do update set digest = excluded.digest, task_id = null,
             answer = excluded.answer, expires = excluded.expires
           where known.expires <= clock_timestamp() returning key),
         v as (delete from @reservation where key = $1 and exists (select from r))
         select from r",
    );
    let query = query
        .with(&message, Type::UUID)
        .with(&digest, Type::BYTEA)
        .with(&body, Type::BYTEA)
        .with(&term, Type::INT8);
    let kept = match connections.run(&query, Repeat::Harmful).await {
        Err(PostgresError::Lost(_)) => {
            // The first attempt may have stored it.
            let again = connections.run(&query, Repeat::Harmful).await?;
            let own = IdempotencyRecord::new(receipt.digest, Outcome::Message(Box::new(answer)));
            !again.is_empty() || received(connections, message).await? == Some(own)
        }
        done => !done?.is_empty(),
    };
    kept.then_some(()).ok_or(StoreError::DuplicateMessage)
}

/// Removes expired receipts and reservations, at most `MAX_PER_SWEEP` of each; returns whether there may be more receipts.
pub(crate) async fn sweep(connections: &Connections) -> Result<bool, StoreError> {
    let query = Query::new(SWEEP).with(&MAX_PER_SWEEP, Type::INT8);
    let row = connections.row(&query, Repeat::Harmless).await?;
    row.map_or(Ok(false), |row| Ok(get::<i64>(&row, 0)? >= MAX_PER_SWEEP))
}

/// Removes the receipts beyond the maximum number, the first to expire first, once in `TRIM_EVERY`: they are
/// counted for that, unless they are few by the estimate of the last `analyze`. Only one server does it at a time.
pub(crate) async fn trim(
    connections: &Connections,
    max: u64,
    trimmed: &Mutex<Option<Instant>>,
) -> Result<(), StoreError> {
    if !is_due(trimmed, TRIM_EVERY) {
        return Ok(());
    }
    let max = i64::try_from(max).unwrap_or(i64::MAX);
    let query = Query::new(TRIM).with(&max, Type::INT8);
    connections.run(&query, Repeat::Harmful).await?;
    Ok(())
}

/// Removes expired receipts, and reservations that expired a while ago.
const SWEEP: &str = "
with old as materialized (
  select key from @receipt where expires <= clock_timestamp()
  order by expires limit $1 for update skip locked),
gone as (delete from @receipt r using old where r.key = old.key returning 1),
ended as (delete from @reservation where key in (
  select key from @reservation where until <= clock_timestamp() - interval '1 minute'
  limit $1 for update skip locked))
select count(*) from gone";

const TRIM: &str = "
with surplus as materialized (select case
    when (select reltuples from pg_class where oid = '@receipt'::regclass) < $1 * 0.9 then 0
    when not pg_try_advisory_xact_lock(hashtextextended('@receipt', 0)) then 0
    else greatest((select count(*) from @receipt) - $1, 0) end as count),
old as (select key from @receipt order by expires limit (select count from surplus))
delete from @receipt r using old where r.key = old.key";

/// Maximum number of receipts removed by one statement.
const MAX_PER_SWEEP: i64 = 1000;
/// Interval at which a server counts receipts.
const TRIM_EVERY: Duration = Duration::from_secs(60);
