//! Calls by gRPC behind an [`Interceptor`], which sees their messages as JSON.

use std::convert::Infallible;
use std::sync::Arc;

use a2a_transport::Transport;
use a2a_transport::binding::grpc::operation_at;
use a2a_transport::http::HttpService;
use a2a_transport::http::grpc::{MessageDecoder, frame_response};
use bytes::Bytes;
use futures_util::StreamExt;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};

use super::interceptor::{InterceptedBody, InterceptedRequest, Interceptor};

/// Returns whether a request is by gRPC.
pub(super) fn is_grpc(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE);
    media_type.is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"))
}

/// Passes a call on, and its answer back.
pub(super) async fn pass<T: Transport>(
    inner: &HttpService<T>,
    wire: Arc<dyn Interceptor>,
    mut head: http::request::Parts,
    body: Bytes,
) -> Response<InterceptedBody> {
    let path = head.uri.path().to_owned();
    let mut decoder = MessageDecoder::of_requests(&path, &head.headers, MAX_MESSAGE);
    let json = decoder.as_mut().and_then(|it| it.push(&body).ok()?.pop());
    let mut request = InterceptedRequest::new(&head, json.unwrap_or_default().into());
    request.grpc = Some(body.clone());
    wire.grpc_headers(&request, &mut head.headers);
    head.headers.remove(CONTENT_LENGTH);
    let response = inner
        .handle(Request::from_parts(head, Full::from(body)))
        .await;
    let (mut head, body) = response.into_parts();
    wire.head(&request, &mut head);
    // The only headers have the status if there is no message.
    wire.trailers(&request, &mut head.headers);
    let mut decoder = MessageDecoder::of_responses(&path, &head.headers, MAX_MESSAGE);
    let frames = BodyStream::new(body).map(move |frame| {
        let Ok(frame) = frame;
        let frame = match frame.into_data() {
            Ok(data) => {
                let messages = decoder.as_mut().and_then(|it| it.push(&data).ok());
                let rewritten = messages.map(|messages| rewrite(&*wire, &request, &path, messages));
                Frame::data(rewritten.unwrap_or(data))
            }
            Err(frame) => {
                let mut trailers = frame.into_trailers().unwrap_or_default();
                wire.trailers(&request, &mut trailers);
                Frame::trailers(trailers)
            }
        };
        Ok::<_, Infallible>(frame)
    });
    Response::from_parts(head, StreamBody::new(frames).boxed_unsync())
}

/// Returns the frames of messages, which the interceptor may change. What cannot be said by gRPC stays as it was.
fn rewrite(
    wire: &dyn Interceptor,
    request: &InterceptedRequest,
    path: &str,
    messages: Vec<Vec<u8>>,
) -> Bytes {
    let is_stream = operation_at(path).is_some_and(|(operation, _)| operation.is_stream());
    let mut frames = Vec::new();
    for message in messages {
        let mut changed = Vec::new();
        if is_stream && let Ok(mut event) = serde_json::from_slice(&message) {
            wire.event(request, &mut event);
            changed = event.to_string().into_bytes();
        } else {
            let mut answer = Response::new(Bytes::from(message.clone()));
            wire.answer(request, &mut answer);
            changed.extend_from_slice(answer.body());
        }
        let frame = frame_response(path, &changed).or_else(|_| frame_response(path, &message));
        for _ in 0..wire.times_sent(request) {
            frames.extend_from_slice(frame.as_deref().unwrap_or_default());
        }
    }
    frames.into()
}

/// Maximum bytes of a message.
const MAX_MESSAGE: usize = 16 << 20;
