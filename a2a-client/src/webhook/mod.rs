//! Push notification receiver: a service for hyper, tower and axum that authenticates senders, reads
//! bodies of every protocol version, and hands them to a function of yours.
//!
//! ```text
//! POST ─ token, Authorization ─ JSON Web Token ─ body ─ Standard Webhooks ─ seen before? ─ read ─ your function ─ 200
//! ```
//!
//! Every check is optional; all configured checks must hold. The sender gets 200 only after the
//! function has returned `Ok`, else an answer after which senders retry. Data that must survive a crash
//! should be stored before the function returns. A sender may send anything again, and the function see
//! it again after a restart: deliveries are remembered in memory only.
//!
//! ```
//! use a2a_client::webhook::{JwksSource, Notification, Receiver, JwtVerifier};
//!
//! let receiver = Receiver::builder(|notification: Notification| async move {
//!     println!("{:?} {:?}", notification.task, notification.event);
//!     Ok::<_, std::io::Error>(())
//! })
//! .token("secret-of-the-config")
//! .tokens(JwtVerifier::of(JwksSource::at("https://agent.example/.well-known/jwks.json")))
//! .build()?;
//! // With axum: `Router::new().route_service("/hook", receiver)`; with hyper: `serve(…, receiver, …)`.
//! # Ok::<_, a2a_client::webhook::ReceiverConfigError>(())
//! ```

mod builder;
mod checks;
mod delivery;
mod keys;
mod notification;
mod receiver;
mod recent_deliveries;
mod refusal;
mod tokens;

pub use a2a_transport::webhook::{InvalidKey, Jwk, Jwks, Secret};

pub use builder::ReceiverBuilder;
pub use keys::{JwksSource, JwksUrl, KeySource};
pub use notification::Notification;
pub use receiver::Receiver;
pub use tokens::JwtVerifier;

/// An error of a function of yours.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Settings that make no receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiverConfigError {
    /// An empty secret protects nothing.
    #[error("an empty token or Authorization value admits every sender: expected a value")]
    Empty,
    /// `Authorization` holds one value.
    #[error("Authorization cannot have a fixed value and a JSON Web Token at once")]
    TwoAuthorizations,
    /// Without TLS, the keys can be replaced in transit.
    #[error(
        "the agent's keys would be fetched without TLS: expected an `https` URL, or `JwksUrl::allow_http`"
    )]
    KeysInClear,
}
