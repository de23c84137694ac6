//! The commands, each in a module of its own.

pub(crate) mod agent;
pub(crate) mod coverage;
pub(crate) mod explain;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod print;
pub(crate) mod recordings;
pub(crate) mod replay;
