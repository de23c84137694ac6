//! Metrics of TLS.

use metrics::{Level, counter, gauge};

/// Handshakes that ended, by `outcome`.
pub(crate) const HANDSHAKES: &str = "a2a_server_tls_handshakes_total";
/// Times that changed files were read, by `outcome`.
pub(crate) const RELOADS: &str = "a2a_server_tls_reloads_total";
/// 1 while the files cannot be used, else 0.
pub(crate) const RELOAD_FAILING: &str = "a2a_server_tls_reload_failing";
/// Time in seconds of Unix time at which the first certificate expires.
pub(crate) const CERTIFICATE_EXPIRY: &str = "a2a_server_tls_certificate_expiry_seconds";

/// Target of the metrics, for recorders that filter.
const TARGET: &str = "a2a";

/// Adds one to a counter.
pub(crate) fn count(name: &'static str, outcome: &'static str) {
    counter!(target: TARGET, level: Level::INFO, name, "outcome" => outcome).increment(1);
}

/// Sets a gauge.
pub(crate) fn set(name: &'static str, value: f64) {
    gauge!(target: TARGET, level: Level::INFO, name).set(value);
}
