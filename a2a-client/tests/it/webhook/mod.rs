//! Receiving push notifications, through real sockets.

mod bodies;
mod handling;
mod hook;
mod proofs;
