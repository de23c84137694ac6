//! Deliberate bugs: what proves that the checks can fail.

pub mod agent;
pub mod client;
