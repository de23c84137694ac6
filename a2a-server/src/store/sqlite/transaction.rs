//! One transaction of the writer, and tasks as they will be when it is committed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a_types::TaskState;
use rusqlite::{Connection, ToSql};

use super::super::{NameMap, StoreError, TaskKey};
use super::receipt_filter::ReceiptRow;
use super::schema::failed;
use super::shared::Shared;
use super::statements::Statements;
use super::tables::{self, FoldedTask};
use super::task_index::IndexChange;

/// State of the writer, and of its open transaction.
pub(super) struct WriteTransaction<'c> {
    pub(super) connection: &'c Connection,
    pub(super) statements: Statements<'c>,
    pub(super) shared: &'c Shared,
    pub(super) now: i64,
    pub(super) counts: Counts,
    /// Counts at the begin of the transaction.
    before: Counts,
    /// Maximum number of messages that are remembered.
    receipts: usize,
    /// Messages that are noted, unless the transaction fails.
    noted: Vec<ReceiptRow>,
    /// Messages that are forgotten once the transaction is committed.
    dropped: Vec<ReceiptRow>,
    /// Tasks as they will be once this is committed.
    open: NameMap<TaskKey, FoldedTask>,
    gone: Vec<TaskKey>,
    /// Changes of the index of tasks, in their order.
    moved: Vec<IndexChange>,
    /// Reason why a job failed after it had changed something.
    spoilt: Option<StoreError>,
}

/// Numbers of tasks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    pub(super) unfinished: i64,
    pub(super) ended: i64,
}

impl<'c> WriteTransaction<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        shared: &'c Shared,
        counts: Counts,
        receipts: usize,
    ) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            statements: Statements::prepare(connection)?,
            shared,
            now: now(),
            counts,
            before: counts,
            receipts,
            noted: Vec::new(),
            dropped: Vec::new(),
            open: NameMap::default(),
            gone: Vec::new(),
            moved: Vec::new(),
            spoilt: None,
        })
    }

    pub(super) fn begin(&mut self) -> Result<(), StoreError> {
        self.statements.begin.execute([]).map_err(failed)?;
        self.now = now();
        self.before = self.counts;
        Ok(())
    }

    /// Runs a statement; returns the number of rows that it changed.
    pub(super) fn execute(&self, sql: &str, values: &[&dyn ToSql]) -> Result<usize, StoreError> {
        let statement = self.connection.prepare_cached(sql);
        let mut statement = statement.map_err(failed)?;
        statement.execute(values).map_err(failed)
    }

    /// Returns the end of a term that begins now.
    pub(super) fn until(&self, term: Duration) -> i64 {
        self.now.saturating_add(millis(term))
    }

    /// Notes that there are `more` more tasks in this state.
    pub(super) fn count(&mut self, state: TaskState, more: i64) {
        match state.is_terminal() {
            true => self.counts.ended += more,
            false => self.counts.unfinished += more,
        }
    }

    /// Notes a message that is written down: it is recognised from now on.
    pub(super) fn note_receipt(&mut self, row: ReceiptRow) {
        self.shared.receipt_filter.add(row);
        self.noted.push(row);
    }

    /// Forgets the first messages that have run out, or are more than the store remembers; at most `limit`.
    /// Returns their number.
    pub(super) fn drop_receipts(&mut self, limit: i64) -> Result<usize, StoreError> {
        let (mut count, mut bytes) = self.shared.receipt_filter.size();
        for row in &self.dropped {
            (count, bytes) = (count.saturating_sub(1), bytes.saturating_sub(row.bytes));
        }
        let (before, mut last) = (self.dropped.len(), None);
        tables::each_receipt(self.connection, limit, |stored| {
            let is_surplus = count > self.receipts || bytes > MAX_RECEIPT_BYTES;
            if !is_surplus && stored.expires > self.now {
                return Ok(false);
            }
            let (receipt_filter, seq) = (&self.shared.receipt_filter, stored.seq);
            let row = receipt_filter.row(seq, &stored.owner, &stored.message, stored.answer);
            (count, bytes) = (count.saturating_sub(1), bytes.saturating_sub(row.bytes));
            last = Some(seq);
            self.dropped.push(row);
            Ok(true)
        })?;
        if let Some(last) = last {
            self.execute("delete from send_dedupe where seq <= ?1", &[&last])?;
        }
        Ok(self.dropped.len() - before)
    }

    /// Keeps pace with the messages of this transaction, so that they never become too many.
    pub(super) fn limit_receipts(&mut self) -> Result<(), StoreError> {
        let (count, bytes) = self.shared.receipt_filter.size();
        if self.noted.is_empty() || (count <= self.receipts && bytes <= MAX_RECEIPT_BYTES) {
            return Ok(());
        }
        // Removes twice as many as were added, so that an excess left by an earlier limit shrinks,
        // too.
        let most = 2 * self.noted.len() as i64;
        self.drop_receipts(most).map(|_| ())
    }

    /// Runs a job that either completes or refuses before it changes anything. If it fails half-way,
    /// the whole transaction is rolled back: see [`Self::is_whole`].
    pub(super) fn all_or_nothing<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let before = self.connection.total_changes();
        let outcome = work(self);
        if let Err(error) = &outcome
            && (self.connection.total_changes() != before || self.connection.is_autocommit())
        {
            self.spoilt = Some(repeated(error));
        }
        outcome
    }

    /// Returns the reason if this may not be committed.
    pub(super) fn is_whole(&self) -> Result<(), StoreError> {
        match &self.spoilt {
            Some(error) => Err(repeated(error)),
            // A full disk ends a transaction at once; the next job must not begin its own.
            None if self.connection.is_autocommit() => {
                Err(StoreError::failed("the transaction has ended"))
            }
            None => Ok(()),
        }
    }

    /// Commits, then publishes what was committed; returns the tasks evicted from memory for that.
    pub(super) fn commit(&mut self) -> Result<Vec<FoldedTask>, StoreError> {
        self.statements.commit.execute([]).map_err(failed)?;
        self.noted.clear();
        for row in self.dropped.drain(..) {
            self.shared.receipt_filter.remove(row);
        }
        for key in self.gone.drain(..) {
            self.shared.forget(&key);
        }
        for change in self.moved.drain(..) {
            self.shared.task_index.apply(change);
        }
        Ok(self.shared.publish(self.open.drain()))
    }

    /// Rolls the transaction back.
    pub(super) fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            drop(self.connection.execute_batch("rollback"));
        }
        self.open.clear();
        self.gone.clear();
        self.moved.clear();
        self.dropped.clear();
        for row in self.noted.drain(..) {
            self.shared.receipt_filter.remove(row);
        }
        self.counts = self.before;
        self.spoilt = None;
    }

    /// A task as it stands in this transaction, to be given back by [`Self::keep`].
    pub(super) fn take(&mut self, key: &TaskKey, of: &str) -> Result<FoldedTask, StoreError> {
        if let Some(folded) = self.open.remove(key) {
            return Ok(folded);
        }
        let known = self.shared.draft(key).filter(|_| !self.gone.contains(key));
        match known {
            Some(folded) => Ok(folded),
            None => tables::load(self.connection, of, &key.1)?.ok_or(StoreError::NoTask),
        }
    }

    /// Keeps this state of the task, if the transaction is committed.
    pub(super) fn keep(&mut self, key: TaskKey, folded: FoldedTask) {
        self.open.insert(key, folded);
    }

    /// Moves a task in lists, if the transaction is committed.
    pub(super) fn index(&mut self, change: IndexChange) {
        self.moved.push(change);
    }

    /// Removes the task, if the transaction is committed.
    pub(super) fn forget(&mut self, key: TaskKey) {
        self.open.remove(&key);
        self.gone.push(key);
    }
}

/// Maximum of the bytes of the names and answers of remembered messages.
const MAX_RECEIPT_BYTES: u64 = 256 << 20;

/// Returns a copy of the error for another caller whose job failed in the same transaction.
pub(super) fn repeated(error: &StoreError) -> StoreError {
    match error {
        StoreError::Full => StoreError::Full,
        StoreError::Failed(reason) => StoreError::failed(reason.to_string()),
        other => StoreError::failed(other.to_string()),
    }
}

/// The store's clock, in milliseconds since the Unix epoch.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

/// A term of that clock.
pub(super) fn millis(term: Duration) -> i64 {
    i64::try_from(term.as_millis()).unwrap_or(i64::MAX)
}
