//! Extensions of the protocol, typed.

pub mod trpc;
