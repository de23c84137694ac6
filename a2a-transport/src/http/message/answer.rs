//! The answers that HTTP itself needs.

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{Response, StatusCode};

use super::body::Body;
use crate::binding::OutgoingReply;

pub(crate) fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

pub(crate) fn typed(code: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

pub(crate) fn json(code: StatusCode, body: impl Into<Bytes>) -> Response<Body> {
    typed(code, JSON, Body::full(body))
}

pub(crate) fn plain(code: StatusCode, text: &'static str) -> Response<Body> {
    typed(code, "text/plain; charset=utf-8", Body::full(text))
}

pub(crate) fn not_allowed(allowed: &'static str) -> Response<Body> {
    let mut response = plain(
        StatusCode::METHOD_NOT_ALLOWED,
        "this method is not allowed here",
    );
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

pub(crate) fn event_stream(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies like nginx would collect the events into one block.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Returns an answer in JSON, with the media type that the caller accepts.
pub(crate) fn written(written: OutgoingReply, media_type: &'static str) -> Response<Body> {
    let mut response = typed(written.status, media_type, Body::full(written.body));
    if response.status() == StatusCode::UNAUTHORIZED {
        // The agent requires credentials but names no scheme, and RFC 9110 §15.5.2 requires a challenge.
        response
            .headers_mut()
            .insert(WWW_AUTHENTICATE, HeaderValue::from_static(BEARER));
    }
    response
}

/// Forbids shared caches to store an extended card. Specification 1.0 §13.3.
pub(crate) fn for_caller_only(mut response: Response<Body>) -> Response<Body> {
    let cached = HeaderValue::from_static("private, no-cache");
    response.headers_mut().insert(CACHE_CONTROL, cached);
    response
}

/// Adds `Retry-After`. JSON-RPC answers with status 200 even then, and has no other sign of it that every
/// version knows.
pub(crate) fn retry_later(mut response: Response<Body>) -> Response<Body> {
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// Challenge for the usual credentials.
const BEARER: &str = "Bearer";

/// The media type of JSON.
pub(crate) const JSON: &str = "application/json";
/// The media type of HTTP+JSON in 1.0.1, §11.1.
pub(crate) const A2A_JSON: &str = "application/a2a+json";
