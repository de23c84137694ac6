//! Connections by HTTP/2: calls by gRPC, whose messages are read as JSON, and requests for cards.

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::sync::Arc;

use a2a_transport::http::grpc::MessageDecoder;
use bytes::Bytes;
use futures_util::stream;
use http::header::HOST;
use http::{HeaderMap, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::answering::{pause, receive};
use super::case::Close;
use super::fixture::{Fixture, Listener};
use super::socket::{MAX_BODY, Request, Socket};
use super::wire_answer::{BodyPiece, Framing, WireAnswer};

/// Answers the requests on a connection.
pub(super) async fn serve(socket: Socket, listener: Listener, fixture: Arc<Fixture>) {
    let service = service_fn(move |request| respond(request, listener, Arc::clone(&fixture)));
    let connection = http2::Builder::new(TokioExecutor::new());
    // An error means that the client has hung up.
    let _ = connection
        .serve_connection(TokioIo::new(socket), service)
        .await;
}

/// Answers a request. Errors: the case resets the stream before the answer, or the client has.
async fn respond(
    request: http::Request<Incoming>,
    listener: Listener,
    fixture: Arc<Fixture>,
) -> io::Result<Response<UnsyncBoxBody<Bytes, io::Error>>> {
    let request = read(request).await?;
    let (index, written) = receive(request, listener, &fixture);
    if written.framing == Framing::Raw {
        return Err(reset());
    }
    let mut response = Response::builder().status(written.status);
    for (name, value) in &written.headers {
        response = response.header(name, value);
    }
    let has_body = !written.pieces.is_empty() || written.close != Close::Done;
    if let (false, Some(grpc), Some(headers)) = (has_body, &written.grpc, response.headers_mut()) {
        // An answer without messages has its status in the headers.
        headers.extend(grpc.trailers.clone());
        fixture.note(index, |received| received.delivered = true);
        return response
            .body(
                Full::default()
                    .map_err(|never| match never {})
                    .boxed_unsync(),
            )
            .map_err(io::Error::other);
    }
    let body = BodyWriter::new(written, index, fixture);
    let frames = stream::unfold(body, |mut body| async {
        let frame = body.next().await?;
        Some((frame, body))
    });
    response
        .body(StreamBody::new(frames).boxed_unsync())
        .map_err(io::Error::other)
}

/// Reads a request; the message of a call by gRPC as JSON.
async fn read(request: http::Request<Incoming>) -> io::Result<Request> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY).collect().await;
    let mut body = body.map_err(io::Error::other)?.to_bytes();
    let path = head.uri.path();
    let mut problem = None;
    if let Some(mut decoder) = MessageDecoder::of_requests(path, &head.headers, MAX_BODY) {
        match message(&mut decoder, &body) {
            Ok(json) => body = json.into(),
            Err(found) => problem = Some(found),
        }
    }
    let target = head.uri.path_and_query().map_or(path, |it| it.as_str());
    let mut headers = head.headers.clone();
    if let Some(authority) = head.uri.authority()
        && let Ok(host) = authority.as_str().parse()
    {
        headers.entry(HOST).or_insert(host);
    }
    Ok(Request {
        method: head.method.to_string(),
        target: target.to_owned(),
        headers: texts(&headers),
        body,
        problem,
    })
}

/// Returns the one message of a body, as JSON.
fn message(decoder: &mut MessageDecoder, body: &[u8]) -> Result<Vec<u8>, String> {
    let mut messages = decoder.push(body).map_err(|error| error.to_string())?;
    match (messages.pop(), messages.len(), decoder.buffered()) {
        (Some(message), 0, 0) => Ok(message),
        (_, _, 1..) => Err("the message is broken off".to_owned()),
        (None, ..) => Err("expected one message, found none".to_owned()),
        (Some(_), ..) => Err("expected one message, found more".to_owned()),
    }
}

fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers = headers.iter();
    headers
        .map(|(name, value)| (name.to_string(), text(value.as_bytes())))
        .collect()
}

/// Writer of the body of an answer.
struct BodyWriter {
    pieces: VecDeque<BodyPiece>,
    chunk: usize,
    /// `None` if the answer is not by gRPC.
    trailers: Option<HeaderMap>,
    close: Close,
    has_ended: bool,
    index: usize,
    fixture: Arc<Fixture>,
}

impl BodyWriter {
    fn new(written: WireAnswer, index: usize, fixture: Arc<Fixture>) -> Self {
        Self {
            pieces: written.pieces.into(),
            chunk: written.chunk.unwrap_or(usize::MAX).max(1),
            trailers: written.grpc.map(|grpc| grpc.trailers),
            close: written.close,
            has_ended: false,
            index,
            fixture,
        }
    }

    /// Returns the next frame, or an error by which the stream is reset.
    async fn next(&mut self) -> Option<io::Result<Frame<Bytes>>> {
        while let Some(piece) = self.pieces.pop_front() {
            let data = match piece {
                BodyPiece::Bytes(mut bytes) => {
                    let data = bytes.split_to(self.chunk.min(bytes.len()));
                    if !bytes.is_empty() {
                        self.pieces.push_front(BodyPiece::Bytes(bytes));
                    }
                    data
                }
                BodyPiece::LongBody(count) => {
                    let size = count.min(BLOCK);
                    if count > size {
                        self.pieces.push_front(BodyPiece::LongBody(count - size));
                    }
                    vec![b'x'; size as usize].into()
                }
                BodyPiece::Pause(hold) => {
                    pause(&hold, &self.fixture).await;
                    continue;
                }
            };
            if !data.is_empty() {
                return Some(Ok(Frame::data(data)));
            }
        }
        if self.has_ended {
            return None;
        }
        self.has_ended = true;
        self.fixture
            .note(self.index, |received| received.delivered = true);
        match (self.close, self.trailers.take()) {
            (Close::Done, Some(trailers)) => Some(Ok(Frame::trailers(trailers))),
            (Close::Done, None) | (Close::Cut, Some(_)) => None,
            (Close::Cut, None) | (Close::Reset, _) => Some(Err(reset())),
            // Until the client resets the stream.
            (Close::Open, _) => pending().await,
        }
    }
}

/// Returns the error that resets a stream.
fn reset() -> io::Error {
    io::Error::other("the case resets the stream")
}

/// Bytes of an oversized body to write at a time.
const BLOCK: u64 = 1 << 14;
