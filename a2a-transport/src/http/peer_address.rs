//! Address of the peer of a connection.

use std::net::SocketAddr;

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
