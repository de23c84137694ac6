//! Servers of the suite that answer as their owner says.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Collected, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Serves HTTP/1.1 until the set that is returned is dropped. `answer` receives each request with its body, which is
/// empty if it broke off or is longer than [`MAX_BODY`].
pub(crate) fn serve<F, A>(listener: TcpListener, answer: F) -> JoinSet<()>
where
    F: Fn(Request<Bytes>) -> A + Send + Sync + 'static,
    A: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        let answer = Arc::new(answer);
        let mut connections = JoinSet::new();
        loop {
            let connection = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            let Ok((connection, _)) = connection else {
                continue;
            };
            let answer = Arc::clone(&answer);
            connections.spawn(async move {
                let service = service_fn(async |request: Request<Incoming>| {
                    let (head, body) = request.into_parts();
                    let body = Limited::new(body, MAX_BODY).collect().await;
                    let body = body.map(Collected::to_bytes).unwrap_or_default();
                    Ok::<_, Infallible>(answer(Request::from_parts(head, body)).await)
                });
                // A connection that breaks off has delivered nothing.
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(connection), service)
                    .await;
            });
        }
    });
    serving
}

/// Maximum bytes of a request's body.
const MAX_BODY: usize = 8 << 20;

/// A server that answers from a script, and keeps the requests.
pub(crate) struct ScriptedServer {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Request<Bytes>>>>,
    _serving: JoinSet<()>,
}

impl ScriptedServer {
    /// Serves the response of `respond` to every request that comes.
    pub(crate) async fn start(
        respond: impl Fn(&Request<Bytes>) -> Response<String> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let requests: Arc<Mutex<Vec<_>>> = Arc::default();
        let received = Arc::clone(&requests);
        let serving = serve(listener, move |request| {
            let response = respond(&request).map(Full::from);
            let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
            received.push(request);
            std::future::ready(response)
        });
        Ok(Self {
            address,
            requests,
            _serving: serving,
        })
    }

    /// Takes the requests received so far.
    pub(crate) fn take_requests(&self) -> Vec<Request<Bytes>> {
        let requests = self.requests.lock();
        std::mem::take(&mut *requests.unwrap_or_else(PoisonError::into_inner))
    }
}
