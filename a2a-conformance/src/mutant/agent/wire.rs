//! Layer between an agent and the wire that changes what passes.

use std::convert::Infallible;
use std::sync::Arc;

use a2a_transport::http::{Body, HttpService};
use a2a_transport::{BoxFuture, Transport};
use bytes::Bytes;
use futures_util::StreamExt;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::response::Parts;
use http::{Method, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use serde_json::Value;

/// Changes what passes between an agent and its callers. What it does not change stays as it is.
pub(super) trait Wire: Send + Sync + 'static {
    /// Changes a request before the agent sees it.
    fn question(&self, _asked: &mut Asked) {}

    /// Answers instead of the agent.
    fn instead(&self, _asked: &Asked) -> Option<Response<Bytes>> {
        None
    }

    /// Changes an answer that is no stream.
    fn answer(&self, _asked: &Asked, _answer: &mut Response<Bytes>) {}

    /// Changes the head of a stream.
    fn head(&self, _asked: &Asked, _head: &mut Parts) {}

    /// Changes the document that an event carries.
    fn event(&self, _asked: &Asked, _event: &mut Value) {}

    /// Writes an event, given what comes before its document, like `id: 1\n`.
    fn block(&self, fields: &str, event: &Value) -> String {
        format!("{fields}data: {event}\n\n")
    }

    /// Returns the text with which a stream begins.
    fn preface(&self) -> &'static str {
        ""
    }

    /// Returns the way in which a body is cut into pieces.
    fn pieces(&self) -> Pieces {
        Pieces::AsTheyCome
    }

    /// Ends when the answer may begin.
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Way in which a body is cut into pieces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Pieces {
    /// As the agent cuts it.
    AsTheyCome,
    /// Without telling the length before.
    Chunked,
    /// One byte to each, but for what is long.
    Bytes,
}

/// Nothing is changed.
#[derive(Debug)]
pub(super) struct Untouched;

impl Wire for Untouched {}

/// A request, as it came.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) path: String,
    /// The header that names the version.
    pub(super) version: Option<String>,
    pub(super) body: Bytes,
    /// The body, if it is JSON.
    pub(super) json: Option<Value>,
}

impl Asked {
    /// The method of JSON-RPC.
    pub(super) fn rpc_method(&self) -> Option<&str> {
        self.json.as_ref()?.get("method")?.as_str()
    }
}

/// A service behind a [`Wire`].
pub(super) struct Wired<T> {
    inner: HttpService<T>,
    wire: Arc<dyn Wire>,
}

impl<T> Clone for Wired<T> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            wire: Arc::clone(&self.wire),
        }
    }
}

pub(super) type WiredBody = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;

impl<T: Transport> Wired<T> {
    pub(super) fn new(inner: HttpService<T>, wire: Arc<dyn Wire>) -> Self {
        Self { inner, wire }
    }

    async fn handle<B>(self, request: Request<B>) -> Response<WiredBody>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (mut head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
            let mut refusal = Response::new(Full::default().boxed_unsync());
            *refusal.status_mut() = http::StatusCode::PAYLOAD_TOO_LARGE;
            return refusal;
        };
        let body = body.to_bytes();
        let mut asked = Asked {
            method: head.method.clone(),
            path: head.uri.path().to_owned(),
            version: head
                .headers
                .get("a2a-version")
                .and_then(|version| version.to_str().ok().map(str::to_owned)),
            json: serde_json::from_slice(&body).ok(),
            body,
        };
        self.wire.question(&mut asked);
        if asked.path != head.uri.path() {
            let query = head.uri.query().map(|query| format!("?{query}"));
            let target = format!("{}{}", asked.path, query.unwrap_or_default());
            head.uri = target.parse().unwrap_or(head.uri);
        }
        head.headers.remove(CONTENT_LENGTH);
        self.wire.ready().await;
        if let Some(answer) = self.wire.instead(&asked) {
            return answer.map(|body| Full::from(body).boxed_unsync());
        }
        let request = Request::from_parts(head, Full::from(asked.body.clone()));
        let response = self.inner.handle(request).await;
        self.pass(asked, response).await
    }

    async fn pass(self, asked: Asked, response: Response<Body>) -> Response<WiredBody> {
        let streams = |value: &http::HeaderValue| value.as_bytes().starts_with(EVENTS.as_bytes());
        let (mut head, body) = response.into_parts();
        if head.headers.get(CONTENT_TYPE).is_some_and(streams) {
            self.wire.head(&asked, &mut head);
            return Response::from_parts(head, self.stream(asked, body));
        }
        let Ok(bytes) = body.collect().await;
        let mut answer = Response::from_parts(head, bytes.to_bytes());
        self.wire.answer(&asked, &mut answer);
        answer.headers_mut().remove(CONTENT_LENGTH);
        let pieces = self.wire.pieces();
        answer.map(|bytes| match pieces {
            Pieces::AsTheyCome => Full::from(bytes).boxed_unsync(),
            pieces => {
                StreamBody::new(futures_util::stream::iter(cut(&bytes, pieces))).boxed_unsync()
            }
        })
    }

    fn stream(self, asked: Asked, body: Body) -> WiredBody {
        let (wire, pieces) = (Arc::clone(&self.wire), self.wire.pieces());
        let preface = Bytes::from_static(self.wire.preface().as_bytes());
        let first = (!preface.is_empty()).then_some(preface);
        let passed = http_body_util::BodyStream::new(body).filter_map(move |frame| {
            let data = frame.ok().and_then(|frame| frame.into_data().ok());
            let passed = data.map(|data| rewrite(&*wire, &asked, &data));
            std::future::ready(passed)
        });
        let all = futures_util::stream::iter(first).chain(passed);
        let cut = all.flat_map(move |bytes| futures_util::stream::iter(cut(&bytes, pieces)));
        StreamBody::new(cut).boxed_unsync()
    }
}

/// The blocks of a frame, each of which is an event or a comment.
fn rewrite(wire: &dyn Wire, asked: &Asked, frame: &[u8]) -> Bytes {
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
                wire.event(asked, &mut event);
                passed.push_str(&wire.block(fields, &event));
            }
            None => passed.push_str(block),
        }
    }
    passed.into()
}

fn cut(bytes: &Bytes, pieces: Pieces) -> Vec<Result<Frame<Bytes>, Infallible>> {
    let whole = |bytes: Bytes| Ok(Frame::data(bytes));
    match pieces {
        Pieces::AsTheyCome | Pieces::Chunked => vec![whole(bytes.clone())],
        Pieces::Bytes => {
            let single = bytes.len().min(LONG);
            let pieces = (0..single).map(|at| bytes.slice(at..=at));
            let rest = (single < bytes.len()).then(|| bytes.slice(single..));
            pieces.chain(rest).map(whole).collect()
        }
    }
}

impl<T, B> hyper::service::Service<Request<B>> for Wired<T>
where
    T: Transport,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<WiredBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

const EVENTS: &str = "text/event-stream";

/// After how many bytes cutting into single ones tells nothing new.
const LONG: usize = 300;

/// Maximum bytes of a request body.
const MAX_BODY: usize = 128 << 20;
