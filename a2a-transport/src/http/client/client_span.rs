//! A call under way, as its caller sees it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use a2a_types::{Operation, ProtocolVersion};
use http::Uri;
use tokio::time::Instant;
use tokio_stream::Stream;
use tracing::Span;
use tracing::field::Empty;

use super::event_stream::is_last_word;
use crate::http::message::server_span::Outcome;
use crate::metric;
use crate::spans::{
    BINDING, CLIENT_CALL, ERROR_TYPE, HTTP_STATUS, OPERATION, OTEL_KIND, OTEL_STATUS, OUTCOME,
    PROTOCOL_VERSION, RPC_SYSTEM, SERVER_ADDRESS, SERVER_PORT,
};
use crate::{Binding, CallResponse, Error, ResponseBody, Update, UpdateStream};

/// A call, from its start until its answer is read or it is abandoned.
///
/// It is counted when it is answered (a stream when it begins) or abandoned; the span of a stream lasts until
/// its end.
pub(super) struct ClientSpan {
    labels: [&'static str; 3],
    start: Instant,
    is_counted: bool,
    outcome: &'static str,
    span: Span,
}

impl ClientSpan {
    /// Begins a call of the agent at `url`.
    pub(super) fn begin(
        operation: Operation,
        protocol_version: ProtocolVersion,
        binding: Binding,
        url: &Uri,
    ) -> Self {
        let span = tracing::info_span!(
            CLIENT_CALL,
            { OTEL_KIND } = "client",
            { OPERATION } = operation.name(),
            { PROTOCOL_VERSION } = protocol_version.version(),
            { BINDING } = %binding,
            { RPC_SYSTEM } = (binding == Binding::JsonRpc).then_some("jsonrpc"),
            { SERVER_ADDRESS } = url.host(),
            { SERVER_PORT } = port(url),
            { HTTP_STATUS } = Empty,
            { OUTCOME } = Empty,
            { ERROR_TYPE } = Empty,
            { OTEL_STATUS } = Empty,
        );
        Self {
            labels: [
                operation.name(),
                protocol_version.version(),
                binding.as_str(),
            ],
            start: Instant::now(),
            is_counted: false,
            outcome: ABANDONED,
            span,
        }
    }

    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    /// Records the outcome of the call; a stream keeps recording until its end.
    pub(super) fn answered(
        mut self,
        reply: Result<CallResponse, Error>,
    ) -> Result<CallResponse, Error> {
        self.count(match &reply {
            Ok(_) => ANSWERED,
            Err(error) => {
                let [operation, ..] = self.labels;
                metric::CLIENT_ERRORS.count([operation, error.name()]);
                FAILED
            }
        });
        if self.span.is_disabled() {
            return reply;
        }
        let mut reply = reply.inspect_err(|error| self.failed(error))?;
        reply.answer = match reply.answer {
            ResponseBody::Once(response) => {
                self.outcome = ANSWERED;
                ResponseBody::Once(response)
            }
            ResponseBody::Stream(updates) => ResponseBody::Stream(Box::pin(SpannedUpdates {
                updates,
                span_guard: self,
            })),
        };
        Ok(reply)
    }

    fn count(&mut self, outcome: &'static str) {
        self.is_counted = true;
        let [operation, protocol_version, binding] = self.labels;
        let took = self.start.elapsed().as_secs_f64();
        metric::CLIENT_REQUEST_SECONDS.record(self.labels, took);
        metric::CLIENT_REQUESTS.count([operation, protocol_version, binding, outcome]);
    }

    fn failed(&mut self, error: &Error) {
        self.outcome = FAILED;
        self.span.record(ERROR_TYPE, error.name());
        self.span.record(OTEL_STATUS, "ERROR");
    }
}

impl Drop for ClientSpan {
    fn drop(&mut self) {
        if !self.is_counted {
            self.count(self.outcome);
        }
        self.span.record(OUTCOME, self.outcome);
    }
}

const ANSWERED: &str = Outcome::Answered.as_str();
const FAILED: &str = "failed";
const ABANDONED: &str = Outcome::Abandoned.as_str();

/// The events of an answer.
struct SpannedUpdates {
    updates: UpdateStream,
    span_guard: ClientSpan,
}

impl Stream for SpannedUpdates {
    type Item = Result<Update, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self {
            updates,
            span_guard,
        } = &mut *self;
        let span = span_guard.span.clone();
        let _within = span.enter();
        let update = ready!(updates.as_mut().poll_next(cx));
        match &update {
            Some(Ok(update)) if is_last_word(&update.event) => span_guard.outcome = ANSWERED,
            Some(Ok(_)) => {}
            Some(Err(error)) => span_guard.failed(error),
            None if span_guard.outcome == ABANDONED => span_guard.outcome = ANSWERED,
            None => {}
        }
        Poll::Ready(update)
    }
}

fn port(url: &Uri) -> Option<u16> {
    let usual = match url.scheme_str() {
        Some("https") => Some(443),
        Some("http") => Some(80),
        _ => None,
    };
    url.port_u16().or(usual)
}
