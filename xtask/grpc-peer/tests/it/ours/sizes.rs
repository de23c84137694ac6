//! Messages over the limit of our server.

use grpc_peer::Connection;
use grpc_peer::tonic::{Code, Status};
use grpc_peer::v1_0::{ListTasksRequest, SendMessageRequest, TaskState};
use tokio_stream::StreamExt;

use super::{builder, serve};
use crate::v1_0::state;

async fn connect(limit: usize) -> Connection {
    let server = builder().build().unwrap().http().body_limit(limit);
    grpc_peer::plain(&serve(server).await).await.unwrap()
}

#[track_caller]
fn check_exhausted(error: &Status, limit: &str) {
    assert_eq!(error.code(), Code::ResourceExhausted, "{error:?}");
    assert!(error.message().contains(limit), "{}", error.message());
}

#[tokio::test]
async fn request_over_the_limit_is_refused_with_the_limit() {
    let connection = connect(1000).await;
    for connection in [connection.clone(), connection.gzip()] {
        for length in [1001, 1400, 200_000] {
            let request = SendMessageRequest::text("a".repeat(length));
            let response = connection.v1_0().send_message(request).await;
            check_exhausted(&response.unwrap_err(), "1000");
        }
        let request = SendMessageRequest::text("reply hi");
        connection.v1_0().send_message(request).await.unwrap();
    }
}

#[tokio::test]
async fn request_over_the_default_limit_is_refused_with_the_limit() {
    let connection = super::connect().await;
    let request = SendMessageRequest::text("a".repeat(5 << 20));
    let response = connection.v1_0().send_message(request).await;
    check_exhausted(&response.unwrap_err(), "4194304");
}

#[tokio::test]
async fn response_over_the_limit_is_an_error_and_the_task_has_ended() {
    let connection = connect(1000).await;
    let request = SendMessageRequest::text(format!("echo {}", "a".repeat(700)));
    let response = connection.v1_0().send_message(request).await;
    check_exhausted(&response.unwrap_err(), "1000");
    let list = ListTasksRequest {
        history_length: Some(0),
        ..ListTasksRequest::default()
    };
    let list = connection.v1_0().list_tasks(list).await.unwrap();
    assert_eq!(state(&list.into_inner().tasks[0]), TaskState::Completed);
}

#[tokio::test]
async fn event_over_the_limit_ends_the_stream_with_an_error() {
    let connection = connect(1000).await;
    let request = SendMessageRequest::text(format!("ask {}", "a".repeat(500)));
    let response = connection.v1_0().send_message(request).await;
    check_exhausted(&response.unwrap_err(), "1000");
    let list = ListTasksRequest {
        history_length: Some(0),
        ..ListTasksRequest::default()
    };
    let list = connection.v1_0().list_tasks(list).await;
    let id = list.unwrap().into_inner().tasks[0].id.clone();
    let mut client = connection.v1_0();
    let stream = crate::v1_0::subscribe(&mut client, &id).await.unwrap();
    let last = stream.collect::<Vec<_>>().await.pop().unwrap();
    check_exhausted(&last.unwrap_err(), "1000");
}
