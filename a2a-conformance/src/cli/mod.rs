//! The commands, each in a module of its own.

pub(crate) mod agent;
pub(crate) mod client;
mod credentials;
pub(crate) mod diff;
mod document;
pub(crate) mod explain;
pub(crate) mod index;
pub(crate) mod interruption;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod print;
pub(crate) mod recordings;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod report_options;
pub(crate) mod values;
pub(crate) mod verify_card;
