//! Client: calls of remote agents over HTTP.

pub(super) mod busy_error;
#[cfg(feature = "tls")]
pub(super) mod certificate_request;
pub(super) mod client_span;
pub(super) mod connector;
pub(super) mod deviation_observer;
pub(super) mod event_stream;
pub(super) mod foreign_body;
#[cfg(feature = "grpc")]
mod grpc;
pub(super) mod http_client;
pub(super) mod proxy;
pub(super) mod retry_after;
#[cfg(feature = "tls")]
pub(super) mod tls;
pub(super) mod transport;
pub(super) mod wire_observer;
