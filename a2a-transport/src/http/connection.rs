//! One connection: the state of its peer and its deadlines.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::task::AtomicWaker;
use http::header::HOST;
use http::{Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::ServeOptions;
use super::outgoing::{Outgoing, Streams};
use super::wire::Wire;

/// Serves a connection until it ends: by itself, by a timeout, or, once its requests are answered, because
/// `stop` is set. Then `held` is dropped.
pub(super) async fn tend<I, S, B>(
    stream: I,
    service: S,
    options: Arc<ServeOptions>,
    pulse: Arc<Pulse>,
    mut stop: watch::Receiver<bool>,
    held: impl Sized,
) where
    I: AsyncRead + AsyncWrite + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut wire = Wire::new(stream, options.write_timeout, Arc::clone(&pulse));
    let counted = counted(service, Arc::clone(&options), Arc::clone(&pulse));
    let version = tokio::select! {
        biased;
        version = wire.version() => version,
        // When nobody can tell it to stop any more, it should.
        _ = stop.wait_for(|stop| *stop) => return,
        _ = pulse.is_late() => {
            tracing::debug!("a connection brought no request in time");
            return;
        }
    };
    let wire = TokioIo::new(wire);
    match version {
        Ok(Version::HTTP_2) => {
            let connection = http2(&options).serve_connection(wire, counted);
            run(Box::pin(connection), &pulse, &mut stop).await;
        }
        Ok(_) => {
            let connection = http1(&options).serve_connection(wire, counted);
            run(Box::pin(connection), &pulse, &mut stop).await;
        }
        Err(error) => tracing::debug!(%error, "a connection ended with an error"),
    }
    drop(held);
}

/// Runs a connection until it ends. It is boxed because it is large, and would be copied whenever it is
/// handed on.
async fn run<C>(mut connection: Pin<Box<C>>, pulse: &Pulse, stop: &mut watch::Receiver<bool>)
where
    C: GracefulConnection<Error = hyper::Error>,
{
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
            late = pulse.is_late() => match late {
                Late::Head => {
                    tracing::debug!("a connection brought no request in time");
                    return;
                }
                // A peer that is just about to ask learns that it must do so elsewhere.
                Late::Idle => {
                    connection.as_mut().graceful_shutdown();
                    pulse.set(Phase::Head);
                }
            },
        }
    }
}

fn http1(options: &ServeOptions) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // We count them ourselves. hyper has room for that many anyway, and makes room for any other number
    // with every request.
    if options.headers > DEFAULT_HEADERS {
        builder.max_headers(options.headers);
    }
    builder
        // How long a head may take is our affair: hyper counts the time between requests in.
        .header_read_timeout(None)
        // A head that does not fit gets 431; what is written waits in a buffer of the same size.
        .max_buf_size(options.header_bytes.max(MIN_BUFFER));
    builder
}

fn http2(options: &ServeOptions) -> http2::Builder<Streams> {
    let mut builder = http2::Builder::new(Streams::new(options.write_timeout));
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(options.streams)
        .max_header_list_size(u32::try_from(options.header_bytes).unwrap_or(u32::MAX))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .max_pending_accept_reset_streams(RESETS)
        .max_local_error_reset_streams(RESETS)
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
/// Number of streams that may be pending after a reset by their peer, or for an error of its.
const RESETS: usize = 100;

/// State of the peer of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    /// It has begun to ask, or is expected to.
    Head,
    /// Number of open requests.
    Asked(usize),
    /// Nothing.
    Idle,
    /// Nothing any more: another connection needs its place.
    Displaced,
}

/// Deadline that has passed.
#[derive(Clone, Copy)]
pub(super) enum Late {
    Head,
    Idle,
}

/// State of the peer of a connection, and its beginning.
pub(super) struct Pulse {
    state: Mutex<State>,
    /// Wakes the connection when its deadline changes.
    waker: AtomicWaker,
    header_timeout: Duration,
    idle_timeout: Duration,
}

struct State {
    phase: Phase,
    since: Instant,
    /// `true` in HTTP/2, whose connection has traffic of its own beside requests.
    is_http2: bool,
}

impl Pulse {
    pub(super) fn new(options: &ServeOptions) -> Self {
        Self {
            state: Mutex::new(State {
                phase: Phase::Head,
                since: Instant::now(),
                is_http2: false,
            }),
            waker: AtomicWaker::new(),
            header_timeout: options.header_timeout,
            idle_timeout: options.idle_timeout,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, phase: Phase) {
        let mut state = self.state();
        state.phase = phase;
        state.since = Instant::now();
    }

    /// Counts a request, which is open until the returned guard is dropped.
    pub(super) fn asked(self: &Arc<Self>, version: Version) -> Open {
        let mut state = self.state();
        state.is_http2 = version == Version::HTTP_2;
        state.phase = match state.phase {
            Phase::Asked(others) => Phase::Asked(others + 1),
            Phase::Head | Phase::Idle | Phase::Displaced => Phase::Asked(1),
        };
        Open(Arc::clone(self))
    }

    /// Returns the begin of idleness; `None` if a request is open, or the connection is displaced.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        matches!(state.phase, Phase::Head | Phase::Idle).then_some(state.since)
    }

    /// Closes the connection, unless a request has come at this moment; returns whether it does.
    pub(super) fn displace(&self) -> bool {
        let mut state = self.state();
        let is_idle = matches!(state.phase, Phase::Head | Phase::Idle);
        if is_idle {
            tracing::debug!("an idle connection makes room for another one");
            state.phase = Phase::Displaced;
            drop(state);
            self.waker.wake();
        }
        is_idle
    }

    /// Notes that bytes have come or gone.
    pub(super) fn moved(&self, phase: Phase) {
        let mut state = self.state();
        if state.phase == Phase::Idle && !state.is_http2 {
            state.phase = phase;
            state.since = Instant::now();
        }
    }

    /// Returns the next deadline and its kind.
    fn deadline(&self) -> Option<(Instant, Late)> {
        let state = self.state();
        match state.phase {
            Phase::Asked(_) => None,
            Phase::Head => Some((state.since + self.header_timeout, Late::Head)),
            Phase::Displaced => Some((state.since, Late::Head)),
            Phase::Idle => Some((state.since + self.idle_timeout, Late::Idle)),
        }
    }

    /// Resolves when a deadline has passed.
    pub(super) async fn is_late(&self) -> Late {
        let mut sleep = pin!(sleep_until(Instant::now()));
        std::future::poll_fn(|cx| {
            self.waker.register(cx.waker());
            let Some((at, late)) = self.deadline() else {
                return Poll::Pending;
            };
            if sleep.deadline() != at {
                sleep.as_mut().reset(at);
            }
            sleep.as_mut().poll(cx).map(|()| late)
        })
        .await
    }
}

/// A request that is open.
pub(super) struct Open(Arc<Pulse>);

impl Drop for Open {
    fn drop(&mut self) {
        let mut state = self.0.state();
        match state.phase {
            Phase::Asked(several @ 2..) => state.phase = Phase::Asked(several - 1),
            _ => {
                state.phase = Phase::Idle;
                state.since = Instant::now();
                // The task of a connection of HTTP/1.1 ends its requests itself, and then looks.
                let is_elsewhere = state.is_http2;
                drop(state);
                if is_elsewhere {
                    self.0.waker.wake();
                }
            }
        }
    }
}

/// Counts the requests of a connection, and refuses those with a wrong head.
fn counted<S, B>(
    service: S,
    options: Arc<ServeOptions>,
    pulse: Arc<Pulse>,
) -> impl Service<
    Request<Incoming>,
    Response = Response<Outgoing<B>>,
    Error = Infallible,
    Future: Send + 'static,
>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    service_fn(move |request: Request<Incoming>| {
        let open = pulse.asked(request.version());
        let answer = check(&request, &options).map(|()| service.call(request));
        async move {
            match answer {
                Ok(answer) => Ok(answer.await?.map(|body| Outgoing::new(body, open))),
                Err(status) => {
                    let mut refusal = Response::new(Outgoing::empty(open));
                    *refusal.status_mut() = status;
                    Ok(refusal)
                }
            }
        }
    })
}

fn check(request: &Request<Incoming>, options: &ServeOptions) -> Result<(), StatusCode> {
    // How many bytes the head has in HTTP/1.1, where no space is wasted.
    let target = request.uri().path_and_query();
    let target = target.map_or(0, |target| target.as_str().len());
    let first = request.method().as_str().len() + target + "  HTTP/1.1\r\n".len();
    let (mut bytes, mut hosts) = (first + "\r\n".len(), 0);
    for (name, value) in request.headers() {
        bytes += name.as_str().len() + value.len() + ": \r\n".len();
        hosts += usize::from(name == HOST);
    }
    // hyper counts neither to the number nor to the byte.
    if request.headers().len() > options.headers || bytes > options.header_bytes {
        return Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    }
    // RFC 9112 §3.2: exactly one, whatever it is about.
    match request.version() {
        Version::HTTP_11 if hosts != 1 => Err(StatusCode::BAD_REQUEST),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
