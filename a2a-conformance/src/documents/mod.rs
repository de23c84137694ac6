//! The documented examples, replayed against both ends.

pub(crate) mod compare;
mod corpus;
pub mod printed_example;
mod reference;
mod replay;
mod report;
mod verdict;

pub use self::compare::{Bindings, Difference, GENERATED, Rules, compare};
pub use self::corpus::{
    Allowance, Corpus, CorpusError, Document, Example, ExampleKind, Exchange, ExchangeStep, Head,
    LenientVerdict, MatchMode, Refusal, Release, ScriptStep, Source, StrictVerdict,
};
pub use self::reference::Reference;
pub use self::replay::{Direction, Ends, Options, ReplayResult, replay};
pub use self::report::{Report, Tally};
pub(crate) use self::verdict::accepted_departures;
pub use self::verdict::{Judgement, answered, judge, operation_of, repairs_of, validate};
