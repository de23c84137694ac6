//! From bytes to calls and replies, and back: pure functions, no I/O.

pub mod jsonrpc;
