//! A service behind an interceptor.

use std::convert::Infallible;
use std::sync::Arc;

use a2a_transport::http::{Body, HttpService};
use a2a_transport::{BoxFuture, Transport};
use bytes::Bytes;
use futures_util::StreamExt;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use serde_json::Value;

use super::intercepted_grpc;
use super::interceptor::{BodyChunking, InterceptedBody, InterceptedRequest, Interceptor};

/// A service behind an [`Interceptor`].
pub(crate) struct InterceptedService<T> {
    inner: HttpService<T>,
    wire: Arc<dyn Interceptor>,
}

impl<T> Clone for InterceptedService<T> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            wire: Arc::clone(&self.wire),
        }
    }
}

impl<T: Transport> InterceptedService<T> {
    pub(crate) fn new(inner: HttpService<T>, wire: Arc<dyn Interceptor>) -> Self {
        Self { inner, wire }
    }

    async fn handle<B>(self, request: Request<B>) -> Response<InterceptedBody>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (mut head, body) = request.into_parts();
        if body.size_hint().lower() > MAX_READ_BODY {
            let request = InterceptedRequest::new(&head, Bytes::new());
            let response = self.inner.handle(Request::from_parts(head, body)).await;
            return self.pass(request, response).await;
        }
        let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
            let mut refusal = Response::new(Full::default().boxed_unsync());
            *refusal.status_mut() = http::StatusCode::PAYLOAD_TOO_LARGE;
            return refusal;
        };
        if intercepted_grpc::is_grpc(&head.headers) {
            let body = body.to_bytes();
            self.wire.ready().await;
            return intercepted_grpc::pass(&self.inner, self.wire, head, body).await;
        }
        let mut request = InterceptedRequest::new(&head, body.to_bytes());
        self.wire.question(&mut request);
        if request.path != head.uri.path() {
            let query = head.uri.query().map(|query| format!("?{query}"));
            let target = format!("{}{}", request.path, query.unwrap_or_default());
            head.uri = target.parse().unwrap_or(head.uri);
        }
        head.headers.remove(CONTENT_LENGTH);
        self.wire.ready().await;
        if let Some(answer) = self.wire.instead(&request) {
            return answer.map(|body| Full::from(body).boxed_unsync());
        }
        let forwarded = Request::from_parts(head, Full::from(request.body.clone()));
        let response = self.inner.handle(forwarded).await;
        self.pass(request, response).await
    }

    async fn pass(
        self,
        request: InterceptedRequest,
        response: Response<Body>,
    ) -> Response<InterceptedBody> {
        let streams = |value: &http::HeaderValue| value.as_bytes().starts_with(EVENTS.as_bytes());
        let (mut head, body) = response.into_parts();
        if head.headers.get(CONTENT_TYPE).is_some_and(streams) {
            self.wire.head(&request, &mut head);
            return Response::from_parts(head, self.stream(request, body));
        }
        let Ok(bytes) = body.collect().await;
        let mut answer = Response::from_parts(head, bytes.to_bytes());
        self.wire.answer(&request, &mut answer);
        answer.headers_mut().remove(CONTENT_LENGTH);
        let pieces = self.wire.pieces();
        answer.map(|bytes| match pieces {
            BodyChunking::AsTheyCome => Full::from(bytes).boxed_unsync(),
            pieces => {
                StreamBody::new(futures_util::stream::iter(split(&bytes, pieces))).boxed_unsync()
            }
        })
    }

    fn stream(self, request: InterceptedRequest, body: Body) -> InterceptedBody {
        let (wire, pieces) = (Arc::clone(&self.wire), self.wire.pieces());
        let preface = Bytes::from_static(self.wire.preface().as_bytes());
        let first = (!preface.is_empty()).then_some(preface);
        let passed = http_body_util::BodyStream::new(body).filter_map(move |frame| {
            let data = frame.ok().and_then(|frame| frame.into_data().ok());
            let passed = data.map(|data| rewrite(&*wire, &request, &data));
            std::future::ready(passed)
        });
        let open = self
            .wire
            .stays_open()
            .then(futures_util::stream::pending::<Bytes>);
        let open = futures_util::stream::iter(open).flatten();
        let all = futures_util::stream::iter(first).chain(passed).chain(open);
        let chunks = all.flat_map(move |bytes| futures_util::stream::iter(split(&bytes, pieces)));
        StreamBody::new(chunks).boxed_unsync()
    }
}

/// The blocks of a frame, each of which is an event or a comment.
fn rewrite(wire: &dyn Interceptor, request: &InterceptedRequest, frame: &[u8]) -> Bytes {
    let text = String::from_utf8_lossy(frame);
    let mut passed = String::new();
    for block in text.split_inclusive("\n\n") {
        let parsed = block.find("data: ").and_then(|at| {
            let (fields, data) = block.split_at(at);
            let event = serde_json::from_str::<Value>(data.strip_prefix("data: ")?.trim_end());
            Some((fields, event.ok()?))
        });
        match parsed {
            Some((fields, mut event)) => {
                wire.event(request, &mut event);
                passed.push_str(&wire.block(fields, &event));
            }
            None => passed.push_str(block),
        }
    }
    passed.into()
}

fn split(bytes: &Bytes, pieces: BodyChunking) -> Vec<Result<Frame<Bytes>, Infallible>> {
    let whole = |bytes: Bytes| Ok(Frame::data(bytes));
    match pieces {
        BodyChunking::AsTheyCome | BodyChunking::Chunked => vec![whole(bytes.clone())],
        BodyChunking::Bytes => {
            let single = bytes.len().min(LONG);
            let pieces = (0..single).map(|at| bytes.slice(at..=at));
            let rest = (single < bytes.len()).then(|| bytes.slice(single..));
            pieces.chain(rest).map(whole).collect()
        }
    }
}

impl<T, B> hyper::service::Service<Request<B>> for InterceptedService<T>
where
    T: Transport,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<InterceptedBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

const EVENTS: &str = "text/event-stream";

/// Number of bytes after which a body is no longer cut into single bytes.
const LONG: usize = 300;

/// Bytes of a body above which it is passed on as it comes, and not read: the agent refuses it before its end.
const MAX_READ_BODY: u64 = 4 << 20;

/// Maximum bytes of a request body whose length is not announced.
const MAX_BODY: usize = 128 << 20;
