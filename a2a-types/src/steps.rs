//! Steps on the way to an answer: an agent's reasoning, its tool calls and their responses.
//!
//! They stand in the history and the artifacts of a task, marked, and are sent only to callers that ask for
//! them: callers of plain A2A get the answer alone. Code that stores, follows or forwards tasks needs no
//! more than this; the wire form of steps is the profile [`extension::trpc`](crate::extension::trpc).

pub use crate::extension::trpc::{
    URI as MARK, has_steps, hide_steps, is_reasoning, is_step, reasoning_artifact,
};
