//! The HTTP side: a service, a server, a client.
//!
//! ```text
//! client      service
//!    │        │    ▼
//!    │        │  documents
//!    ▼        ▼    ▼
//!        message
//!           ▼
//!          edge
//! ```

mod client;
mod documents;
mod edge;
mod message;
mod service;

pub use self::client::deviation_observer::DeviationObserver;
pub use self::client::http_client::{FetchResponse, HttpClient, HttpClientBuilder, Timeouts};
pub use self::client::proxy::Proxy;
pub use self::client::retry_after::retry_after;
#[cfg(feature = "tls")]
pub use self::client::tls::{Http1Tls, Tls, TlsConfigError};
pub use self::client::transport::HttpTransport;
pub use self::client::wire_observer::{ResponseObserver, WireObserver};
pub use self::documents::card_document::card_document;
pub use self::documents::readiness::{AlwaysReady, Readiness};
pub use self::documents::security::{ProtectedResource, Security};
pub use self::edge::peer::{ClientCertificates, PeerAddress};
pub use self::edge::probes::Probes;
pub use self::edge::serve::serve;
#[cfg(feature = "tls")]
pub use self::edge::serve::serve_tls;
pub use self::edge::serve_options::ServeOptions;
#[cfg(feature = "tls")]
pub use self::edge::server_tls::{ClientAuth, ServerTls, ServerTlsBuilder, ServerTlsError};
pub use self::message::body::Body;
pub use self::message::challenge::AuthChallenge;
pub use self::service::auth::{AllowAnonymous, AuthError, Authenticator, Authorizer};
pub use self::service::hosts::{HostRefusal, Hosts};
pub use self::service::http_service::HttpService;
pub use self::service::passed_credentials::CredentialPlaces;
pub use self::service::tenants::Tenants;
