//! Removal of messages and tasks that need not be kept.

use rusqlite::{Connection, params};

use super::super::{Retention, StoreError, TaskKey};
use super::columns::{each_row, first_row, get, key, most, rows};
use super::task_index::{IndexChange, place};
use super::transaction::{WriteTransaction, millis};

/// Result of one step of a sweep.
pub(super) struct SweepStep {
    pub(super) tasks: usize,
    /// `true` if there may be more to forget.
    pub(super) more: bool,
}

/// Forgets messages and tasks that need not be kept, some of them at a time, and gives back pages of
/// the file if many are free.
pub(super) fn sweep(
    transaction: &mut WriteTransaction<'_>,
    retention: Retention,
) -> Result<SweepStep, StoreError> {
    let messages = transaction.drop_receipts(MAX_SWEPT_MESSAGES)?;
    let kept = retention.count.try_into().unwrap_or(i64::MAX);
    let surplus = transaction.counts.ended.saturating_sub(kept);
    let oldest = transaction.now.saturating_sub(millis(retention.age));
    let ended = ended(transaction.connection, oldest, surplus, MAX_SWEPT_TASKS)?;
    let earliest = transaction.now.saturating_sub(millis(retention.patience));
    let room = MAX_SWEPT_TASKS - ended.len();
    let waiting = waiting(transaction.connection, earliest, transaction.now, room)?;
    transaction.counts.ended -= ended.len() as i64;
    transaction.counts.unfinished -= waiting.len() as i64;
    let tasks = ended.len() + waiting.len();
    for (key, seq, status_time) in ended.into_iter().chain(waiting) {
        for sql in [
            "delete from task where seq = ?1",
            "delete from task_doc where task = ?1",
            "delete from task_event where task = ?1",
            "delete from task_checkpoint where task = ?1",
            "delete from push_config where task = ?1",
            "delete from push_outbox where task = ?1",
        ] {
            transaction.execute(sql, params![seq])?;
        }
        transaction.index(IndexChange::Removed {
            owner: key.0.to_json(),
            place: place(status_time, key.1.clone()),
        });
        transaction.forget(key);
    }
    let gives_back = give_back_pages(transaction.connection)?;
    Ok(SweepStep {
        tasks,
        more: gives_back || tasks >= MAX_SWEPT_TASKS || messages as i64 >= MAX_SWEPT_MESSAGES,
    })
}

/// Shortens the file if a large part of it is free; a small free part is reused. Returns whether it
/// was shortened.
fn give_back_pages(connection: &Connection) -> Result<bool, StoreError> {
    let pages = |sql: &str| first_row(connection, sql, [], |row| get::<i64>(row, 0));
    let free = pages("pragma freelist_count")?.unwrap_or_default();
    if free < FREE_PAGES || free < pages("pragma page_count")?.unwrap_or_default() / 4 {
        return Ok(false);
    }
    let sql = format!("pragma incremental_vacuum({GIVEN_AT_ONCE})");
    each_row(connection, &sql, [], |_| Ok(true))?;
    Ok(true)
}

/// Returns tasks that ended at `before` or earlier, and in any case the `surplus` tasks that ended first; at most
/// `limit`.
fn ended(
    connection: &Connection,
    before: i64,
    surplus: i64,
    limit: usize,
) -> Result<Vec<(TaskKey, i64, i64)>, StoreError> {
    let sql = "select owner, id, seq, ended, status_time from task where ended is not null
               order by ended, seq limit ?1";
    let mut ended = Vec::new();
    each_row(connection, sql, [most(limit)], |row| {
        let goes = (ended.len() as i64) < surplus || get::<i64>(row, 3)? <= before;
        if goes {
            ended.push((key(row)?, get(row, 2)?, get(row, 4)?));
        }
        Ok(goes)
    })?;
    Ok(ended)
}

/// Returns tasks that have waited for their caller since long ago; at most `limit`.
fn waiting(
    connection: &Connection,
    before: i64,
    now: i64,
    limit: usize,
) -> Result<Vec<(TaskKey, i64, i64)>, StoreError> {
    let sql = "select owner, id, seq, status_time from task where waits < ?1 and lease_until <= ?2
               order by waits limit ?3";
    let values = params![before, now, most(limit)];
    rows(connection, sql, values, |row| {
        Ok((key(row)?, get(row, 2)?, get(row, 3)?))
    })
}

/// Maximum number of tasks forgotten in one transaction: a send waits for it no longer than a few milliseconds.
const MAX_SWEPT_TASKS: usize = 32;
/// Maximum number of messages forgotten in one transaction.
const MAX_SWEPT_MESSAGES: i64 = 300;
/// Number of free pages that are kept for later writes, however small the file is.
const FREE_PAGES: i64 = 1024;
/// Number of pages given back in one transaction.
const GIVEN_AT_ONCE: u32 = 128;
