//! The span of an attempt to deliver.

use a2a_transport::spans::{
    ATTEMPT, HTTP_STATUS, OTEL_KIND, OTEL_STATUS, OUTCOME, SEQUENCE, TASK, WEBHOOK_DELIVERY,
};
use a2a_transport::{TraceContext, spans};
use tracing::Span;
use tracing::field::Empty;

use super::outcome::{DeliveryOutcome, Reason};
use crate::store::Notification;

/// An attempt to deliver a notification.
pub(super) struct Attempt(Span);

impl Attempt {
    pub(super) fn of(notification: &Notification) -> Self {
        Self(tracing::info_span!(
            WEBHOOK_DELIVERY,
            { OTEL_KIND } = "client",
            { TASK } = notification.config.task_id.as_str(),
            { SEQUENCE } = notification.sequence,
            { ATTEMPT } = notification.attempt,
            { OUTCOME } = Empty,
            { HTTP_STATUS } = Empty,
            { OTEL_STATUS } = Empty,
        ))
    }

    pub(super) fn span(&self) -> Span {
        self.0.clone()
    }

    /// Makes it part of a trace; returns the trace context for the receiver.
    pub(super) fn join(&self, trace: Option<TraceContext>) -> Option<TraceContext> {
        spans::join(&self.0, trace)
    }

    /// Records the outcome, and returns it.
    pub(super) fn end(self, outcome: DeliveryOutcome) -> DeliveryOutcome {
        let word = match outcome {
            DeliveryOutcome::Delivered => "delivered",
            DeliveryOutcome::Gone => "gone",
            DeliveryOutcome::Later { .. } => "failed",
        };
        self.0.record(OUTCOME, word);
        if let DeliveryOutcome::Later { reason, .. } = outcome {
            self.0.record(OTEL_STATUS, "ERROR");
            if let Reason::Status(status) = reason {
                self.0.record(HTTP_STATUS, status);
            }
        }
        outcome
    }
}
