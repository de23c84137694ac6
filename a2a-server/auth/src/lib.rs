//! Authenticators and authorizers for A2A agents.
//!
//! [`AnyOf`] accepts a request that meets any one of its [requirements](Requirement), as the
//! `securityRequirements` of a card say it; each requirement names one scheme or several that must all be
//! met. The card is derived from it: [`ServerBuilder::authenticator`] writes its schemes and requirements into the
//! card, in the form of every protocol version.
//!
//! [Who may call](https://github.com/a2a-rust/a2a/blob/main/docs/who-may-call.md) is its chapter of the book.
//!
//! | scheme | what is checked |
//! |---|---|
//! | [`ApiKeys`] | a key in a header, the query or a cookie; from code, or from a file that is watched |
//! | [`BasicUsers`] | name and password, against hashes by Argon2 or bcrypt; from code, or from a file that is watched |
//! | [`JwtBearer`] | a JSON Web Token of an issuer: signature, `iss`, `aud`, `exp`, `nbf` |
//! | [`Introspection`] | an opaque token, by asking its issuer (RFC 7662) |
//! | [`TokenFunction`] | an opaque token, by a function of the program |
//! | [`ClientCertificate`] | a certificate that the handshake of TLS has verified |
//!
//! [`OperationScopes`] permits operations by the scopes of the caller; [`RateLimits`] limits requests and failed
//! attempts of each caller.
//!
//! ```no_run
//! use a2a_auth::{AnyOf, ApiKeys, JwtBearer, OperationScopes, RateLimits};
//! use a2a_server::{Server, demo::Echo};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let tokens = JwtBearer::discover("https://login.example", "https://agent.example/")?;
//! let keys = ApiKeys::header("x-api-key")?.file("keys.txt")?;
//! let server = Server::builder(Echo::card(), Echo)
//!     .authenticator(RateLimits::new(AnyOf::new(("login", tokens)).or(("key", keys))))
//!     .authorizer(OperationScopes::default())
//!     .build()?;
//! server.serve("0.0.0.0:8080").await?;
//! # Ok(()) }
//! ```
//!
//! A key in the program itself has 16 bytes or more. Its callers send it with
//! `Client::builder(url).keyring(Keyring::default().api_key(key))`:
//!
//! ```
//! use a2a_auth::{AnyOf, ApiKey, ApiKeys};
//!
//! let keys = ApiKeys::header("x-api-key")?.key(ApiKey::new("7f2c91d05be84a36", "ada")?)?;
//! let authenticator = AnyOf::new(("key", keys));
//! # Ok::<_, a2a_auth::ConfigError>(())
//! ```
//!
//! No secret and no part of one is written to a log, a metric, an error or `Debug` output.
//!
//! [`ServerBuilder::authenticator`]: https://docs.rs/a2a-server

mod any_of;
mod api_key_list;
mod api_keys;
mod basic_users;
mod client_certificate;
mod digest_cache;
mod error;
mod htpasswd;
mod introspection;
mod issuer_url;
mod jwt;
mod operation_scopes;
mod password_hash;
mod rate_limits;
mod scheme;
mod token_function;
mod watched_file;

pub use crate::any_of::{AnyOf, Requirement};
pub use crate::api_key_list::ApiKey;
pub use crate::api_keys::ApiKeys;
pub use crate::basic_users::BasicUsers;
pub use crate::client_certificate::{CertificateNames, ClientCertificate};
pub use crate::error::ConfigError;
pub use crate::introspection::Introspection;
pub use crate::jwt::{JwtBearer, TokenClaims};
pub use crate::operation_scopes::OperationScopes;
pub use crate::rate_limits::{Rate, RateLimits};
pub use crate::scheme::{AuthOutcome, Scheme};
pub use crate::token_function::TokenFunction;
