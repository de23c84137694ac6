//! gRPC-Web of our server, by HTTP/1.1.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use grpc_peer::prost::Message;
use grpc_peer::v1_0::{GetTaskRequest, SendMessageRequest, SendMessageResponse, StreamResponse};
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::{SEND, STREAM, framed, raw_request, start};

const FORMS: [&str; 2] = ["application/grpc-web", "application/grpc-web-text"];
const GET: &str = "/lf.a2a.v1.A2AService/GetTask";

/// Sends a request by HTTP/1.1 in a form of gRPC-Web. Returns the response with its frames: messages, and the
/// trailers.
async fn call(url: &str, path: &str, form: &str, frame: Vec<u8>) -> Response<Vec<(u8, Bytes)>> {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let socket = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (mut sender, connection) = http1::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let is_text = form.ends_with("text");
    let body = match is_text {
        true => STANDARD.encode(frame).into_bytes(),
        false => frame,
    };
    let headers = [("content-type", form), ("host", address)];
    let request = raw_request(url, path, &headers, body);
    let (head, body) = sender.send_request(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let body = match is_text {
        true => {
            // Each piece may be padded.
            let pieces = body.chunks(4).map(|it| STANDARD.decode(it).unwrap());
            Bytes::from(pieces.collect::<Vec<_>>().concat())
        }
        false => body,
    };
    let frames = match head.status {
        StatusCode::OK => frames(body),
        _ => Vec::new(),
    };
    Response::from_parts(head, frames)
}

fn frames(mut body: Bytes) -> Vec<(u8, Bytes)> {
    let mut frames = Vec::new();
    while !body.is_empty() {
        let head = body.split_to(5);
        let length = u32::from_be_bytes(head[1..].try_into().unwrap());
        frames.push((head[0], body.split_to(length as usize)));
    }
    frames
}

/// Checks the trailers, and returns the messages.
#[track_caller]
fn messages(response: Response<Vec<(u8, Bytes)>>, form: &str) -> Vec<Bytes> {
    assert_eq!(response.status(), StatusCode::OK);
    let content_type = response.headers()["content-type"].to_str().unwrap();
    assert_eq!(content_type, format!("{form}+proto"));
    let mut frames = response.into_body();
    let (flags, trailers) = frames.pop().unwrap();
    assert_eq!((flags, &trailers[..]), (0x80, &b"grpc-status: 0\r\n"[..]));
    assert!(frames.iter().all(|(flags, _)| *flags == 0));
    frames.into_iter().map(|(_, message)| message).collect()
}

#[tokio::test]
async fn unary_call_has_a_message_and_trailers() {
    let url = start().await;
    for form in FORMS {
        let request = framed(&SendMessageRequest::text("echo hello"));
        let messages = messages(call(&url, SEND, form, request).await, form);
        assert_eq!(messages.len(), 1, "{form}");
        SendMessageResponse::decode(messages[0].clone()).unwrap();
    }
}

#[tokio::test]
async fn stream_has_messages_and_trailers() {
    let url = start().await;
    for form in FORMS {
        let request = framed(&SendMessageRequest::text("chunks 2 0"));
        let messages = messages(call(&url, STREAM, form, request).await, form);
        assert_eq!(messages.len(), 4, "{form}");
        for message in messages {
            let event = StreamResponse::decode(message).unwrap();
            assert!(event.payload.is_some());
        }
    }
}

#[tokio::test]
async fn error_is_in_the_headers() {
    let url = start().await;
    let request = GetTaskRequest {
        id: "other".to_owned(),
        ..GetTaskRequest::default()
    };
    for form in FORMS {
        let response = call(&url, GET, form, framed(&request)).await;
        assert_eq!(response.headers()["grpc-status"], "5", "{form}");
        assert!(response.body().is_empty());
    }
}

#[tokio::test]
async fn grpc_needs_http_2() {
    let url = start().await;
    let request = framed(&SendMessageRequest::text("echo"));
    let response = call(&url, SEND, "application/grpc", request).await;
    assert_eq!(response.status(), StatusCode::HTTP_VERSION_NOT_SUPPORTED);
}
