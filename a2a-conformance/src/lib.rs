//! A conformance suite for the Agent2Agent (A2A) protocol: whether an agent, or a client, keeps what the
//! specification says, in versions 0.1, 0.2, 0.3 and 1.0, by JSON-RPC and by HTTP+JSON.
//!
//! Most people use it as a program (`a2a-conformance --help`); this is the library behind it.
//!
//! [Testing](https://github.com/a2a-rust/a2a/blob/main/docs/testing.md) is its chapter of the book.
//!
//! ```text
//! requirements/  each sentence of the specification, in our words ◄── what covers it ──┐
//! cases/         steps and expected results ────────────────► agent, client ─► checks ─► Run ─► reports
//! examples/      the documented examples ─► documents::replay
//! ```
//!
//! - [`agent`] tests an agent: any ([black box](case::Profile::BlackBox)), or one that keeps the behaviour contract
//!   (`docs/behaviour-contract.md`), so that all of it can be seen.
//! - [`client`] tests a client: the suite is the agent, and sends the client instructions
//!   (`docs/reference/client-protocol.md`).
//! - [`report`] writes pages, JUnit, Markdown and badges of a [`record::Run`], and an index of several; waivers list known
//!   failures.
//! - [`requirement`], [`check`], [`explanation`]: requirements, their checks, and explanations.
//! - [`card`] and [`lint`] validate documents, [`documents`] and [`recorded`] replay them, [`mutants`] names the bugs
//!   that the checks must catch.
//!
//! ```
//! use a2a_conformance::agent::{Options, run};
//! use a2a_conformance::explanation::cite;
//! use a2a_conformance::report::{Form, write};
//! use a2a_server::{Server, demo::Reference};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder(Reference::card(), Reference).build()?.bind("127.0.0.1:0").await?;
//! let mut options = Options::of(server.url());
//! tokio::spawn(server.run(std::future::pending()));
//!
//! options.selection.run.push("send.task-or-message".to_owned());
//! let mut run = run(&options, |_, _| {}).await?;
//! cite(&mut run);
//! assert_eq!(run.exit_code(), 0);
//!
//! let directory = tempfile::tempdir()?;
//! let page = write(&run, Form::Html, directory.path())?;
//! assert!(page.ends_with("report.html"));
//! # Ok(()) }
//! ```

pub mod agent;
pub mod card;
pub mod case;
pub mod catalogue;
pub mod check;
pub mod client;
pub mod documents;
mod excerpt;
pub mod explanation;
mod free_port;
pub mod interface_kind;
mod judge;
pub mod level;
pub mod lint;
pub mod mutants;
mod name_pattern;
pub mod record;
pub mod recorded;
pub mod report;
pub mod requirement;
pub mod token;
mod wire;
mod yaml;
