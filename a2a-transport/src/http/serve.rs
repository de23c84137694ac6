//! The accept loop.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

/// What connections are allowed.
#[derive(Clone, Copy, Debug)]
pub struct ServeOptions {
    /// How many connections at once; further ones wait to be accepted. 10,000 by default.
    pub connections: usize,
    /// How long the head of a request may take, and a connection be idle; 10 s by default.
    pub header_timeout: Duration,
    /// How long open requests may go on after shutdown; 30 s by default.
    pub grace: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            connections: 10_000,
            header_timeout: Duration::from_secs(10),
            grace: Duration::from_secs(30),
        }
    }
}

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
    let graceful = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(options.connections));
    let mut connections = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accept = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (listener.accept().await, slot)
        };
        let (accepted, slot) = tokio::select! {
            accepted = accept => accepted,
            () = &mut shutdown => break,
        };
        // Those that ended are forgotten.
        while connections.try_join_next().is_some() {}
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, or a connection that was gone before we took it: the
                // listener is still good, and a moment later there may be room again.
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "could not set TCP_NODELAY");
        }
        let begun = Arc::new(Notify::new());
        let service = Announcing {
            inner: service.clone(),
            begun: Arc::clone(&begun),
        };
        let builder = connection_builder(&options);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection.into_owned());
        connections.spawn(async move {
            // hyper's own timeout begins when it knows which HTTP is spoken: a peer that says
            // nothing at all would never meet it.
            let silence = async {
                if tokio::time::timeout(options.header_timeout, begun.notified())
                    .await
                    .is_ok()
                {
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(error = error.as_ref(), "a connection ended with an error");
                },
                () = silence => tracing::debug!("a connection brought no request in time"),
            }
            drop(slot);
        });
    }
    drop(listener);
    if tokio::time::timeout(options.grace, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!(
            "requests were still open {:?} after shutdown, and are dropped",
            options.grace
        );
    }
    connections.shutdown().await;
}

/// Tells when the first request has come.
struct Announcing<S> {
    inner: S,
    begun: Arc<Notify>,
}

impl<S: Service<Request<Incoming>>> Service<Request<Incoming>> for Announcing<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.begun.notify_one();
        self.inner.call(request)
    }
}

/// How long to let connections close when none can be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

fn connection_builder(options: &ServeOptions) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        // Without a timer hyper ignores the timeout.
        .timer(TokioTimer::new())
        .header_read_timeout(options.header_timeout)
        .max_headers(64)
        .max_buf_size(64 * 1024);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(100)
        .max_header_list_size(32 * 1024)
        .keep_alive_interval(Some(Duration::from_secs(30)));
    builder
}
