//! Metrics of the store.
//!
//! | name | kind | what |
//! |---|---|---|
//! | `a2a_postgres_statements_in_flight` | gauge | Statements that await their answers. |
//! | `a2a_postgres_statements_waiting` | gauge | Statements that wait for a connection. |
//! | `a2a_postgres_hint_latency_seconds` | histogram | Time from an append on another server to the wake-up of its followers here, by the clocks of both servers. |
//! | `a2a_postgres_fenced_total` | counter | Appends refused because another server has taken the lease. |
//! | `a2a_postgres_takeovers_total` | counter | Leases of existing tasks that were taken, also again by the same server. |
//! | `a2a_postgres_mail_age_seconds` | histogram | Time from the posting of mail until it is taken. |
//! | `a2a_postgres_listening` | gauge | 1 while the store listens for other servers' events. |

use metrics::Gauge;

/// A gauge that is raised while something lasts.
pub(crate) struct Level(&'static str);

pub(crate) static IN_USE: Level = Level("a2a_postgres_statements_in_flight");
pub(crate) static WAITING: Level = Level("a2a_postgres_statements_waiting");
pub(crate) static LISTENING: Level = Level("a2a_postgres_listening");

/// Lowers its gauge when it is dropped.
pub(crate) struct Raised(Gauge);

impl Level {
    pub(crate) fn raise(&self) -> Raised {
        let gauge = metrics::gauge!(self.0);
        gauge.increment(1.0);
        Raised(gauge)
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

/// Records how long a hint took.
pub(crate) fn hint_latency(seconds: f64) {
    metrics::histogram!("a2a_postgres_hint_latency_seconds").record(seconds);
}

/// Records how long mail has waited.
pub(crate) fn mail_age(seconds: f64) {
    metrics::histogram!("a2a_postgres_mail_age_seconds").record(seconds);
}

/// Counts an append that was refused because of its epoch.
pub(crate) fn fenced() {
    metrics::counter!("a2a_postgres_fenced_total").increment(1);
}

/// Counts a lease that was taken of an existing task.
pub(crate) fn takeover() {
    metrics::counter!("a2a_postgres_takeovers_total").increment(1);
}
