//! Outcomes of attempts to deliver.

use std::time::Duration;

use super::refusal::Refusal;

/// Outcome of one attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DeliveryOutcome {
    /// The receiver has it.
    Delivered,
    /// The receiver wants no more notifications.
    Gone,
    /// The receiver does not have it, as far as is known.
    Later {
        /// Time that the receiver wants to be left alone, a day at most.
        after: Option<Duration>,
        /// Reason of the failure.
        reason: Reason,
    },
}

/// Reason why an attempt failed, too coarse to reveal the network of the server: nothing of what was sent
/// or answered, but for a number.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum Reason {
    /// It must not be called.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Its name has no address.
    #[error("the host's name could not be resolved")]
    Resolve,
    /// The connection was not accepted.
    #[error("the host could not be connected to")]
    Connect,
    /// No protected connection could be agreed on; its certificate may be wrong.
    #[error("the host could not be connected to by TLS")]
    Tls,
    /// No answer came in time.
    #[error("the receiver did not answer in time")]
    Timeout,
    /// Too many other requests to this host: nothing was sent.
    #[error("too many deliveries are under way")]
    Busy,
    /// The connection ended before an answer, or the answer is not HTTP.
    #[error("the receiver did not answer by HTTP")]
    Http,
    /// The answer does not say that it was received.
    #[error("the receiver answered with status {0}")]
    Status(u16),
}
