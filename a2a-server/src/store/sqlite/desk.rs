//! What is written to the tables.

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::TraceContext;
use a2a_types::{
    ConfigId, Dialect, Message, Task, TaskId, TaskPushNotificationConfig, TaskState, Timestamp,
};
use rusqlite::{OptionalExtension, ToSql, params};

use super::super::{
    Append, Appended, Lease, Logged, NewTask, Notification, Owner, Receipt, Retention, Settlement,
    StoreError, limits,
};
use super::schema::{failed, owner_text};
use super::shared::{Folded, Key};
use super::tables;
use super::writer::Desk;

impl Desk<'_> {
    /// Runs a statement; tells how many rows it changed.
    fn execute(&self, sql: &str, values: &[&dyn ToSql]) -> Result<usize, StoreError> {
        let statement = self.connection.prepare_cached(sql);
        let mut statement = statement.map_err(failed)?;
        statement.execute(values).map_err(failed)
    }

    pub(super) fn create(
        &mut self,
        owner: Owner,
        mut new: NewTask,
        most: i64,
    ) -> Result<(), StoreError> {
        let first = new.split();
        let of = owner_text(&owner);
        self.check_receipt(&of, new.receipt.as_ref())?;
        let task = new.task;
        let bytes = limits::size_of_task(&task);
        let inserted = self.execute(
            "insert into task(owner, id, context_id, dialect, generation, state, status_time, active,
               messages, bytes, lease_owner, lease_epoch, lease_until)
             values(?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11) on conflict do nothing",
            params![
                of,
                task.id.as_str(),
                task.context_id.as_ref().map(|id| id.as_str()),
                new.dialect.version(),
                task.status.state.as_str(),
                status_time(&task),
                is_active(task.status.state),
                task.history.len() as i64,
                bytes as i64,
                &*new.holder,
                self.until(new.term),
            ],
        )?;
        if inserted == 0 {
            return Err(StoreError::TaskExists);
        }
        if self.unfinished >= most {
            return Err(StoreError::Full);
        }
        self.unfinished += 1;
        let seq = self.connection.last_insert_rowid();
        self.write_doc(seq, 1, &task)?;
        if let Some(config) = &new.config {
            self.insert_config(seq, config, new.dialect)?;
        }
        if let Some(receipt) = &new.receipt {
            self.note(&of, receipt, Some(&task.id), None)?;
        }
        let key = (owner, task.id.clone());
        let folded = Folded {
            seq,
            messages: task.history.len(),
            bytes,
            task,
            generation: 1,
            dialect: new.dialect,
            checkpoint: None,
            epoch: 1,
            written: 1,
            has_configs: new.config.is_some(),
            tail: Default::default(),
        };
        self.keep(key.clone(), folded);
        first.map_or(Ok(()), |first| self.append(key, first).map(drop))
    }

    pub(super) fn append(&mut self, key: Key, append: Append) -> Result<Appended, StoreError> {
        let of = owner_text(&key.0);
        let mut folded = match self.take(&key) {
            Some(folded) => folded,
            None => tables::load(self.connection, &of, &key.1)?.ok_or(StoreError::NoTask)?,
        };
        self.check_receipt(&of, append.receipt.as_ref())?;
        if append.after != folded.generation {
            let generation = folded.generation;
            self.keep(key, folded);
            return Err(StoreError::Behind(generation));
        }
        let until = self.check_lease(&mut folded, &append.lease)?;
        let (messages, bytes) = limits::admit(folded.messages, folded.bytes, &append)?;
        let before = folded.task.status.state;
        if !append.events.is_empty() {
            Arc::make_mut(&mut folded.task).apply_all(&append.events)?;
        }
        (folded.messages, folded.bytes) = (messages, bytes);
        let told = append.told();
        for event in append.events {
            folded.generation += 1;
            let (seq, generation) = (folded.seq, folded.generation);
            self.execute(
                "insert into task_event(task, generation, body) values(?1, ?2, ?3)",
                params![seq, generation as i64, tables::write(&event)?],
            )?;
            let event = event.into();
            folded.remember(Logged { generation, event });
        }
        self.write_row(&folded, until, append.release)?;
        let state = folded.task.status.state;
        self.unfinished += i64::from(before.is_terminal()) - i64::from(state.is_terminal());
        // A task that rests is read as a whole; one that grows is not rewritten with every chunk.
        let rests = state != before && !is_active(state);
        if rests || folded.generation - folded.written >= SNAPSHOT_EVERY {
            self.write_doc(folded.seq, folded.generation, &folded.task)?;
            folded.written = folded.generation;
        }
        if let Some(checkpoint) = append.checkpoint {
            let sql = "insert or replace into task_checkpoint(task, body) values(?1, ?2)";
            self.execute(sql, params![folded.seq, tables::write(&checkpoint)?])?;
            folded.checkpoint = Some(Arc::new(checkpoint));
        }
        for generation in told.into_iter().filter(|_| folded.has_configs) {
            let trace = append.trace.as_ref();
            self.execute(
                "insert into push_outbox(task, config_id, generation, attempt, next_at,
                   traceparent, tracestate)
                 select task, id, ?2, 0, ?3, ?4, ?5 from push_config where task = ?1",
                params![
                    folded.seq,
                    generation as i64,
                    self.now,
                    trace.map(TraceContext::traceparent),
                    trace.and_then(TraceContext::tracestate),
                ],
            )?;
        }
        if let Some(receipt) = &append.receipt {
            self.note(&of, receipt, Some(&key.1), None)?;
        }
        let appended = Appended {
            generation: folded.generation,
            epoch: folded.epoch,
        };
        self.keep(key, folded);
        Ok(appended)
    }

    /// The thin row of a task; a lease that was taken is written with it.
    fn write_row(
        &self,
        folded: &Folded,
        taken: Option<(Arc<str>, i64)>,
        release: bool,
    ) -> Result<(), StoreError> {
        let task = &folded.task;
        let state = task.status.state;
        let until = match (&taken, release) {
            (_, true) => Some(0),
            (Some((_, until)), false) => Some(*until),
            (None, false) => None,
        };
        let changed = self.execute(
            "update task set generation = ?2, state = ?3, status_time = ?4, active = ?5,
               ended = case when ?6 then coalesce(ended, ?7) end,
               waits = case when ?13 then coalesce(waits, ?7) end, messages = ?8, bytes = ?9,
               lease_epoch = ?10, lease_owner = coalesce(?11, lease_owner),
               lease_until = coalesce(?12, lease_until)
             where seq = ?1",
            params![
                folded.seq,
                folded.generation as i64,
                state.as_str(),
                status_time(task),
                is_active(state),
                state.is_terminal(),
                self.now,
                folded.messages as i64,
                folded.bytes as i64,
                folded.epoch as i64,
                taken.as_ref().map(|(holder, _)| &**holder),
                until,
                state.is_interrupted(),
            ],
        )?;
        match changed {
            1 => Ok(()),
            _ => Err(StoreError::NoTask),
        }
    }

    fn write_doc(&self, seq: i64, generation: u64, task: &Task) -> Result<(), StoreError> {
        let sql = "insert or replace into task_doc(task, generation, body) values(?1, ?2, ?3)";
        self.execute(sql, params![seq, generation as i64, tables::write(task)?])?;
        Ok(())
    }

    /// The writer's right to write; of a new lease the holder and its end.
    fn check_lease(
        &self,
        folded: &mut Folded,
        lease: &Lease,
    ) -> Result<Option<(Arc<str>, i64)>, StoreError> {
        let (holder, term, seized) = match lease {
            Lease::Held { epoch } if *epoch == folded.epoch => return Ok(None),
            Lease::Held { .. } => return Err(StoreError::Fenced),
            Lease::Taken { holder, term } => (holder, term, false),
            Lease::Seized { holder, term } => (holder, term, true),
        };
        let sql = "select 1 from task where seq = ?1 and lease_until > ?2 and lease_owner <> ?3";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let values = params![folded.seq, self.now, &**holder];
        if !seized && statement.exists(values).map_err(failed)? {
            return Err(StoreError::Leased);
        }
        folded.epoch += 1;
        Ok(Some((Arc::clone(holder), self.until(*term))))
    }

    pub(super) fn put_config(
        &mut self,
        owner: Owner,
        config: TaskPushNotificationConfig,
        dialect: Dialect,
    ) -> Result<(), StoreError> {
        let key = (owner, config.task_id.clone());
        let seq = self.seq(&key)?;
        let sql = "update push_config set body = ?3, dialect = ?4 where task = ?1 and id = ?2";
        let (body, version) = (tables::write(&config)?, dialect.version());
        if self.execute(sql, params![seq, config.id.as_str(), body, version])? == 0 {
            let sql = "select count(*) from push_config where task = ?1";
            let known: i64 = self.one(sql, params![seq])?;
            if known as usize >= limits::CONFIGS {
                return Err(StoreError::TooManyConfigs(limits::CONFIGS));
            }
            self.insert_config(seq, &config, dialect)?;
        }
        if let Some(mut folded) = self.take(&key) {
            folded.has_configs = true;
            self.keep(key, folded);
        }
        Ok(())
    }

    fn insert_config(
        &self,
        seq: i64,
        config: &TaskPushNotificationConfig,
        dialect: Dialect,
    ) -> Result<(), StoreError> {
        self.execute(
            "insert into push_config(task, position, id, dialect, body)
             select ?1, coalesce(max(position) + 1, 0), ?2, ?3, ?4
             from push_config where task = ?1",
            params![
                seq,
                config.id.as_str(),
                dialect.version(),
                tables::write(config)?
            ],
        )?;
        Ok(())
    }

    pub(super) fn delete_config(&mut self, key: Key, config: &ConfigId) -> Result<(), StoreError> {
        let seq = self.seq(&key)?;
        for sql in [
            "delete from push_config where task = ?1 and id = ?2",
            "delete from push_outbox where task = ?1 and config_id = ?2",
        ] {
            self.execute(sql, params![seq, config.as_str()])?;
        }
        Ok(())
    }

    pub(super) fn keep_answer(
        &mut self,
        owner: &Owner,
        receipt: &Receipt,
        answer: &Message,
    ) -> Result<(), StoreError> {
        let of = owner_text(owner);
        self.check_receipt(&of, Some(receipt))?;
        self.note(&of, receipt, None, Some(answer))
    }

    fn check_receipt(&self, of: &str, receipt: Option<&Receipt>) -> Result<(), StoreError> {
        let perhaps = |receipt: &&Receipt| self.shared.seen.may_know(of, &receipt.message);
        let Some(receipt) = receipt.filter(perhaps) else {
            return Ok(());
        };
        match tables::received(self.connection, of, &receipt.message, self.now)? {
            Some(_) => Err(StoreError::Received),
            None => Ok(()),
        }
    }

    fn note(
        &self,
        of: &str,
        receipt: &Receipt,
        task: Option<&TaskId>,
        answer: Option<&Message>,
    ) -> Result<(), StoreError> {
        let until = self.until(receipt.term);
        self.shared.seen.note(of, &receipt.message, until);
        self.execute(
            "insert or replace into send_dedupe(owner, message_id, digest, task_id, answer, expires)
             values(?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                of,
                receipt.message.as_str(),
                receipt.digest,
                task.map(|task| task.as_str()),
                answer.map(tables::write).transpose()?,
                until,
            ],
        )?;
        Ok(())
    }

    pub(super) fn take_notifications(
        &mut self,
        limit: usize,
        term: Duration,
    ) -> Result<Vec<Notification>, StoreError> {
        let due = tables::due(self.connection, limit, self.now)?;
        for (seq, notification) in &due {
            let (config, generation) = (&notification.config.id, notification.generation);
            self.execute(
                "update push_outbox set attempt = attempt + 1, next_at = ?4, taken = 1
                 where task = ?1 and config_id = ?2 and generation = ?3",
                params![seq, config.as_str(), generation as i64, self.until(term)],
            )?;
        }
        Ok(due
            .into_iter()
            .map(|(_, notification)| notification)
            .collect())
    }

    pub(super) fn settle(
        &mut self,
        key: Key,
        config: &ConfigId,
        generation: u64,
        settlement: Settlement,
    ) -> Result<(), StoreError> {
        // A task that is gone has nothing to settle.
        let Ok(seq) = self.seq(&key) else {
            return Ok(());
        };
        let generation = generation as i64;
        match settlement {
            Settlement::Delivered => self.execute(
                "delete from push_outbox where task = ?1 and config_id = ?2 and generation = ?3",
                params![seq, config.as_str(), generation],
            )?,
            Settlement::Later(pause) => self.execute(
                "update push_outbox set next_at = ?4, dead = null, taken = 0
                 where task = ?1 and config_id = ?2 and generation = ?3",
                params![seq, config.as_str(), generation, self.until(pause)],
            )?,
            Settlement::Untried(pause) => self.execute(
                "update push_outbox
                 set next_at = ?4, dead = null, attempt = max(attempt - 1, 0), taken = 0
                 where task = ?1 and config_id = ?2 and generation = ?3",
                params![seq, config.as_str(), generation, self.until(pause)],
            )?,
            Settlement::GivenUp => self.execute(
                "update push_outbox set dead = ?4, taken = 0
                 where task = ?1 and config_id = ?2 and generation = ?3",
                params![seq, config.as_str(), generation, self.now],
            )?,
        };
        Ok(())
    }

    pub(super) fn renew(&mut self, holder: &str, term: Duration) -> Result<(), StoreError> {
        self.execute(
            "update task set lease_until = ?2
             where active in (0, 1) and lease_until > 0 and lease_owner = ?1",
            params![holder, self.until(term)],
        )?;
        Ok(())
    }

    /// Forgets tasks that need not be kept, some of them at a time.
    pub(super) fn sweep(&mut self, retention: Retention) -> Result<usize, StoreError> {
        let sql = "delete from send_dedupe where expires <= ?1";
        self.execute(sql, params![self.now])?;
        self.shared.seen.sweep(self.now);
        let sql = "select count(*) from task where ended is not null";
        let ended: i64 = self.one(sql, [])?;
        let surplus = ended.saturating_sub(retention.count.try_into().unwrap_or(i64::MAX));
        let oldest = self.now.saturating_sub(millis(retention.age));
        let mut swept = tables::ended(self.connection, oldest, surplus, SWEPT_AT_ONCE)?;
        let earliest = self.now.saturating_sub(millis(retention.patience));
        let room = SWEPT_AT_ONCE - swept.len();
        let waiting = tables::waiting(self.connection, earliest, room)?;
        self.unfinished -= waiting.len() as i64;
        swept.extend(waiting);
        for (seq, key) in &swept {
            for sql in [
                "delete from task where seq = ?1",
                "delete from task_doc where task = ?1",
                "delete from task_event where task = ?1",
                "delete from task_checkpoint where task = ?1",
                "delete from push_config where task = ?1",
                "delete from push_outbox where task = ?1",
            ] {
                self.execute(sql, params![seq])?;
            }
            self.forget(key.clone());
        }
        if !swept.is_empty() {
            self.connection
                .execute_batch("pragma incremental_vacuum(1000)")
                .map_err(failed)?;
        }
        Ok(swept.len())
    }

    /// The number of a task in the tables.
    fn seq(&self, key: &Key) -> Result<i64, StoreError> {
        let sql = "select seq from task where owner = ?1 and id = ?2";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let values = params![owner_text(&key.0), key.1.as_str()];
        let seq = statement.query_row(values, |row| row.get(0));
        seq.optional().map_err(failed)?.ok_or(StoreError::NoTask)
    }

    fn one(&self, sql: &str, values: impl rusqlite::Params) -> Result<i64, StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        statement
            .query_row(values, |row| row.get(0))
            .map_err(failed)
    }

    fn until(&self, term: Duration) -> i64 {
        self.now.saturating_add(millis(term))
    }
}

/// After how many events a task is written down as a whole, so that it is read quickly.
const SNAPSHOT_EVERY: u64 = 64;
/// How many tasks are forgotten in one transaction.
pub(super) const SWEPT_AT_ONCE: usize = 100;

fn is_active(state: TaskState) -> bool {
    !state.is_terminal() && !state.is_interrupted()
}

fn status_time(task: &Task) -> i64 {
    task.status.timestamp.map_or(i64::MIN, Timestamp::as_millis)
}

fn millis(term: Duration) -> i64 {
    i64::try_from(term.as_millis()).unwrap_or(i64::MAX)
}
