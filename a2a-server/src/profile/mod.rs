//! The profile that has steps: how its callers are answered, and how agents send steps.
//!
//! Tasks keep steps as [`a2a_types::steps`] marks them; nothing below this module knows the profile.

pub(crate) mod llm_response;
pub(crate) mod reply_format;
