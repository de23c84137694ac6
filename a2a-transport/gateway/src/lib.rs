//! Gateway to an agent of one protocol version for callers of every version.
//!
//! Spelling is translated by the bindings on either side. The rest are rules: whether callers name tasks,
//! whether an ended task goes on, how a stream begins, and whose a task is. [`Gateway`] keeps its caller's
//! rules with an agent that has others. It is a [`Transport`](a2a_transport::Transport) like the agent that it
//! calls; [`Gateway::into_service`] serves it over HTTP.
//!
//! [Versions and the gateway](https://github.com/a2a-rust/a2a/blob/main/docs/versions.md) is its chapter of the book.
//!
//! ```
//! use a2a_gateway::Gateway;
//! use a2a_transport::{BoxFuture, CallRequest, Error, CallResponse, Transport};
//! use a2a_types::{
//!     ProtocolVersion, ErrorKind, Message, Request, Response, SendMessageRequest, SendMessageResponse,
//! };
//!
//! /// An agent of 0.3 that says everything back; over HTTP it would be an `HttpTransport`.
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
//! let gateway = Gateway::new(Echo, ProtocolVersion::V0_3);
//! let params = SendMessageRequest { message: Message::user("hello"), ..Default::default() };
//! assert!(gateway.call(CallRequest::new(Request::SendMessage(params))).await.is_ok());
//!
//! let service = gateway.into_service();
//! # }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod capabilities;
mod gateway;
mod in_flight;
mod list;
mod owned_call;
mod owner;
mod page_key;
mod relay;
mod rewrite;
mod settle;
mod stream;
mod task_map;
mod webhook_map;

pub use crate::gateway::Gateway;
