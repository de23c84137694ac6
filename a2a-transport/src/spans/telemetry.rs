//! Spans as OpenTelemetry has them.

use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::TraceContext;

/// Gives a span its parent, unless that is the current one, and returns the trace context to pass on.
pub(super) fn join(span: &Span, trace: Option<TraceContext>) -> Option<TraceContext> {
    let is_current = |trace: &TraceContext| {
        let current = of(&Span::current());
        current.is_some_and(|current| current.trace_id() == trace.trace_id())
    };
    match trace {
        Some(trace) if is_current(&trace) => of(span).or(Some(trace)),
        trace => link_span(span, trace),
    }
}

/// Joins like [`join`], with any current span.
pub(super) fn link_span(span: &Span, trace: Option<TraceContext>) -> Option<TraceContext> {
    if let Some(trace) = &trace
        && !span.is_disabled()
    {
        // Fails only without an OpenTelemetry layer for this span.
        let _ = span.set_parent(Context::new().with_remote_span_context(remote(trace)));
    }
    of(span).or(trace)
}

/// Returns the place of a span in its trace, if OpenTelemetry knows it.
pub(super) fn of(span: &Span) -> Option<TraceContext> {
    if span.is_disabled() {
        return None;
    }
    let context = span.context();
    let span = context.span();
    let known = span.span_context();
    let (trace, id) = (known.trace_id().to_bytes(), known.span_id().to_bytes());
    let trace = TraceContext::new(trace, id, known.is_sampled())?;
    Some(trace.with_state(&known.trace_state().header()))
}

fn remote(trace: &TraceContext) -> SpanContext {
    let state = trace.tracestate().and_then(|state| state.parse().ok());
    SpanContext::new(
        TraceId::from_bytes(trace.trace_id()),
        SpanId::from_bytes(trace.parent_id()),
        TraceFlags::default().with_sampled(trace.is_sampled()),
        true,
        state.unwrap_or(TraceState::NONE),
    )
}
