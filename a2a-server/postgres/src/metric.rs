//! Metrics of the store.
//!
//! | name | kind | what |
//! |---|---|---|
//! | `a2a_postgres_statements_in_flight` | gauge | Statements that await their answers. |
//! | `a2a_postgres_statements_waiting` | gauge | Statements that wait for a connection. |
//! | `a2a_postgres_listening` | gauge | 1 while the store listens for other servers' events. |
//! | `a2a_postgres_hint_latency_seconds` | histogram | Time from an append on another server to the wake-up of its followers here, by the clocks of both servers. |
//! | `a2a_postgres_fenced_total` | counter | Appends refused because another server has taken the lease. |
//! | `a2a_postgres_takeovers_total` | counter | Leases of existing tasks that were taken, also again by the same server. |
//! | `a2a_postgres_command_age_seconds` | histogram | Time from the posting of a command until it is taken. |
//! | `a2a_postgres_command_unreadable_total` | counter | Commands that were lost because they could not be read. |

use metrics::{Unit, counter, gauge, histogram};

macro_rules! metrics {
    ($($constant:ident = $kind:ident $describe:ident $name:literal $unit:ident $help:literal;)*) => {
        $(
            #[doc = $help]
            pub(crate) static $constant: $kind = $kind($name);
        )*

        /// Describes each metric of the store and its unit to the recorder of the crate `metrics` that is installed.
        pub fn describe_metrics() {
            $(metrics::$describe!($name, Unit::$unit, $help);)*
        }

        #[cfg(test)]
        const ALL: &[(&str, &str, &str)] = &[$(($name, stringify!($kind), $help)),*];
    };
}

metrics! {
    IN_USE = Gauge describe_gauge "a2a_postgres_statements_in_flight" Count
        "Statements that await their answers.";
    WAITING = Gauge describe_gauge "a2a_postgres_statements_waiting" Count
        "Statements that wait for a connection.";
    LISTENING = Gauge describe_gauge "a2a_postgres_listening" Count
        "1 while the store listens for other servers' events.";
    HINT_LATENCY = Histogram describe_histogram "a2a_postgres_hint_latency_seconds" Seconds
        "Time from an append on another server to the wake-up of its followers here, by the clocks of both servers.";
    FENCED = Counter describe_counter "a2a_postgres_fenced_total" Count
        "Appends refused because another server has taken the lease.";
    TAKEOVERS = Counter describe_counter "a2a_postgres_takeovers_total" Count
        "Leases of existing tasks that were taken, also again by the same server.";
    COMMAND_AGE = Histogram describe_histogram "a2a_postgres_command_age_seconds" Seconds
        "Time from the posting of a command until it is taken.";
    COMMAND_UNREADABLE = Counter describe_counter "a2a_postgres_command_unreadable_total" Count
        "Commands that were lost because they could not be read.";
}

/// A gauge that is raised while something lasts.
pub(crate) struct Gauge(&'static str);

/// Lowers its gauge when it is dropped.
pub(crate) struct Raised(metrics::Gauge);

impl Gauge {
    pub(crate) fn raise(&self) -> Raised {
        let gauge = gauge!(self.0);
        gauge.increment(1.0);
        Raised(gauge)
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

pub(crate) struct Counter(&'static str);

impl Counter {
    /// Adds one.
    pub(crate) fn count(&self) {
        counter!(self.0).increment(1);
    }
}

pub(crate) struct Histogram(&'static str);

impl Histogram {
    /// Adds a value; a duration is in seconds.
    pub(crate) fn record(&self, value: f64) {
        histogram!(self.0).record(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_table_is_the_table() {
        let row = |(name, kind, help): &(&str, &str, &str)| {
            format!("//! | `{name}` | {} | {help} |", kind.to_lowercase())
        };
        let expected: Vec<_> = ALL.iter().map(row).collect();
        let lines = include_str!("metric.rs").lines();
        let documented: Vec<_> = lines.filter(|it| it.starts_with("//! | `")).collect();
        assert_eq!(documented, expected);
    }
}
