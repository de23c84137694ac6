//! The suite as the agent, against a client under test.
//!
//! A [`Case`] has the instructions to the client, the answers of the suite, and the pattern of what must be
//! seen: the requests of the client, and, if it reports them, its results. A [`Driver`] gives a client its
//! instructions; `docs/client-protocol.md` is for authors of clients. [`Selection::run`] runs cases, each
//! with an agent of its own, several at once.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), String> {
//! use a2a_conformance::client::{Driver, Selection};
//! use a2a_conformance::run::Verdict;
//!
//! let selection = Selection {
//!     run: vec!["client.message-is-answered".to_owned()],
//!     ..Selection::default()
//! };
//! let results = selection.run(&Driver::ours(), |_| {}).await?;
//! assert!(results.iter().all(|result| result.verdict == Verdict::Pass));
//! # Ok(()) }
//! ```

mod answering;
mod ask;
mod card;
mod case;
mod certificate;
mod driver;
mod errand;
mod judge;
mod jws;
mod listen;
mod notify;
mod ours;
mod plain;
mod question;
mod seen;
mod socket;
mod stage;
mod suite;
mod told;
mod written;

pub use self::case::{Case, WAYS, Way};
pub use self::driver::Driver;
pub use self::listen::Reception;
pub use self::ours::{converse, perform_once};
pub use self::suite::{Selection, cases, schema};
pub(crate) use self::told::told;
