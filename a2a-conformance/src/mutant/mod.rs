//! Deliberate bugs: what proves that the checks can fail.

pub mod client;
