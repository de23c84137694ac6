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

use super::Settings;
use crate::Failure;

pub(super) async fn serve(settings: &Settings) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let answer = Said::new(settings);
    let is_http2 = settings.http2;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (io, said) = (TokioIo::new(stream), answer.clone());
        let service = service_fn(move |request| answer_to(request, said.clone()));
        tokio::spawn(async move {
            // Whoever closes a connection has what it wanted.
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
    said: Said,
) -> Result<Response<Said>, hyper::Error> {
    while let Some(frame) = request.body_mut().frame().await {
        frame?;
    }
    let is_stream = said.is_stream;
    let mut response = Response::new(said);
    let headers = response.headers_mut();
    match is_stream {
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

/// A body: the same bytes so many times.
#[derive(Clone)]
struct Said {
    piece: Bytes,
    left: usize,
    is_stream: bool,
    hold: bool,
}

impl Said {
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
            left: count,
            is_stream,
            hold: settings.hold,
        }
    }
}

impl Body for Said {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Poll::Ready(Some(Ok(Frame::data(self.piece.clone()))))
            }
            // The peer ends it: hyper notices by itself.
            None if self.hold => Poll::Pending,
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0 && !self.hold
    }

    fn size_hint(&self) -> SizeHint {
        match self.is_stream {
            true => SizeHint::default(),
            false => SizeHint::with_exact((self.left * self.piece.len()) as u64),
        }
    }
}
