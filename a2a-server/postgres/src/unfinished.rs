//! Limit on the number of unfinished tasks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use a2a_server::StoreError;
use a2a_types::TaskState;
use tokio_postgres::types::Type;

use crate::columns::get;
use crate::connections::{Connections, Query, Repeat};
use crate::lock::lock;

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

    pub(crate) fn is_reached(&self) -> bool {
        self.known.load(Ordering::Relaxed) >= self.max
    }

    /// Counts the unfinished tasks, if that is due. If all tasks are few by the estimate of the last `analyze`, their
    /// number is enough.
    pub(crate) async fn count(&self, connections: &Connections) -> Result<(), StoreError> {
        let every = match self.is_reached() {
            true => COUNT_EVERY_WHEN_REACHED,
            false => COUNT_EVERY,
        };
        if !is_due(&self.counted, every) {
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
            .with(&self.max, Type::INT8)
            .with(&terminal, Type::TEXT_ARRAY);
        if let Some(row) = connections.row(&query, Repeat::Harmless).await? {
            self.known.store(get(&row, 0)?, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Returns whether work that was last done then is due again, and if so sets its time to now.
pub(crate) fn is_due(last: &Mutex<Option<Instant>>, every: Duration) -> bool {
    let mut last = lock(last);
    let is_due = last.is_none_or(|last| last.elapsed() >= every);
    if is_due {
        *last = Some(Instant::now());
    }
    is_due
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
