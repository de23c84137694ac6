//! Requests by gRPC and gRPC-Web.

use std::future::ready;
use std::pin::Pin;

use a2a_protobuf::Method as GrpcMethod;
use a2a_types::{Error as A2aError, ErrorKind, ProtocolVersion};
use bytes::Bytes;
use futures_util::future::Either;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode, Version};
use tokio::time::Instant;

use super::error_format::ErrorFormat;
use super::http_service::HttpService;
use super::request_headers::RequestHeaders;
use crate::binding::grpc::{Code, Status, operation_at, read_call, refusal};
use crate::binding::{CallRefusal, IncomingCall, ReadOptions};
use crate::http::message::answer::{AnswerFormat, failed, not_allowed, plain};
use crate::http::message::body::Body;
use crate::http::message::grpc::{FrameError, GrpcFormat, Web, read_message, read_timeout};
use crate::http::message::server_span::ServerSpan;
use crate::{Binding, Transport};

impl<T: Transport> HttpService<T> {
    /// Answers a request for a method of A2A's services.
    pub(super) fn grpc<'a, B>(
        &'a self,
        head: &'a Parts,
        body: Pin<&'a mut B>,
        mut server_span: ServerSpan,
    ) -> impl Future<Output = Response<Body>> + 'a
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (headers, reading) = (RequestHeaders::read(head), self.settings.reading());
        let web = match form(head) {
            Ok(web) => web,
            Err(refusal) => return Either::Right(ready(refusal)),
        };
        let path = head.uri.path();
        let found = GrpcMethod::at(path).zip(operation_at(path));
        let Some((method, (operation, protocol_version))) = found else {
            server_span.refused(ProtocolVersion::LATEST, ErrorKind::MethodNotFound);
            return Either::Right(ready(unknown_method(path, web)));
        };
        let encoding = Encoding::of(&head.headers);
        let mut error_format = ErrorFormat {
            binding: Binding::Grpc,
            protocol_version,
            answer: AnswerFormat::Grpc(GrpcFormat {
                response: method.response(),
                gzip: encoding == Encoding::Gzip,
                web,
                limit: reading.limits.bytes,
            }),
            deadline: read_timeout(&head.headers).map(|timeout| Instant::now() + timeout),
            server_span,
        };
        if let Err(error) = check_version(&headers, protocol_version, &reading) {
            return Either::Right(ready(error_format.refuse(None, error)));
        }
        let read =
            move |body: &[u8], _: &RequestHeaders<'_>| -> Result<IncomingCall, CallRefusal> {
                let refuse = |status, error| CallRefusal {
                    status,
                    ..refusal(protocol_version, error)
                };
                let frames = web.map_or(Some(body.into()), |web| web.frames(body));
                let frames = frames.ok_or_else(|| {
                    let error = A2aError::new(ErrorKind::InvalidRequest, "the body is not Base64");
                    refuse(None, error)
                })?;
                let message = encoding.message(&frames, &reading);
                let message = message.map_err(|error| refuse(status_of(error), framing(error)))?;
                let json = method.request().to_json(&message).map_err(|error| {
                    let text = format!("{}: {error}", method.request().name());
                    refuse(None, A2aError::new(ErrorKind::JsonParse, text))
                })?;
                read_call(operation, protocol_version, &json, &reading)
            };
        Either::Left(self.exchange(head, headers, body, error_format, read))
    }
}

/// Returns the form of a request: gRPC, or one of gRPC-Web.
pub(super) fn form(head: &Parts) -> Result<Option<Web>, Response<Body>> {
    if head.method != Method::POST {
        return Err(not_allowed("POST"));
    }
    let content_type = head.headers.get(CONTENT_TYPE);
    let form = content_type
        .and_then(|value| value.to_str().ok())
        .and_then(GrpcFormat::form);
    match form {
        None => Err(plain(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "expected `Content-Type: application/grpc`, or `application/grpc-web`",
        )),
        Some(None) if head.version != Version::HTTP_2 => Err(plain(
            StatusCode::HTTP_VERSION_NOT_SUPPORTED,
            "gRPC needs HTTP/2; gRPC-Web does not",
        )),
        Some(web) => Ok(web),
    }
}

/// Returns the answer to a call of a method that no service has.
pub(super) fn unknown_method(path: &str, web: Option<Web>) -> Response<Body> {
    let text = format!("there is no method {path}");
    let format = GrpcFormat {
        response: &a2a_protobuf::STATUS,
        gzip: false,
        web,
        limit: 0,
    };
    failed(&Status::new(Code::UNIMPLEMENTED, text), format)
}

/// Checks that the version of a service is offered, and that `A2A-Version` does not contradict it.
fn check_version(
    headers: &RequestHeaders<'_>,
    protocol_version: ProtocolVersion,
    reading: &ReadOptions,
) -> Result<(), A2aError> {
    let offer = reading.offer;
    let named = headers.version();
    let requested = offer.requested(Binding::Grpc, named.as_deref())?;
    if requested.is_some_and(|requested| requested != protocol_version) {
        let text = format!(
            "the header `A2A-Version` says {}, but the service is that of {protocol_version}",
            named.unwrap_or_default()
        );
        return Err(A2aError::new(ErrorKind::VersionNotSupported, text));
    }
    match offer.has(Binding::Grpc, protocol_version) {
        true => Ok(()),
        false => Err(offer.refusal(Binding::Grpc, protocol_version.version())),
    }
}

/// Compression of the messages of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Encoding {
    Identity,
    Gzip,
    Unknown,
}

impl Encoding {
    fn of(headers: &HeaderMap) -> Self {
        match headers.get("grpc-encoding").map(|value| value.as_bytes()) {
            None | Some(b"" | b"identity") => Self::Identity,
            Some(b"gzip") => Self::Gzip,
            Some(_) => Self::Unknown,
        }
    }

    fn message<'b>(
        self,
        frames: &'b [u8],
        reading: &ReadOptions,
    ) -> Result<std::borrow::Cow<'b, [u8]>, FrameError> {
        read_message(frames, self == Self::Gzip, reading.limits.bytes)
    }
}

/// Returns the HTTP status of a frame that cannot be read, where the kind of error does not tell its status.
fn status_of(error: FrameError) -> Option<StatusCode> {
    match error {
        FrameError::TooLarge(_) => Some(StatusCode::PAYLOAD_TOO_LARGE),
        FrameError::Encoding | FrameError::Count(_) => Some(StatusCode::NOT_IMPLEMENTED),
        _ => None,
    }
}

fn framing(error: FrameError) -> A2aError {
    A2aError::new(ErrorKind::InvalidRequest, error.to_string())
}
