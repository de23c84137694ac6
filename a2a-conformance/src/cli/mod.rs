//! The commands of the program.

pub(crate) mod agent;
pub(crate) mod recordings;
