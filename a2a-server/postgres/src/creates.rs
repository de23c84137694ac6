//! Creation of tasks: one atomic statement each.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use a2a_server::fold::Fold;
use a2a_server::log_rows::LogRows;
use a2a_server::{Lease, NewTask, StoreError, limits};
use a2a_types::TaskState;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::PostgresError;
use crate::appends::MAX_TRIES;
use crate::connections::{Query, Repeat};
use crate::names::{Key, column, config_key, owner_key, task_key};
use crate::reads::{get, head};
use crate::recent::TaskRow;
use crate::statement::{Parts, Refused, Statement, bodies, micros, time};
use crate::store::Inner;

impl Inner {
    /// Stores a new task.
    pub(crate) async fn create(&self, key: &Key, mut new: NewTask) -> Result<(), StoreError> {
        self.admit_unfinished(key, &new).await?;
        let rows = LogRows::of_new(&mut new)?;
        let id = task_key(&key.0, &key.1);
        let mut was_lost = false;
        for _ in 0..MAX_TRIES {
            match self.try_create(key, id, &new, &rows).await {
                Ok(()) => {
                    self.unfinished.add();
                    self.doubts.settle(&id);
                    return Ok(());
                }
                Err(Refused::Database(PostgresError::Lost(source))) => {
                    self.doubts
                        .note(id, 0, rows.events.len(), &Lease::Held { epoch: 1 });
                    if was_lost {
                        return Err(PostgresError::Lost(source).into());
                    }
                    was_lost = true;
                }
                Err(Refused::Database(error)) => match error.violated() {
                    Some("task_key" | "receipt_key")
                        if (was_lost
                            || self.doubts.get(&id).is_some_and(|doubt| doubt.after == 0))
                            && self.is_created(id, &new, &rows).await? =>
                    {
                        self.doubts.settle(&id);
                        self.announce(key, id, 1 + rows.events.len() as u64);
                        return Ok(());
                    }
                    Some("task_key") => return Err(StoreError::TaskExists),
                    Some("receipt_key") => {
                        self.received_or_expired(key, new.receipt.as_ref()).await?
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

    async fn try_create(
        &self,
        key: &Key,
        id: Uuid,
        new: &NewTask,
        rows: &LogRows,
    ) -> Result<(), Refused> {
        let task = &new.task;
        let row = TaskRow {
            seq: 0,
            server: SystemTime::UNIX_EPOCH,
        };
        let mut later = Fold::new(row, Arc::clone(task), new.dialect, 1);
        let (messages, bytes, state) = later.admit(rows)?;
        new.config.as_ref().map_or(Ok(0), limits::admit_config)?;
        (later.messages, later.bytes) = (messages, bytes);
        later.extend(rows.events.iter().cloned());
        let mut parts = Parts::new(&key.1, rows, 0, self.keyed(&key.0, new.receipt.as_ref()));
        parts.sequence = later.sequence as i64;
        parts.document = later.document(task.status.state)?;
        let (owner, of) = (key.0.to_json(), owner_key(&key.0));
        let context = task.context_id.as_ref().map(|id| column(id.as_str()));
        let (version, name) = (new.dialect.version(), state.as_str());
        let time = time(rows.status().unwrap_or(&task.status));
        let active = limits::is_active(state, 1, messages);
        let leased = !rows.release;
        let (ends, waits) = (state.is_terminal(), state.is_interrupted());
        let (count, size) = (messages as i32, bytes as i64);
        let (holder, term) = (&*new.holder, micros(new.term));
        let bodies = bodies(rows);
        let mut statement = Statement::default();
        statement.add(
            "with u as (insert into @task(key, owner_key, owner, id, context_id, dialect, sequence, state,
               status_time, active, busy, ended, waits, messages, bytes, lease_owner, lease_epoch, lease_until, turn)
             select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? or ?, case when ? then clock_timestamp() end,
               case when ? then clock_timestamp() end, ?, ?, ?, 1,
               case when ? then clock_timestamp() + ? * interval '1 microsecond' end, 1
             returning seq, lease_epoch)",
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
        let (config, body) = (
            new.config.as_ref().map(|it| config_key(&it.id)),
            rows.config.as_deref(),
        );
        let notifies = !parts.notified.is_empty();
        if config.is_some() {
            statement.add(
                ", c as (insert into @push_config(task, config, position, dialect, due, body)
                 select seq, ?, 0, ?, case when ? then clock_timestamp() end, ? from u returning task, config)",
                &[
                    (&config, Type::UUID),
                    (&version, Type::TEXT),
                    (&notifies, Type::BOOL),
                    (&body, Type::BYTEA),
                ],
            );
            if notifies {
                statement.add(
                    ", o as (insert into @push_outbox(task, config, sequence, traceparent, tracestate)
                     select c.task, c.config, n, ?, ? from c, unnest(?) n)",
                    &[
                        (&parts.traceparent, Type::TEXT),
                        (&parts.tracestate, Type::TEXT),
                        (&parts.notified, Type::INT8_ARRAY),
                    ],
                );
            }
        }
        statement.add_log(&parts, &bodies);
        statement.add_document(&parts);
        statement.add_receipt(&parts);
        statement.text += " select seq, pg_postmaster_start_time() from u";
        let query = statement.into_query();
        let found = self.connections.run(&query, Repeat::Harmful).await?;
        if let Some(row) = found.first() {
            (later.row.seq, later.row.server) = (get(row, 0)?, get(row, 1)?);
            self.recent.keep(key, &later);
            self.announce(key, id, later.sequence);
        }
        Ok(())
    }

    /// Returns whether the stored task is this one, from a creation whose outcome was unknown.
    async fn is_created(
        &self,
        id: Uuid,
        new: &NewTask,
        rows: &LogRows,
    ) -> Result<bool, StoreError> {
        let sequences: Vec<_> = rows.numbered(0).map(|(last, _)| last as i64).collect();
        let query = Query::new(
            "select t.lease_owner, array(select body from @task_event e
               where e.task = t.seq and e.sequence = any($2) order by e.sequence)
             from @task t where t.key = $1 and t.lease_epoch = 1",
        );
        let query = query
            .with(&id, Type::UUID)
            .with(&sequences, Type::INT8_ARRAY);
        let found = self.connections.run(&query, Repeat::Harmless).await?;
        let Some(row) = found.first() else {
            return Ok(false);
        };
        let (holder, stored): (&str, Vec<&[u8]>) = (get(row, 0)?, get(row, 1)?);
        Ok(holder == &*new.holder && stored == bodies(rows))
    }
}

impl Inner {
    /// Refuses a new task if there are as many unfinished ones as there may be.
    pub(crate) async fn admit_unfinished(
        &self,
        (owner, task): &Key,
        new: &NewTask,
    ) -> Result<(), StoreError> {
        if self.unfinished.is_reached() {
            self.count_unfinished().await?;
        }
        if !self.unfinished.is_reached() {
            return Ok(());
        }
        if let Some(receipt) = &new.receipt
            && self.received(owner, &receipt.message).await?.is_some()
        {
            return Err(StoreError::Received);
        }
        match head(&self.connections, task_key(owner, task)).await {
            Ok(_) => Err(StoreError::TaskExists),
            Err(StoreError::NoTask) => Err(StoreError::Full),
            Err(error) => Err(error),
        }
    }

    /// Counts the unfinished tasks, if that is due. If all tasks are few by the estimate of the last `analyze`, their
    /// number is enough.
    pub(crate) async fn count_unfinished(&self) -> Result<(), StoreError> {
        if !self.unfinished.is_due() {
            return Ok(());
        }
        let terminal = [
            TaskState::Completed,
            TaskState::Failed,
            TaskState::Canceled,
            TaskState::Rejected,
        ];
        let terminal = terminal.map(TaskState::as_str).to_vec();
        let query = Query::new(COUNT)
            .with(&self.unfinished.max, Type::INT8)
            .with(&terminal, Type::TEXT_ARRAY);
        let rows = self.connections.run(&query, Repeat::Harmless).await?;
        if let Some(row) = rows.first() {
            let known = get(row, 0)?;
            self.unfinished.known.store(known, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The index of owners and states has all that is counted.
const COUNT: &str = "
select case when reltuples between 0 and $1 / 2 then reltuples::bigint
  else (select count(*) from @task where state <> all($2)) end
from pg_class where oid = '@task'::regclass";
