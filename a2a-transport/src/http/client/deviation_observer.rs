//! Observers of deviations from the specification in answers.

use std::fmt;
use std::sync::Arc;

use a2a_types::reading::{Deviation, WithRepairs};

/// Observer of the deviations in a peer's answers and cards, and of what was read instead.
#[derive(Clone)]
pub struct DeviationObserver(Arc<dyn Fn(&Deviation) + Send + Sync>);

impl DeviationObserver {
    /// Creates an observer that calls a function, in the order in which deviations are found.
    pub fn new(observe: impl Fn(&Deviation) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observe))
    }

    /// Reports a deviation.
    pub fn observe(&self, deviation: &Deviation) {
        (self.0)(deviation);
    }
}

impl fmt::Debug for DeviationObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeviationObserver")
    }
}

/// Logs the deviations of an answer, reports them to the observer, and returns the answer.
pub(super) fn tell<T>(observer: Option<&DeviationObserver>, read: WithRepairs<T>) -> T {
    for deviation in &read.repairs {
        let (quirk, path) = (deviation.quirk.code(), &deviation.path);
        tracing::debug!(quirk, path, "an answer deviates from the specification");
        if let Some(observer) = observer {
            observer.observe(deviation);
        }
    }
    read.value
}
