//! Spans for `tracing`: their names and their fields, which are stable.
//!
//! | span | `otel.kind` | lasts | fields |
//! |---|---|---|---|
//! | [`SERVER_REQUEST`] | `server` | from the head of a request until its answer is ready, that of a stream to its last event | [`OPERATION`], [`PROTOCOL_VERSION`], [`BINDING`], [`RPC_SYSTEM`], [`TASK`], [`SEQUENCE`], [`OUTCOME`], [`ERROR_TYPE`], [`HTTP_STATUS`] |
//! | [`AGENT_TURN`] | `internal` | while the agent takes a turn | [`TASK`], [`OUTCOME`] |
//! | [`CLIENT_CALL`] | `client` | from the call until the answer is read, that of a stream to its last event | [`OPERATION`], [`PROTOCOL_VERSION`], [`BINDING`], [`RPC_SYSTEM`], [`SERVER_ADDRESS`], [`SERVER_PORT`], [`OUTCOME`], [`ERROR_TYPE`], [`HTTP_STATUS`] |
//! | [`WEBHOOK_DELIVERY`] | `client` | one attempt to deliver a push notification | [`TASK`], [`SEQUENCE`], [`ATTEMPT`], [`OUTCOME`], [`HTTP_STATUS`] if it is not a success |
//! | [`WEBHOOK_RECEIPT`] | `server` | from the head of a push notification until it is handled | [`HTTP_STATUS`] |
//!
//! A gateway is a server's span with a client's in it. All are of level `INFO`, and hold neither messages nor
//! secrets. A field is empty until it is known. [`OTEL_STATUS`] is `ERROR` where OpenTelemetry requires it:
//! at the client for every failure, at the server for its own.

#[cfg(feature = "opentelemetry")]
mod telemetry;

use tracing::Span;

use crate::TraceContext;

/// Joins a new span to the trace of its cause, and returns the trace context to pass on from within it.
///
/// With OpenTelemetry that is the span itself, a child of the current one if that is of the same trace, else
/// of the one given. Without it the given context is passed on as it came.
pub fn join(span: &Span, trace: Option<TraceContext>) -> Option<TraceContext> {
    #[cfg(feature = "opentelemetry")]
    let trace = telemetry::join(span, trace);
    #[cfg(not(feature = "opentelemetry"))]
    let _ = span;
    trace
}

/// Joins like [`join`], for work that is independent of the current span, and may outlast it: its parent is the one
/// given.
pub fn link_span(span: &Span, trace: Option<TraceContext>) -> Option<TraceContext> {
    #[cfg(feature = "opentelemetry")]
    let trace = telemetry::link_span(span, trace);
    #[cfg(not(feature = "opentelemetry"))]
    let _ = span;
    trace
}

/// Returns the trace context of the current span for outgoing calls, if OpenTelemetry is installed.
pub fn current_trace_context() -> Option<TraceContext> {
    #[cfg(feature = "opentelemetry")]
    return telemetry::of(&Span::current());
    #[cfg(not(feature = "opentelemetry"))]
    None
}

/// A request, as its server sees it.
pub const SERVER_REQUEST: &str = "a2a.server.request";
/// A turn of a conversation, taken by the agent.
pub const AGENT_TURN: &str = "a2a.agent.turn";
/// A request, as its client sees it.
pub const CLIENT_CALL: &str = "a2a.client.call";
/// An attempt to deliver a push notification to its webhook.
pub const WEBHOOK_DELIVERY: &str = "a2a.webhook.delivery";
/// A push notification, as its receiver sees it.
pub const WEBHOOK_RECEIPT: &str = "a2a.webhook.receipt";

/// The operation, as [`Operation::name`](a2a_types::Operation::name) has it, in every protocol version.
pub const OPERATION: &str = "a2a.operation";
/// The protocol version: `0.1`, `0.2`, `0.3`, `1.0`.
pub const PROTOCOL_VERSION: &str = "a2a.protocol_version";
/// `JSONRPC` or `HTTP+JSON`.
pub const BINDING: &str = "a2a.binding";
/// The task.
pub const TASK: &str = "a2a.task";
/// The sequence number of the last event that was sent, or of the one that is delivered.
pub const SEQUENCE: &str = "a2a.sequence";
/// Number of attempts before this one.
pub const ATTEMPT: &str = "a2a.attempt";
/// Outcome in one word.
pub const OUTCOME: &str = "a2a.outcome";

/// The role of the span. OpenTelemetry's name.
pub const OTEL_KIND: &str = "otel.kind";
/// `ERROR` if it failed. OpenTelemetry's name.
pub const OTEL_STATUS: &str = "otel.status_code";
/// The [reason](a2a_types::ErrorKind::reason) of the error. OpenTelemetry's name.
pub const ERROR_TYPE: &str = "error.type";
/// The status of the answer. OpenTelemetry's name.
pub const HTTP_STATUS: &str = "http.response.status_code";
/// `jsonrpc`, where it is that. OpenTelemetry's name.
pub const RPC_SYSTEM: &str = "rpc.system";
/// The host that is called. OpenTelemetry's name.
pub const SERVER_ADDRESS: &str = "server.address";
/// The port that is called. OpenTelemetry's name.
pub const SERVER_PORT: &str = "server.port";
