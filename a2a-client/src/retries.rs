//! Retry policy: attempts, backoff and budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Retry policy of calls and streams.
///
/// Retried are idempotent requests: reading, following, canceling, deleting; and any request that was
/// not sent (the agent was unreachable) or that the agent refused before it did anything (HTTP 429 and
/// 503). A message is resent after an unclear failure only if [`Retries::resend_messages`] allows it.
///
/// The backoff is a random time up to a bound that doubles with each attempt (full jitter), or longer
/// if the agent asks for it by `Retry-After`. Clones share one budget, which allows one retry per ten
/// calls in the long run: a struggling agent gets few more requests than a healthy one.
///
/// [`attempts`](Self::attempts) and the budget rule calls, and a stream until its first event;
/// [`reconnections`](Self::reconnections) rules a stream that had one. A client that is to bear an outage of a minute
/// needs all three:
///
/// ```
/// use a2a_client::Retries;
///
/// let retries = Retries::default().attempts(30).reconnections(30).budget(100, 100);
/// ```
#[derive(Clone, Debug)]
pub struct Retries {
    attempts: u32,
    reconnections: u32,
    base: Duration,
    most: Duration,
    resend_messages: bool,
    budget: Arc<Budget>,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts: 4,
            reconnections: 12,
            base: Duration::from_millis(100),
            most: Duration::from_secs(5),
            resend_messages: false,
            budget: Arc::new(Budget::new(10, 10)),
        }
    }
}

impl Retries {
    /// Disables retries and resumption of streams, to see exactly what an agent sends.
    pub fn none() -> Self {
        Self::default().attempts(1).reconnections(0)
    }

    /// Sets the number of attempts, the first included; 4 by default.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the number of consecutive resumptions of a stream without a new event; 12 by default, about a
    /// quarter of a minute. With 0 no stream is resumed.
    pub fn reconnections(mut self, reconnections: u32) -> Self {
        self.reconnections = reconnections;
        self
    }

    /// Sets the bound of the pause before the second attempt; 100 ms by default.
    pub fn base(mut self, base: Duration) -> Self {
        self.base = base;
        self
    }

    /// Sets the bound of the pause between any two attempts; 5 s by default.
    pub fn max_delay(mut self, most: Duration) -> Self {
        self.most = most;
        self
    }

    /// Allows `percent` retries per hundred calls in the long run, and `burst` at once; 10 and 10 by
    /// default. From here on the budget is no longer shared with earlier clones.
    pub fn budget(mut self, percent: u32, burst: u32) -> Self {
        self.budget = Arc::new(Budget::new(percent, burst));
        self
    }

    /// Declares that the agent deduplicates messages by their ids, so that messages are resent even
    /// when it is unknown whether the agent received them. Agents served by `a2a-server` do, except in
    /// 0.1, whose messages have no ids. Specification 1.0 §3.3.1 leaves it to the agent.
    pub fn resend_messages(mut self, resend: bool) -> Self {
        self.resend_messages = resend;
        self
    }

    pub(crate) fn resends_messages(&self) -> bool {
        self.resend_messages
    }

    pub(crate) fn most_reconnections(&self) -> u32 {
        self.reconnections
    }

    /// Counts a first attempt.
    pub(crate) fn begin(&self) {
        self.budget.earn();
    }

    /// Returns the pause before the next attempt after `failed` failures, or `None` if there is to be
    /// none. Spends from the budget.
    pub(crate) fn again(&self, failed: u32, retry_after: Option<Duration>) -> Option<Duration> {
        let is_short = retry_after.is_none_or(|retry_after| retry_after <= MAX_RETRY_AFTER);
        (failed < self.attempts && is_short && self.budget.spend())
            .then(|| self.pause(failed, retry_after))
    }

    /// Returns the pause after `failed` failures.
    pub(crate) fn pause(&self, failed: u32, retry_after: Option<Duration>) -> Duration {
        let doublings = failed.saturating_sub(1).min(30);
        let bound = self.base.saturating_mul(1 << doublings).min(self.most);
        let jitter = bound.mul_f64(fastrand::f64());
        retry_after.map_or(jitter, |retry_after| {
            retry_after.min(MAX_RETRY_AFTER) + jitter
        })
    }
}

/// Longest `Retry-After` that is waited for: calls are not retried after a longer one, followers wait
/// this long.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Retry budget: every call earns a part of a retry, and every retry costs one.
#[derive(Debug)]
struct Budget {
    /// Saved retries, in hundredths.
    saved: AtomicU32,
    earned: u32,
    most: u32,
}

impl Budget {
    fn new(percent: u32, burst: u32) -> Self {
        let most = burst.saturating_mul(RETRY);
        Self {
            saved: AtomicU32::new(most),
            earned: percent,
            most,
        }
    }

    fn earn(&self) {
        let more = |saved: u32| Some(saved.saturating_add(self.earned).min(self.most));
        let (Ok(_) | Err(_)) = self.update(more);
    }

    fn spend(&self) -> bool {
        self.update(|saved| saved.checked_sub(RETRY)).is_ok()
    }

    fn update(&self, change: impl Fn(u32) -> Option<u32>) -> Result<u32, u32> {
        self.saved
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, change)
    }
}

/// Cost of a retry, in hundredths.
const RETRY: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_random_below_a_bound_that_doubles() {
        let retries = Retries::default();
        for (failed, bound) in [(1, 100), (2, 200), (3, 400), (7, 5000), (99, 5000)] {
            let pauses: Vec<_> = (0..1000).map(|_| retries.pause(failed, None)).collect();
            let bound = Duration::from_millis(bound);
            assert!(pauses.iter().all(|pause| *pause <= bound), "{failed}");
            assert!(pauses.iter().any(|pause| *pause > bound / 2), "{failed}");
            assert!(pauses.iter().any(|pause| *pause < bound / 2), "{failed}");
        }
        let retry_after = Duration::from_secs(3);
        assert!(retries.pause(1, Some(retry_after)) >= retry_after);
    }

    #[test]
    fn an_agent_that_wants_its_peace_for_long_has_it() {
        let retries = Retries::default();
        assert_eq!(retries.again(1, Some(Duration::from_secs(61))), None);
        assert!(retries.again(1, Some(Duration::from_secs(60))).is_some());
        assert_eq!(retries.again(4, None), None);
    }

    #[test]
    fn retries_are_a_tenth_of_the_calls() {
        let retries = Retries::default();
        let shared = retries.clone();
        let mut done = 0;
        for _ in 0..1000 {
            retries.begin();
            done += u32::from(shared.again(1, None).is_some());
            done += u32::from(shared.again(2, None).is_some());
        }
        assert!((100..=110).contains(&done), "{done}");
    }
}
