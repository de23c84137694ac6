//! The answers that HTTP itself needs.

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{HeaderMap, Response, StatusCode};

use super::body::Body;
use super::grpc::{GrpcFormat, write_status};
use crate::binding::OutgoingReply;
use crate::binding::grpc::{Code, Status};

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

fn event_stream(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies like nginx would collect the events into one block.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Format of the answer to a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnswerFormat {
    /// JSON, with the media type that the caller accepts.
    Json(&'static str),
    /// Messages in frames, and a status in trailers.
    #[cfg_attr(
        not(feature = "grpc"),
        expect(dead_code, reason = "nothing is of gRPC")
    )]
    Grpc(GrpcFormat),
}

/// An answer that is answered once, ready for the budget of all answers.
pub(crate) struct Packed {
    status: StatusCode,
    pub(crate) body: Vec<u8>,
    trailers: Option<HeaderMap>,
}

impl AnswerFormat {
    /// Packs an answer. By gRPC an error, or an answer that cannot be a message, becomes a response at once.
    pub(crate) fn pack(self, reply: OutgoingReply) -> Result<Packed, Response<Body>> {
        let mut packed = Packed {
            status: reply.status,
            body: reply.body,
            trailers: None,
        };
        if let Self::Grpc(format) = self {
            if !reply.status.is_success() {
                return Err(failed(&Status::read(&packed.body), format));
            }
            let json = std::mem::take(&mut packed.body);
            let framed = format.message(&json, &mut packed.body);
            framed.map_err(|status| failed(&status, format))?;
            packed.trailers = format.end(&Status::new(Code::OK, ""), &mut packed.body);
        }
        Ok(packed)
    }

    /// Returns the response that has a packed answer, or another body in its place.
    pub(crate) fn response(self, packed: Packed, body: Body) -> Response<Body> {
        match self {
            Self::Json(media_type) => typed(packed.status, media_type, body),
            Self::Grpc(format) => {
                let mut response = Response::new(body.with_trailers(packed.trailers));
                format.write_headers(response.headers_mut());
                response
            }
        }
    }

    /// Returns an answer of any size as a response, outside the budget of all answers.
    pub(crate) fn written(self, reply: OutgoingReply) -> Response<Body> {
        let mut packed = match self.pack(reply) {
            Ok(packed) => packed,
            Err(response) => return response,
        };
        let body = Body::full(std::mem::take(&mut packed.body));
        let mut response = self.response(packed, body);
        if response.status() == StatusCode::UNAUTHORIZED {
            // The agent requires credentials but names no scheme, and RFC 9110 §15.5.2 requires a challenge.
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static(BEARER));
        }
        response
    }

    /// Returns a stream of events as a response.
    pub(crate) fn stream(self, body: Body) -> Response<Body> {
        match self {
            Self::Json(_) => event_stream(body),
            Self::Grpc(format) => {
                let mut response = Response::new(body);
                format.write_headers(response.headers_mut());
                response
            }
        }
    }
}

/// Returns the response by gRPC that is an error and nothing else: its status is in its headers.
pub(crate) fn failed(status: &Status, format: GrpcFormat) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    format.write_headers(response.headers_mut());
    write_status(status, response.headers_mut());
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
