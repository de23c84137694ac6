//! What the writer works with: one transaction, and tasks as they will be when it is committed.

use std::time::{SystemTime, UNIX_EPOCH};

use ahash::HashMap;
use rusqlite::Connection;

use super::super::StoreError;
use super::shared::{Folded, Key, Shared};
use super::statements::Statements;
use super::tables;

/// The writer's desk.
pub(super) struct Desk<'c> {
    pub(super) connection: &'c Connection,
    pub(super) statements: Statements<'c>,
    pub(super) shared: &'c Shared,
    pub(super) now: i64,
    /// How many tasks have not ended.
    pub(super) unfinished: i64,
    /// How many had not when this began.
    before: i64,
    /// Tasks as they will be once this is committed.
    open: HashMap<Key, Folded>,
    gone: Vec<Key>,
    /// Something was changed of which the rest could not be.
    spoilt: bool,
}

impl<'c> Desk<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        shared: &'c Shared,
        unfinished: i64,
    ) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            statements: Statements::prepare(connection)?,
            shared,
            now: now(),
            unfinished,
            before: unfinished,
            open: HashMap::default(),
            gone: Vec::new(),
            spoilt: false,
        })
    }

    pub(super) fn begin(&mut self) -> Result<(), String> {
        self.statements.begin.execute([]).map_err(text)?;
        self.now = now();
        self.before = self.unfinished;
        Ok(())
    }

    /// Does something as a whole, or refuses it without having changed anything. If it fails half-way,
    /// nothing of the whole transaction is done: see [`Self::is_whole`].
    pub(super) fn all_or_nothing<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let before = self.connection.total_changes();
        let outcome = work(self);
        self.spoilt |= outcome.is_err() && self.connection.total_changes() != before;
        outcome
    }

    /// Whether this may be committed.
    pub(super) fn is_whole(&self) -> Result<(), String> {
        // A full disk ends a transaction at once; the next job must not begin its own.
        match self.spoilt || self.connection.is_autocommit() {
            true => Err("what was to be written together could not be written".to_owned()),
            false => Ok(()),
        }
    }

    /// Commits, then shows what was committed; yields what was forgotten for that.
    pub(super) fn commit(&mut self) -> Result<Vec<Folded>, String> {
        self.statements.commit.execute([]).map_err(text)?;
        for key in self.gone.drain(..) {
            self.shared.forget(&key);
        }
        Ok(self.shared.publish(self.open.drain()))
    }

    /// Nothing of this has happened.
    pub(super) fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            drop(self.connection.execute_batch("rollback"));
        }
        self.open.clear();
        self.gone.clear();
        self.unfinished = self.before;
        self.spoilt = false;
    }

    /// A task as it stands in this transaction, to be given back by [`Self::keep`].
    pub(super) fn take(&mut self, key: &Key, of: &str) -> Result<Folded, StoreError> {
        if let Some(folded) = self.open.remove(key) {
            return Ok(folded);
        }
        let known = self.shared.draft(key).filter(|_| !self.gone.contains(key));
        match known {
            Some(folded) => Ok(folded),
            None => tables::load(self.connection, of, &key.1)?.ok_or(StoreError::NoTask),
        }
    }

    /// The task is this from now on, if the transaction comes to an end.
    pub(super) fn keep(&mut self, key: Key, folded: Folded) {
        self.open.insert(key, folded);
    }

    /// The task is gone, if the transaction comes to an end.
    pub(super) fn forget(&mut self, key: Key) {
        self.open.remove(&key);
        self.gone.push(key);
    }
}

fn text(error: rusqlite::Error) -> String {
    error.to_string()
}

/// The store's clock, in milliseconds since the Unix epoch.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}
