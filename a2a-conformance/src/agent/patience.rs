//! Patience with an agent that does not answer: how long the suite waits, so that deadlines do not add up.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Name of something that the suite waits for: of the operation whose answer it is, or one of these.
pub(crate) type Awaited = &'static str;

/// The answer to a request that a case writes itself.
pub(crate) const RAW_ANSWER: Awaited = "raw answer";
/// The end of a stream.
pub(crate) const END_OF_STREAM: Awaited = "end of a stream";
/// A push notification.
pub(crate) const NOTIFICATION: Awaited = "notification";

/// The patience with an agent, on all its interfaces.
///
/// Every request has its full time until nothing at all has come many times in a row. From then on the suite waits only
/// a small part of the time for everything. The same holds for one kind of answer that has not come many times in a row
/// although others came. A kind that comes after all has the full time again.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of waits that ended without an answer.
    spent: u32,
    /// Number of times in a row that it did not come.
    missed: BTreeMap<Awaited, u32>,
    /// Number of times in a row that no answer was whole.
    silence: u32,
}

impl Patience {
    /// Returns the time to wait, of which `full` is the most.
    pub(crate) fn limit(&self, awaited: Awaited, full: Duration) -> Duration {
        let state = self.state();
        let missed = state.missed.get(awaited).copied().unwrap_or_default();
        match missed < MAX_MISSED && state.silence < MAX_SILENCE {
            true => full,
            false => full / REDUCTION,
        }
    }

    /// Returns whether the suite has waited too long without an answer.
    pub(crate) fn is_spent(&self) -> bool {
        self.state().spent >= MAX_SILENCE
    }

    /// Notes that something was awaited for the full time, and did not come.
    pub(crate) fn note_missed(&self, awaited: Awaited) {
        let mut state = self.state();
        state.spent = state.spent.saturating_add(1);
        state.silence = state.silence.saturating_add(1);
        *state.missed.entry(awaited).or_default() += 1;
    }

    /// Notes that a whole answer came.
    pub(crate) fn note_received(&self, awaited: Awaited) {
        let mut state = self.state();
        state.missed.remove(awaited);
        state.silence = 0;
    }

    /// Notes that a part of a stream came, since the stream may have no end.
    pub(crate) fn note_part(&self, awaited: Awaited) {
        self.state().missed.remove(awaited);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Number of times in a row that nothing came, after which nothing is expected: more than there are checks at once.
const MAX_SILENCE: u32 = 10;
/// Number of times in a row that one thing did not come, after which it is not expected.
const MAX_MISSED: u32 = 12;
/// Part of the time that is then waited.
const REDUCTION: u32 = 160;

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_micros(62_500);
    const GET: Awaited = "GetTask";
    const SEND: Awaited = "SendMessage";

    #[test]
    fn limit_is_short_after_repeated_misses() {
        let patience = Patience::default();
        for _ in 0..MAX_MISSED {
            assert_eq!(patience.limit(GET, FULL), FULL);
            patience.note_missed(GET);
            patience.note_received(SEND);
        }
        assert_eq!(patience.limit(GET, FULL), SHORT);
        assert_eq!(patience.limit(SEND, FULL), FULL);
        patience.note_received(GET);
        assert_eq!(patience.limit(GET, FULL), FULL);
    }

    #[test]
    fn nothing_is_expected_of_an_agent_that_is_silent() {
        let patience = Patience::default();
        for _ in 0..MAX_SILENCE {
            assert_eq!(patience.limit(SEND, FULL), FULL);
            patience.note_missed(GET);
            patience.note_part(END_OF_STREAM);
        }
        assert_eq!(patience.limit(SEND, FULL), SHORT);
        patience.note_received(RAW_ANSWER);
        assert_eq!(patience.limit(SEND, FULL), FULL);
    }
}
