//! The documented examples of the A2A protocol, replayed against agents and clients.
//!
//! The corpus holds every example of five documents as printed and as it should have been, with
//! the departures of each by code. [`replay`] reads them, sends the requests to our server, and
//! plays the answers to our client, on real sockets.
//!
//! ```
//! use a2a_conformance::{Corpus, printed};
//!
//! let corpus = Corpus::embedded().unwrap();
//! let example = corpus.example("001-08");
//! let read = printed::read(&example.printed);
//! assert!(read.repairs.contains("TRAIL")); // a comma before a brace
//! assert!(!read.is_json());
//! assert!(read.json.is_some());
//! ```

mod compare;
mod corpus;
mod fault;
pub mod printed;
pub mod recorded;
mod reference;
mod replay;
mod report;
mod verdict;

pub use crate::compare::{Bindings, Difference, GENERATED, Rules, compare};
pub use crate::corpus::{
    Allowance, Corpus, CorpusError, Document, Example, Exchange, Head, Kind, Lenient, Matching,
    Refusal, Release, ScriptStep, Source, Step, Strict,
};
pub use crate::fault::{Fault, NoSuchFault, Side};
pub use crate::reference::Reference;
pub use crate::replay::{Direction, Options, Outcome, replay};
pub use crate::report::{Report, Tally};
pub use crate::verdict::{Judgement, judge, mended, operation_of, validate};
