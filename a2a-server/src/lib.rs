//! Serve an A2A agent: implement one trait, speak every version of the protocol.
//!
//! An [`Agent`] takes one [`Turn`] of a conversation at a time; a [`Server`] does the rest: tasks, their
//! logs and streams, waiting callers, cancellation, webhooks, cards. A [`Store`] keeps all that the
//! server acknowledges: [`SqliteStore`] in a file, [`MemoryStore`] until the process ends.
//!
//! [The book](https://github.com/a2a-rust/a2a/blob/main/docs/first-agent.md) teaches it step by step; [the agent API](https://github.com/a2a-rust/a2a/blob/main/docs/reference/agents.md) is on one page.
//!
//! ```text
//! HttpService ─► Server ─ GetTask, ListTasks, push configs … ──► Store ─────► Reply::Once
//!                       ─ CancelTask ── its TaskWriter, or Store ────────────► Reply::Once
//!                       ─ SubscribeToTask ── follower ───────────────────────► Reply::Stream
//!                       ─ SendMessage ── idempotency ── limiter ── TaskRun ─── agent.run(Turn)
//!                            updates ─► LogWriter ─► Store::append: applied, stored, then followers wake
//!                            SendMessage = outcome ──────────────────────────► Reply::Once
//!                            SendStreamingMessage = follower ────────────────► Reply::Stream
//! Maintenance: leases renewed, orphans recovered, old tasks removed
//! ```
//!
//! ```
//! use a2a_server::{Agent, Failure, Server, SqliteStore, Turn};
//! use a2a_types::AgentCard;
//!
//! struct Joker;
//!
//! impl Agent for Joker {
//!     async fn run(&self, turn: Turn) -> Result<(), Failure> {
//!         turn.working("looking for a joke").await?;
//!         turn.artifact("joke").text("Why did the chicken cross the road?").finish().await?;
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # std::env::set_current_dir(&directory)?;
//! let card = AgentCard::new("Joker", "Tells jokes");
//! let store = SqliteStore::open("joker.db")?; // without one, tasks live in memory only
//! let server = Server::builder(card, Joker).store(store).build()?;
//! let bound = server.bind("127.0.0.1:0").await?;
//! println!("listening at {}", bound.url());
//! # let no_one_waits = std::future::ready(());
//! bound.run(no_one_waits).await?; // usually a signal, or `server.serve(address)`
//! # Ok(()) }
//! ```
//!
//! A turn knows the [trace](Turn::trace) of its request; notifications of it belong to that trace, after a
//! restart too. Requests, turns and deliveries are spans of `tracing`: [`a2a_transport::spans`] is the
//! table of them. With the feature `opentelemetry` they are part of their callers' traces.
//!
//! Deliberately absent: nothing here knows JSON-RPC, HTTP paths or old spellings; and nothing is broadcast:
//! every reader has a cursor on the task's log.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
mod build_error;
mod builder;
#[cfg(feature = "card-signature")]
mod card_keys;
mod card_security;
#[cfg(feature = "demo")]
pub mod demo;
mod engine;
mod extended_card;
mod health;
mod http_server;
mod operations;
mod profile;
mod server;
mod store;
mod turn;
#[cfg(feature = "webhooks")]
mod webhook;

pub use crate::agent::{Agent, DynAgent};
pub use crate::build_error::BuildError;
pub use crate::builder::ServerBuilder;
#[cfg(feature = "card-signature")]
pub use crate::card_keys::CardKeys;
pub use crate::engine::agent_call::Failure;
pub use crate::engine::limiter::TurnLimits;
pub use crate::engine::maintenance::Recovery;
pub use crate::engine::pending_message::Resumed;
pub use crate::engine::update::{ArtifactUpdate, UpdateError};
pub use crate::http_server::{BoundServer, HttpServer, Listener};
pub use crate::profile::llm_response::LlmResponse;
pub use crate::server::Server;
pub use crate::store::{
    Append, Appended, CommandContent, DeliveryResult, IdempotencyKey, IdempotencyRecord, Lease,
    ListCursor, ListQuery, LogEntry, LogPage, MAX_COMMANDS, MemoryStore, NewTask, Notification,
    Orphan, Outcome, Owner, Page, Retention, SharedStore, Snapshot, Store, StoreError, StoreFuture,
    TaskBudget, TaskCommand, TaskNotifier, TaskShare,
};
#[cfg(feature = "webhooks")]
pub use crate::store::{EncryptedStore, EncryptionKeyError, EncryptionKeys};
#[cfg(feature = "sqlite")]
pub use crate::store::{SqliteOptions, SqliteReport, SqliteStore};
pub use crate::store::{fold, limits, log_rows};
pub use crate::turn::{ArtifactBuilder, Turn};
#[cfg(feature = "webhooks")]
pub use crate::webhook::{Challenge, GatewayWebhooks, Refusal, WebhookKeys, WebhookPolicy};
pub use a2a_transport::http::{
    AllowAnonymous, AuthChallenge, AuthError, Authenticator, Authorizer, ClientCertificates,
    DynAuthenticator, DynAuthorizer, ExtensionCall, Probes, Readiness, Security,
};
#[cfg(feature = "tls")]
pub use a2a_transport::http::{ClientAuth, ServerTls, ServerTlsBuilder, ServerTlsError};
pub use a2a_transport::metric::describe as describe_metrics;
#[cfg(feature = "webhooks")]
pub use a2a_transport::webhook::Secret;
#[cfg(any(feature = "webhooks", feature = "card-signature"))]
pub use a2a_transport::webhook::{Algorithm, InvalidKey, SigningKey};
pub use a2a_transport::{BoxFuture, Principal, TraceContext, Transport};
