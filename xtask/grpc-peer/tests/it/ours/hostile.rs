//! Peers that use more than they should, or all that they may.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use a2a_transport::http::ServeOptions;
use grpc_peer::v1_0::{SendMessageRequest, SubscribeToTaskRequest};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::task::JoinSet;

use super::{SEND, STREAM, builder, connect_raw, framed, raw_request, serve, start};
use crate::v1_0::{cancel, send};

/// Path of the method of 1.0 that follows a task.
const SUBSCRIBE: &str = "/lf.a2a.v1.A2AService/SubscribeToTask";

/// Checks that a new connection is answered.
pub(super) async fn check_answers(url: &str) {
    let mut client = grpc_peer::plain(url).await.unwrap().v1_0();
    send(&mut client, SendMessageRequest::text("echo")).await;
}

#[tokio::test]
async fn server_answers_others_after_rapid_resets() {
    let url = start().await;
    for path in [SEND, STREAM] {
        let mut connection = connect_raw(&url).await;
        for _ in 0..2000 {
            // The server may close the connection.
            if connection.ready().await.is_err() {
                break;
            }
            let body = framed(&SendMessageRequest::text("wait"));
            let mut response = pin!(connection.send_request(raw_request(&url, path, &[], body)));
            // Begins the request; its end resets the stream.
            poll_fn(|cx| Poll::Ready(response.as_mut().poll(cx).is_ready())).await;
            tokio::task::yield_now().await;
        }
        check_answers(&url).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_streams_see_the_end_of_a_task() {
    let mut options = ServeOptions::default();
    // On a busy machine these requests take long to arrive.
    let patience = Duration::from_secs(120);
    options.header_timeout = patience;
    let server = builder().build().unwrap().http();
    let url = serve(server.options(options).body_timeout(patience)).await;
    let mut client = grpc_peer::plain(&url).await.unwrap().v1_0();
    let request = SendMessageRequest::text("wait").return_immediately();
    let id = send(&mut client, request).await.id;

    let request = SubscribeToTaskRequest {
        id: id.clone(),
        ..SubscribeToTaskRequest::default()
    };
    let body = framed(&request);
    let mut connections = JoinSet::new();
    for _ in 0..100 {
        let (url, body) = (url.clone(), body.clone());
        connections.spawn(async move {
            let mut connection = connect_raw(&url).await;
            let mut streams = Vec::new();
            for _ in 0..100 {
                let request = raw_request(&url, SUBSCRIBE, &[], body.clone());
                streams.push(connection.send_request(request));
            }
            let mut bodies = Vec::new();
            for stream in streams {
                let (head, mut body) = stream.await.unwrap().into_parts();
                let first = body.frame().await;
                let first = first.unwrap_or_else(|| panic!("no event: {:?}", head.headers));
                assert!(first.unwrap().is_data());
                bodies.push(body);
            }
            bodies
        });
    }
    let streams = connections.join_all().await.into_iter().flatten();
    let streams: Vec<_> = streams.collect();
    assert_eq!(streams.len(), 10_000);
    check_answers(&url).await;
    cancel(&mut client, &id).await.unwrap();
    for stream in streams {
        let ended = stream.collect().await.unwrap();
        assert_eq!(ended.trailers().unwrap()["grpc-status"], "0");
        assert!(!ended.to_bytes().is_empty());
    }
}

#[tokio::test]
async fn server_answers_others_while_a_peer_does_not_read() {
    let url = start().await;
    let text = format!("echo {}", "a".repeat(100_000));
    let mut unread: Vec<Incoming> = Vec::new();
    for _ in 0..2 {
        let mut connection = connect_raw(&url).await;
        for _ in 0..20 {
            let body = framed(&SendMessageRequest::text(text.clone()));
            let response = connection.send_request(raw_request(&url, STREAM, &[], body));
            unread.push(response.await.unwrap().into_body());
        }
    }
    check_answers(&url).await;
    drop(unread);
    check_answers(&url).await;
}

#[tokio::test]
async fn server_answers_others_while_requests_do_not_end() {
    use bytes::Bytes;
    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use hyper_util::rt::{TokioExecutor, TokioIo};

    let url = start().await;
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let handshake =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(socket));
    let (mut sender, connection) = handshake.await.unwrap();
    tokio::spawn(connection);
    let mut responses = Vec::new();
    for path in [SEND, STREAM, SUBSCRIBE].into_iter().cycle().take(90) {
        let message = framed(&SubscribeToTaskRequest::default());
        let frame = Frame::data(Bytes::from(message));
        let endless = tokio_stream::StreamExt::chain(
            tokio_stream::once(Ok::<_, std::convert::Infallible>(frame)),
            tokio_stream::pending(),
        );
        let request = raw_request(&url, path, &[], Vec::new()).map(|_| StreamBody::new(endless));
        responses.push(sender.send_request(request));
    }
    sender.ready().await.unwrap();
    check_answers(&url).await;
    drop(responses);
}
