//! The page of `a2a inspect`, for people who build agents: agents of every protocol version, their cards,
//! chats and tasks, all that goes over the wire, webhooks and conformance.
//!
//! An [`Inspector`] serves one page, which is embedded, and the API that the page calls. It listens on loopback
//! only; every call needs the token of this launch, which the page has from its URL.
//!
//! ```text
//! page ─ guard ─► agents ─ a2a_client ─► agent
//!      ◄─ changes ─┘ │          └ wire observer ─► exchange log ◄─ proxy, webhooks
//!                    └ card, chat, tasks, conformance
//! ```
//!
//! ```no_run
//! # async fn serve() -> std::io::Result<()> {
//! use a2a_inspector::Inspector;
//!
//! let inspector = Inspector::builder().build()?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:7420").await?;
//! println!("open {}", inspector.url(listener.local_addr()?));
//! inspector.serve(listener, std::future::pending()).await
//! # }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agents;
mod call_scope;
mod capture;
mod card;
mod changes;
mod chat;
#[cfg(feature = "conformance")]
mod conformance;
mod event_stream;
mod guard;
mod info;
mod input;
mod inspector;
mod launch_token;
mod page;
mod problem;
mod proxy;
mod tasks;
mod webhooks;
mod wire;

pub use crate::agents::{ClientCertificate, OAuthDevice, Secret, Settings, SettingsError};
pub use crate::inspector::{ConnectError, Inspector, InspectorBuilder};
