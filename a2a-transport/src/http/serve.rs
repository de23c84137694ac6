//! The accept loop.

use std::convert::Infallible;
use std::io;
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
use tokio::sync::Semaphore;

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
/// accepting and lets open requests end.
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
        if let Err(error) = configure(&stream) {
            tracing::debug!(%error, "could not set TCP_NODELAY");
        }
        let builder = connection_builder(&options);
        let connection = builder
            .serve_connection(TokioIo::new(stream), service.clone())
            .into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = error.as_ref(), "a connection ended with an error");
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
            "requests were still open {:?} after shutdown",
            options.grace
        );
    }
}

/// How long to let connections close when none can be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

fn configure(stream: &tokio::net::TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)
}

fn connection_builder(options: &ServeOptions) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        // Without a timer hyper ignores the timeout.
        .timer(TokioTimer::new())
        .header_read_timeout(options.header_timeout)
        .max_headers(64)
        .max_buf_size(64 * 1024)
        .half_close(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(100)
        .max_header_list_size(32 * 1024)
        .keep_alive_interval(Some(Duration::from_secs(30)));
    builder
}
