//! Budgets of memory that the messages in flight share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// A number of bytes that all holders of a share may have together. Clones are the same budget.
///
/// A quarter of it is kept for small messages: messages larger than [`SMALL`] are refused when only this quarter
/// is left, so that many small ones still get through while a few large ones hold the rest.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Account>);

#[derive(Debug)]
struct Account {
    limit: usize,
    taken: AtomicUsize,
}

/// The budget has no room.
#[derive(Debug)]
pub struct Exhausted;

impl Budget {
    /// Creates a budget of `limit` bytes.
    pub fn new(limit: usize) -> Self {
        let taken = AtomicUsize::new(0);
        Self(Arc::new(Account { limit, taken }))
    }

    /// Returns the number of bytes.
    pub fn limit(&self) -> usize {
        self.0.limit
    }

    /// Returns a share that has no bytes yet.
    pub fn share(&self) -> Share {
        Share {
            account: Arc::clone(&self.0),
            bytes: 0,
        }
    }
}

impl Account {
    /// Returns whether more than half of it is taken.
    fn is_scarce(&self) -> bool {
        self.taken.load(Ordering::Relaxed) > self.limit / 2
    }

    /// Takes `bytes` more for a message that then has `whole` bytes.
    fn take(&self, bytes: usize, whole: usize) -> Result<(), Exhausted> {
        let limit = match whole {
            ..=SMALL => self.limit,
            _ => self.limit - self.limit / 4,
        };
        // A message that has the whole budget to itself is bounded by its own limit, which may be
        // larger.
        let fits = |taken: &usize| *taken <= limit || *taken == whole;
        let grown = |taken: usize| taken.checked_add(bytes).filter(fits);
        let taken = &self.taken;
        let took = taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
        took.map(drop).map_err(|_| Exhausted)
    }
}

/// Bytes of a budget that one message holds. Dropping it gives the bytes back.
#[derive(Debug)]
pub struct Share {
    account: Arc<Account>,
    bytes: usize,
}

impl Share {
    /// Returns a share of an unlimited budget.
    pub fn unlimited() -> Self {
        Budget::new(usize::MAX).share()
    }

    /// Takes more bytes. On an error the share is as it was.
    pub fn grow(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let whole = self.bytes.saturating_add(bytes);
        self.account.take(bytes, whole)?;
        self.bytes = whole;
        Ok(())
    }

    /// Takes or gives back bytes, so that it holds `bytes`. On an error the share is as it was.
    pub fn resize(&mut self, bytes: usize) -> Result<(), Exhausted> {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.grow(more),
            None => {
                drop(self.split_off(self.bytes - bytes));
                Ok(())
            }
        }
    }

    /// Splits off a share of `bytes`, or of all its bytes if it has fewer.
    pub fn split_off(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self {
            account: Arc::clone(&self.account),
            bytes,
        }
    }

    /// Returns whether more than half of the budget is taken, so that slow peers should make room.
    pub fn is_scarce(&self) -> bool {
        self.account.is_scarce()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.account.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Returns whether a peer has sent or taken fewer than 64 KiB per second since then, after at least ten
/// seconds: it has to make room when the budget is scarce.
pub fn is_slow(since: Instant, bytes: usize) -> bool {
    let elapsed = since.elapsed();
    let seconds = usize::try_from(elapsed.as_secs()).unwrap_or(usize::MAX);
    elapsed > Duration::from_secs(10) && bytes < seconds.saturating_mul(64 * 1024)
}

/// Size in bytes up to which a message may use the whole of a budget.
pub const SMALL: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_bounded_together_and_given_back() {
        let budget = Budget::new(1000);
        let (mut one, mut other) = (budget.share(), budget.share());
        assert!(one.grow(600).is_ok() && other.grow(400).is_ok());
        assert!(one.grow(1).is_err() && budget.share().grow(usize::MAX).is_err());
        assert!(one.is_scarce());
        drop(one);
        assert!(!other.is_scarce());
        assert!(other.grow(600).is_ok());
        assert!(other.resize(100).is_ok() && budget.share().grow(900).is_ok());
    }

    #[test]
    fn large_messages_leave_room_for_small_ones() {
        let budget = Budget::new(8 * SMALL);
        let (mut large, mut small) = (budget.share(), [budget.share(), budget.share()]);
        assert!(small[0].grow(SMALL).is_ok());
        assert!(large.grow(5 * SMALL).is_ok() && large.grow(1).is_err());
        assert!(small[1].grow(SMALL).is_ok() && budget.share().grow(SMALL).is_ok());
        assert!(small[0].grow(1).is_err());
    }

    #[test]
    fn a_message_alone_is_not_limited() {
        let budget = Budget::new(1000);
        let (mut one, mut other) = (budget.share(), budget.share());
        assert!(one.grow(2000).is_ok() && one.grow(2000).is_ok());
        assert!(other.grow(1).is_err());
        drop(one);
        assert!(other.grow(1).is_ok() && budget.share().grow(1000).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_is_slow_by_its_rate() {
        let start = Instant::now();
        assert!(!is_slow(start, 0));
        tokio::time::advance(Duration::from_secs(20)).await;
        assert!(is_slow(start, 20 * 64 * 1024 - 1));
        assert!(!is_slow(start, 20 * 64 * 1024));
    }
}
