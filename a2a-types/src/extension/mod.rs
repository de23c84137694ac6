//! Extensions of the protocol, typed.

pub mod question;
pub mod trpc;
pub mod usage;
