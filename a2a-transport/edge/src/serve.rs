//! The accept loop.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::Service;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection::serve_connection;
use super::connection_timer::ConnectionTimer;
use super::connections::{ConnectionSlot, Connections};
use super::peer::WithPeerAddress;
use super::request_budget::RequestBudget;
use super::serve_options::ServeOptions;
#[cfg(feature = "tls")]
use super::server_tls::ServerTls;
#[cfg(feature = "tls")]
use super::tls_connection::{AcceptedPeer, serve_tls_connection};

/// Serves connections of `listener`, HTTP/1.1 and HTTP/2, until `shutdown` resolves; then stops
/// accepting and lets open requests end, for as long as `options.grace` allows.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    options: ServeOptions,
    shutdown: impl Future<Output = ()>,
) where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let options = Arc::new(options);
    let serving = accept_all(listener, &options, shutdown, |accepted| {
        let (service, options) = (service.clone(), Arc::clone(&options));
        let Accepted {
            stream,
            address,
            timer,
            stop,
            place,
        } = accepted;
        let service = WithPeerAddress { service, address };
        serve_connection(stream, service, options, timer, stop, place)
    });
    serving.await;
}

/// Serves connections of `listener` as [`serve`] does, by TLS alone: HTTP/2 for clients that offer `h2` by
/// ALPN, HTTP/1.1 for others. The handshake and the head of the first request have
/// [`header_timeout`](ServeOptions::header_timeout) together. Meanwhile the files of `tls` are watched.
///
/// Each request has `http::uri::Scheme::HTTPS` among its extensions, and the
/// [`ClientCertificates`](crate::ClientCertificates) of its client, if there are any.
#[cfg(feature = "tls")]
pub async fn serve_tls<S, B>(
    listener: TcpListener,
    tls: ServerTls,
    service: S,
    options: ServeOptions,
    shutdown: impl Future<Output = ()>,
) where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let options = Arc::new(options);
    let serving = accept_all(listener, &options, shutdown, |accepted| {
        let (tls, service, options) = (tls.clone(), service.clone(), Arc::clone(&options));
        let Accepted {
            stream,
            address,
            timer,
            stop,
            place,
        } = accepted;
        let service = WithPeerAddress { service, address };
        let peer = AcceptedPeer {
            address,
            timer,
            stop,
        };
        serve_tls_connection(stream, peer, tls, service, options, place)
    });
    tokio::select! {
        () = serving => {}
        () = tls.watch() => {}
    }
}

/// A connection that is to be served.
struct Accepted {
    stream: TcpStream,
    address: SocketAddr,
    timer: Arc<ConnectionTimer>,
    stop: watch::Receiver<bool>,
    place: ConnectionSlot,
}

/// Accepts connections and spawns what serves each, until `shutdown` resolves; then lets them end.
async fn accept_all<F>(
    listener: TcpListener,
    options: &ServeOptions,
    shutdown: impl Future<Output = ()>,
    serve_one: impl Fn(Accepted) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let (stop, stopped) = watch::channel(false);
    let places = Connections::new(options);
    let requests = RequestBudget::new(options.request_budget);
    let mut connections = JoinSet::new();
    let accepting = async {
        loop {
            let (stream, address) = accept(&listener, &places, options.accept_pause).await;
            let timer = Arc::new(ConnectionTimer::new(options, requests.clone()));
            let place = places.enter(address.ip(), Arc::clone(&timer)).await;
            // Drops the tasks of connections that have ended.
            while connections.try_join_next().is_some() {}
            let Some(place) = place else {
                tracing::debug!(%address, "an address, or the server, has too many connections");
                continue;
            };
            connections.spawn(serve_one(Accepted {
                stream,
                address,
                timer,
                stop: stopped.clone(),
                place,
            }));
        }
    };
    tokio::select! {
        () = accepting => {}
        () = shutdown => {}
    }
    drop(listener);
    // The send fails if there is no connection to receive it.
    let _ = stop.send(true);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(options.grace, ended).await.is_err() {
        tracing::warn!(
            "requests were still open {:?} after shutdown, and are dropped",
            options.grace
        );
    }
    connections.shutdown().await;
}

/// Accepts the next connection; retries until there is one.
async fn accept(
    listener: &TcpListener,
    places: &Connections,
    pause: Duration,
) -> (TcpStream, SocketAddr) {
    let mut is_logged = false;
    loop {
        let error = match listener.accept().await {
            Ok((stream, address)) => {
                if let Err(error) = prepare(&stream) {
                    tracing::debug!(%error, "could not set the options of a socket");
                }
                return (stream, address);
            }
            Err(error) => error,
        };
        if is_about_one_connection(&error) {
            tracing::debug!(%error, "a connection closed before it was accepted");
            continue;
        }
        // Out of file descriptors or memory: the listener is still good, and a moment later there
        // may be room again.
        if !std::mem::replace(&mut is_logged, true) {
            tracing::warn!(%error, "could not accept a connection");
        }
        places.make_room();
        tokio::time::sleep(pause).await;
    }
}

/// Disables Nagle's algorithm, and lets the kernel buffer little that it cannot send: it would take megabytes
/// for each peer that does not read, and the agent's events wait in their log anyway.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT)?;
    stream.set_nodelay(true)
}

/// Bytes of an answer that the kernel may hold in addition to the bytes that are in flight.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSENT: u32 = 128 * 1024;

fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}
