//! The HTTP side: a service, a server, a client.

mod answer;
mod auth;
mod body;
mod client;
mod connection;
mod discovery;
mod exchange;
mod extensions;
mod following;
mod hosts;
mod media;
mod outgoing;
mod remote;
mod serve;
mod service;

pub use auth::{Anyone, Authenticator, Denied};
pub use body::Body;
pub use client::{Fetched, HttpClient, Timeouts};
pub use discovery::card_document;
pub use hosts::Hosts;
pub use remote::HttpTransport;
pub use serve::{ServeOptions, serve};
pub use service::HttpService;
