//! The documented examples of the A2A protocol, replayed against agents and clients.
//!
//! The corpus holds every example of five documents as printed and as it should have been, with
//! the departures of each by code. [`documents::replay`] reads them, sends the requests to our server, and
//! plays the answers to our client, on real sockets.
//!
//! ```
//! use a2a_conformance::documents::{Corpus, printed};
//!
//! let corpus = Corpus::embedded().unwrap();
//! let example = corpus.example("001-08");
//! let read = printed::read(&example.printed);
//! assert!(read.repairs.contains("TRAIL")); // a comma before a brace
//! assert!(!read.is_json());
//! assert!(read.json.is_some());
//! ```

pub mod agent;
pub mod card;
pub mod case;
pub mod catalogue;
pub mod check;
pub mod client;
pub mod coverage;
pub mod documents;
pub mod gap;
pub mod lint;
pub mod mutant;
mod names;
pub mod recorded;
pub mod report;
pub mod requirement;
pub mod run;
