//! An A2A agent over a language model.

mod tools;

pub use crate::tools::{FunctionTool, Tool, ToolError, ToolOutput, Tools};
