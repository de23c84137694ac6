//! Steps on the way to an answer: what an agent's model thought, which tools it called and what they answered.
//!
//! They stand in the history and the artifacts of a task, marked, and are told to those who ask for them:
//! callers of plain A2A get the answer alone. Who keeps, follows or forwards tasks needs no more than this;
//! the profile in which steps are told is [`extension::trpc`](crate::extension::trpc).

pub use crate::extension::trpc::{
    URI as MARK, has_steps, hide_steps, is_reasoning, is_step, reasoning_artifact,
};
