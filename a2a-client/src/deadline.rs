//! Overall deadline of a call.

use std::time::{Duration, Instant};

use a2a_transport::{Error, Phase};

/// End of a caller's wait: after a [`Duration`] from now, or at an [`Instant`].
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    pub(crate) at: tokio::time::Instant,
    limit: Duration,
}

impl Deadline {
    pub(crate) fn error(self) -> Error {
        Error::Timeout {
            phase: Phase::Deadline,
            limit: self.limit,
        }
    }

    /// Awaits `future`. Errors: [`Error::Timeout`] at the deadline.
    pub(crate) async fn keep<T>(
        deadline: Option<Self>,
        future: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match deadline {
            None => future.await,
            Some(deadline) => tokio::time::timeout_at(deadline.at, future)
                .await
                .unwrap_or_else(|_| Err(deadline.error())),
        }
    }
}

impl From<Duration> for Deadline {
    fn from(limit: Duration) -> Self {
        let now = tokio::time::Instant::now();
        let at = now.checked_add(limit).unwrap_or(now + FAR);
        Self { at, limit }
    }
}

impl From<Instant> for Deadline {
    fn from(at: Instant) -> Self {
        Self {
            limit: at.saturating_duration_since(Instant::now()),
            at: at.into(),
        }
    }
}

/// Stands for a time too far ahead to represent.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
