//! A2A agents as tools of MCP, and tools of MCP for agents.
//!
//! A [`Bridge`] is a server of the [Model Context Protocol](https://modelcontextprotocol.io) whose tools are the skills
//! of agents, so that editors and assistants can call them. `a2a mcp` runs one.
//!
//! | A2A | MCP 2026-07-28 | clients of older versions |
//! |---|---|---|
//! | a skill | a tool `{agent}_{skill}` with `message`, `files` and `data`, or what the card's schema of the skill says | the same |
//! | a context | the argument `context_id`, which each result names | the same |
//! | a task that takes longer than [the grace](BridgeBuilder::grace) | a task, if the client knows them | the call waits, with progress |
//! | *input required* | an elicitation in a round trip, with a signed state | `elicitation/create`, or a text that says how to go on |
//! | *auth required* | an elicitation of the URL that the agent names, or an error that names it | the same |
//! | parts | text, structured content, images, sounds, links and embedded resources | the same |
//! | a canceled call | the task is canceled | the same |
//!
//! ```
//! use a2a_client::Client;
//! use a2a_mcp::Bridge;
//! # use a2a_server::{Server, demo::Joker};
//! use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = Server::builder(Joker::card(), Joker).build()?.bind("127.0.0.1:0").await?;
//! # let url = server.url().to_string();
//! # tokio::spawn(server.run(std::future::pending()));
//! let connect = move || {
//!     let url = url.clone(); // like http://127.0.0.1:8080
//!     async move { Ok(Client::connect(&url).await?) }
//! };
//! let bridge = Bridge::builder().agent("joker", connect).build()?;
//! // bridge.serve_stdio(std::future::pending()).await?;
//!
//! # let (client, server) = tokio::io::duplex(65536);
//! # let (input, output) = tokio::io::split(server);
//! # tokio::spawn(bridge.serve(input, output, std::future::pending()));
//! # let (input, mut output) = tokio::io::split(client);
//! # output.write_all(br#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#).await?;
//! # output.write_all(b"\n").await?;
//! # let line = BufReader::new(input).lines().next_line().await?.unwrap();
//! # assert!(line.contains("2026-07-28"), "{line}");
//! # Ok(()) }
//! ```
//!
//! With the feature `tools`, the tools of an MCP server are for the model of an agent: `ToolServer`.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agents;
mod arguments;
mod bridge;
mod call;
mod content;
mod handler;
mod question;
mod serve;
mod task;
mod tool;
#[cfg(feature = "tools")]
mod tool_server;

pub use self::agents::BoxError;
pub use self::bridge::{Bridge, BridgeBuilder, InvalidStateKey};
pub use self::serve::{HttpService, ServeError};
#[cfg(feature = "tools")]
pub use self::tool_server::ToolServer;
