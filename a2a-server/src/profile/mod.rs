//! The profile in which steps are told: how its callers are answered, and how agents tell them.
//!
//! Tasks keep steps as [`a2a_types::steps`] marks them; nothing below this module knows for whom.

pub(crate) mod llm_response;
pub(crate) mod reply_format;
