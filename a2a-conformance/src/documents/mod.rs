//! The documented examples, replayed against both ends.

pub(crate) mod compare;
mod corpus;
mod fault;
pub mod printed;
mod reference;
mod replay;
mod report;
mod verdict;

pub use self::compare::{Bindings, Difference, GENERATED, Rules, compare};
pub use self::corpus::{
    Allowance, Corpus, CorpusError, Document, Example, Exchange, Head, Kind, Lenient, Matching,
    Refusal, Release, ScriptStep, Source, Step, Strict,
};
pub use self::fault::{Fault, NoSuchFault, Side};
pub use self::reference::Reference;
pub use self::replay::{Direction, Options, Outcome, replay};
pub use self::report::{Report, Tally};
pub(crate) use self::verdict::observe;
pub use self::verdict::{Judgement, answered, judge, mended, operation_of, validate};
