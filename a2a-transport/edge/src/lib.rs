//! HTTP server for services of hyper: an accept loop with deadlines and limits.
//!
//! [`serve`] accepts connections of a listener and runs hyper on each, HTTP/1.1 or HTTP/2 by the first bytes.
//! [`ServeOptions`] limits what peers may send, and how long they may take. A service of tower is served through
//! `hyper_util::service::TowerToHyperService`. With the feature `tls`, `serve_tls` does the same by TLS.
//!
//! Each request has the [`PeerAddress`] of its connection among its extensions, and the
//! [`ClientCertificates`] of its client if there are any.
//!
//! ```
//! use std::convert::Infallible;
//! use std::time::Duration;
//!
//! use a2a_edge::{PeerAddress, ServeOptions, serve};
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::Full;
//! use hyper::body::Incoming;
//! use hyper::service::service_fn;
//! use tokio::net::TcpListener;
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! async fn hello(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
//!     let peer = request.extensions().get::<PeerAddress>();
//!     let text = peer.map(|PeerAddress(address)| format!("hello {}", address.ip()));
//!     Ok(Response::new(text.unwrap_or_default().into()))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
//! let mut options = ServeOptions::default();
//! options.header_timeout = Duration::from_secs(5);
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! # let address = listener.local_addr()?;
//! let shutdown = std::future::pending();
//! tokio::spawn(serve(listener, service_fn(hello), options, shutdown));
//! # let mut stream = tokio::net::TcpStream::connect(address).await?;
//! # stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await?;
//! # let mut answer = String::new();
//! # stream.read_to_string(&mut answer).await?;
//! # assert!(answer.ends_with("hello 127.0.0.1"), "{answer}");
//! # Ok(())
//! # }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod budget;
mod connection;
mod connection_timer;
mod connections;
mod discard;
#[cfg(feature = "tls")]
mod metric;
mod peer;
mod probes;
mod request_budget;
mod response_body;
mod serve;
mod serve_options;
#[cfg(feature = "tls")]
mod server_tls;
mod socket;
#[cfg(feature = "tls")]
mod tls_connection;

pub use crate::discard::discard_small;
pub use crate::peer::{ClientCertificates, PeerAddress};
pub use crate::probes::{Probe, Probes};
pub use crate::serve::serve;
#[cfg(feature = "tls")]
pub use crate::serve::serve_tls;
pub use crate::serve_options::ServeOptions;
#[cfg(feature = "tls")]
pub use crate::server_tls::{ClientAuth, ServerTls, ServerTlsBuilder, ServerTlsError};
