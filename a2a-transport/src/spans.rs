//! The spans that `tracing` hears of: their names and their fields, which stay as they are.
//!
//! | span | `otel.kind` | lasts | fields |
//! |---|---|---|---|
//! | [`SERVER_REQUEST`] | `server` | from the head of a request until its answer is ready, that of a stream to its last event | [`OPERATION`], [`DIALECT`], [`BINDING`], [`RPC_SYSTEM`], [`TASK`], [`GENERATION`], [`OUTCOME`], [`ERROR_TYPE`], [`HTTP_STATUS`] |
//! | [`AGENT_TURN`] | `internal` | while the agent takes a turn | [`TASK`], [`OUTCOME`] |
//! | [`CLIENT_CALL`] | `client` | from the call until the answer is read, that of a stream to its last event | [`OPERATION`], [`DIALECT`], [`BINDING`], [`RPC_SYSTEM`], [`SERVER_ADDRESS`], [`SERVER_PORT`], [`OUTCOME`], [`ERROR_TYPE`], [`HTTP_STATUS`] |
//! | [`WEBHOOK_DELIVERY`] | `client` | one attempt to bring a push notification | [`TASK`], [`GENERATION`], [`ATTEMPT`], [`OUTCOME`], [`HTTP_STATUS`] if it is no success |
//! | [`WEBHOOK_RECEIPT`] | `server` | from the head of a push notification until it is handled | [`HTTP_STATUS`] |
//!
//! A gateway is a server's span with a client's in it. All are of level `INFO`, and hold neither what
//! was said nor secrets. A field is empty until it is known. [`OTEL_STATUS`] is `ERROR` where
//! OpenTelemetry wants it to be: at the client for every failure, at the server for its own.

#[cfg(feature = "opentelemetry")]
mod telemetry;

use tracing::Span;

use crate::TraceContext;

/// Makes a new span part of the trace that its cause belongs to, and yields what is to be passed on
/// from within it.
///
/// Where OpenTelemetry listens that is the span itself, a child of the one that is current if that is
/// of the same trace, else of the one given. Elsewhere nobody takes part in the trace, and it is
/// passed on as it came.
pub fn join(span: &Span, trace: Option<TraceContext>) -> Option<TraceContext> {
    #[cfg(feature = "opentelemetry")]
    let trace = telemetry::join(span, trace);
    #[cfg(not(feature = "opentelemetry"))]
    let _ = span;
    trace
}

/// As [`join`], for what goes on apart from the span that is current, and may outlast it: its parent is
/// the one given.
pub fn join_apart(span: &Span, trace: Option<TraceContext>) -> Option<TraceContext> {
    #[cfg(feature = "opentelemetry")]
    let trace = telemetry::join_apart(span, trace);
    #[cfg(not(feature = "opentelemetry"))]
    let _ = span;
    trace
}

/// What is to be passed on to whom is called from here: the current span, if OpenTelemetry listens.
pub fn here() -> Option<TraceContext> {
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
/// An attempt to bring a push notification to its webhook.
pub const WEBHOOK_DELIVERY: &str = "a2a.webhook.delivery";
/// A push notification, as its receiver sees it.
pub const WEBHOOK_RECEIPT: &str = "a2a.webhook.receipt";

/// The operation, as [`Operation::name`](a2a_types::Operation::name) has it, whatever the caller's
/// generation calls it.
pub const OPERATION: &str = "a2a.operation";
/// The generation of the protocol: `0.1`, `0.2`, `0.3`, `1.0`.
pub const DIALECT: &str = "a2a.dialect";
/// `JSONRPC` or `HTTP+JSON`.
pub const BINDING: &str = "a2a.binding";
/// The task.
pub const TASK: &str = "a2a.task";
/// The place in the task's log: of the last event that was told, or of that which is being told.
pub const GENERATION: &str = "a2a.generation";
/// How often it was tried before.
pub const ATTEMPT: &str = "a2a.attempt";
/// What became of it, in one word.
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
