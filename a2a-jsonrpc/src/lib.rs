//! JSON-RPC 2.0 messages as values: read within limits, written in one way.
//!
//! The crate knows the envelope and nothing else: no method names, no sockets, no async. Bytes come in,
//! borrowed values go out, and every refusal names the member at fault and the request.
//!
//! ```text
//! server   bytes ─ read_request ─▶ Request ─ (the caller's work) ─▶ Response ─ serde_json::to_vec ─▶ bytes
//!                       └────────▶ Refusal ───────────────────────────▲
//! client   id, method, params ─ write_request ─▶ bytes ··· bytes ─ read_response ─▶ Answer | Malformed
//! ```
//!
//! Before anything is kept, [`check`] walks the document once and refuses what is not JSON, nests too
//! deep, names a member twice or would take too much memory as a tree of values. It can be used alone, for
//! any JSON that comes from a peer. Most documents are so plain that a faster check suffices.
//!
//! Deliberately absent: batches (JSON-RPC 2.0 §6), which are refused with a sentence about it, and
//! any notion of what `params` and `result` contain, which stay text.
//!
//! ```
//! use a2a_jsonrpc::{Error, INVALID_PARAMS, Id, Limits, METHOD_NOT_FOUND, Response};
//! use a2a_jsonrpc::{read_request, read_response, write_request};
//!
//! /// A server with one method.
//! fn serve(body: &[u8]) -> Response<i64> {
//!     let request = match read_request(body, &Limits::default()) {
//!         Ok(request) => request,
//!         Err(refusal) => return Response { id: refusal.id, outcome: Err(refusal.error) },
//!     };
//!     let params = request.params.unwrap_or("[]");
//!     let outcome = match request.method.as_ref() {
//!         "sum" => serde_json::from_str::<Vec<i64>>(params)
//!             .map(|numbers| numbers.iter().sum())
//!             .map_err(|error| Error::new(INVALID_PARAMS, error.to_string())),
//!         other => Err(Error::new(METHOD_NOT_FOUND, format!("no method `{other}`"))),
//!     };
//!     Response { id: request.id.unwrap_or(Id::Null), outcome }
//! }
//!
//! let body = write_request(&Id::number(1), "sum", Some(&[1, 2, 3]))?;
//! let reply = serde_json::to_vec(&serve(&body))?;
//! assert_eq!(reply, br#"{"jsonrpc":"2.0","id":1,"result":6}"#);
//!
//! let answer = read_response(&reply, &Limits::default())?;
//! assert_eq!(answer.id, Some(Id::number(1)));
//! assert_eq!(answer.outcome?.get(), "6");
//!
//! let cut_short = serve(br#"{"jsonrpc":"2.0","id":7,"method":"sum","params":["#);
//! assert_eq!(cut_short.id, Id::number(7));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod request;
mod response;

mod error;
mod id;
mod limits;

mod envelope;
mod recovery;
mod value_kind;

mod fast_path;
mod validate;

mod fault;
mod memory_budget;
mod path;
mod text;

pub use envelope::Version;
pub use error::{
    Error, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR,
};
pub use fault::{Fault, Reason};
pub use id::{Id, Number};
pub use limits::Limits;
pub use request::{Refusal, Request, read_request, write_request};
pub use response::{Malformed, ParsedResponse, Response, read_response};
pub use validate::check;
