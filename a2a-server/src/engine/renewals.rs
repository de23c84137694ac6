//! Successive renewals of this server's leases: evidence that other servers could renew theirs.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Successive renewals of this server's leases.
///
/// An expired lease means that its holder is gone only if the holder could have renewed it. While a shared store
/// answers no server, all leases expire, and the first server that asks afterwards would take over tasks that are
/// worked on. But each server renews at the same interval, even if it has no leases: if its own renewals succeed,
/// the renewals of other servers can, too.
///
/// Renewals are a third of a term apart. A lease expires if its holder is kept from the store for two thirds of a term,
/// and then renewals of this server are at least as far apart. So the series is broken if two are half a term apart or
/// more; a failed attempt needs no note, since it leaves a gap. Each holder tries again within a third of a term after
/// the break: leases that are expired half a term after the first renewal are abandoned.
///
/// The series of a server that starts is new, since the break may have been before. The only server of a store thus
/// recovers what it left in a crash 9 s after its start if leases last 15 s. While nothing breaks the series, takeovers
/// wait for nothing but the end of the lease.
#[derive(Default)]
pub(crate) struct Renewals(Mutex<Option<Series>>);

/// Times of the first and the last renewal without a break between.
#[derive(Clone, Copy)]
struct Series {
    first: Instant,
    last: Instant,
}

impl Renewals {
    /// Notes that a renewal has gone through.
    pub(crate) fn note(&self, term: Duration) {
        let now = Instant::now();
        let mut series = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = match *series {
            Some(series) if now < series.last + term / 2 => series.first,
            _ => now,
        };
        *series = Some(Series { first, last: now });
    }

    /// Returns whether leases are abandoned that had expired by the answer of the store to a query sent at `asked`: the
    /// series was long enough then, and is not broken now.
    pub(crate) fn are_steady(&self, asked: Instant, term: Duration) -> bool {
        let series = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        series.is_some_and(|Series { first, last }| {
            first + term / 2 <= asked && Instant::now() < last + term / 2
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const TERM: Duration = Duration::from_secs(12);

    /// Renews at these seconds. The store answers a query of the second `asked` once all is renewed.
    async fn check(renewed: &[u64], asked: u64, expected: bool) {
        let (renewals, begun) = (Renewals::default(), Instant::now());
        let at = |second| begun + Duration::from_secs(second);
        for second in renewed {
            advance(at(*second) - Instant::now()).await;
            renewals.note(TERM);
        }
        advance(at(asked).saturating_duration_since(Instant::now())).await;
        assert_eq!(
            renewals.are_steady(at(asked), TERM),
            expected,
            "{renewed:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn leases_are_abandoned_only_after_others_had_time_to_renew_them() {
        check(&[], 100, false).await;
        // A server that starts.
        check(&[0], 5, false).await;
        check(&[0, 4], 5, false).await;
        check(&[0, 4], 8, true).await;
        // The store does not answer any more.
        check(&[0, 4, 8], 14, false).await;
        // It answers again.
        check(&[0, 4, 8, 20], 20, false).await;
        check(&[0, 4, 8, 20, 24], 25, false).await;
        check(&[0, 4, 8, 20, 24], 26, true).await;
    }

    /// The query was sent before the break, and answered after it.
    #[tokio::test(start_paused = true)]
    async fn answer_that_a_break_has_delayed_counts_for_nothing() {
        check(&[0, 4, 8, 12, 24, 28, 32], 13, false).await;
    }
}
