//! The documented examples, replayed against both ends.

mod compare;
mod corpus;
pub(crate) mod printed_example;
mod reference;
mod replay;
mod report;

pub use self::corpus::{Corpus, Example, ExampleKind, Exchange, ExchangeStep, StrictVerdict};
pub use self::replay::{Direction, Ends, Options, ReplayResult, replay};
pub use self::report::{Report, Tally};
