//! Connector: direct or through a proxy, in the clear or by TLS.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::uri::{Authority, Scheme};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

#[cfg(feature = "tls")]
use super::certificate_request::CertificateRequest;
use super::proxy::{Login, Proxy};
#[cfg(feature = "tls")]
use super::tls::Tls;
use crate::BoxFuture;

/// Connector with one timeout for all of a connection: the name, the proxy, and TLS.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) route: Route,
    #[cfg(feature = "tls")]
    pub(super) tls: Tls,
    #[cfg(feature = "tls")]
    pub(super) certificate_request: CertificateRequest,
    pub(super) within: Duration,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Tcp = TokioIo<TcpStream>;
#[cfg(not(feature = "tls"))]
type Stream = Tcp;
#[cfg(feature = "tls")]
type Stream = hyper_rustls::MaybeHttpsStream<Tcp>;

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Stream, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let within = self.within;
        let connecting = self.connect(to);
        Box::pin(async move {
            let late = || io::Error::from(io::ErrorKind::TimedOut);
            tokio::time::timeout(within, connecting)
                .await
                .map_err(|_| late())?
        })
    }
}

impl Connector {
    #[cfg(not(feature = "tls"))]
    fn connect(&self, to: Uri) -> BoxFuture<'static, Result<Stream, Failure>> {
        self.route.clone().call(to)
    }

    #[cfg(feature = "tls")]
    fn connect(&self, to: Uri) -> BoxFuture<'static, Result<Stream, Failure>> {
        let mut route = self.route.clone();
        if to.scheme() != Some(&Scheme::HTTPS) {
            return Box::pin(async move { Ok(Stream::Http(route.call(to).await?)) });
        }
        let tls = self.tls.clone();
        let certificate_request = self.certificate_request.clone();
        Box::pin(async move {
            let config = certificate_request.watch(tls.config()?);
            hyper_rustls::HttpsConnector::from((route, config))
                .call(to)
                .await
        })
    }
}

/// Route to a host.
#[derive(Clone)]
pub(super) enum Route {
    Direct(HttpConnector),
    /// A tunnel, with the address of the proxy for errors.
    Tunnel(Uri, Tunnel<HttpConnector>),
    Socks(Uri, SocksV5<HttpConnector>),
    /// Through the proxy that the environment names for the host, if it does.
    OfEnvironment(Arc<Matcher>, HttpConnector),
}

impl Route {
    /// Returns the route through a proxy.
    pub(super) fn through(proxy: &Proxy, connector: HttpConnector) -> Self {
        let address = proxy.address.clone();
        if proxy.is_socks {
            let mut socks = SocksV5::new(address.clone(), connector);
            if let Some(Login { user, password }) = proxy.login.clone() {
                socks = socks.with_auth(user, password);
            }
            return Self::Socks(address, socks);
        }
        let mut tunnel = Tunnel::new(address.clone(), connector);
        if let Some(value) = proxy.login.as_ref().and_then(Login::basic) {
            tunnel = tunnel.with_auth(value);
        }
        Self::Tunnel(address, tunnel)
    }
}

impl Service<Uri> for Route {
    type Response = Tcp;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Tcp, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        match self {
            Self::Direct(connector) => {
                let connecting = connector.call(to);
                Box::pin(async move { Ok(connecting.await?) })
            }
            Self::Tunnel(address, proxy) => {
                let (address, connecting) = (address.clone(), proxy.call(with_port(to)));
                Box::pin(
                    async move { connecting.await.map_err(|error| of_proxy(&address, &error)) },
                )
            }
            Self::Socks(address, proxy) => {
                let (address, connecting) = (address.clone(), proxy.call(with_port(to)));
                Box::pin(
                    async move { connecting.await.map_err(|error| of_proxy(&address, &error)) },
                )
            }
            Self::OfEnvironment(matcher, connector) => match Proxy::of_environment(matcher, &to) {
                Ok(None) => Self::Direct(connector.clone()).call(to),
                Ok(Some(proxy)) => Self::through(&proxy, connector.clone()).call(to),
                Err(error) => Box::pin(async move { Err(error.into()) }),
            },
        }
    }
}

/// Names the proxy in an error of the way through it.
fn of_proxy(address: &Uri, error: &dyn std::error::Error) -> Failure {
    format!("by the proxy {address}: {error}").into()
}

/// Returns a connector of TCP for all routes, to be given up after this time.
pub(super) fn connector(within: Duration) -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(within));
    // TLS comes on top.
    connector.enforce_http(false);
    connector
}

/// Adds the port for a proxy, which takes that of HTTPS if there is none.
fn with_port(to: Uri) -> Uri {
    if to.port().is_some() || to.scheme() != Some(&Scheme::HTTP) {
        return to;
    }
    let mut parts = to.clone().into_parts();
    let named = to
        .host()
        .map(|host| Authority::try_from(format!("{host}:80")));
    let Some(Ok(authority)) = named else {
        return to;
    };
    parts.authority = Some(authority);
    Uri::from_parts(parts).unwrap_or(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_receives_the_port() {
        for (uri, expected) in [
            ("http://h/a?b", "http://h:80/a?b"),
            ("http://[::1]/", "http://[::1]:80/"),
            ("http://h:8080/", "http://h:8080/"),
            ("https://h/", "https://h/"),
        ] {
            assert_eq!(with_port(uri.parse().unwrap()), expected);
        }
    }
}
