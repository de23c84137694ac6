//! The HTTP side: a service, a server, a client.
//!
//! ```text
//! client      service
//!    │        │    ▼
//!    │        │  documents
//!    ▼        ▼    ▼
//!        message
//! ```
//!
//! The connections of a server are served by the crate [`a2a_edge`], whose items are here, too.

mod client;
mod documents;
mod message;
mod service;

#[cfg(feature = "tls")]
pub use a2a_edge::{ClientAuth, ServerTls, ServerTlsBuilder, ServerTlsError, serve_tls};
pub use a2a_edge::{ClientCertificates, PeerAddress, Probes, ServeOptions, serve};

/// gRPC on the wire, for tools that show or check what passes: messages as JSON, and the status in trailers.
#[cfg(feature = "grpc")]
pub mod grpc {
    pub use super::message::grpc::{
        MessageDecoder, frame_request, frame_response, read_details, read_status, write_status,
    };
}

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
pub use self::message::body::Body;
pub use self::message::challenge::AuthChallenge;
pub use self::service::agents::Agents;
pub use self::service::auth::{
    AllowAnonymous, AuthError, Authenticator, Authorizer, DynAuthenticator, DynAuthorizer,
};
pub use self::service::cors::AllowedOrigins;
pub use self::service::extension_methods::{ExtensionCall, ExtensionMethods};
pub use self::service::hosts::{HostRefusal, Hosts};
pub use self::service::http_service::HttpService;
pub use self::service::passed_credentials::CredentialPlaces;
pub use self::service::tenants::Tenants;
