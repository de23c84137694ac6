//! The commands, one module each.

pub(crate) mod auth;
pub(crate) mod card;
pub(crate) mod chat;
pub(crate) mod config;
#[cfg(feature = "conformance")]
pub(crate) mod conformance;
pub(crate) mod db_check;
pub(crate) mod db_migrate;
pub(crate) mod gateway;
pub(crate) mod inspect;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod new;
mod one_task;
mod parts;
mod push_config;
pub(crate) mod send;
mod sent;
pub(crate) mod serve;
mod sign_card;
pub(crate) mod task;
mod wait;
pub(crate) mod webhook;
