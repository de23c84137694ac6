//! Deliberate faults of the store, each of which a case of the suite or a test must notice.

/// A promise that the store breaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[doc(hidden)]
#[allow(missing_docs)]
pub enum Fault {
    LosesHints,
}
