//! The suite as the agent, against a client under test.
//!
//! A [`Case`] has the instructions to the client, the answers of the suite, and the pattern that the requests of
//! the client must match, and its results, too, if it reports them. A [`Driver`] gives a client its instructions;
//! `docs/reference/client-protocol.md` is for authors of clients. [`Selection::run`] runs cases, each with an agent
//! of its own, several at once.
//!
//! ```no_run
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), String> {
//! use a2a_conformance::client::{Driver, Selection};
//! use a2a_conformance::record::Verdict;
//!
//! let selection = Selection {
//!     run: vec!["client.message-is-answered".to_owned()],
//!     ..Selection::default()
//! };
//! let client = Driver::stdio("python3 shims/client.py");
//! let results = selection.run(&client, |_| {}).await?;
//! assert!(results.iter().all(|result| result.verdict == Verdict::Pass));
//! # Ok(()) }
//! ```

mod answering;
mod card;
mod case;
mod case_server;
pub mod certificate;
mod connection;
mod default_answers;
mod description;
mod driver;
mod driver_request;
mod fixture;
mod http2;
mod instruction;
mod judge;
mod jws;
mod notification;
mod observation;
mod parsed_request;
mod socket;
mod suite;
mod wire_answer;

pub use self::case::Case;
pub use self::case::Tls;
pub use self::case_server::CaseServer;
pub(crate) use self::description::describe;
pub use self::driver::{Driver, LineConnection};
pub use self::driver_request::{EXIT_UNIMPLEMENTED, UNIMPLEMENTED};
pub use self::suite::{Selection, cases, schema};
