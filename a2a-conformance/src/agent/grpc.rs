//! Calls by gRPC in the form of HTTP+JSON, which the rest of the suite reads: messages as JSON, a stream as Server-Sent
//! Events, the status as that of HTTP.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use a2a_transport::Error;
pub(super) use a2a_transport::binding::grpc::operation_at;
use a2a_transport::binding::grpc::{Code, Status, service};
use a2a_transport::http::grpc::{MessageDecoder, frame_request, read_status};
use a2a_types::ProtocolVersion;
use a2a_types::reading::Violation;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, TE};
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame};
use serde_json::json;

use crate::judge::grpc::{Content, GrpcResponse, is_grpc};
use crate::wire::exchange::ResponseBody;

/// Returns whether a path is one of a service of A2A.
pub(super) fn is_service(path: &str) -> bool {
    let services = ProtocolVersion::ALL
        .iter()
        .filter_map(|version| service(*version));
    services
        .into_iter()
        .any(|service| path.starts_with(service))
}

/// Writes the headers that a request by gRPC has.
pub(super) fn write_headers(headers: &mut HeaderMap) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(TE, HeaderValue::from_static("trailers"));
}

/// Returns the frame of a request. Errors: the JSON is not that of the message at the path.
pub(super) fn framed(path: &str, json: &[u8]) -> Result<Bytes, String> {
    frame_request(path, json).map_err(|error| error.to_string())
}

/// Reads the answer to a request at a path. Returns it in the form of HTTP+JSON, and what its form is judged by.
pub(super) async fn read(
    path: &str,
    response: Response<ResponseBody>,
) -> Result<(Response<ResponseBody>, GrpcResponse), Error> {
    let (mut head, body) = response.into_parts();
    let mut form = GrpcResponse {
        status: head.status,
        headers: head.headers.clone(),
        content: None,
    };
    if head.status != StatusCode::OK || !is_grpc(&head.headers) {
        return Ok((Response::from_parts(head, body), form));
    }
    let mut events = Events {
        body,
        decoder: MessageDecoder::of_responses(path, &head.headers, MAX_MESSAGE),
        messages: VecDeque::new(),
        trailers: None,
        has_ended: false,
    };
    let is_stream = operation_at(path).is_some_and(|(operation, _)| operation.is_stream());
    let problem = loop {
        if is_stream && !events.messages.is_empty() {
            let events_type = HeaderValue::from_static("text/event-stream");
            head.headers.insert(CONTENT_TYPE, events_type);
            return Ok((Response::from_parts(head, events.boxed()), form));
        }
        match poll_fn(|cx| events.poll_read(cx)).await {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error @ Error::Connection(_)) => return Err(error),
            Err(error) => break Some(error.to_string()),
        }
    };
    head.headers
        .extend(events.trailers.take().unwrap_or_default());
    form.headers.clone_from(&head.headers);
    form.content = Some(Content {
        is_stream,
        messages: events.messages.len(),
        problem,
    });
    let json_type = HeaderValue::from_static("application/json");
    head.headers.insert(CONTENT_TYPE, json_type);
    let body = match read_status(&form.headers) {
        Some(status) if status.code != Code::OK => {
            head.status = http_status(&status);
            json!(status).to_string().into()
        }
        _ => events.messages.pop_front().unwrap_or_default().into(),
    };
    let body = Full::<Bytes>::new(body).map_err(|never| match never {});
    Ok((Response::from_parts(head, body.boxed()), form))
}

/// Returns the status of HTTP that means the same.
fn http_status(status: &Status) -> StatusCode {
    match status.code.name() {
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" => StatusCode::BAD_REQUEST,
        "UNAUTHENTICATED" => StatusCode::UNAUTHORIZED,
        "PERMISSION_DENIED" => StatusCode::FORBIDDEN,
        "NOT_FOUND" => StatusCode::NOT_FOUND,
        "ALREADY_EXISTS" | "ABORTED" => StatusCode::CONFLICT,
        "RESOURCE_EXHAUSTED" => StatusCode::TOO_MANY_REQUESTS,
        "UNIMPLEMENTED" => StatusCode::NOT_IMPLEMENTED,
        "UNAVAILABLE" => StatusCode::SERVICE_UNAVAILABLE,
        "DEADLINE_EXCEEDED" => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The messages of a body; as a body, Server-Sent Events, and then the trailers.
struct Events {
    body: ResponseBody,
    /// None at a path that A2A does not have.
    decoder: Option<MessageDecoder>,
    messages: VecDeque<Vec<u8>>,
    trailers: Option<HeaderMap>,
    has_ended: bool,
}

impl Events {
    /// Reads on; returns `false` at the end.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Error>> {
        let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(cx)) else {
            let is_cut = self.decoder.as_ref().is_some_and(|it| it.buffered() > 0);
            return Poll::Ready(match is_cut {
                true => Err(Error::Malformed(Violation {
                    path: "$".to_owned(),
                    problem: "the last message is broken off".to_owned(),
                })),
                false => Ok(false),
            });
        };
        match frame?.into_data() {
            Ok(data) => {
                if let Some(decoder) = &mut self.decoder {
                    self.messages.extend(decoder.push(&data)?);
                }
            }
            Err(frame) => self.trailers = frame.into_trailers().ok(),
        }
        Poll::Ready(Ok(true))
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = self.get_mut();
        loop {
            if let Some(message) = this.messages.pop_front() {
                let event = [b"data: ", &message[..], b"\n\n"].concat();
                return Poll::Ready(Some(Ok(Frame::data(event.into()))));
            }
            if this.has_ended {
                let trailers = this.trailers.take();
                return Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))));
            }
            match ready!(this.poll_read(cx)) {
                Ok(true) => {}
                Ok(false) => {
                    this.has_ended = true;
                    this.trailers.get_or_insert_default();
                }
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }
}

/// Maximum bytes of a message.
const MAX_MESSAGE: usize = 32 << 20;
