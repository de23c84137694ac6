//! Writes of every message: tasks, their logs, and receipts.

use std::sync::Arc;
use std::time::Duration;

use a2a_transport::TraceContext;
use a2a_types::{Message, TaskId, TaskStatus, Timestamp};
use rusqlite::{ToSql, params};

use super::super::fold::Fold;
use super::super::log_rows::{LogRows, write};
use super::super::{Append, Appended, Lease, NewTask, Owner, Receipt, StoreError, TaskKey, limits};
use super::maintenance_writes::BEHIND;
use super::schema::failed;
use super::tables::{self, FoldedTask, TaskRow};
use super::transaction::{WriteTransaction, millis};

// Refusals come before any change: what was changed cannot be taken back for one job alone.
impl WriteTransaction<'_> {
    pub(super) fn create(
        &mut self,
        key: &TaskKey,
        of: &str,
        new: &NewTask,
        log_rows: &LogRows,
        most: i64,
    ) -> Result<(), StoreError> {
        let task = &new.task;
        self.check_receipt(of, new.receipt.as_ref())?;
        let row = TaskRow {
            seq: 0,
            epoch: 1,
            has_configs: new.config.is_some(),
        };
        let mut folded = Fold::new(row, Arc::clone(task), new.dialect, 1);
        let (messages, bytes, state) = folded.admit(log_rows)?;
        new.config.as_ref().map_or(Ok(0), limits::admit_config)?;
        if self.counts.unfinished >= most {
            return Err(match self.seq(of, &task.id) {
                Ok(_) => StoreError::TaskExists,
                Err(StoreError::NoTask) => StoreError::Full,
                Err(error) => error,
            });
        }
        let sequence = 1 + log_rows.events.len() as u64;
        let status = log_rows.status().unwrap_or(&task.status);
        let (now, until) = (self.now, self.until(new.term));
        let inserted = self.statements.task.execute(params![
            of,
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
        folded.row.seq = self.connection.last_insert_rowid();
        (folded.messages, folded.bytes) = (messages, bytes);
        // The task itself is the first entry of its log.
        self.write_log(&mut folded, 0, log_rows)?;
        if let (Some(config), Some(body)) = (&new.config, &log_rows.config) {
            self.insert_config(folded.row.seq, &config.id, new.dialect, body)?;
            self.enqueue_notifications(folded.row.seq, log_rows)?;
        }
        if let Some(receipt) = &new.receipt {
            self.note(of, receipt, Some(&task.id), None)?;
        }
        self.keep(key.clone(), folded);
        Ok(())
    }

    pub(super) fn append(
        &mut self,
        key: &TaskKey,
        of: &str,
        append: &Append,
        log_rows: &LogRows,
    ) -> Result<Appended, StoreError> {
        let mut folded = self.take(key, of)?;
        let appended = self.append_to(&mut folded, &key.1, of, append, log_rows);
        self.keep(key.clone(), folded);
        appended
    }

    fn append_to(
        &mut self,
        folded: &mut FoldedTask,
        task: &TaskId,
        of: &str,
        append: &Append,
        log_rows: &LogRows,
    ) -> Result<Appended, StoreError> {
        self.check_receipt(of, append.receipt.as_ref())?;
        if append.after != folded.sequence {
            return Err(StoreError::Behind(folded.sequence));
        }
        let taken = self.check_lease(folded, &append.lease)?;
        let before = folded.state;
        let (messages, bytes, state) = folded.admit(log_rows)?;
        // From here on nothing is refused.
        let changed_at = log_rows.status().map(time);
        let was_active = folded.is_active();
        (folded.messages, folded.bytes) = (messages, bytes);
        folded.turn = append.turn.unwrap_or(folded.turn);
        folded.row.epoch += u64::from(taken.is_some());
        self.write_log(folded, append.after, log_rows)?;
        let changes = changed_at.is_some() || was_active != folded.is_active();
        match changes || taken.is_some() || log_rows.release {
            true => self.write_change(folded, changed_at, taken, log_rows.release)?,
            false => self.write_growth(folded)?,
        }
        self.count(before, -1);
        self.count(state, 1);
        if append.turn.is_some() && folded.checkpoint.take().is_some() {
            let sql = "delete from task_checkpoint where task = ?1";
            self.execute(sql, params![folded.row.seq])?;
        }
        if let Some(body) = &log_rows.checkpoint {
            let sql = "insert or replace into task_checkpoint(task, body) values(?1, ?2)";
            self.execute(sql, params![folded.row.seq, body])?;
            folded.checkpoint = append.checkpoint.clone().map(Arc::new);
        }
        if folded.row.has_configs {
            self.enqueue_notifications(folded.row.seq, log_rows)?;
        }
        if let Some(receipt) = &append.receipt {
            self.note(of, receipt, Some(task), None)?;
        }
        Ok(Appended::new(
            folded.sequence,
            folded.row.epoch,
            folded.messages,
        ))
    }

    /// Writes the rows of a log after a sequence number and adds their events to the task, which is written as a
    /// whole if that is due.
    fn write_log(
        &mut self,
        folded: &mut FoldedTask,
        after: u64,
        log_rows: &LogRows,
    ) -> Result<(), StoreError> {
        let (seq, before) = (folded.row.seq, folded.state);
        for (last, body) in log_rows.numbered(after) {
            let written = self
                .statements
                .events
                .execute(params![seq, last as i64, body]);
            written.map_err(failed)?;
        }
        log_rows
            .events
            .iter()
            .cloned()
            .for_each(|event| folded.push(event));
        if let Some(body) = folded.document(before)? {
            let sql = "insert or replace into task_doc(task, generation, body) values(?1, ?2, ?3)";
            self.execute(sql, params![seq, folded.written as i64, body])?;
        }
        Ok(())
    }

    fn write_growth(&mut self, folded: &FoldedTask) -> Result<(), StoreError> {
        one_row(self.statements.grown.execute(params![
            folded.row.seq,
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
            folded.row.seq,
            folded.sequence as i64,
            folded.messages as i64,
            folded.bytes as i64,
            state.as_str(),
            changed_at,
            folded.is_active(),
            state.is_terminal(),
            state.is_interrupted(),
            self.now,
            folded.row.epoch as i64,
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
            Lease::Held { epoch } if *epoch == folded.row.epoch => return Ok(None),
            Lease::Held { .. } => return Err(StoreError::Fenced),
            Lease::Taken { holder, term } => (holder, term, false),
            Lease::Seized { holder, term } => (holder, term, true),
        };
        let sql = "select 1 from task where seq = ?1 and lease_until > ?2 and lease_owner <> ?3";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let values = params![folded.row.seq, self.now, &**holder];
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
        let of = owner.to_json();
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
        let answer = answer.map(write).transpose()?;
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
