//! Requests by gRPC and gRPC-Web.

use a2a_protobuf::Method as GrpcMethod;
use a2a_types::{Error as A2aError, ErrorKind, Operation, ProtocolVersion};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode, Version};

use super::request_headers::RequestHeaders;
use crate::Binding;
use crate::binding::grpc::{Code, Status, operation_at, read_call, refusal};
use crate::binding::{CallRefusal, IncomingCall, ReadOptions};
use crate::http::message::answer::{failed, not_allowed, plain};
use crate::http::message::body::Body;
use crate::http::message::grpc::{FrameError, GrpcFormat, Web, read_message};

/// A call of a method of A2A's services.
#[derive(Clone, Copy)]
pub(super) struct GrpcCall {
    method: &'static GrpcMethod,
    operation: Operation,
    pub(super) protocol_version: ProtocolVersion,
    encoding: Encoding,
    web: Option<Web>,
}

impl GrpcCall {
    /// Reads the head of a request. Errors: the answer to one that is not for a method.
    pub(super) fn of(head: &Parts) -> Result<Self, Response<Body>> {
        let web = form(head)?;
        let path = head.uri.path();
        let found = GrpcMethod::at(path).zip(operation_at(path));
        let (method, (operation, protocol_version)) =
            found.ok_or_else(|| unknown_method(path, web))?;
        Ok(Self {
            method,
            operation,
            protocol_version,
            encoding: Encoding::of(&head.headers),
            web,
        })
    }

    /// Returns the format of the answer.
    pub(super) fn format(&self, reading: &ReadOptions) -> GrpcFormat {
        GrpcFormat {
            response: self.method.response(),
            gzip: self.encoding == Encoding::Gzip,
            web: self.web,
            limit: reading.limits.bytes,
        }
    }

    /// Checks that the version of the service is offered, and that `A2A-Version` does not contradict it.
    pub(super) fn check_version(
        &self,
        headers: &RequestHeaders<'_>,
        reading: &ReadOptions,
    ) -> Result<(), A2aError> {
        let (offer, protocol_version) = (reading.offer, self.protocol_version);
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

    /// Reads the body of a request.
    pub(super) fn read(
        &self,
        body: &[u8],
        reading: &ReadOptions,
    ) -> Result<IncomingCall, CallRefusal> {
        let refuse = |status, error| CallRefusal {
            status,
            ..refusal(self.protocol_version, error)
        };
        let frames = self.web.map_or(Some(body.into()), |web| web.frames(body));
        let frames = frames.ok_or_else(|| {
            let error = A2aError::new(ErrorKind::InvalidRequest, "the body is not Base64");
            refuse(None, error)
        })?;
        let is_gzip = self.encoding == Encoding::Gzip;
        let message = read_message(&frames, is_gzip, reading.limits.bytes).map_err(|error| {
            let text = A2aError::new(ErrorKind::InvalidRequest, error.to_string());
            refuse(status_of(error), text)
        })?;
        let json = self.method.request().to_json(&message).map_err(|error| {
            let text = format!("{}: {error}", self.method.request().name());
            refuse(None, A2aError::new(ErrorKind::JsonParse, text))
        })?;
        read_call(self.operation, self.protocol_version, &json, reading)
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
}

/// Returns the HTTP status of a frame that cannot be read, where the kind of error does not tell its status.
fn status_of(error: FrameError) -> Option<StatusCode> {
    match error {
        FrameError::TooLarge(_) => Some(StatusCode::PAYLOAD_TOO_LARGE),
        FrameError::Encoding | FrameError::Count(_) => Some(StatusCode::NOT_IMPLEMENTED),
        _ => None,
    }
}
