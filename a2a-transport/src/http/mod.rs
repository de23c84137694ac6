//! The HTTP side: a service, a server, a client.

mod address;
mod answer;
mod auth;
mod body;
mod budget;
mod busy_error;
mod card_document;
#[cfg(feature = "tls")]
mod certificate_request;
mod challenge;
mod client;
mod client_certificates;
mod client_span;
mod connection;
mod connection_timer;
mod connections;
mod connector;
mod credentials;
mod denial;
mod deviation_observer;
mod discovery;
mod error_format;
mod event_stream;
mod exchange;
mod extensions;
mod foreign_body;
mod hosts;
mod media;
#[cfg(feature = "webhook")]
mod notifications;
mod origin;
mod passed_credentials;
mod peer_address;
mod probes;
mod proxy;
mod read_slots;
mod receive;
mod remote;
mod request_budget;
mod request_headers;
mod response_body;
mod response_budget;
mod retry_after;
mod routing;
mod security;
mod serve;
mod serve_options;
mod server_span;
#[cfg(feature = "tls")]
mod server_tls;
mod service;
mod service_settings;
mod socket;
mod tenants;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
mod tls_connection;
mod wire_observer;

pub use auth::{AllowAnonymous, AuthError, Authenticator, Authorizer};
pub use body::Body;
pub use card_document::card_document;
pub use challenge::AuthChallenge;
pub use client::{FetchResponse, HttpClient, HttpClientBuilder, Timeouts};
pub use client_certificates::ClientCertificates;
pub use credentials::Credentials;
pub use deviation_observer::DeviationObserver;
pub use hosts::{HostRefusal, Hosts};
pub use passed_credentials::CredentialPlaces;
pub use peer_address::PeerAddress;
pub use probes::{AlwaysReady, Probes, Readiness};
pub use proxy::Proxy;
pub use remote::HttpTransport;
pub use retry_after::retry_after;
pub use security::{ProtectedResource, Security};
pub use serve::serve;
#[cfg(feature = "tls")]
pub use serve::serve_tls;
pub use serve_options::ServeOptions;
#[cfg(feature = "tls")]
pub use server_tls::{ClientAuth, ServerTls, ServerTlsBuilder, ServerTlsError};
pub use service::HttpService;
pub use tenants::Tenants;
#[cfg(feature = "tls")]
pub use tls::{Http1Tls, Tls, TlsConfigError};
pub use wire_observer::{ResponseObserver, WireObserver};
