//! Creation of tasks: one atomic statement each.

use std::sync::Arc;
use std::time::SystemTime;

use a2a_server::fold::Fold;
use a2a_server::log_rows::LogRows;
use a2a_server::{IdempotencyKey, Lease, NewTask, StoreError, limits};
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::appends::MAX_TRIES;
use crate::columns::get;
use crate::connections::{Connections, Query, Repeat};
use crate::names::{Key, column, config_key, owner_key, task_key};
use crate::recent::TaskRow;
use crate::statement::{Parts, Refused, micros, time};
use crate::store_state::StoreState;
use crate::{PostgresError, reads, receipts};

/// Stores a new task.
pub(crate) async fn create(
    store: &StoreState,
    key: Key,
    mut new: NewTask,
) -> Result<(), StoreError> {
    admit(store, &key, &new).await?;
    let rows = LogRows::of_new(&mut new)?;
    let receipt = store.keyed(&key.0, new.receipt.as_ref());
    let id = task_key(&key.0, &key.1);
    let mut was_lost = false;
    for _ in 0..MAX_TRIES {
        match try_create(store, &key, id, &new, &rows, receipt).await {
            Ok(()) => {
                store.unfinished.add();
                store.doubts.record_delivery(&id);
                return Ok(());
            }
            Err(Refused::Database(PostgresError::Lost(source))) => {
                store
                    .doubts
                    .note(id, 0, rows.events.len(), &Lease::Held { epoch: 1 });
                if was_lost {
                    return Err(PostgresError::Lost(source).into());
                }
                was_lost = true;
            }
            Err(Refused::Database(error)) => match error.violated() {
                Some("task_key" | "receipt_key")
                    if (was_lost
                        || store.doubts.get(&id).is_some_and(|doubt| doubt.after == 0))
                        && is_created(&store.connections, id, &new, &rows).await? =>
                {
                    store.doubts.record_delivery(&id);
                    store.announce(&key, id, 1 + rows.events.len() as u64);
                    return Ok(());
                }
                Some("task_key") => return Err(StoreError::TaskExists),
                Some("receipt_key") => {
                    receipts::received_or_expired(&store.connections, receipt).await?
                }
                _ => return Err(error.into()),
            },
            Err(Refused::Store(error)) => return Err(error),
        }
    }
    Err(StoreError::unavailable(
        "the message is received again and again",
    ))
}

/// Refuses a new task if there are as many unfinished ones as there may be.
async fn admit(store: &StoreState, (owner, task): &Key, new: &NewTask) -> Result<(), StoreError> {
    if store.unfinished.is_reached() {
        store.unfinished.count(&store.connections).await?;
    }
    if !store.unfinished.is_reached() {
        return Ok(());
    }
    if let Some((message, _)) = store.keyed(owner, new.receipt.as_ref())
        && receipts::received(&store.connections, message)
            .await?
            .is_some()
    {
        return Err(StoreError::DuplicateMessage);
    }
    match reads::head(store, owner, task).await {
        Ok(_) => Err(StoreError::TaskExists),
        Err(StoreError::NoTask) => Err(StoreError::Full),
        Err(error) => Err(error),
    }
}

async fn try_create(
    store: &StoreState,
    key: &Key,
    id: Uuid,
    new: &NewTask,
    rows: &LogRows,
    receipt: Option<(Uuid, &IdempotencyKey)>,
) -> Result<(), Refused> {
    let task = &new.task;
    let row = TaskRow {
        seq: 0,
        server: SystemTime::UNIX_EPOCH,
    };
    let mut later = Fold::new(row, Arc::clone(task), new.protocol_version, 1);
    let (messages, bytes, state) = later.admit(rows)?;
    new.config.as_ref().map_or(Ok(0), limits::admit_config)?;
    (later.messages, later.bytes) = (messages, bytes);
    later.extend(rows.events.iter().cloned());
    let mut parts = Parts::new(&key.1, rows, 0, receipt);
    parts.sequence = later.sequence as i64;
    parts.document = later.document(task.status.state)?;
    let (owner, of) = (key.0.to_json(), owner_key(&key.0));
    let context = task.context_id.as_ref().map(|id| column(id.as_str()));
    let (version, name) = (new.protocol_version.version(), state.as_str());
    let time = time(rows.status().unwrap_or(&task.status));
    let active = limits::is_active(state, 1, messages);
    let leased = !rows.release;
    let (ends, waits) = (state.is_terminal(), state.is_interrupted());
    let (count, size) = (messages as i32, bytes as i64);
    let (holder, term) = (&*new.holder, micros(new.term));
    let mut query = Query::new("");
    query.add(
        "with u as (insert into @task(key, owner_key, owner, id, context_id, protocol_version, sequence, state,
           status_time, active, busy, ended, waits, messages, bytes, lease_owner, lease_epoch, lease_until, turn)
         select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? or ?, case when ? then clock_timestamp() end,
           case when ? then clock_timestamp() end, ?, ?, ?, 1,
           case when ? then clock_timestamp() + ? * interval '1 microsecond' end, 1
         returning seq)",
        &[
            (&id, Type::UUID),
            (&of, Type::UUID),
            (&owner, Type::TEXT),
            (&parts.task, Type::TEXT),
            (&context, Type::TEXT),
            (&version, Type::TEXT),
            (&parts.sequence, Type::INT8),
            (&name, Type::TEXT),
            (&time, Type::INT8),
            (&active, Type::BOOL),
            (&active, Type::BOOL),
            (&leased, Type::BOOL),
            (&ends, Type::BOOL),
            (&waits, Type::BOOL),
            (&count, Type::INT4),
            (&size, Type::INT8),
            (&holder, Type::TEXT),
            (&leased, Type::BOOL),
            (&term, Type::INT8),
        ],
    );
    let config = new.config.as_ref().map(|it| config_key(&it.id));
    let (body, notifies) = (rows.config.as_deref(), !parts.notified.is_empty());
    if config.is_some() {
        query.add(
            ", c as (insert into @push_config(task, config, position, protocol_version, due, body)
             select seq, ?, 0, ?, case when ? then clock_timestamp() end, ? from u returning task, config)",
            &[
                (&config, Type::UUID),
                (&version, Type::TEXT),
                (&notifies, Type::BOOL),
                (&body, Type::BYTEA),
            ],
        );
        parts.add_notifications(&mut query);
    }
    parts.add_log(&mut query);
    parts.add_document(&mut query);
    parts.add_receipt(&mut query);
    query.add(" select seq, pg_postmaster_start_time() from u", &[]);
    if let Some(row) = store.connections.row(&query, Repeat::Harmful).await? {
        (later.row.seq, later.row.server) = (get(&row, 0)?, get(&row, 1)?);
        store.recent.keep(key, &later);
        store.announce(key, id, later.sequence);
    }
    Ok(())
}

/// Returns whether the stored task is this one, from a creation whose outcome was unknown.
async fn is_created(
    connections: &Connections,
    id: Uuid,
    new: &NewTask,
    rows: &LogRows,
) -> Result<bool, StoreError> {
    let numbered = rows.numbered(0).map(|(last, body)| (last as i64, body));
    let (sequences, bodies): (Vec<_>, Vec<_>) = numbered.unzip();
    let query = Query::new(
        "select t.lease_owner, array(select body from @task_event e
           where e.task = t.seq and e.sequence = any($2) order by e.sequence)
         from @task t where t.key = $1 and t.lease_epoch = 1",
    );
    let query = query
        .with(&id, Type::UUID)
        .with(&sequences, Type::INT8_ARRAY);
    let Some(row) = connections.row(&query, Repeat::Harmless).await? else {
        return Ok(false);
    };
    let (holder, stored): (&str, Vec<&[u8]>) = (get(&row, 0)?, get(&row, 1)?);
    Ok(holder == &*new.holder && stored == bodies)
}
