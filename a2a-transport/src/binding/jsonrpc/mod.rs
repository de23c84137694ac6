//! The JSON-RPC binding of every protocol version.
//!
//! Four functions, two for each end: [`write_call`] and [`read_reply`] for the caller,
//! [`read_call`] and [`write_reply`] for the agent. Streams are read by [`EventReader`] and written
//! by [`EventWriter`], one event at a time.

mod call;
mod envelope;
mod error;
mod event;
mod reply;

pub use call::{read_call, write_call};
pub use event::{EventReader, EventWriter};
pub use reply::{read_reply, write_refusal, write_reply};
