//! Writes of every message: tasks, their logs, leases and receipts. A job is refused before it changes anything,
//! because a single job cannot be rolled back.

use std::sync::Arc;
use std::time::Duration;

use a2a_types::{Message, TaskId, TaskStatus, Timestamp};
use rusqlite::params;

use super::super::fold::Fold;
use super::super::log_rows::{LogRows, write};
use super::super::{
    Append, Appended, IdempotencyKey, Lease, NewTask, Owner, StoreError, TaskKey, limits,
};
use super::columns::first_row;
use super::schema::failed;
use super::tables::{FoldedTask, TaskRow, place, received};
use super::task_index::{IndexChange, place as list_place};
use super::transaction::WriteTransaction;
use super::webhooks;

/// Stores a new task.
pub(super) fn create(
    transaction: &mut WriteTransaction<'_>,
    key: &TaskKey,
    of: &str,
    new: &NewTask,
    log_rows: &LogRows,
    most: i64,
) -> Result<(), StoreError> {
    let task = &new.task;
    check_receipt(transaction, of, new.receipt.as_ref())?;
    let row = TaskRow {
        seq: 0,
        epoch: 1,
        has_configs: new.config.is_some(),
        status_time: time(log_rows.status().unwrap_or(&task.status)),
    };
    let mut folded = Fold::new(row, Arc::clone(task), new.protocol_version, 1);
    let (messages, bytes, state) = folded.admit(log_rows)?;
    new.config.as_ref().map_or(Ok(0), limits::admit_config)?;
    if transaction.counts.unfinished >= most {
        return Err(match place(transaction.connection, of, &task.id) {
            Ok(_) => StoreError::TaskExists,
            Err(StoreError::NoTask) => StoreError::Full,
            Err(error) => error,
        });
    }
    let sequence = 1 + log_rows.events.len() as u64;
    let (now, until) = (transaction.now, transaction.until(new.term));
    let inserted = transaction.statements.task.execute(params![
        of,
        task.id.as_str(),
        task.context_id.as_ref().map(|id| id.as_str()),
        new.protocol_version.version(),
        sequence as i64,
        state.as_str(),
        folded.row.status_time,
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
    transaction.count(state, 1);
    transaction.index(IndexChange::Added {
        owner: of.to_owned(),
        place: list_place(folded.row.status_time, task.id.clone()),
        state,
        context: task.context_id.as_ref().map(|id| id.as_str().to_owned()),
    });
    folded.row.seq = transaction.connection.last_insert_rowid();
    (folded.messages, folded.bytes) = (messages, bytes);
    // The task itself is the first entry of its log.
    write_log(transaction, &mut folded, 0, log_rows)?;
    if let (Some(config), Some(body)) = (&new.config, &log_rows.config) {
        webhooks::insert_config(
            transaction,
            folded.row.seq,
            &config.id,
            new.protocol_version,
            body,
        )?;
        webhooks::enqueue(transaction, folded.row.seq, log_rows)?;
    }
    if let Some(receipt) = &new.receipt {
        note(transaction, of, receipt, Some(&task.id), None)?;
    }
    transaction.keep(key.clone(), folded);
    Ok(())
}

/// Appends to the log of a task.
pub(super) fn append(
    transaction: &mut WriteTransaction<'_>,
    key: &TaskKey,
    of: &str,
    append: &Append,
    log_rows: &LogRows,
) -> Result<Appended, StoreError> {
    let mut folded = transaction.take(key, of)?;
    let appended = append_to(transaction, &mut folded, &key.1, of, append, log_rows);
    transaction.keep(key.clone(), folded);
    appended
}

fn append_to(
    transaction: &mut WriteTransaction<'_>,
    folded: &mut FoldedTask,
    task: &TaskId,
    of: &str,
    append: &Append,
    log_rows: &LogRows,
) -> Result<Appended, StoreError> {
    check_receipt(transaction, of, append.receipt.as_ref())?;
    if append.after != folded.sequence {
        return Err(StoreError::SequenceConflict(folded.sequence));
    }
    let taken = check_lease(transaction, folded, &append.lease)?;
    let before = folded.state;
    let (messages, bytes, state) = folded.admit(log_rows)?;
    // No check below here may fail.
    let changed_at = log_rows.status().map(time);
    let was_active = folded.is_active();
    (folded.messages, folded.bytes) = (messages, bytes);
    folded.turn = append.turn.unwrap_or(folded.turn);
    folded.row.epoch += u64::from(taken.is_some());
    write_log(transaction, folded, append.after, log_rows)?;
    let changes = changed_at.is_some() || was_active != folded.is_active();
    match changes || taken.is_some() || log_rows.release {
        true => write_change(transaction, folded, changed_at, taken, log_rows.release)?,
        false => write_growth(transaction, folded)?,
    }
    transaction.count(before, -1);
    transaction.count(state, 1);
    let time = changed_at.unwrap_or(folded.row.status_time);
    if time != folded.row.status_time || state != before {
        transaction.index(IndexChange::Moved {
            owner: of.to_owned(),
            from: list_place(folded.row.status_time, task.clone()),
            to: list_place(time, task.clone()),
            state,
        });
        folded.row.status_time = time;
    }
    if append.turn.is_some() && folded.checkpoint.take().is_some() {
        let sql = "delete from task_checkpoint where task = ?1";
        transaction.execute(sql, params![folded.row.seq])?;
    }
    if let Some(body) = &log_rows.checkpoint {
        let sql = "insert or replace into task_checkpoint(task, body) values(?1, ?2)";
        transaction.execute(sql, params![folded.row.seq, body])?;
        folded.checkpoint = append.checkpoint.clone().map(Arc::new);
    }
    if folded.row.has_configs {
        webhooks::enqueue(transaction, folded.row.seq, log_rows)?;
    }
    if let Some(receipt) = &append.receipt {
        note(transaction, of, receipt, Some(task), None)?;
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
    transaction: &mut WriteTransaction<'_>,
    folded: &mut FoldedTask,
    after: u64,
    log_rows: &LogRows,
) -> Result<(), StoreError> {
    let (seq, before) = (folded.row.seq, folded.state);
    for (last, body) in log_rows.numbered(after) {
        let written = transaction
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
        transaction.execute(sql, params![seq, folded.written as i64, body])?;
    }
    Ok(())
}

fn write_growth(
    transaction: &mut WriteTransaction<'_>,
    folded: &FoldedTask,
) -> Result<(), StoreError> {
    one_row(transaction.statements.grown.execute(params![
        folded.row.seq,
        folded.sequence as i64,
        folded.messages as i64,
        folded.bytes as i64,
        folded.turn as i64,
    ]))
}

fn write_change(
    transaction: &mut WriteTransaction<'_>,
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
    one_row(transaction.statements.changed.execute(params![
        folded.row.seq,
        folded.sequence as i64,
        folded.messages as i64,
        folded.bytes as i64,
        state.as_str(),
        changed_at,
        folded.is_active(),
        state.is_terminal(),
        state.is_interrupted(),
        transaction.now,
        folded.row.epoch as i64,
        taken.as_ref().map(|(holder, _)| &**holder),
        until,
        folded.turn as i64,
    ]))
}

/// Checks the writer's lease; returns the holder and the end of a new one.
fn check_lease(
    transaction: &WriteTransaction<'_>,
    folded: &FoldedTask,
    lease: &Lease,
) -> Result<Option<(Arc<str>, i64)>, StoreError> {
    let (holder, term, seized) = match lease {
        Lease::Held { epoch } if *epoch == folded.row.epoch => return Ok(None),
        Lease::Held { .. } => return Err(StoreError::Fenced),
        Lease::Acquire { holder, term } => (holder, term, false),
        Lease::TakeOver { holder, term } => (holder, term, true),
    };
    let sql = "select 1 from task where seq = ?1 and lease_until > ?2 and lease_owner <> ?3";
    let values = params![folded.row.seq, transaction.now, &**holder];
    if !seized && first_row(transaction.connection, sql, values, |_| Ok(()))?.is_some() {
        return Err(StoreError::Leased);
    }
    Ok(Some((Arc::clone(holder), transaction.until(*term))))
}

/// Stores the answer to a message.
pub(super) fn store_response(
    transaction: &mut WriteTransaction<'_>,
    owner: &Owner,
    receipt: &IdempotencyKey,
    answer: &Message,
) -> Result<(), StoreError> {
    let of = owner.to_json();
    check_receipt(transaction, &of, Some(receipt))?;
    note(transaction, &of, receipt, None, Some(answer))
}

fn check_receipt(
    transaction: &WriteTransaction<'_>,
    of: &str,
    receipt: Option<&IdempotencyKey>,
) -> Result<(), StoreError> {
    let Some(receipt) = receipt else {
        return Ok(());
    };
    let (connection, now) = (transaction.connection, transaction.now);
    let places = transaction.shared.receipt_filter.find(of, &receipt.message);
    match received(connection, of, &receipt.message, &places, now)? {
        Some(_) => Err(StoreError::DuplicateMessage),
        None => Ok(()),
    }
}

fn note(
    transaction: &mut WriteTransaction<'_>,
    of: &str,
    receipt: &IdempotencyKey,
    task: Option<&TaskId>,
    answer: Option<&Message>,
) -> Result<(), StoreError> {
    let answer = answer.map(write).transpose()?;
    let length = answer.as_ref().map_or(0, Vec::len);
    let row = transaction
        .shared
        .receipt_filter
        .next(of, &receipt.message, length);
    let written = transaction.statements.receipt.execute(params![
        row.seq,
        of,
        receipt.message.as_str(),
        receipt.digest,
        task.map(|task| task.as_str()),
        answer,
        transaction.until(receipt.term),
    ]);
    written.map_err(failed)?;
    transaction.note_receipt(row);
    Ok(())
}

/// Renews the leases of a holder.
pub(super) fn renew(
    transaction: &WriteTransaction<'_>,
    holder: &str,
    term: Duration,
) -> Result<(), StoreError> {
    transaction.execute(
        "update task indexed by task_active set lease_until = ?2
         where (active = 1 or lease_until > 0) and lease_until > 0 and lease_owner = ?1",
        params![holder, transaction.until(term)],
    )?;
    Ok(())
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
