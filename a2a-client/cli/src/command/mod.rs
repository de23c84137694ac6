//! Subcommands.

pub(crate) mod card;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod inspect;
pub(crate) mod migrate;
pub(crate) mod push;
pub(crate) mod send;
pub(crate) mod sent;
pub(crate) mod serve;
pub(crate) mod sign_card;
pub(crate) mod task;
pub(crate) mod webhook;
