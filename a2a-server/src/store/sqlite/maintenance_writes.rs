//! Writes of webhooks, notifications and leases, and removal of old messages and tasks.

use std::time::Duration;

use a2a_types::{ConfigId, Dialect, TaskId, TaskPushNotificationConfig};
use rusqlite::{OptionalExtension, params};

use super::super::log_rows::write;
use super::super::{Notification, Owner, Retention, Settlement, StoreError, TaskKey, limits};
use super::schema::failed;
use super::tables;
use super::transaction::{WriteTransaction, millis};

/// Result of one step of a sweep.
pub(super) struct SweepStep {
    pub(super) tasks: usize,
    /// `true` if there may be more to forget.
    pub(super) more: bool,
}

impl WriteTransaction<'_> {
    pub(super) fn put_config(
        &mut self,
        owner: &Owner,
        config: &TaskPushNotificationConfig,
        dialect: Dialect,
    ) -> Result<(), StoreError> {
        limits::admit_config(config)?;
        let key = (owner.clone(), config.task_id.clone());
        let of = key.0.to_json();
        let seq = self.seq(&of, &key.1)?;
        let sql = "update push_config set body = ?3, dialect = ?4 where task = ?1 and id = ?2";
        let (body, version) = (write(config)?, dialect.version());
        if self.execute(sql, params![seq, config.id.as_str(), &body, version])? == 0 {
            let sql = "select count(*) from push_config where task = ?1";
            let known: i64 = self.one(sql, params![seq])?;
            if known as usize >= limits::MAX_CONFIGS {
                return Err(StoreError::TooManyConfigs(limits::MAX_CONFIGS));
            }
            self.insert_config(seq, &config.id, dialect, &body)?;
        }
        let mut folded = self.take(&key, &of)?;
        folded.row.has_configs = true;
        self.keep(key, folded);
        Ok(())
    }

    pub(super) fn insert_config(
        &self,
        seq: i64,
        id: &ConfigId,
        dialect: Dialect,
        body: &[u8],
    ) -> Result<(), StoreError> {
        self.execute(
            "insert into push_config(task, position, id, dialect, body)
             select ?1, coalesce(max(position) + 1, 0), ?2, ?3, ?4
             from push_config where task = ?1",
            params![seq, id.as_str(), dialect.version(), body],
        )?;
        Ok(())
    }

    pub(super) fn delete_config(
        &mut self,
        key: &TaskKey,
        config: &ConfigId,
    ) -> Result<(), StoreError> {
        let seq = self.seq(&key.0.to_json(), &key.1)?;
        for sql in [
            "delete from push_config where task = ?1 and id = ?2",
            "delete from push_outbox where task = ?1 and config_id = ?2",
        ] {
            self.execute(sql, params![seq, config.as_str()])?;
        }
        Ok(())
    }

    /// The first notification of each webhook, if it is due.
    pub(super) fn take_notifications(
        &mut self,
        limit: usize,
        term: Duration,
    ) -> Result<Vec<Notification>, StoreError> {
        let due = tables::due(self.connection, limit, self.now)?;
        for (seq, notification) in &due {
            let (config, sequence) = (&notification.config.id, notification.sequence);
            self.execute(
                "update push_outbox set attempt = attempt + 1, next_at = ?4, taken = 1
                 where task = ?1 and config_id = ?2 and generation = ?3",
                params![seq, config.as_str(), sequence as i64, self.until(term)],
            )?;
        }
        Ok(due
            .into_iter()
            .map(|(_, notification)| notification)
            .collect())
    }

    pub(super) fn settle(
        &mut self,
        key: &TaskKey,
        config: &ConfigId,
        (sequence, attempt): (u64, u32),
        settlement: Settlement,
    ) -> Result<(), StoreError> {
        // A task that is gone has nothing to settle.
        let seq = match self.seq(&key.0.to_json(), &key.1) {
            Err(StoreError::NoTask) => return Ok(()),
            seq => seq?,
        };
        let sequence = sequence as i64;
        match settlement {
            Settlement::Delivered => self.execute(
                "delete from push_outbox where task = ?1 and config_id = ?2 and generation = ?3",
                params![seq, config.as_str(), sequence],
            )?,
            Settlement::Later(pause) => self.execute(
                "update push_outbox set next_at = ?4, dead = null, taken = 0
                 where task = ?1 and config_id = ?2 and generation = ?3 and attempt = ?5 + (dead is null)",
                params![seq, config.as_str(), sequence, self.until(pause), attempt],
            )?,
            Settlement::Untried(pause) => self.execute(
                "update push_outbox
                 set next_at = ?4, dead = null, attempt = max(attempt - 1, 0), taken = 0
                 where task = ?1 and config_id = ?2 and generation = ?3 and attempt = ?5 + (dead is null)",
                params![seq, config.as_str(), sequence, self.until(pause), attempt],
            )?,
            Settlement::GivenUp => self.execute(
                "update push_outbox set dead = ?4, taken = 0
                 where task = ?1 and config_id = ?2 and generation = ?3 and attempt = ?5 + (dead is null)",
                params![seq, config.as_str(), sequence, self.now, attempt],
            )?,
        };
        if matches!(settlement, Settlement::Delivered | Settlement::GivenUp) {
            // The next one of that webhook may go.
            self.execute(
                "update push_outbox set next_at = ?3
                 where task = ?1 and config_id = ?2 and next_at = ?4 and generation = (
                   select min(generation) from push_outbox
                   where task = ?1 and config_id = ?2 and dead is null)",
                params![seq, config.as_str(), self.now, BEHIND],
            )?;
        }
        Ok(())
    }

    pub(super) fn renew(&mut self, holder: &str, term: Duration) -> Result<(), StoreError> {
        self.execute(
            "update task indexed by task_active set lease_until = ?2
             where (active = 1 or lease_until > 0) and lease_until > 0 and lease_owner = ?1",
            params![holder, self.until(term)],
        )?;
        Ok(())
    }

    /// Forgets messages and tasks that need not be kept, some of them at a time, and gives back pages of
    /// the file if many are free.
    pub(super) fn sweep(&mut self, retention: Retention) -> Result<SweepStep, StoreError> {
        let messages = self.drop_receipts(MAX_SWEPT_MESSAGES)?;
        let kept = retention.count.try_into().unwrap_or(i64::MAX);
        let surplus = self.counts.ended.saturating_sub(kept);
        let oldest = self.now.saturating_sub(millis(retention.age));
        let ended = tables::ended(self.connection, oldest, surplus, MAX_SWEPT_TASKS)?;
        let earliest = self.now.saturating_sub(millis(retention.patience));
        let room = MAX_SWEPT_TASKS - ended.len();
        let waiting = tables::waiting(self.connection, earliest, self.now, room)?;
        self.counts.ended -= ended.len() as i64;
        self.counts.unfinished -= waiting.len() as i64;
        let tasks = ended.len() + waiting.len();
        for (seq, key) in ended.into_iter().chain(waiting) {
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
            self.forget(key);
        }
        let gives_back = self.give_back_pages()?;
        Ok(SweepStep {
            tasks,
            more: gives_back || tasks >= MAX_SWEPT_TASKS || messages as i64 >= MAX_SWEPT_MESSAGES,
        })
    }

    /// Makes the file shorter, if a good part of it is free: the rest is used again. Returns whether it
    /// was.
    fn give_back_pages(&self) -> Result<bool, StoreError> {
        let free = self.one("pragma freelist_count", [])?;
        if free < FREE_PAGES || free < self.one("pragma page_count", [])? / 4 {
            return Ok(false);
        }
        let sql = format!("pragma incremental_vacuum({GIVEN_AT_ONCE})");
        let mut statement = self.connection.prepare_cached(&sql).map_err(failed)?;
        let mut pages = statement.query([]).map_err(failed)?;
        // A row each.
        while pages.next().map_err(failed)?.is_some() {}
        Ok(true)
    }

    /// The number of a task in the tables.
    pub(super) fn seq(&self, of: &str, task: &TaskId) -> Result<i64, StoreError> {
        let sql = "select seq from task where owner = ?1 and id = ?2";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let values = params![of, task.as_str()];
        let seq = statement.query_row(values, |row| row.get(0));
        seq.optional().map_err(failed)?.ok_or(StoreError::NoTask)
    }

    fn one(&self, sql: &str, values: impl rusqlite::Params) -> Result<i64, StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        statement
            .query_row(values, |row| row.get(0))
            .map_err(failed)
    }
}

/// Due time of a notification that has others before it: not before one of them is settled. So a search for
/// due ones does not walk through all that wait behind a webhook that cannot be reached.
pub(super) const BEHIND: i64 = i64::MAX;
/// Maximum number of tasks forgotten in one transaction.
const MAX_SWEPT_TASKS: usize = 100;
/// Maximum number of messages forgotten in one transaction.
const MAX_SWEPT_MESSAGES: i64 = 1000;
/// Number of free pages that are kept for later writes, however small the file is.
const FREE_PAGES: i64 = 1024;
/// Number of pages given back in one transaction.
const GIVEN_AT_ONCE: u32 = 128;
