//! Peer of a connection: its address and its certificates, as extensions of each request.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use http::Request;
use hyper::service::Service;

/// Address of the peer of the connection that a request came over: an extension of the request. Behind a
/// proxy it is that of the proxy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PeerAddress(pub SocketAddr);

/// A service for the requests of one connection, which get the address of its peer.
#[derive(Clone)]
pub(super) struct WithPeerAddress<S> {
    pub(super) service: S,
    pub(super) address: SocketAddr,
}

impl<S: Service<Request<B>>, B> Service<Request<B>> for WithPeerAddress<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, mut request: Request<B>) -> Self::Future {
        request.extensions_mut().insert(PeerAddress(self.address));
        self.service.call(request)
    }
}

/// Verified certificate chain of a client, as DER.
///
/// A connection by TLS on which a client has shown a certificate of a trusted authority has it among the
/// [extensions](http::Extensions) of each request, where the service finds it:
///
/// ```
/// use a2a_edge::ClientCertificates;
///
/// fn certificate(head: &http::request::Parts) -> Option<&[u8]> {
///     Some(head.extensions.get::<ClientCertificates>()?.end_entity())
/// }
/// ```
///
/// No peer can put it there: extensions are not part of a request's bytes.
#[derive(Clone, Eq, PartialEq)]
pub struct ClientCertificates(Arc<[Vec<u8>]>);

impl ClientCertificates {
    /// Takes the client's own certificate and the intermediate certificates between it and the authority, for
    /// programs that end TLS themselves and have verified the chain.
    pub fn new(end_entity: Vec<u8>, intermediates: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self(std::iter::once(end_entity).chain(intermediates).collect())
    }

    /// Returns the client's own certificate.
    pub fn end_entity(&self) -> &[u8] {
        // The chain is never empty.
        self.0.first().map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the certificates between the client's own and the authority, as the client has sent them.
    pub fn intermediates(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().skip(1).map(Vec::as_slice)
    }
}

impl fmt::Debug for ClientCertificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCertificates")
            .field("length", &self.0.len())
            .finish_non_exhaustive()
    }
}
