//! An A2A agent over a language model: chat completions or Responses, streamed, with tools.
//!
//! [`ModelAgent`] is an [`Agent`](a2a_server::Agent) that sends the conversation so far to the service of a model, and
//! streams the answer. [`Tools`] is the seam for what the model may call.

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
