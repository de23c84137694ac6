//! The Agent2Agent (A2A) protocol: programs that are agents, and programs that call agents.
//!
//! This crate is the front door to the crates of the workspace: it re-exports what most programs need, and each layer as
//! a module. A program that needs one layer only may depend on the crate of that layer instead.
//!
//! [The book](https://github.com/a2a-rust/a2a/blob/main/docs/introduction.md) teaches both, from the first agent to a deployment.
//!
//! An agent is a type with one method, which gets each [`Turn`] of a conversation:
//!
//! ```
//! use agent2agent::prelude::*;
//!
//! struct Joker;
//!
//! impl Agent for Joker {
//!     async fn run(&self, turn: Turn) -> Result<(), Failure> {
//!         turn.artifact("joke").text("Why did the chicken cross the road?").complete_task().await?;
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder(AgentCard::new("Joker", "Tells jokes"), Joker).build()?;
//! # let bound = server.bind("127.0.0.1:0").await?;
//! # let url = bound.url().to_string();
//! # tokio::spawn(bound.run(std::future::pending()));
//! // server.serve("127.0.0.1:8080").await?;
//!
//! # let _ = stringify! {
//! let client = Client::connect("http://127.0.0.1:8080").await?;
//! # };
//! # let client = Client::connect(&url).await?;
//! let answer = client.send("tell me a joke").await?;
//! assert_eq!(answer.text(), "Why did the chicken cross the road?");
//! # Ok(()) }
//! ```
//!
//! | feature | what it adds | needs a C compiler |
//! |---|---|---|
//! | `server` (default) | [`Server`], [`Agent`], the module [`server`] | no |
//! | `client` | [`Client`], the module [`client`] | no |
//! | `auth` | credentials of callers: the module [`auth`] | yes |
//! | `axum` | an agent as a router of axum: [`server::HttpServer::router`] | no |
//! | `sqlite` | tasks in a file: [`SqliteStore`] | yes |
//! | `grpc` | the gRPC binding, on the port of the others, for servers and clients | no |
//! | `model` | an agent over a language model: the module [`model`] | no |
//! | `mcp` | agents as tools of editors, tools for models, by the Model Context Protocol: the module [`mcp`] | no |
//! | `postgres` | tasks in a database that several servers share: the module [`postgres`] | yes |
//! | `tls` | `https://` | yes |
//! | `webhooks` | push notifications, sent and received | yes |
//! | `card-signature` | signed agent cards | yes |
//! | `full` | all of these | yes |
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "auth")]
pub use a2a_auth as auth;
#[cfg(feature = "client")]
pub use a2a_client as client;
#[cfg(feature = "mcp")]
pub use a2a_mcp as mcp;
#[cfg(feature = "model")]
pub use a2a_model as model;
#[cfg(feature = "postgres")]
pub use a2a_postgres as postgres;
#[cfg(feature = "server")]
pub use a2a_server as server;
#[cfg(any(feature = "client", feature = "server"))]
pub use a2a_transport as transport;
pub use a2a_types as types;

#[cfg(feature = "client")]
pub use a2a_client::{Client, StreamExt};
#[cfg(feature = "sqlite")]
pub use a2a_server::SqliteStore;
#[cfg(feature = "server")]
pub use a2a_server::{Agent, Failure, MemoryStore, Server, Turn};
pub use a2a_types::{
    AgentCard, AgentSkill, Artifact, Event, Message, Part, ProtocolVersion, SendMessageResponse,
    Task, TaskState,
};

/// The names that nearly every program needs.
pub mod prelude {
    #[cfg(feature = "server")]
    pub use crate::{Agent, Failure, Server, Turn};
    pub use crate::{AgentCard, Event, Message, Part, Task, TaskState};
    #[cfg(feature = "client")]
    pub use crate::{Client, StreamExt};
}

/// The examples of the README and of the book, as tests.
#[cfg(all(doctest, feature = "full"))]
mod pages {
    macro_rules! pages {
        ($($name:ident = $path:literal)*) => {
            $(
                #[doc = include_str!($path)]
                struct $name;
            )*
        };
    }

    pages! {
        Readme = "../README.md"
        FirstAgent = "../docs/first-agent.md"
        Conversations = "../docs/conversations.md"
        CallingAgents = "../docs/calling-agents.md"
        KeepingTasks = "../docs/keeping-tasks.md"
        WhoMayCall = "../docs/who-may-call.md"
        Webhooks = "../docs/webhooks.md"
        Deploying = "../docs/deploying.md"
        Testing = "../docs/testing.md"
        Versions = "../docs/versions.md"
        Extending = "../docs/extending.md"
        Platforms = "../docs/platforms.md"
        FromPython = "../docs/coming-from/python.md"
        FromJavaScript = "../docs/coming-from/javascript.md"
        FromGo = "../docs/coming-from/go.md"
        FromJava = "../docs/coming-from/java.md"
        Agents = "../docs/reference/agents.md"
        ClientApi = "../docs/reference/client.md"
        Authentication = "../docs/reference/authentication.md"
        Security = "../docs/reference/security.md"
    }
}
