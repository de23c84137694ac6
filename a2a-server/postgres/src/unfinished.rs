//! Limit on the number of unfinished tasks.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of unfinished tasks at the last count, plus the tasks that this server has created since. So the limit may be
/// exceeded by what other servers create between two counts.
pub(crate) struct Unfinished {
    pub(crate) max: i64,
    pub(crate) known: AtomicI64,
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

    /// Returns whether the caller is to count now.
    pub(crate) fn is_due(&self) -> bool {
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

/// Interval at which a server counts unfinished tasks.
const COUNT_EVERY: Duration = Duration::from_secs(60);
/// The same while there are as many as there may be.
const COUNT_EVERY_WHEN_REACHED: Duration = Duration::from_secs(1);
