//! Limit on the number of unfinished tasks.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use a2a_server::{NewTask, StoreError};
use a2a_types::TaskState;
use tokio_postgres::types::Type;

use crate::connections::{Query, Repeat};
use crate::names::{Key, task_key};
use crate::reads::{get, head};
use crate::store::Inner;

/// Number of unfinished tasks at the last count, plus the tasks that this server has created since. So the limit may be
/// exceeded by what other servers create between two counts.
pub(crate) struct Unfinished {
    max: i64,
    known: AtomicI64,
    counted: Mutex<Option<Instant>>,
}

impl Unfinished {
    pub(crate) fn new(max: u64) -> Self {
        Self {
            max: i64::try_from(max).unwrap_or(i64::MAX),
            known: AtomicI64::new(0),
            counted: Mutex::default(),
        }
    }

    /// Counts a new task.
    pub(crate) fn add(&self) {
        self.known.fetch_add(1, Ordering::Relaxed);
    }

    fn is_reached(&self) -> bool {
        self.known.load(Ordering::Relaxed) >= self.max
    }

    /// Returns whether the caller is to count now.
    fn is_due(&self) -> bool {
        let every = match self.is_reached() {
            true => COUNT_EVERY_WHEN_REACHED,
            false => COUNT_EVERY,
        };
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = counted.is_none_or(|last| last.elapsed() >= every);
        if is_due {
            *counted = Some(Instant::now());
        }
        is_due
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

/// Interval at which a server counts unfinished tasks.
const COUNT_EVERY: Duration = Duration::from_secs(60);
/// The same while there are as many as there may be.
const COUNT_EVERY_WHEN_REACHED: Duration = Duration::from_secs(1);
