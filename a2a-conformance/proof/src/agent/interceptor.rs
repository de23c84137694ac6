//! Layer between an agent and the wire that changes what passes.

use std::convert::Infallible;

use a2a_transport::BoxFuture;
use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, Method, Response};
use serde_json::Value;

/// Changes what passes between an agent and its callers. By default nothing is changed.
pub(crate) trait Interceptor: Send + Sync + 'static {
    /// Changes a request before the agent sees it.
    fn question(&self, _asked: &mut InterceptedRequest) {}

    /// Answers instead of the agent.
    fn instead(&self, _asked: &InterceptedRequest) -> Option<Response<Bytes>> {
        None
    }

    /// Changes an answer that is not a stream.
    fn answer(&self, _asked: &InterceptedRequest, _answer: &mut Response<Bytes>) {}

    /// Changes the head of a stream.
    fn head(&self, _asked: &InterceptedRequest, _head: &mut Parts) {}

    /// Changes the document that an event carries.
    fn event(&self, _asked: &InterceptedRequest, _event: &mut Value) {}

    /// Changes the headers of a request by gRPC.
    fn grpc_headers(&self, _asked: &InterceptedRequest, _headers: &mut HeaderMap) {}

    /// Changes the trailers of an answer by gRPC, or its headers if there is nothing else.
    fn trailers(&self, _asked: &InterceptedRequest, _trailers: &mut HeaderMap) {}

    /// Returns how many times a message by gRPC is sent.
    fn times_sent(&self, _asked: &InterceptedRequest) -> usize {
        1
    }

    /// Writes an event, given what comes before its document, like `id: 1\n`.
    fn block(&self, fields: &str, event: &Value) -> String {
        format!("{fields}data: {event}\n\n")
    }

    /// Returns the text with which a stream begins.
    fn preface(&self) -> &'static str {
        ""
    }

    /// Returns whether a stream stays open after its last event.
    fn stays_open(&self) -> bool {
        false
    }

    /// Returns the way in which a body is cut into pieces.
    fn pieces(&self) -> BodyChunking {
        BodyChunking::AsTheyCome
    }

    /// Ends when the answer may begin.
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Way in which a body is cut into pieces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BodyChunking {
    /// As sent by the agent.
    AsTheyCome,
    /// Chunked, without `Content-Length`.
    Chunked,
    /// Byte by byte, except long bodies.
    Bytes,
}

/// Interceptor that changes nothing.
#[derive(Debug)]
pub(super) struct PassThrough;

impl Interceptor for PassThrough {}

/// A request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct InterceptedRequest {
    pub(super) method: Method,
    pub(super) path: String,
    /// The header that names the version.
    pub(super) version: Option<String>,
    /// `true` if the media type of its body has a parameter.
    pub(super) has_media_type_parameter: bool,
    /// The credentials that it shows.
    pub(super) authorization: Option<String>,
    /// The body; empty if it was too long to be read.
    pub(super) body: Bytes,
    /// The body, if it is JSON.
    pub(super) json: Option<Value>,
    /// The frame, if it came by gRPC: the body is its message as JSON.
    pub(super) grpc: Option<Bytes>,
}

impl InterceptedRequest {
    pub(super) fn new(head: &http::request::Parts, body: Bytes) -> Self {
        let header = |name: &str| {
            let value = head.headers.get(name)?.to_str().ok();
            value.map(str::to_owned)
        };
        Self {
            method: head.method.clone(),
            path: head.uri.path().to_owned(),
            version: header("a2a-version"),
            has_media_type_parameter: header("content-type").is_some_and(|it| it.contains(';')),
            authorization: header("authorization"),
            json: serde_json::from_slice(&body).ok(),
            body,
            grpc: None,
        }
    }

    /// The method of JSON-RPC.
    pub(super) fn rpc_method(&self) -> Option<&str> {
        self.json.as_ref()?.get("method")?.as_str()
    }
}

/// The body of an answer that was passed on.
pub(crate) type InterceptedBody = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;
