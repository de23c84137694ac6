//! The HTTP side: a service, a server, a client.

mod answer;
mod auth;
mod body;
mod client;
mod discovery;
mod extensions;
mod serve;
mod service;

pub use auth::{Anyone, Authenticator, Denied};
pub use body::Body;
pub use client::{Fetched, HttpClient, HttpTransport, Timeouts};
pub use discovery::card_document;
pub use serve::{ServeOptions, serve};
pub use service::HttpService;
