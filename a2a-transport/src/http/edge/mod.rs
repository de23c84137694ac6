//! Connection edge: the accept loop, and deadlines and limits of connections.

pub(super) mod budget;
pub(super) mod connection;
pub(super) mod connection_timer;
pub(super) mod connections;
pub(super) mod discard;
pub(super) mod peer;
pub(super) mod probes;
pub(super) mod request_budget;
pub(super) mod response_body;
pub(super) mod serve;
pub(super) mod serve_options;
#[cfg(feature = "tls")]
pub(super) mod server_tls;
pub(super) mod socket;
#[cfg(feature = "tls")]
pub(super) mod tls_connection;
