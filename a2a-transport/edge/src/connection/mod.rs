//! One connection, served until it ends.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER, TRANSFER_ENCODING};
use http::{Method, Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::budget::Exhausted;
use super::connection_timer::{ConnectionTimer, ExpiredTimeout, Phase};
use super::discard::discard_small;
use super::request_budget::HeadSize;
use super::response_body::{ResponseBody, Streams};
use super::serve_options::ServeOptions;
use super::socket::Socket;

/// Serves a connection until it ends: by itself, by a timeout, or, once its requests are answered, because
/// `stop` is set. Then `held` is dropped.
///
/// Not an `async fn`, whose future would hold its arguments twice.
pub(super) fn serve_connection<I, S, B>(
    stream: I,
    service: S,
    options: Arc<ServeOptions>,
    timer: Arc<ConnectionTimer>,
    mut stop: watch::Receiver<bool>,
    held: impl Sized,
) -> impl Future<Output = ()>
where
    I: AsyncRead + AsyncWrite + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut wire = Socket::new(stream, options.write_timeout, Arc::clone(&timer));
    async move {
        let version = tokio::select! {
            biased;
            version = wire.version() => version,
            // A dropped sender stops the connection, too.
            _ = stop.wait_for(|stop| *stop) => return,
            _ = timer.is_late() => {
                tracing::debug!("a connection sent no request in time");
                return;
            }
        };
        match version {
            Ok(version) => {
                let connection = connection(version, wire, service, options, Arc::clone(&timer));
                run(connection, &timer, &mut stop).await;
            }
            Err(error) => tracing::debug!(%error, "a connection ended with an error"),
        }
        drop(held);
    }
}

/// A connection of either version of HTTP. It is boxed because it is large, and would be copied whenever it
/// is handed on.
pub(super) type Connection =
    Pin<Box<dyn GracefulConnection<Error = hyper::Error, Output = hyper::Result<()>> + Send>>;

/// Makes a connection of this version of HTTP.
pub(super) fn connection<I, S, B>(
    version: Version,
    wire: Socket<I>,
    service: S,
    options: Arc<ServeOptions>,
    timer: Arc<ConnectionTimer>,
) -> Connection
where
    I: AsyncRead + AsyncWrite + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let wire = TokioIo::new(wire);
    let (http1, http2) = (http1(&options), http2(&options, timer.streams()));
    let counted = counted(service, options, timer);
    match version {
        Version::HTTP_2 => Box::pin(http2.serve_connection(wire, counted)),
        _ => Box::pin(http1.serve_connection(wire, counted)),
    }
}

/// Runs a connection until it ends.
pub(super) async fn run(
    mut connection: Connection,
    timer: &ConnectionTimer,
    stop: &mut watch::Receiver<bool>,
) {
    let mut stopping = false;
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    let error = &error as &dyn std::error::Error;
                    tracing::debug!(error, "a connection ended with an error");
                }
                return;
            }
            _ = stop.wait_for(|stop| *stop), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            late = timer.is_late() => match late {
                ExpiredTimeout::Head => {
                    tracing::debug!("a connection sent no request in time");
                    return;
                }
                // A peer that is about to send a request learns that it needs another connection.
                ExpiredTimeout::Idle => {
                    connection.as_mut().graceful_shutdown();
                    timer.set(Phase::Head);
                }
            },
        }
    }
}

fn http1(options: &ServeOptions) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // We count the headers ourselves. hyper has a fixed buffer for this number, and allocates one per
    // request for any other number.
    if options.headers > DEFAULT_HEADERS {
        builder.max_headers(options.headers);
    }
    builder
        // `ConnectionTimer` limits the time of a head: hyper would count the time between requests, too.
        .header_read_timeout(None)
        // A head that does not fit gets 431; what is written waits in a buffer of the same size.
        .max_buf_size(options.header_bytes.max(MIN_BUFFER));
    builder
}

fn http2(options: &ServeOptions, streams: u32) -> http2::Builder<Streams> {
    let mut builder = http2::Builder::new(Streams::new(options.write_timeout));
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(streams)
        .max_header_list_size(u32::try_from(options.header_bytes).unwrap_or(u32::MAX))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        // hyper's limit of 1024 resets that we send stays: it counts resets over the whole life of a connection,
        // and each DATA frame that arrives late for a refused body causes one.
        .max_pending_accept_reset_streams(RESETS)
        .keep_alive_interval(Some(Duration::from_secs(30)))
        .keep_alive_timeout(Duration::from_secs(20));
    builder
}

/// Number of headers that hyper reads by default.
const DEFAULT_HEADERS: usize = 100;
/// Smallest buffer that hyper accepts, in bytes.
const MIN_BUFFER: usize = 8 * 1024;
/// Bytes of an answer that may wait in memory, for each stream of HTTP/2.
const SEND_BUFFER: usize = 64 * 1024;
/// Bytes of its body that a request of HTTP/2 may send ahead of our reading.
const STREAM_WINDOW: u32 = 64 * 1024;
/// Bytes that all requests of a connection may send ahead together.
const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// Number of streams that may be pending after a reset by their peer.
const RESETS: usize = 100;

/// Counts the requests of a connection, and refuses requests with a malformed head or beyond the limit.
fn counted<S, B>(
    service: S,
    options: Arc<ServeOptions>,
    timer: Arc<ConnectionTimer>,
) -> impl Service<
    Request<Incoming>,
    Response = Response<ResponseBody<B>>,
    Error = Infallible,
    Future: Send + 'static,
>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    service_fn(move |request: Request<Incoming>| {
        let mut open = timer.begin_request(request.version());
        let is_surplus = timer.is_surplus();
        let closes = is_surplus && request.version() < Version::HTTP_2;
        let checked = match is_surplus && !is_probe(&request, &options) {
            true => Err(Refusal::Surplus),
            false => check(&request, &options),
        };
        let admitted =
            checked.and_then(|size| open.charge(size).map_err(|Exhausted| Refusal::Crowded));
        let answer = match admitted {
            Ok(()) => Ok(service.call(request)),
            // Boxed, because few requests are refused and it would enlarge the future of each.
            Err(refusal) => Err(Box::pin(refusal.read_and_answer(request))),
        };
        async move {
            let mut answer = match answer {
                Ok(answer) => answer.await?.map(|body| ResponseBody::new(body, open)),
                Err(refused) => refused.await.map(|text| ResponseBody::text(text, open)),
            };
            if closes {
                let headers = answer.headers_mut();
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(answer)
        }
    })
}

/// Reason for which a request does not reach the service.
#[derive(Clone, Copy)]
enum Refusal {
    /// The server has no place for its connection.
    Surplus,
    /// Too many requests are open.
    Crowded,
    HeadTooLarge,
    /// RFC 9112 §3.2: exactly one `Host`, whatever it is about.
    Host,
    /// RFC 9112 §6.1: the transfer coding is not exactly one `chunked`.
    TransferCoding,
}

impl Refusal {
    /// Returns the answer. A small body is read first, unless memory is scarce.
    async fn read_and_answer(self, request: Request<Incoming>) -> Response<&'static str> {
        let (status, text) = match self {
            Self::Surplus => (BUSY, "too many connections: ask again later\n"),
            Self::Crowded => (BUSY, "too many requests are open: ask again later\n"),
            Self::HeadTooLarge => (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, ""),
            Self::Host => (StatusCode::BAD_REQUEST, ""),
            Self::TransferCoding => (
                StatusCode::BAD_REQUEST,
                "expected `Transfer-Encoding: chunked`, once and without another coding\n",
            ),
        };
        let (head, body) = request.into_parts();
        if status != BUSY {
            discard_small(pin!(body), &head.headers).await;
        }
        let mut answer = Response::new(text);
        *answer.status_mut() = status;
        let headers = answer.headers_mut();
        if !text.is_empty() {
            let plain = HeaderValue::from_static("text/plain; charset=utf-8");
            headers.insert(CONTENT_TYPE, plain);
        }
        if status == BUSY {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        // The peer may have framed the next request differently: request smuggling.
        if matches!(self, Self::TransferCoding) {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

const BUSY: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// Returns whether a request is for one of the paths that are answered even on surplus connections.
fn is_probe(request: &Request<Incoming>, options: &ServeOptions) -> bool {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    is_read && options.probes.at(request.uri().path()).is_some()
}

fn check(request: &Request<Incoming>, options: &ServeOptions) -> Result<HeadSize, Refusal> {
    let (size, headers) = (HeadSize::of(request), request.headers());
    // hyper enforces these limits only approximately.
    if size.headers > options.headers || size.bytes > options.header_bytes {
        return Err(Refusal::HeadTooLarge);
    }
    if request.version() == Version::HTTP_11 {
        if headers.get_all(HOST).iter().count() != 1 {
            return Err(Refusal::Host);
        }
        let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
        let is_chunked = |coding: &HeaderValue| {
            let coding = coding.as_bytes().trim_ascii();
            coding.eq_ignore_ascii_case(b"chunked")
        };
        if codings.next().is_some_and(|it| !is_chunked(it)) || codings.next().is_some() {
            return Err(Refusal::TransferCoding);
        }
    }
    Ok(size)
}

#[cfg(test)]
mod tests;
