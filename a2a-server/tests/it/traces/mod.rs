//! A request through a client, a gateway, a server and its agent, on to another agent and to a webhook
//! is one trace.

#[cfg(feature = "opentelemetry")]
mod exported;
mod forwarded;
mod scene;
