//! Requests that no client of gRPC makes.

use grpc_peer::v1_0::SendMessageRequest;
use http::StatusCode;

use super::{RawAnswer, SEND, STREAM, call_raw, framed, start};

const OK: &str = "0";
const INVALID_ARGUMENT: &str = "3";
const UNIMPLEMENTED: &str = "12";

#[track_caller]
fn check(answer: &RawAnswer, expected: &str) {
    assert_eq!(answer.head.status, StatusCode::OK);
    let message = answer.status_header("grpc-message");
    assert_eq!(answer.status_header("grpc-status"), expected, "{message}");
    assert_eq!(answer.body.is_empty(), expected != OK);
}

#[tokio::test]
async fn malformed_frames_are_refused() {
    let url = start().await;
    let whole = framed(&SendMessageRequest::text("echo"));
    let with_flags = |flags: u8| {
        let mut frame = whole.clone();
        frame[0] = flags;
        frame
    };
    let protobuf = [&[0, 0, 0, 0, 3][..], &[0xff, 0xff, 0xff]].concat();
    for (body, expected) in [
        (whole.clone(), OK),
        (whole[..whole.len() - 1].to_vec(), INVALID_ARGUMENT),
        (whole[..3].to_vec(), INVALID_ARGUMENT),
        (with_flags(2), INVALID_ARGUMENT),
        (with_flags(0x80), INVALID_ARGUMENT),
        (with_flags(1), UNIMPLEMENTED),
        (Vec::new(), UNIMPLEMENTED),
        ([whole.clone(), whole.clone()].concat(), UNIMPLEMENTED),
    ] {
        for path in [SEND, STREAM] {
            check(&call_raw(&url, path, &[], body.clone()).await, expected);
        }
    }
    let answer = call_raw(&url, SEND, &[], protobuf).await;
    assert_ne!(answer.status_header("grpc-status"), OK);
    let answer = call_raw(&url, SEND, &[("grpc-encoding", "gzip")], with_flags(1)).await;
    check(&answer, INVALID_ARGUMENT);
}

#[tokio::test]
async fn unknown_encoding_is_refused_with_the_known_ones() {
    let url = start().await;
    let mut body = framed(&SendMessageRequest::text("echo"));
    body[0] = 1;
    let answer = call_raw(&url, SEND, &[("grpc-encoding", "zstd")], body).await;
    check(&answer, UNIMPLEMENTED);
    let known = answer.head.headers.get("grpc-accept-encoding").unwrap();
    assert_eq!(known, "identity,gzip");
}

#[tokio::test]
async fn unknown_method_is_unimplemented() {
    let url = start().await;
    let body = framed(&SendMessageRequest::text("echo"));
    for path in [
        "/lf.a2a.v1.A2AService/Other",
        "/a2a.v1.A2AService/ListTasks",
        "/grpc.health.v1.Health/Other",
    ] {
        check(
            &call_raw(&url, path, &[], body.clone()).await,
            UNIMPLEMENTED,
        );
    }
}

#[tokio::test]
async fn another_media_type_is_refused_by_http() {
    let url = start().await;
    let body = framed(&SendMessageRequest::text("echo"));
    for (media_type, expected) in [
        ("application/grpc+proto", StatusCode::OK),
        ("application/grpc+json", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("application/json", StatusCode::UNSUPPORTED_MEDIA_TYPE),
    ] {
        let headers = [("content-type", media_type)];
        let answer = call_raw(&url, SEND, &headers, body.clone()).await;
        assert_eq!(answer.head.status, expected, "{media_type}");
    }
}
