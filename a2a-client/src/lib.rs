//! Client of A2A agents of any protocol version.
//!
//! A [`Client`] finds an agent by its card, speaks the protocol version that the card offers, and
//! answers in the canonical model of [`a2a_types`].
//!
//! [Calling agents](https://github.com/a2a-rust/a2a/blob/main/docs/calling-agents.md) is its chapter of the book; [the client API](https://github.com/a2a-rust/a2a/blob/main/docs/reference/client.md) is on one page.
//!
//! ```
//! use a2a_client::{Client, Event, StreamExt};
//! # use a2a_transport::{ResponseBody, BoxFuture, CallRequest, Error, CallResponse, Transport, Update};
//! # struct Echo;
//! # impl Transport for Echo {
//! #     fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
//! #         Box::pin(async move {
//! #             let a2a_types::Request::SendStreamingMessage(params) = call.request else { panic!() };
//! #             let event = Event::Message(a2a_types::Message::agent(params.message.text()));
//! #             Ok(CallResponse::stream(tokio_stream::once(Ok(Update::new(event, None)))))
//! #         })
//! #     }
//! # }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), a2a_client::Error> {
//! # let server = Echo;
//! // Over HTTP: `Client::connect("http://localhost:8080").await?`
//! let client = Client::new(server);
//! let mut updates = client.send("tell me a joke").follow();
//! while let Some(event) = updates.next().await {
//!     match event? {
//!         Event::Message(message) => println!("{}", message.text()),
//!         Event::ArtifactUpdate(update) => println!("{:?}", update.artifact.parts),
//!         other => println!("{other:?}"),
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! Calls made for another request can join its trace: [`SendMessageBuilder::trace`], [`Client::with_trace_context`]. Calls
//! are spans of `tracing`: [`a2a_transport::spans`] is the table of them. With the feature
//! `opentelemetry` calls join the current span.
//!
//! The module [`credentials`] authenticates the caller. With the feature `webhooks`, the module
//! `webhook` receives push notifications. With `card-signature`, [`ClientBuilder`] can require cards
//! signed by given keys. [`recorder`], [`terminal`] and [`curl`] are for programs that show exchanges.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod card;
mod cards;
mod catalog;
mod client;
mod connect;
pub mod credentials;
pub mod curl;
mod deadline;
mod fault;
mod follow;
mod interfaces;
mod origin;
mod profile;
pub mod recorder;
mod retries;
mod retrying;
mod send_message_builder;
mod task_diff;
mod task_event_stream;
mod task_mirror;
pub mod terminal;
#[cfg(feature = "webhooks")]
pub mod webhook;

pub use crate::card::{read_card, read_card_in};
pub use crate::cards::{CardDocument, Cards};
pub use crate::catalog::{Catalog, ListedCard};
pub use crate::client::Client;
pub use crate::connect::ClientBuilder;
pub use crate::deadline::Deadline;
pub use crate::fault::causes;
pub use crate::interfaces::Interfaces;
pub use crate::origin::Origin;
pub use crate::recorder::Recorder;
pub use crate::retries::Retries;
pub use crate::retrying::Retrying;
pub use crate::send_message_builder::SendMessageBuilder;
pub use crate::task_event_stream::TaskEventStream;
#[cfg(feature = "card-signature")]
pub use a2a_transport::card_signature::{CardVerifier, SignatureForm, Verification, VerifyError};
pub use a2a_transport::http::{
    HttpClient, HttpClientBuilder, HttpTransport, Proxy, ResponseObserver, Timeouts, WireObserver,
};
#[cfg(feature = "tls")]
pub use a2a_transport::http::{Tls, TlsConfigError};
pub use a2a_transport::metric::describe as describe_metrics;
pub use a2a_transport::sse::Bounds;
pub use a2a_transport::{Binding, Credentials, Error, Phase, TraceContext, Transport};
pub use a2a_types::{Event, Message, ProtocolVersion, SendMessageResponse};
pub use tokio_stream::StreamExt;
