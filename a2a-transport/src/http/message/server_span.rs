//! A request under way: its properties and its outcome, for metrics and traces.

use a2a_types::{
    ErrorKind, Operation, ProtocolVersion, Response as A2aResponse, SendMessageResponse, TaskId,
};
use futures_util::FutureExt;
use http::{HeaderMap, Response};
use tokio::time::Instant;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::metric::{self, GaugeGuard, OTHER};
use crate::spans::{
    BINDING, ERROR_TYPE, HTTP_STATUS, OPERATION, OTEL_KIND, OTEL_STATUS, OUTCOME, PROTOCOL_VERSION,
    RPC_SYSTEM, SEQUENCE, SERVER_REQUEST, TASK,
};
use crate::{Binding, ResponseBody, ResponseContext, TraceContext, Update, spans};

/// A request to an endpoint, from its head on. It ends when it is dropped, and is then counted: when the
/// answer is ready (for a stream, after its last event), or earlier, when the caller goes away.
pub(crate) struct ServerSpan {
    binding: Binding,
    /// Trace context to pass on, until it is taken.
    trace: Option<TraceContext>,
    /// Protocol version, once the request is understood, or refused in one.
    protocol_version: Option<ProtocolVersion>,
    /// Operation, once the request is understood.
    operation: Option<Operation>,
    has_task: bool,
    /// `true` once the span has the version, which it gets as soon as the version is final.
    has_protocol_version: bool,
    /// Sequence number of the last event that was sent.
    sequence: Option<u64>,
    outcome: Outcome,
    span: Span,
    /// Start of the request, until its duration is recorded.
    start: Option<Instant>,
    /// The stream that is its answer.
    stream: Option<GaugeGuard>,
}

/// Outcome of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    /// It was answered.
    Answered,
    /// It was refused, or failed, or its stream broke off.
    Failed(ErrorKind),
    /// The caller went away before the answer was whole.
    Abandoned,
}

impl ServerSpan {
    /// Begins a request that comes in by a binding.
    pub(crate) fn begin(binding: Binding, headers: &HeaderMap) -> Self {
        let span = tracing::info_span!(
            SERVER_REQUEST,
            { OTEL_KIND } = "server",
            { BINDING } = %binding,
            { RPC_SYSTEM } = Empty,
            { OPERATION } = Empty,
            { PROTOCOL_VERSION } = Empty,
            { TASK } = Empty,
            { SEQUENCE } = Empty,
            { OUTCOME } = Empty,
            { ERROR_TYPE } = Empty,
            { HTTP_STATUS } = Empty,
            { OTEL_STATUS } = Empty,
        );
        Self {
            binding,
            trace: spans::join(&span, TraceContext::read(headers)),
            protocol_version: None,
            operation: None,
            has_task: false,
            has_protocol_version: false,
            sequence: None,
            outcome: Outcome::Abandoned,
            span,
            start: Some(Instant::now()),
            stream: None,
        }
    }

    /// Answers a request that comes in by a binding within its span, which records the HTTP status.
    pub(crate) fn over<F, B>(
        binding: Binding,
        headers: &HeaderMap,
        answer: impl FnOnce(Self) -> F,
    ) -> impl Future<Output = Response<B>>
    where
        F: Future<Output = Response<B>>,
    {
        let server_span = Self::begin(binding, headers);
        let span = server_span.span.clone();
        let begun = Instant::now();
        // Boxed, because the futures around it would move its memory.
        let answering = Box::pin(span.in_scope(|| answer(server_span)));
        let answering = answering.instrument(span.clone());
        answering.map(move |response| {
            let status = response.status().as_u16();
            span.record(HTTP_STATUS, status);
            let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::debug!(parent: &span, %binding, status, ms, "answered a request");
            response
        })
    }

    /// Returns the trace context to pass on.
    pub(crate) fn trace(&mut self) -> Option<TraceContext> {
        self.trace.take()
    }

    /// Returns the span of the request.
    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// Records the operation and the version of the request.
    pub(crate) fn understood(&mut self, envelope: &ResponseContext) {
        self.protocol_version = Some(envelope.protocol_version);
        self.operation = Some(envelope.operation);
        if self.binding == Binding::JsonRpc {
            self.span.record(RPC_SYSTEM, "jsonrpc");
        }
        self.span.record(OPERATION, envelope.operation.name());
        if !envelope.ambiguous {
            self.settled(envelope.protocol_version);
        }
        if let Some(task) = &envelope.task {
            self.about(task);
        }
    }

    /// Records the version of the answer, once: OpenTelemetry keeps every value that a span records.
    pub(crate) fn settled(&mut self, protocol_version: ProtocolVersion) {
        self.protocol_version = Some(protocol_version);
        if !std::mem::replace(&mut self.has_protocol_version, true) {
            self.span
                .record(PROTOCOL_VERSION, protocol_version.version());
        }
    }

    /// Records a refusal before the request is understood.
    pub(crate) fn refused(&mut self, protocol_version: ProtocolVersion, kind: ErrorKind) {
        self.protocol_version = Some(protocol_version);
        self.outcome = Outcome::Failed(kind);
    }

    /// Records the transport's answer; a stream does not end with it.
    pub(crate) fn answered(&mut self, outcome: &Result<ResponseBody, a2a_types::Error>) {
        match outcome {
            Ok(ResponseBody::Once(response)) => {
                self.outcome = Outcome::Answered;
                if let A2aResponse::SendMessage(SendMessageResponse::Task(task)) = response {
                    self.about(&task.id);
                }
            }
            Ok(ResponseBody::Stream(_)) => {
                self.count_time();
                self.stream = Some(metric::OPEN_STREAMS.raise([]));
            }
            Err(error) => self.outcome = Outcome::Failed(error.kind),
        }
    }

    /// Records an event that is sent.
    pub(crate) fn update_sent(&mut self, update: &Update) {
        self.sequence = update.sequence.or(self.sequence);
        if let Some(task) = update.event.task_id() {
            self.about(task);
        }
    }

    /// Records the task, once for the same reason.
    fn about(&mut self, task: &TaskId) {
        if !std::mem::replace(&mut self.has_task, true) {
            self.span.record(TASK, task.as_str());
        }
    }

    /// Records the end of a stream.
    pub(crate) fn ended(&mut self, outcome: Outcome) {
        self.outcome = outcome;
    }

    /// Records the time to the answer, once.
    fn count_time(&mut self) {
        let Some(start) = self.start.take() else {
            return;
        };
        let [operation, protocol_version, binding] = self.labels();
        let took = start.elapsed().as_secs_f64();
        metric::SERVER_REQUEST_SECONDS.record([operation, protocol_version, binding], took);
    }

    fn count(&mut self) {
        self.count_time();
        let [operation, protocol_version, binding] = self.labels();
        let outcome = self.outcome.as_str();
        metric::SERVER_REQUESTS.count([operation, protocol_version, binding, outcome]);
        if let Outcome::Failed(kind) = self.outcome {
            metric::SERVER_ERRORS.count([operation, kind.reason()]);
        }
    }

    fn labels(&self) -> [&'static str; 3] {
        [
            self.operation.map_or(OTHER, Operation::name),
            self.protocol_version
                .map_or(OTHER, ProtocolVersion::version),
            self.binding.as_str(),
        ]
    }
}

impl Drop for ServerSpan {
    fn drop(&mut self) {
        self.count();
        if self.span.is_disabled() {
            return;
        }
        if let Some(protocol_version) = self.protocol_version {
            self.settled(protocol_version);
        }
        let span = &self.span;
        if let Some(sequence) = self.sequence {
            span.record(SEQUENCE, sequence);
        }
        span.record(OUTCOME, self.outcome.as_str());
        if let Outcome::Failed(kind) = self.outcome {
            span.record(ERROR_TYPE, kind.reason());
            if kind.http_status() >= 500 {
                span.record(OTEL_STATUS, "ERROR");
            }
        }
    }
}

impl Outcome {
    /// Returns the outcome in one word.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed(_) => "failed",
            Self::Abandoned => "abandoned",
        }
    }
}
