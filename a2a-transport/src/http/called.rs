//! A call of a remote agent under way: what is counted of it.

use a2a_types::{Dialect, Operation};
use tokio::time::Instant;

use super::observed::Outcome;
use crate::metric;
use crate::{Binding, Error, Reply};

/// A call, from before anything is sent until its answer is read or its stream begins. Dropped before
/// that, it counts as abandoned.
pub(super) struct Called {
    labels: [&'static str; 3],
    begun: Instant,
    is_over: bool,
}

impl Called {
    pub(super) fn begin(operation: Operation, dialect: Dialect, binding: Binding) -> Self {
        Self {
            labels: [operation.name(), dialect.version(), binding.as_str()],
            begun: Instant::now(),
            is_over: false,
        }
    }

    /// This came of it.
    pub(super) fn ended(mut self, answer: &Result<Reply, Error>) {
        let [operation, ..] = self.labels;
        match answer {
            Ok(_) => self.count(Outcome::Answered.as_str()),
            Err(error) => {
                metric::CLIENT_ERRORS.count([operation, error.name()]);
                self.count("failed");
            }
        }
    }

    fn count(&mut self, outcome: &'static str) {
        self.is_over = true;
        let [operation, dialect, binding] = self.labels;
        let took = self.begun.elapsed().as_secs_f64();
        metric::CLIENT_REQUEST_SECONDS.record(self.labels, took);
        metric::CLIENT_REQUESTS.count([operation, dialect, binding, outcome]);
    }
}

impl Drop for Called {
    fn drop(&mut self) {
        if !self.is_over {
            self.count(Outcome::Abandoned.as_str());
        }
    }
}
