//! Metrics and their names.
//!
//! All go to the recorder of the crate [`metrics`](https://docs.rs/metrics) that the program has installed;
//! without one, nothing is kept. [`describe`] gives a recorder the units and the descriptions.
//!
//! | name | kind | labels | what |
//! |---|---|---|---|
//! | `a2a_server_requests_total` | counter | `operation`, `protocol_version`, `binding`, `outcome` | Requests to an endpoint; a stream counts when it ends. |
//! | `a2a_server_request_duration_seconds` | histogram | `operation`, `protocol_version`, `binding` | How long a request took, from its head to its answer or to the start of a stream. |
//! | `a2a_server_errors_total` | counter | `operation`, `error_type` | Requests that failed or were refused, those whose stream broke off too. |
//! | `a2a_server_auth_refusals_total` | counter | `reason` | Requests that were not admitted, by an authenticator or an authorizer. |
//! | `a2a_server_open_streams` | gauge | | Streams that callers are following. |
//! | `a2a_server_follower_lag_events` | histogram | | How many further events a task's log held when a follower, a stream or a waiting caller, was given one. |
//! | `a2a_server_store_duration_seconds` | histogram | `method`, `outcome` | How long the store took; the one in memory that is there by default is not timed. |
//! | `a2a_server_running_turns` | gauge | | Runs of the agent's turns that are in progress. |
//! | `a2a_server_outbox_depth` | gauge | | Notifications in the store that are not delivered yet, without notifications that were given up; every process that shares the store reports the same. |
//! | `a2a_server_deliveries_total` | counter | `outcome` | Attempts to deliver a notification to a webhook. |
//! | `a2a_server_tls_handshakes_total` | counter | `outcome` | Handshakes of TLS that ended, in whatever way. |
//! | `a2a_server_tls_reloads_total` | counter | `outcome` | Times that changed files of TLS were read. |
//! | `a2a_server_tls_reload_failing` | gauge | | 1 while the files of TLS cannot be used and the previous certificates are served, else 0. |
//! | `a2a_server_tls_certificate_expiry_seconds` | gauge | | When the first of the certificates that are served expires, in Unix time. |
//! | `a2a_client_requests_total` | counter | `operation`, `protocol_version`, `binding`, `outcome` | Calls of remote agents, each attempt by itself; a stream counts when it begins. |
//! | `a2a_client_request_duration_seconds` | histogram | `operation`, `protocol_version`, `binding` | How long a remote agent took, to its answer or to the start of a stream. |
//! | `a2a_client_errors_total` | counter | `operation`, `error_type` | Calls of remote agents that failed, each attempt by itself. |
//! | `a2a_client_reconnections_total` | counter | | Times that a task was followed again after its stream broke. |
//!
//! The values of labels are few, independent of peers: no ids, no addresses, no names of callers.
//!
//! | label | values |
//! |---|---|
//! | `operation` | the [operations](a2a_types::Operation), like `SendMessage`; `other` for what was not understood |
//! | `protocol_version` | `0.1`, `0.2`, `0.3`, `1.0`; `other` where it was not known yet when the caller went away |
//! | `binding` | `JSONRPC`, `HTTP+JSON` |
//! | `outcome` of a request | `answered`, `failed`, `abandoned`: the caller went away before the answer was whole |
//! | `error_type` | the [reasons](a2a_types::ErrorKind::reason) of the protocol's errors, like `TASK_NOT_FOUND`, or `UNKNOWN`; at the client also the [failures](crate::Error) that the agent did not send, like `timeout` |
//! | `reason` | `no_credentials`; `invalid_credentials`: wrong, expired or for another audience; `forbidden`; `rate_limited`; `unavailable`: they could not be checked |
//! | `method` | the methods of `a2a_server::Store` |
//! | `outcome` of the store | `ok`; `refused`, like a write that conflicts with another; `failed`: the store could not |
//! | `outcome` of a handshake | `full`, `resumed`; where it failed: `timeout`; `closed` by the peer; `alert`: the peer refused, like one that does not trust the certificate; `no_certificate`, `bad_certificate`, `expired_certificate` of the client; `incompatible`: no version, cipher or ALPN in common; `not_tls`; `protocol` |
//! | `outcome` of a reload | `loaded`, `failed` |
//! | `outcome` of a delivery | `delivered`; `later`: it failed and is retried; `given_up`; `gone`: the webhook wants no more notifications; `untried`: its host was too busy |

use std::sync::OnceLock;

use metrics::{Key, KeyName, Label, Level, Metadata, Recorder, SharedString, Unit, with_recorder};

macro_rules! metrics {
    ($($constant:ident = $kind:ident $name:literal [$($label:literal),*] $unit:ident $help:literal;)*) => {
        $(
            #[doc = $help]
            pub static $constant: $kind<{ <[&str]>::len(&[$($label),*]) }> = $kind(Metric {
                row: Row {
                    name: $name,
                    kind: MetricType::$kind,
                    unit: Unit::$unit,
                    labels: &[$($label),*],
                    help: $help,
                },
                keys: KeyCache::nothing(),
            });
        )*

        /// Every metric.
        static ALL: &[&Row] = &[$(&$constant.0.row),*];
    };
}

metrics! {
    SERVER_REQUESTS = Counter "a2a_server_requests_total" ["operation", "protocol_version", "binding", "outcome"] Count
        "Requests to an endpoint; a stream counts when it ends.";
    SERVER_REQUEST_SECONDS = Histogram "a2a_server_request_duration_seconds" ["operation", "protocol_version", "binding"] Seconds
        "How long a request took, from its head to its answer or to the start of a stream.";
    SERVER_ERRORS = Counter "a2a_server_errors_total" ["operation", "error_type"] Count
        "Requests that failed or were refused, those whose stream broke off too.";
    AUTH_REFUSALS = Counter "a2a_server_auth_refusals_total" ["reason"] Count
        "Requests that were not admitted, by an authenticator or an authorizer.";
    OPEN_STREAMS = Gauge "a2a_server_open_streams" [] Count
        "Streams that callers are following.";
    FOLLOWER_LAG = Histogram "a2a_server_follower_lag_events" [] Count
        "How many further events a task's log held when a follower, a stream or a waiting caller, was given one.";
    STORE_SECONDS = Histogram "a2a_server_store_duration_seconds" ["method", "outcome"] Seconds
        "How long the store took; the one in memory that is there by default is not timed.";
    RUNNING_TURNS = Gauge "a2a_server_running_turns" [] Count
        "Runs of the agent's turns that are in progress.";
    OUTBOX_DEPTH = Gauge "a2a_server_outbox_depth" [] Count
        "Notifications in the store that are not delivered yet, without notifications that were given up; every process that shares the store reports the same.";
    DELIVERIES = Counter "a2a_server_deliveries_total" ["outcome"] Count
        "Attempts to deliver a notification to a webhook.";
    TLS_HANDSHAKES = Counter "a2a_server_tls_handshakes_total" ["outcome"] Count
        "Handshakes of TLS that ended, in whatever way.";
    TLS_RELOADS = Counter "a2a_server_tls_reloads_total" ["outcome"] Count
        "Times that changed files of TLS were read.";
    TLS_RELOAD_FAILING = Gauge "a2a_server_tls_reload_failing" [] Count
        "1 while the files of TLS cannot be used and the previous certificates are served, else 0.";
    TLS_CERTIFICATE_EXPIRY = Gauge "a2a_server_tls_certificate_expiry_seconds" [] Seconds
        "When the first of the certificates that are served expires, in Unix time.";
    CLIENT_REQUESTS = Counter "a2a_client_requests_total" ["operation", "protocol_version", "binding", "outcome"] Count
        "Calls of remote agents, each attempt by itself; a stream counts when it begins.";
    CLIENT_REQUEST_SECONDS = Histogram "a2a_client_request_duration_seconds" ["operation", "protocol_version", "binding"] Seconds
        "How long a remote agent took, to its answer or to the start of a stream.";
    CLIENT_ERRORS = Counter "a2a_client_errors_total" ["operation", "error_type"] Count
        "Calls of remote agents that failed, each attempt by itself.";
    RECONNECTIONS = Counter "a2a_client_reconnections_total" [] Count
        "Times that a task was followed again after its stream broke.";
}

/// Describes each metric and its unit to the recorder that is installed.
pub fn describe() {
    with_recorder(|recorder| {
        for row in ALL {
            let (name, unit) = (KeyName::from_const_str(row.name), Some(row.unit));
            let help = SharedString::const_str(row.help);
            match row.kind {
                MetricType::Counter => recorder.describe_counter(name, unit, help),
                MetricType::Gauge => recorder.describe_gauge(name, unit, help),
                MetricType::Histogram => recorder.describe_histogram(name, unit, help),
            }
        }
    });
}

/// Label of an operation or a protocol version that was not understood.
pub(crate) const OTHER: &str = "other";

/// A counter with `N` labels.
#[derive(Debug)]
pub struct Counter<const N: usize>(Metric<N>);

impl<const N: usize> Counter<N> {
    /// Adds one, with these values of its labels.
    pub fn count(&self, values: [&'static str; N]) {
        self.0
            .handle(values, |to, key| to.register_counter(key, &METADATA))
            .increment(1);
    }
}

/// A gauge with `N` labels.
#[derive(Debug)]
pub struct Gauge<const N: usize>(Metric<N>);

impl<const N: usize> Gauge<N> {
    /// Adds one, until the returned guard is dropped.
    pub fn raise(&self, values: [&'static str; N]) -> GaugeGuard {
        let gauge = self.gauge(values);
        gauge.increment(1.0);
        GaugeGuard(gauge)
    }

    /// Sets the current number.
    pub fn set(&self, values: [&'static str; N], now: usize) {
        // Exact: every gauge stays far below 2^53.
        self.gauge(values).set(now as f64);
    }

    fn gauge(&self, values: [&'static str; N]) -> metrics::Gauge {
        self.0
            .handle(values, |to, key| to.register_gauge(key, &METADATA))
    }
}

/// Guard of one of the things that a [`Gauge`] counts: subtracts one when it is dropped, from the same
/// recorder.
#[derive(Debug)]
#[must_use = "it counts for as long as this lives"]
pub struct GaugeGuard(metrics::Gauge);

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

/// A histogram with `N` labels.
#[derive(Debug)]
pub struct Histogram<const N: usize>(Metric<N>);

impl<const N: usize> Histogram<N> {
    /// Adds a value, with these values of its labels; a duration is in seconds.
    pub fn record(&self, values: [&'static str; N], value: f64) {
        self.0
            .handle(values, |to, key| to.register_histogram(key, &METADATA))
            .record(value);
    }
}

/// A row of the table.
#[derive(Debug)]
struct Row {
    name: &'static str,
    kind: MetricType,
    unit: Unit,
    labels: &'static [&'static str],
    help: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum MetricType {
    Counter,
    Gauge,
    Histogram,
}

/// A row of the table, with the keys recorded so far.
#[derive(Debug)]
struct Metric<const N: usize> {
    row: Row,
    keys: KeyCache<N>,
}

impl<const N: usize> Metric<N> {
    /// Returns the handle of the recorder that is installed now; it may be installed at any time.
    fn handle<H>(
        &self,
        values: [&'static str; N],
        register: impl FnOnce(&dyn Recorder, &Key) -> H,
    ) -> H {
        let keys = self.keys.place(values);
        let keys = keys.map(|place| place.get_or_init(|| (values, self.row.key(values))));
        // Another thread may have taken the place meanwhile.
        let keys = keys.filter(|(keys, _)| is_same(keys, &values));
        match keys {
            Some((_, key)) => with_recorder(|recorder| register(recorder, key)),
            None => with_recorder(|recorder| register(recorder, &self.row.key(values))),
        }
    }
}

impl Row {
    fn key<const N: usize>(&self, values: [&'static str; N]) -> Key {
        let labels = self.labels.iter().zip(values);
        let labels = labels.map(|(name, value)| Label::from_static_parts(name, value));
        Key::from_parts(self.name, labels.collect::<Vec<_>>())
    }
}

/// Keys that were used before: without a recorder, building one costs more than all else. The values of
/// labels are so few that there is room for all that a server meets.
#[derive(Debug)]
struct KeyCache<const N: usize>([OnceLock<([&'static str; N], Key)>; PLACES]);

const PLACES: usize = 64;

impl<const N: usize> KeyCache<N> {
    const fn nothing() -> Self {
        Self([const { OnceLock::new() }; PLACES])
    }

    /// Returns the place of the key with these values, or an empty one; `None` if there is no room near it.
    fn place(&self, values: [&'static str; N]) -> Option<&OnceLock<([&'static str; N], Key)>> {
        let first = values.iter().fold(0, |place: usize, value| {
            (place ^ value.as_ptr().addr()).wrapping_mul(MIX)
        });
        let near = (0..4).map(|step| (first >> (usize::BITS - 6)).wrapping_add(step) % PLACES);
        near.filter_map(|place| self.0.get(place))
            .find(|place| match place.get() {
                Some((keys, _)) => is_same(keys, &values),
                None => true,
            })
    }
}

/// Compares texts by address. The same text may be in two places: then it has two keys, which are equal.
fn is_same<const N: usize>(one: &[&'static str; N], other: &[&'static str; N]) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.all(|(one, other)| std::ptr::eq(*one, *other))
}

/// Spreads similar addresses by Fibonacci hashing.
const MIX: usize = 0x9E37_79B9_7F4A_7C15_u64 as usize;

/// Target and level of the metrics, for recorders that filter.
const METADATA: Metadata<'static> = Metadata::new("a2a", Level::INFO, None);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use metrics::with_local_recorder;
    use metrics_util::MetricKind;
    use metrics_util::debugging::{DebugValue, DebuggingRecorder};

    use super::*;

    #[test]
    fn the_documented_table_is_the_table() {
        let ticked = |text: &str| format!("`{text}`");
        let row = |row: &&Row| {
            let kind = format!("{:?}", row.kind).to_lowercase();
            let labels: Vec<_> = row.labels.iter().map(|label| ticked(label)).collect();
            let cells = [ticked(row.name), kind, labels.join(", "), row.help.into()];
            format!("| {} |", cells.join(" | ")).replace("|  |", "| |")
        };
        let expected: Vec<_> = ALL.iter().map(row).collect();
        let lines = include_str!("metric.rs").lines();
        let documented = lines.filter_map(|line| line.strip_prefix("//! "));
        let documented: Vec<_> = documented
            .filter(|line| line.starts_with("| `a2a_"))
            .collect();
        assert_eq!(documented, expected);
    }

    #[test]
    fn names_and_labels_are_what_prometheus_expects() {
        let names: BTreeSet<_> = ALL.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), ALL.len(), "a name is there twice");
        let allowed = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        for row in ALL {
            assert!(row.name.bytes().all(|b| b != b'-') && row.name.starts_with("a2a_"));
            assert!(row.labels.iter().all(|label| allowed(label)), "{row:?}");
            let counts = matches!(row.kind, MetricType::Counter);
            assert_eq!(row.name.ends_with("_total"), counts, "{row:?}");
            let seconds = matches!(row.unit, Unit::Seconds);
            assert_eq!(row.name.ends_with("_seconds"), seconds, "{row:?}");
        }
    }

    #[test]
    fn a_recorder_learns_kinds_units_and_labels() {
        let recorder = DebuggingRecorder::new();
        with_local_recorder(&recorder, || {
            describe();
            SERVER_ERRORS.count([OTHER, "INTERNAL"]);
            STORE_SECONDS.record(["append", "ok"], 0.5);
            OUTBOX_DEPTH.set([], 3);
        });
        let snapshot = recorder.snapshotter().snapshot().into_vec();
        let snapshot: Vec<_> = snapshot
            .into_iter()
            .map(|(key, unit, help, value)| {
                let labels = key.key().labels();
                let labels: Vec<_> = labels
                    .map(|label| (label.key().to_owned(), label.value().to_owned()))
                    .collect();
                (
                    key.kind(),
                    key.key().name().to_owned(),
                    labels,
                    unit,
                    help,
                    value,
                )
            })
            .collect();
        let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let row = |row: &Row| {
            (
                row.name.to_owned(),
                Some(row.unit),
                Some(SharedString::from(row.help)),
            )
        };
        let (errors, store, depth) = (
            row(&SERVER_ERRORS.0.row),
            row(&STORE_SECONDS.0.row),
            row(&OUTBOX_DEPTH.0.row),
        );
        let expected = [
            (
                MetricKind::Counter,
                errors.0,
                vec![label("operation", "other"), label("error_type", "INTERNAL")],
                errors.1,
                errors.2,
                DebugValue::Counter(1),
            ),
            (
                MetricKind::Histogram,
                store.0,
                vec![label("method", "append"), label("outcome", "ok")],
                store.1,
                store.2,
                DebugValue::Histogram(vec![0.5.into()]),
            ),
            (
                MetricKind::Gauge,
                depth.0,
                vec![],
                depth.1,
                depth.2,
                DebugValue::Gauge(3.0.into()),
            ),
        ];
        assert_eq!(snapshot, expected);
    }

    #[test]
    fn there_may_be_more_values_than_there_is_room_for() {
        let recorder = DebuggingRecorder::new();
        let outcomes = (0..3 * PLACES).map(|outcome| &*outcome.to_string().leak());
        let outcomes: Vec<&'static str> = outcomes.collect();
        with_local_recorder(&recorder, || {
            for outcome in outcomes.iter().chain(&outcomes) {
                DELIVERIES.count([outcome]);
            }
        });
        let snapshot = recorder.snapshotter().snapshot().into_vec();
        let snapshot = snapshot.into_iter().map(|(key, _, _, value)| {
            assert_eq!(value, DebugValue::Counter(2), "{key:?}");
            let outcomes = key.key().labels().map(|label| label.value().to_owned());
            outcomes.collect::<String>()
        });
        assert_eq!(snapshot.collect::<Vec<_>>(), outcomes);
    }

    /// Returns the value of the gauge of open streams, if it was recorded.
    fn open(recorder: &DebuggingRecorder) -> Vec<DebugValue> {
        let snapshot = recorder.snapshotter().snapshot().into_vec();
        snapshot.into_iter().map(|(.., value)| value).collect()
    }

    #[test]
    fn gauge_guards_decrement_the_recorder_that_they_incremented() {
        let (one, two) = (DebuggingRecorder::new(), DebuggingRecorder::new());
        let unrecorded = OPEN_STREAMS.raise([]);
        let recorded = with_local_recorder(&one, || OPEN_STREAMS.raise([]));
        assert_eq!(open(&one), [DebugValue::Gauge(1.0.into())]);
        with_local_recorder(&two, || drop((unrecorded, recorded)));
        // Looking has set it to 0.
        assert_eq!(open(&one), [DebugValue::Gauge((-1.0).into())]);
        assert_eq!(open(&two), []);
    }
}
