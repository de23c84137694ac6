//! Writes of every message: tasks, their logs, and receipts.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use a2a_transport::{SharedEvent, TraceContext};
use a2a_types::{Message, TaskId, TaskState, TaskStatus, Timestamp};
use rusqlite::{ToSql, params};

use super::super::{
    Append, Appended, Lease, Logged, NewTask, Owner, Receipt, StoreError, TaskKey, limits,
};
use super::folded_task::{FoldedTask, SHORT};
use super::log_rows::LogRows;
use super::maintenance_writes::BEHIND;
use super::schema::{failed, owner_text};
use super::tables;
use super::transaction::{WriteTransaction, millis};

// Refusals come before any change: what was changed cannot be taken back for one job alone.
impl WriteTransaction<'_> {
    pub(super) fn create(
        &mut self,
        owner: &Owner,
        new: &NewTask,
        log_rows: &LogRows,
        most: i64,
    ) -> Result<(), StoreError> {
        let task = &new.task;
        self.check_receipt(&log_rows.of, new.receipt.as_ref())?;
        let size = limits::FoldSize::of(task);
        let (messages, bytes) = log_rows.growth.admit(task.history.len(), size.bytes())?;
        let state = log_rows.state(task, task.status.state)?;
        limits::admit_artifacts(task, log_rows.events.iter().map(|event| &**event))?;
        new.config.as_ref().map_or(Ok(0), limits::admit_config)?;
        if self.counts.unfinished >= most {
            return Err(match self.seq(&log_rows.of, &task.id) {
                Ok(_) => StoreError::TaskExists,
                Err(StoreError::NoTask) => StoreError::Full,
                Err(error) => error,
            });
        }
        let sequence = 1 + log_rows.events.len() as u64;
        let status = log_rows.status().unwrap_or(&task.status);
        let (now, until) = (self.now, self.until(new.term));
        let inserted = self.statements.task.execute(params![
            log_rows.of,
            task.id.as_str(),
            task.context_id.as_ref().map(|id| id.as_str()),
            new.dialect.version(),
            sequence as i64,
            state.as_str(),
            time(status),
            limits::is_active(state, 1, messages),
            state.is_terminal().then_some(now),
            state.is_interrupted().then_some(now),
            messages as i64,
            bytes as i64,
            &*new.holder,
            if log_rows.release { 0 } else { until },
        ]);
        if inserted.map_err(failed)? == 0 {
            return Err(StoreError::TaskExists);
        }
        self.count(state, 1);
        let mut folded = FoldedTask {
            seq: self.connection.last_insert_rowid(),
            base: Arc::clone(task),
            size,
            folded: 1,
            sequence: 1,
            state: task.status.state,
            dialect: new.dialect,
            checkpoint: None,
            epoch: 1,
            messages,
            turn: 1,
            bytes,
            written: 1,
            has_configs: new.config.is_some(),
            tail: VecDeque::new(),
        };
        self.write_log(folded.seq, 0, log_rows)?;
        self.extend(&mut folded, &log_rows.events, state)?;
        if let (Some(config), Some(body)) = (&new.config, &log_rows.config) {
            self.insert_config(folded.seq, &config.id, new.dialect, body)?;
            self.enqueue_notifications(folded.seq, log_rows)?;
        }
        if let Some(receipt) = &new.receipt {
            self.note(&log_rows.of, receipt, Some(&task.id), None)?;
        }
        self.keep((owner.clone(), task.id.clone()), folded);
        Ok(())
    }

    pub(super) fn append(
        &mut self,
        key: &TaskKey,
        append: &Append,
        log_rows: &LogRows,
    ) -> Result<Appended, StoreError> {
        let mut folded = self.take(key, &log_rows.of)?;
        let appended = self.append_to(&mut folded, &key.1, append, log_rows);
        self.keep(key.clone(), folded);
        appended
    }

    fn append_to(
        &mut self,
        folded: &mut FoldedTask,
        task: &TaskId,
        append: &Append,
        log_rows: &LogRows,
    ) -> Result<Appended, StoreError> {
        self.check_receipt(&log_rows.of, append.receipt.as_ref())?;
        if append.after != folded.sequence {
            return Err(StoreError::Behind(folded.sequence));
        }
        let taken = self.check_lease(folded, &append.lease)?;
        let (messages, bytes) = log_rows.growth.admit(folded.messages, folded.bytes)?;
        let before = folded.state;
        let state = log_rows.state(&folded.base, before)?;
        folded.admit_artifacts(&log_rows.events)?;
        // From here on nothing is refused.
        let changed_at = log_rows.status().map(time);
        let was_active = folded.is_active();
        (folded.messages, folded.bytes) = (messages, bytes);
        folded.turn = append.turn.unwrap_or(folded.turn);
        folded.epoch += u64::from(taken.is_some());
        self.write_log(folded.seq, folded.sequence, log_rows)?;
        self.extend(folded, &log_rows.events, state)?;
        let changes = changed_at.is_some() || was_active != folded.is_active();
        match changes || taken.is_some() || log_rows.release {
            true => self.write_change(folded, changed_at, taken, log_rows.release)?,
            false => self.write_growth(folded)?,
        }
        self.count(before, -1);
        self.count(state, 1);
        if append.turn.is_some() && folded.checkpoint.take().is_some() {
            let sql = "delete from task_checkpoint where task = ?1";
            self.execute(sql, params![folded.seq])?;
        }
        if let Some(body) = &log_rows.checkpoint {
            let sql = "insert or replace into task_checkpoint(task, body) values(?1, ?2)";
            self.execute(sql, params![folded.seq, body])?;
            folded.checkpoint = append.checkpoint.clone().map(Arc::new);
        }
        if folded.has_configs {
            self.enqueue_notifications(folded.seq, log_rows)?;
        }
        if let Some(receipt) = &append.receipt {
            self.note(&log_rows.of, receipt, Some(task), None)?;
        }
        Ok(Appended::new(
            folded.sequence,
            folded.epoch,
            folded.messages,
        ))
    }

    /// Writes events that follow a sequence number.
    fn write_log(&mut self, seq: i64, after: u64, log_rows: &LogRows) -> Result<(), StoreError> {
        let mut last = after;
        for (count, body) in &log_rows.rows {
            last += count;
            let written = self
                .statements
                .events
                .execute(params![seq, last as i64, body]);
            written.map_err(failed)?;
        }
        Ok(())
    }

    /// Adds written events to a task. The task is written as a whole after more than `SNAPSHOT_EVERY`
    /// events, or `SHORT` ones when it comes to rest, so not with every chunk.
    fn extend(
        &mut self,
        folded: &mut FoldedTask,
        events: &[SharedEvent],
        state: TaskState,
    ) -> Result<(), StoreError> {
        let rests = state != folded.state && state.is_settled();
        for event in events {
            folded.sequence += 1;
            let (sequence, event) = (folded.sequence, event.clone());
            folded.remember(Logged::new(sequence, event));
        }
        folded.state = state;
        let most = if rests { SHORT as u64 } else { SNAPSHOT_EVERY };
        if folded.sequence - folded.written > most {
            folded.fold();
            let (sequence, body) = (folded.sequence, tables::write(&*folded.base)?);
            let sql = "insert or replace into task_doc(task, generation, body) values(?1, ?2, ?3)";
            self.execute(sql, params![folded.seq, sequence as i64, body])?;
            folded.written = sequence;
        }
        Ok(())
    }

    fn write_growth(&mut self, folded: &FoldedTask) -> Result<(), StoreError> {
        one_row(self.statements.grown.execute(params![
            folded.seq,
            folded.sequence as i64,
            folded.messages as i64,
            folded.bytes as i64,
            folded.turn as i64,
        ]))
    }

    fn write_change(
        &mut self,
        folded: &FoldedTask,
        changed_at: Option<i64>,
        taken: Option<(Arc<str>, i64)>,
        release: bool,
    ) -> Result<(), StoreError> {
        let state = folded.state;
        let until = match (&taken, release) {
            (_, true) => Some(0),
            (Some((_, until)), false) => Some(*until),
            (None, false) => None,
        };
        one_row(self.statements.changed.execute(params![
            folded.seq,
            folded.sequence as i64,
            folded.messages as i64,
            folded.bytes as i64,
            state.as_str(),
            changed_at,
            folded.is_active(),
            state.is_terminal(),
            state.is_interrupted(),
            self.now,
            folded.epoch as i64,
            taken.as_ref().map(|(holder, _)| &**holder),
            until,
            folded.turn as i64,
        ]))
    }

    /// Queues notifications of the written events for the task's webhooks.
    fn enqueue_notifications(&self, seq: i64, log_rows: &LogRows) -> Result<(), StoreError> {
        let trace = log_rows.trace.as_ref();
        for sequence in &log_rows.notified {
            self.execute(
                "insert into push_outbox(task, config_id, generation, attempt, next_at,
                   traceparent, tracestate)
                 select task, id, ?2, 0, iif(exists(
                     select 1 from push_outbox before where before.task = push_config.task
                       and before.config_id = push_config.id and before.dead is null), ?6, ?3),
                   ?4, ?5 from push_config where task = ?1",
                params![
                    seq,
                    *sequence as i64,
                    self.now,
                    trace.map(TraceContext::traceparent),
                    trace.and_then(TraceContext::tracestate),
                    BEHIND,
                ],
            )?;
        }
        Ok(())
    }

    /// Checks the writer's lease; returns the holder and the end of a new one.
    fn check_lease(
        &self,
        folded: &FoldedTask,
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
        Ok(Some((Arc::clone(holder), self.until(*term))))
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
        let Some(receipt) = receipt else {
            return Ok(());
        };
        let places = self.shared.receipt_filter.find(of, &receipt.message);
        match tables::received(self.connection, of, &receipt.message, &places, self.now)? {
            Some(_) => Err(StoreError::Received),
            None => Ok(()),
        }
    }

    fn note(
        &mut self,
        of: &str,
        receipt: &Receipt,
        task: Option<&TaskId>,
        answer: Option<&Message>,
    ) -> Result<(), StoreError> {
        let answer = answer.map(tables::write).transpose()?;
        let length = answer.as_ref().map_or(0, Vec::len);
        let row = self
            .shared
            .receipt_filter
            .next(of, &receipt.message, length);
        let written = self.statements.receipt.execute(params![
            row.seq,
            of,
            receipt.message.as_str(),
            receipt.digest,
            task.map(|task| task.as_str()),
            answer,
            self.until(receipt.term),
        ]);
        written.map_err(failed)?;
        self.note_receipt(row);
        Ok(())
    }

    /// Runs a statement; returns the number of rows that it changed.
    pub(super) fn execute(&self, sql: &str, values: &[&dyn ToSql]) -> Result<usize, StoreError> {
        let statement = self.connection.prepare_cached(sql);
        let mut statement = statement.map_err(failed)?;
        statement.execute(values).map_err(failed)
    }

    pub(super) fn until(&self, term: Duration) -> i64 {
        self.now.saturating_add(millis(term))
    }
}

/// Number of events after which a task is written as a whole, so that it is read quickly.
const SNAPSHOT_EVERY: u64 = 64;

/// The row of a task that is known.
fn one_row(changed: rusqlite::Result<usize>) -> Result<(), StoreError> {
    match changed.map_err(failed)? {
        1 => Ok(()),
        _ => Err(StoreError::NoTask),
    }
}

fn time(status: &TaskStatus) -> i64 {
    status.timestamp.map_or(i64::MIN, Timestamp::as_millis)
}
