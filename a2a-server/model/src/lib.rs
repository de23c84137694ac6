//! An A2A agent over a language model: chat completions or Responses, streamed, with tools.
//!
//! [`ModelAgent`] is an [`Agent`](a2a_server::Agent) that sends the conversation so far to the service of a model, and
//! streams the answer. [`Tools`] is the trait of what the model may call.
//!
//! ```text
//! Turn ── conversation ── History ── request (chat completions, Responses) ──► Service ──► HTTP
//!                            ▲                                                    │
//!               calls, results ── Toolbox ◄── calls ── deltas ◄── SSE ◄───────────┘
//!                                                        └── Output: artifact, steps, usage ──► Turn
//! ```
//!
//! ```no_run
//! use a2a_model::ModelAgent;
//! use a2a_server::Server;
//! use a2a_types::AgentCard;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ModelAgent::new("http://127.0.0.1:11434/v1", "llama3.2").system("Be brief.");
//! let card = AgentCard::new("Helper", "Answers questions");
//! Server::builder(card, model).build()?.serve("127.0.0.1:8080").await?;
//! # Ok(()) }
//! ```
//!
//! Callers see reasoning and tool calls if the card declares the [profile](a2a_types::extension::trpc) of steps. They are
//! then stored, and part of later requests; otherwise later requests have the messages and answers alone.
//!
//! Deliberately absent: state at the service, answers in several alternatives, and output other than text.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
mod api;
mod chat_completions;
mod delta;
mod error;
mod history;
mod output;
mod responses;
mod service;
mod toolbox;
mod tools;

pub use crate::agent::ModelAgent;
pub use crate::api::Api;
pub use crate::error::ModelError;
pub use crate::tools::{FunctionTool, Tool, ToolError, ToolOutput, Tools};
