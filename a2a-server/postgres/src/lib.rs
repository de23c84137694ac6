//! Tasks of an A2A agent in PostgreSQL, which any number of servers share.
//!
//! A [`PostgresStore`] takes the place of the store of one server. Every server that opens one with the same options
//! serves the same tasks: any of them can take a message, a stream or a cancellation.
//!
//! [Deploying](https://github.com/a2a-rust/a2a/blob/main/docs/deploying.md) is its chapter of the book, and [PostgreSQL](https://github.com/a2a-rust/a2a/blob/main/docs/reference/postgres.md) the runbook.
//!
//! ```no_run
//! use a2a_postgres::PostgresStore;
//! use a2a_server::{Agent, Failure, Server, Turn};
//! use a2a_types::AgentCard;
//!
//! struct Joker;
//!
//! impl Agent for Joker {
//!     async fn run(&self, turn: Turn) -> Result<(), Failure> {
//!         turn.artifact("joke").text("Why did the chicken cross the road?").finish().await?;
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = PostgresStore::connect("postgres://a2a@db.example.com/a2a").await?;
//! let server = Server::builder(AgentCard::new("Joker", "Tells jokes"), Joker).store(store).build()?;
//! server.serve("0.0.0.0:8080").await?;
//! # Ok(()) }
//! ```
//!
//! An append is one statement: it is fenced by the epoch of the writer's lease and the length of the log, and stores
//! the events, the notifications of webhooks, the receipt of the message and the agent's checkpoint, or nothing. Leases
//! and expiry follow the clock of the database. A task is read as its document and the later events of its log; of a task
//! in its cache, a process reads only the events that it does not have yet.
//!
//! Deliberately absent: a work queue. The server that accepts a message works on it; other servers take over only
//! abandoned tasks.

#![forbid(unsafe_code)]

mod appends;
mod columns;
mod command_body;
mod commands;
mod connections;
mod connector;
mod creates;
mod error;
#[cfg(feature = "faults")]
mod fault;
mod hint_text;
mod in_doubt_writes;
mod leases;
mod listener;
mod lock;
mod metric;
mod names;
mod notify;
mod options;
mod reads;
mod receipts;
mod recent;
mod reservations;
mod retention;
mod schema;
mod statement;
mod store;
mod store_state;
mod tls;
mod unfinished;
mod webhooks;

pub use error::PostgresError;
#[cfg(feature = "faults")]
#[doc(hidden)]
pub use fault::Fault;
pub use metric::describe_metrics;
pub use options::PostgresOptions;
pub use schema::{migrate, migrations};
pub use store::PostgresStore;
