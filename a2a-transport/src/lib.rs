//! A2A calls and replies, and how they travel: JSON-RPC, HTTP+JSON, Server-Sent Events, hyper.
//!
//! [`Transport`] is an asynchronous function from a [`CallRequest`] to a [`CallResponse`], both in the canonical
//! model of [`a2a_types`]. Everything else here carries calls over a wire:
//!
//! [Extending](https://github.com/a2a-rust/a2a/blob/main/docs/extending.md), a chapter of the book, has a transport of your own, and [versions](https://github.com/a2a-rust/a2a/blob/main/docs/versions.md) which
//! version is spoken when.
//!
//! ```text
//! caller ─ HttpTransport ─ write_call ─► bytes ─► read_call ─ HttpService ─ Transport (the agent)
//!                        ◄─ read_reply ─ bytes ◄─ write_reply ─
//! ```
//!
//! - [`binding`]: bytes to calls and back, JSON-RPC and HTTP+JSON, pure functions;
//! - [`sse`]: Server-Sent Events, bounded;
//! - [`http`]: a service for hyper and tower, an accept loop, a client;
//! - `webhook`, with the feature of that name: what push notifications look like, and how they are
//!   signed;
//! - `card_signature`, with the feature `card-signature`: how agent cards are signed and verified.
//!
//! # Traces
//!
//! A request that comes with a W3C trace context ([`TraceContext`]) has it in its [`Context`], and it is
//! passed on with the requests made for it: to agents behind a gateway, agents that an agent calls,
//! webhooks. Every hop is a span of `tracing`, by the names and fields of one table: [`spans`]. Without a
//! subscriber that costs next to nothing, and the context is passed on as it came.
//!
//! With the feature `opentelemetry` the spans are part of the caller's trace, and what is passed on is
//! the span's own place in it, for any subscriber with a layer of `tracing-opentelemetry`.
//!
//! Only here is one protocol version turned into another.
//!
//! ```
//! use a2a_transport::{ResponseBody, BoxFuture, CallRequest, Error, CallResponse, Transport};
//! use a2a_types::{ErrorKind, Message, Request, Response, SendMessageResponse};
//!
//! /// Says everything back.
//! struct Echo;
//!
//! impl Transport for Echo {
//!     fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
//!         Box::pin(async move {
//!             let Request::SendMessage(params) = call.request else {
//!                 return Err(ErrorKind::UnsupportedOperation.into());
//!             };
//!             let said = Message::agent(params.message.text());
//!             Ok(CallResponse::once(Response::SendMessage(SendMessageResponse::Message(said))))
//!         })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! // Over a socket this would be served by `http::HttpService::new(Echo)`.
//! let params = a2a_types::SendMessageRequest { message: Message::user("hello"), ..Default::default() };
//! let reply = Echo.call(CallRequest::new(Request::SendMessage(params))).await.unwrap();
//! let ResponseBody::Once(Response::SendMessage(SendMessageResponse::Message(said))) = reply.answer else { panic!() };
//! assert_eq!(said.text(), "hello");
//! # }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod binding;
mod box_future;
mod call;
#[cfg(feature = "card-signature")]
pub mod card_signature;
mod credentials;
mod envelope;
mod error;
pub mod http;
pub mod metric;
mod shared;
pub mod spans;
pub mod sse;
mod trace;
mod transport;
#[cfg(feature = "webhooks")]
pub mod webhook;

pub use crate::box_future::BoxFuture;
pub use crate::call::{
    CallRequest, CallResponse, Claims, Context, Principal, ResponseBody, Update, UpdateStream,
};
pub use crate::credentials::Credentials;
pub use crate::envelope::{Binding, ResponseContext};
pub use crate::error::{Error, Phase};
pub use crate::shared::SharedEvent;
pub use crate::trace::TraceContext;
pub use crate::transport::Transport;
