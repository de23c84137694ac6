//! The interaction profile of trpc-agent-go on 0.2 and later: the steps between a message and
//! its answer, and their wire form.
//!
//! A [`Step`] is a tool call, its response, code, its result, or reasoning. It travels in a
//! [`Part`](crate::Part) whose metadata declares its kind; the metadata around it
//! ([`ResponseMetadata`]) names the response of the model it belongs to.
//!
//! An agent declares the profile on its card ([`Version::declare`]), a caller in its message
//! ([`Version::put_into`]); [`Version::compatibility`] compares two versions.
//!
//! ```text
//! agent ── step_message, reasoning_artifact ──► log (canonical, marked as steps)
//!            ├─ hide_steps: what everybody sees ──────────────► plain A2A
//!            └─ StreamWriter, write_task, show_steps ─────────► the profile's own form
//! peer ─── Reader: events as they are meant ── LlmResponses ──► typed, by response
//! ```
//!
//! Reading accepts what real peers send, in either spelling: `adk_type` counts before `type`. Writing
//! follows the document, in a form of which real clients lose nothing.

mod artifact_content;
mod llm_responses;
mod metadata;
mod portions;
mod reader;
mod step;
mod stored_steps;
mod stream_writer;
mod task_writer;
mod version;

pub use llm_responses::{LlmResponse, LlmResponses};
pub use metadata::{ObjectType, ResponseMetadata, Tag};
pub use reader::Reader;
pub use step::{CodeExecutionResult, ExecutableCode, FunctionCall, FunctionResponse, Step};
pub use stored_steps::{
    has_steps, hide_steps, is_reasoning, is_step, reasoning_artifact, reasoning_id, step_message,
};
pub use stream_writer::{StreamStart, StreamWriter};
pub use task_writer::{Collapse, show_steps, write_task};
pub use version::{Compatibility, UnreadableVersion, Version};

/// Name of the profile on cards and in `extensions`. It is not a URI, though one belongs there.
pub const URI: &str = "trpc-a2a-version";

/// Returns whether a caller of this `User-Agent` is a client of the framework.
pub fn is_client(user_agent: &str) -> bool {
    user_agent.starts_with("trpc-a2a-go-client")
}
