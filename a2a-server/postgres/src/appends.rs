//! Appends to logs: one atomic statement each.

use a2a_server::log_rows::{LogRows, lines, write};
use a2a_server::{Append, Appended, IdempotencyKey, Lease, StoreError};
use a2a_types::Event;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::{get, number};
use crate::connections::{Connections, Query, Repeat};
use crate::in_doubt_writes::is_own;
use crate::names::{Key, task_key};
use crate::recent::Folded;
use crate::statement::{Parts, Refused, micros, time};
use crate::store_state::StoreState;
use crate::{PostgresError, metric, reads, receipts};

/// Appends to the log of a task.
pub(crate) async fn append(
    store: &StoreState,
    key: Key,
    mut append: Append,
) -> Result<Appended, StoreError> {
    let id = task_key(&key.0, &key.1);
    let mut rows = LogRows::of_append(&mut append)?;
    // The cached task may be stale; a second try reads it from the database.
    let mut known = store
        .recent
        .draft(&key)
        .filter(|known| known.sequence == append.after);
    let (mut was_lost, mut in_doubt) = (false, false);
    for _ in 0..MAX_TRIES {
        let folded = match known.take() {
            Some(folded) => folded,
            None => {
                let folded = reads::load(store, &key, id).await?;
                folded.ok_or(StoreError::NoTask)?
            }
        };
        if folded.sequence != append.after {
            let Some(rest) = rest(store, id, &folded, &append, &rows).await? else {
                store.doubts.record_delivery(&id);
                return Err(StoreError::SequenceConflict(folded.sequence));
            };
            append = rest;
            rows = LogRows::of_append(&mut append)?;
        }
        match try_append(store, &key, id, &folded, &append, &rows).await {
            Ok(Some(appended)) => {
                store.doubts.record_delivery(&id);
                return Ok(appended);
            }
            // The first attempt may have been stored while the second waited for it: the log is read again.
            Ok(None) if std::mem::take(&mut in_doubt) => {}
            // Another writer was first: the log or the lease has changed.
            Ok(None) => refusal(&store.connections, id, &append).await?,
            Err(Refused::Store(error)) => return Err(error),
            Err(Refused::Database(PostgresError::Lost(source))) => {
                store.recent.forget(&key);
                store
                    .doubts
                    .note(id, append.after, rows.events.len(), &append.lease);
                if was_lost {
                    return Err(PostgresError::Lost(source).into());
                }
                (was_lost, in_doubt) = (true, true);
            }
            Err(Refused::Database(error)) => match error.violated() {
                Some("receipt_key") => {
                    let receipt = store.keyed(&key.0, append.receipt.as_ref());
                    receipts::received_or_expired(&store.connections, receipt).await?;
                }
                // The log has an entry with this sequence number: the cached task is stale. Or a webhook was removed
                // while its notification was written.
                Some("task_event_key" | "push_outbox_config") => {}
                _ => return Err(error.into()),
            },
        }
    }
    let reason = "others write to the task all the time";
    Err(StoreError::unavailable(reason))
}

/// Returns the part of an append that the log does not have yet, or `None` if the log has not grown by an in-doubt
/// write of the same writer. If the append begins with the events of that write, the writer repeats it, and they are
/// left out.
async fn rest(
    store: &StoreState,
    id: Uuid,
    folded: &Folded,
    append: &Append,
    rows: &LogRows,
) -> Result<Option<Append>, StoreError> {
    let doubt = store.doubts.get(&id).filter(|doubt| {
        doubt.after == append.after && doubt.after + doubt.count == folded.sequence
    });
    let Some(doubt) = doubt else {
        return Ok(None);
    };
    let (seq, after) = (folded.row.seq, append.after as i64);
    let query = Query::new(
        "select t.lease_epoch, t.lease_owner, array(select body from @task_event e
           where e.task = t.seq and e.sequence > $2 order by e.sequence)
         from @task t where t.seq = $1",
    );
    let query = query.with(&seq, Type::INT8).with(&after, Type::INT8);
    let Some(row) = store.connections.row(&query, Repeat::Harmless).await? else {
        return Ok(None);
    };
    let epoch = number(&row, 0)? as u64;
    if !is_own(&append.lease, epoch, get(&row, 1)?) {
        return Ok(None);
    }
    let bodies: Vec<&[u8]> = get(&row, 2)?;
    let mut stored = bodies.iter().flat_map(|body| lines(body));
    let events: Vec<_> = rows.events.iter().map(|it| Event::clone(it)).collect();
    let (repeated, more) = events.split_at(events.len().min(doubt.count as usize));
    let mut is_repeated = repeated.len() as u64 == doubt.count;
    for event in repeated {
        is_repeated &= stored.next() == Some(&write(event)?[..]);
    }
    let mut rest = append.clone();
    rest.after = folded.sequence;
    rest.lease = Lease::Held { epoch };
    rest.trace.clone_from(&rows.trace);
    rest.events = events.clone();
    if is_repeated {
        rest.events = more.to_vec();
        let has = |receipt: &IdempotencyKey| {
            let is_it = |event: &Event| matches!(event, Event::Message(it) if it.message_id == receipt.message);
            repeated.iter().any(is_it)
        };
        rest.receipt = rest.receipt.filter(|receipt| !has(receipt));
    }
    Ok(Some(rest))
}

/// Appends to a task that still is as the cache has it; returns `None` if it is not.
async fn try_append(
    store: &StoreState,
    key: &Key,
    id: Uuid,
    folded: &Folded,
    append: &Append,
    rows: &LogRows,
) -> Result<Option<Appended>, Refused> {
    let (messages, bytes, state) = folded.admit(rows)?;
    let mut later = folded.clone();
    (later.messages, later.bytes) = (messages, bytes);
    later.turn = append.turn.unwrap_or(folded.turn);
    later.extend(rows.events.iter().cloned());
    let receipt = store.keyed(&key.0, append.receipt.as_ref());
    let mut parts = Parts::new(&key.1, rows, append.after, receipt);
    parts.sequence = later.sequence as i64;
    parts.document = later.document(folded.state)?;
    let (epoch, takes, holder, term, seizes) = match &append.lease {
        Lease::Held { epoch } => (Some(*epoch as i64), false, None, 0, false),
        Lease::Acquire { holder, term } => (None, true, Some(&**holder), micros(*term), false),
        Lease::TakeOver { holder, term } => (None, true, Some(&**holder), micros(*term), true),
    };
    let (after, count, size) = (append.after as i64, messages as i32, bytes as i64);
    // Another server may have begun a turn since the task was cached.
    let turn = append.turn.map(|turn| turn as i32);
    let mut query = Query::new("");
    query.add(
        "with u as (update @task set sequence = ?, messages = ?, bytes = ?, turn = coalesce(?, turn)",
        &[
            (&parts.sequence, Type::INT8),
            (&count, Type::INT4),
            (&size, Type::INT8),
            (&turn, Type::INT4),
        ],
    );
    let name = state.as_str();
    let (ends, waits) = (state.is_terminal(), state.is_interrupted());
    let goes_on = !state.is_settled();
    let time = rows.status().map(time);
    let changes = time.is_some() || turn.is_some() || waits;
    if changes || takes || append.release {
        query.add(
            ", state = ?, status_time = coalesce(?, status_time)",
            &[(&name, Type::TEXT), (&time, Type::INT8)],
        );
        for works in [
            ", active = (? or ? and coalesce(?, turn) < ?)",
            ", busy = (? or ? and coalesce(?, turn) < ?)",
        ] {
            query.add(
                works,
                &[
                    (&goes_on, Type::BOOL),
                    (&waits, Type::BOOL),
                    (&turn, Type::INT4),
                    (&count, Type::INT4),
                ],
            );
        }
        let leased = match (append.release, takes) {
            (true, _) => " or false",
            (false, true) => " or true",
            (false, false) => " or lease_until is not null",
        };
        query.add(leased, &[]);
        query.add(
            ", ended = case when ? then coalesce(ended, clock_timestamp()) end,
             waits = case when ? then coalesce(waits, clock_timestamp()) end",
            &[(&ends, Type::BOOL), (&waits, Type::BOOL)],
        );
    }
    if takes {
        query.add(
            ", lease_epoch = lease_epoch + 1, lease_owner = ?",
            &[(&holder, Type::TEXT)],
        );
    }
    if append.release {
        query.add(", lease_until = null", &[]);
    } else if takes {
        let until = ", lease_until = clock_timestamp() + ? * interval '1 microsecond'";
        query.add(until, &[(&term, Type::INT8)]);
    }
    query.add(
        " where seq = ? and sequence = ? and pg_postmaster_start_time() = ?",
        &[
            (&folded.row.seq, Type::INT8),
            (&after, Type::INT8),
            (&folded.row.server, Type::TIMESTAMPTZ),
        ],
    );
    if epoch.is_some() {
        query.add(" and lease_epoch = ?", &[(&epoch, Type::INT8)]);
    } else if !seizes {
        query.add(
            " and (lease_until is null or lease_until <= clock_timestamp() or lease_owner = ?)",
            &[(&holder, Type::TEXT)],
        );
    }
    query.add(" returning seq, lease_epoch)", &[]);
    let checkpoint = rows.checkpoint.as_deref();
    parts.add_log(&mut query);
    if !parts.notified.is_empty() {
        query.add(
            ", c as (update @push_config c set due = coalesce(due, clock_timestamp())
               from u where c.task = u.seq returning c.task, c.config)",
            &[],
        );
    }
    parts.add_notifications(&mut query);
    if checkpoint.is_some() {
        query.add(
            ", k as (insert into @task_checkpoint(task, body) select seq, ? from u
             on conflict (task) do update set body = excluded.body)",
            &[(&checkpoint, Type::BYTEA)],
        );
    } else if turn.is_some() {
        let gone = ", k as (delete from @task_checkpoint c using u where c.task = u.seq)";
        query.add(gone, &[]);
    }
    parts.add_document(&mut query);
    parts.add_receipt(&mut query);
    query.add(" select lease_epoch from u", &[]);
    let Some(row) = store.connections.row(&query, Repeat::Harmful).await? else {
        return Ok(None);
    };
    let epoch = number(&row, 0)? as u64;
    if takes && epoch > 1 {
        metric::TAKEOVERS.count();
    }
    store
        .recent
        .publish(key, append.after, &rows.events, &later);
    store.announce(key, id, later.sequence);
    Ok(Some(Appended::new(later.sequence, epoch, later.messages)))
}

/// Reads why an append matched no row. Returns the error for the writer, or `Ok` if another try may succeed.
async fn refusal(connections: &Connections, id: Uuid, append: &Append) -> Result<(), StoreError> {
    let holder = match &append.lease {
        Lease::Held { .. } => "",
        Lease::Acquire { holder, .. } | Lease::TakeOver { holder, .. } => holder,
    };
    let query = Query::new(
        "select sequence, lease_epoch, coalesce(lease_until > clock_timestamp(), false) and lease_owner <> $2
         from @task where key = $1",
    );
    let query = query.with(&id, Type::UUID).with(&holder, Type::TEXT);
    let row = connections.row(&query, Repeat::Harmless).await?;
    let row = row.ok_or(StoreError::NoTask)?;
    let (sequence, epoch) = (number(&row, 0)? as u64, number(&row, 1)? as u64);
    match &append.lease {
        Lease::Held { epoch: own } if *own != epoch => {
            metric::FENCED.count();
            Err(StoreError::Fenced)
        }
        _ if sequence != append.after => Err(StoreError::SequenceConflict(sequence)),
        Lease::Acquire { .. } if get(&row, 2)? => Err(StoreError::Leased),
        // The conflict is over, the id belongs to another task, or the cached task is of another server.
        _ => Ok(()),
    }
}

/// Maximum number of tries of an append that conflicts with other writes.
pub(crate) const MAX_TRIES: usize = 5;
