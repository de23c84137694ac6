//! The HTTP+JSON binding of versions 0.3 and 1.0: a path and a method for every operation.
//!
//! Specification 1.0 §11, 0.3 §3.2.3. What JSON-RPC calls method and params is spread over the HTTP
//! method, path, query and body here, and a failure shows in the HTTP status.

mod call;
mod error;
mod event;
mod query;
mod reply;
mod route;

pub use call::{read_call, write_call};
pub use error::{read_error, write_error, write_refusal};
pub use event::{EventReader, EventWriter};
pub use reply::{read_reply, write_reply};
pub use route::{NoRoute, Route};
