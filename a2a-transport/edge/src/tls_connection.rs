//! One connection by TLS: its handshake, then HTTP of the version that it has negotiated.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::uri::Scheme;
use http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::{CertificateError, Error, HandshakeKind, InvalidMessage, ServerConnection};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::connection::{Connection, connection, run};
use super::connection_timer::ConnectionTimer;
use super::peer::ClientCertificates;
use super::serve_options::ServeOptions;
use super::server_tls::{Loaded, ServerTls};
use super::socket::Socket;
use crate::metric;

/// A peer that has connected, and has sent nothing yet.
pub(super) struct AcceptedPeer {
    pub(super) address: SocketAddr,
    /// Runs from the connection on: the handshake has its time together with the head of the first request.
    pub(super) timer: Arc<ConnectionTimer>,
    pub(super) stop: watch::Receiver<bool>,
}

/// Serves a connection until it ends, as [`serve_connection`](super::connection::serve_connection) does, after
/// a handshake of TLS. Then `held` is dropped.
pub(super) fn serve_tls_connection<I, S, B>(
    stream: I,
    mut peer: AcceptedPeer,
    tls: ServerTls,
    service: S,
    options: Arc<ServeOptions>,
    held: impl Sized,
) -> impl Future<Output = ()>
where
    I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let timer = Arc::clone(&peer.timer);
    // Boxed, because a connection outlives its handshake.
    let connecting = Box::pin(connect(stream, tls.current(), service, options, timer));
    async move {
        let connected = tokio::select! {
            biased;
            connected = connecting => connected,
            // A dropped sender stops the connection, too.
            _ = peer.stop.wait_for(|stop| *stop) => return,
            _ = peer.timer.is_late() => Err(io::ErrorKind::TimedOut.into()),
        };
        match connected {
            Ok(connection) => run(connection, &peer.timer, &mut peer.stop).await,
            Err(error) => {
                metric::count(metric::HANDSHAKES, reason(&error));
                tracing::debug!(address = %peer.address, %error, "a handshake of TLS failed");
            }
        }
        drop(held);
    }
}

/// Makes the handshake, and a connection of the version of HTTP that it has negotiated.
async fn connect<I, S, B>(
    stream: I,
    tls: Arc<Loaded>,
    service: S,
    options: Arc<ServeOptions>,
    timer: Arc<ConnectionTimer>,
) -> io::Result<Connection>
where
    I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let stream = handshake(stream, tls).await?;
    let session = Session::of(stream.get_ref().1);
    metric::count(metric::HANDSHAKES, session.outcome);
    let wire = Socket::new(stream, options.write_timeout, Arc::clone(&timer));
    let (version, service) = (session.version, session.mark(service));
    Ok(connection(version, wire, service, options, timer))
}

async fn handshake<I>(stream: I, tls: Arc<Loaded>) -> io::Result<TlsStream<I>>
where
    I: AsyncRead + AsyncWrite + Unpin,
{
    let stream = TlsAcceptor::from(Arc::clone(&tls.config))
        .accept(stream)
        .await?;
    let connection = stream.get_ref().1;
    // The certificate was verified when the session began, which may be hours ago.
    if connection.handshake_kind() == Some(HandshakeKind::Resumed)
        && let Some(verifier) = &tls.client_verifier
        && let Some([own, others @ ..]) = connection.peer_certificates()
    {
        let verified = verifier.verify_client_cert(own, others, UnixTime::now());
        verified.map_err(io::Error::other)?;
    }
    Ok(stream)
}

/// Outcome of a handshake.
struct Session {
    version: Version,
    certificates: Option<ClientCertificates>,
    /// Value of the metric's label.
    outcome: &'static str,
}

impl Session {
    fn of(connection: &ServerConnection) -> Self {
        let bytes = |certificate: &CertificateDer<'_>| certificate.to_vec();
        let certificates = match connection.peer_certificates() {
            Some([own, others @ ..]) => Some(ClientCertificates::new(
                bytes(own),
                others.iter().map(bytes),
            )),
            _ => None,
        };
        Self {
            // A client that offers nothing by ALPN speaks HTTP/1.1. RFC 9113 §3.2.
            version: match connection.alpn_protocol() {
                Some(b"h2") => Version::HTTP_2,
                _ => Version::HTTP_11,
            },
            certificates,
            outcome: match connection.handshake_kind() {
                Some(HandshakeKind::Resumed) => "resumed",
                _ => "full",
            },
        }
    }

    /// Marks the requests of the connection: by their scheme, and the certificates of their client.
    fn mark<S, B>(
        self,
        service: S,
    ) -> impl Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future = S::Future>
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        B: http_body::Body,
    {
        service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Scheme::HTTPS);
            if let Some(certificates) = &self.certificates {
                request.extensions_mut().insert(certificates.clone());
            }
            service.call(request)
        })
    }
}

/// Returns the value of the metric's label for a handshake that failed.
fn reason(error: &io::Error) -> &'static str {
    let of_tls = error.get_ref().and_then(|error| error.downcast_ref());
    match (of_tls, error.kind()) {
        (Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)), _) => "not_tls",
        (Some(Error::NoCertificatesPresented), _) => "no_certificate",
        (
            Some(Error::InvalidCertificate(
                CertificateError::Expired | CertificateError::ExpiredContext { .. },
            )),
            _,
        ) => "expired_certificate",
        (Some(Error::InvalidCertificate(_)), _) => "bad_certificate",
        (Some(Error::AlertReceived(_)), _) => "alert",
        (Some(Error::PeerIncompatible(_) | Error::NoApplicationProtocol), _) => "incompatible",
        (Some(_), _) => "protocol",
        (None, io::ErrorKind::TimedOut) => "timeout",
        (None, _) => "closed",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::Empty;
    use rustls::crypto::aws_lc_rs::default_provider;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, RootCertStore};
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};
    use tokio::task::JoinHandle;
    use tokio::time::{Instant, advance};
    use tokio_rustls::TlsConnector;

    use super::*;
    use crate::request_budget::RequestBudget;

    /// Returns TLS of a server, and a client that trusts it.
    fn both_ends() -> (ServerTls, TlsConnector) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let directory = tempfile::TempDir::new().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("chain.pem"), made.cert.pem()).unwrap();
        std::fs::write(path("key.pem"), made.signing_key.serialize_pem()).unwrap();
        let tls = ServerTls::builder(path("chain.pem"), path("key.pem")).build();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let connector = TlsConnector::from(Arc::new(config.with_no_client_auth()));
        (tls.unwrap(), connector)
    }

    /// Serves a connection, of which the other end is returned.
    fn serve(tls: ServerTls) -> (DuplexStream, JoinHandle<()>, watch::Sender<bool>) {
        let (wire, theirs) = duplex(4096);
        let (stop, stopped) = watch::channel(false);
        let options = Arc::new(ServeOptions::default());
        let peer = AcceptedPeer {
            address: ([127, 0, 0, 1], 1).into(),
            timer: Arc::new(ConnectionTimer::new(&options, RequestBudget::new(1 << 20))),
            stop: stopped,
        };
        let service = service_fn(|_| std::future::ready(Ok(Response::new(Empty::<Bytes>::new()))));
        let serving = serve_tls_connection(theirs, peer, tls, service, options, ());
        (wire, tokio::spawn(serving), stop)
    }

    #[tokio::test(start_paused = true)]
    async fn the_handshake_and_the_first_head_have_ten_seconds_together() {
        let (tls, connector) = both_ends();
        let begun = Instant::now();
        let (wire, served, _stop) = serve(tls.clone());
        served.await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), 10);
        drop(wire);

        let begun = Instant::now();
        let (wire, served, _stop) = serve(tls);
        advance(Duration::from_secs(6)).await;
        let name = ServerName::try_from("localhost").unwrap();
        let mut wire = connector.connect(name, wire).await.unwrap();
        wire.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        wire.flush().await.unwrap();
        served.await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), 10);
    }
}
