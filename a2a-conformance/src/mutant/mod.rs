//! Deliberate bugs: what proves that the checks can fail. And what is odd but right, which proves that
//! they fail for nothing else.
//!
//! ```text
//! Subject ─ prove ─► the suite ─► Proof: the check named for the bug was red, and no other;
//!                                        nothing was red of what is odd
//! ```

pub mod agent;
pub mod client;
mod proof;
mod subject;
mod written;

pub use self::proof::{Extent, Proof, Red, Tally};
pub use self::subject::{NoSuchSubject, Subject, prove_all};
