//! Hyper alone: it reads each request to its end and answers the same, as long as ours would.
//! Nothing that is built on hyper is faster.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::settings::{Pace, Settings};
use crate::machine::Failure;

pub(super) async fn serve(settings: &Settings) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let answer = FixedResponse::new(settings);
    let is_http2 = settings.http2;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (io, response) = (TokioIo::new(stream), answer.clone());
        let service = service_fn(move |request| answer_to(request, response.clone()));
        tokio::spawn(async move {
            // A caller that closes a connection has its answer.
            let _ = match is_http2 {
                true => {
                    http2::Builder::new(TokioExecutor::new())
                        .serve_connection(io, service)
                        .await
                }
                false => {
                    let mut http1 = http1::Builder::new();
                    http1
                        .timer(TokioTimer::new())
                        .serve_connection(io, service)
                        .await
                }
            };
        });
    }
}

async fn answer_to(
    mut request: Request<Incoming>,
    fixed: FixedResponse,
) -> Result<Response<FixedBody>, hyper::Error> {
    while let Some(frame) = request.body_mut().frame().await {
        frame?;
    }
    let mut response = Response::new(fixed.body());
    let headers = response.headers_mut();
    match fixed.is_stream {
        true => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        false => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
    }
    Ok(response)
}

/// The answer: the same bytes, repeated `count` times.
#[derive(Clone)]
struct FixedResponse {
    piece: Bytes,
    count: usize,
    is_stream: bool,
    pace: Pace,
}

impl FixedResponse {
    fn new(settings: &Settings) -> Self {
        let is_stream = settings.events > 0;
        let (before, after) = match is_stream {
            true => (
                "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"",
                "\"}\n\n",
            ),
            false => ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"", "\"}"),
        };
        let count = settings.events.max(1);
        let size = settings.bytes / count;
        let rest = "x".repeat(size.saturating_sub(before.len() + after.len()));
        Self {
            piece: format!("{before}{rest}{after}").into(),
            count,
            is_stream,
            pace: settings.pace,
        }
    }

    fn body(&self) -> FixedBody {
        let sent = (self.pace == Pace::Sent).then(|| {
            let (sender, receiver) = mpsc::channel(CHANNEL);
            let (piece, count) = (self.piece.clone(), self.count);
            tokio::spawn(async move {
                for _ in 0..count {
                    // The client is gone.
                    if sender.send(piece.clone()).await.is_err() {
                        break;
                    }
                }
            });
            receiver
        });
        FixedBody {
            response: self.clone(),
            left: self.count,
            is_written: true,
            sent,
        }
    }
}

/// Number of events that a task may be ahead of what is written.
const CHANNEL: usize = 64;

/// An answer on its way.
struct FixedBody {
    response: FixedResponse,
    left: usize,
    /// `true` if hyper could write all that it was given.
    is_written: bool,
    sent: Option<mpsc::Receiver<Bytes>>,
}

impl Body for FixedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(sent) = &mut self.sent {
            return sent
                .poll_recv(context)
                .map(|piece| piece.map(|piece| Ok(Frame::data(piece))));
        }
        let Some(left) = self.left.checked_sub(1) else {
            return match self.response.pace {
                // The peer ends it: hyper notices by itself.
                Pace::Held => Poll::Pending,
                Pace::Ready | Pace::Sent | Pace::Written => Poll::Ready(None),
            };
        };
        if self.response.pace == Pace::Written && !std::mem::replace(&mut self.is_written, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        (self.left, self.is_written) = (left, false);
        Poll::Ready(Some(Ok(Frame::data(self.response.piece.clone()))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0 && self.response.pace == Pace::Ready
    }

    fn size_hint(&self) -> SizeHint {
        match self.response.is_stream {
            true => SizeHint::default(),
            false => SizeHint::with_exact(self.response.piece.len() as u64),
        }
    }
}
