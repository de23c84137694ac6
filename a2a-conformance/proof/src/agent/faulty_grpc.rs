//! Bugs of gRPC between the agent and the wire.

use a2a_transport::binding::grpc::{Code, Status};
use a2a_transport::http::grpc::{frame_request, read_status, write_status};
use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::bug::Bug;
use super::interceptor::InterceptedRequest;
use super::named_callers::{self, FIRST};

/// Changes the headers of a request.
pub(super) fn headers(bug: Bug, request: &InterceptedRequest, headers: &mut HeaderMap) {
    if bug == Bug::GrpcAdmitsWrongCredentials && request.authorization.is_some() {
        headers.remove(AUTHORIZATION);
        headers.extend(named_callers::headers(FIRST));
    }
}

/// Changes the trailers of an answer.
pub(super) fn trailers(bug: Bug, request: &InterceptedRequest, trailers: &mut HeaderMap) {
    let Some(mut status) = read_status(trailers) else {
        return;
    };
    let is_malformed = request.body.is_empty();
    let written = match bug {
        Bug::GrpcWithoutStatus
            if status.code == Code::OK && request.path.ends_with("/SendMessage") =>
        {
            trailers.remove("grpc-status");
            return;
        }
        Bug::GrpcDetailsDiffer if status.code == Code::NOT_FOUND => {
            trailers.insert("grpc-message", "gone".parse().expect("it is text"));
            return;
        }
        Bug::GrpcErrorIsUnknown if status.code == Code::NOT_FOUND => {
            status.code = Code::of(2);
            status
        }
        Bug::GrpcServesUnknownMethod if status.code == Code::UNIMPLEMENTED => {
            Status::new(Code::NOT_FOUND, "there is no such page")
        }
        Bug::GrpcAcceptsMalformed if is_malformed && request.path.ends_with("/GetTask") => {
            Status::new(Code::OK, "")
        }
        Bug::GrpcRefusesUnknownField if has_unknown_field(request) => {
            Status::new(Code::INVALID_ARGUMENT, "there is an unknown field")
        }
        _ => return,
    };
    for name in ["grpc-status", "grpc-message", "grpc-status-details-bin"] {
        trailers.remove(name);
    }
    write_status(&written, trailers);
}

/// Returns whether a frame is longer than what is known of its message.
fn has_unknown_field(request: &InterceptedRequest) -> bool {
    let known = frame_request(&request.path, &request.body);
    let frame = request.grpc.as_ref();
    known.is_ok_and(|known| frame.is_some_and(|frame| frame.len() > known.len()))
}
