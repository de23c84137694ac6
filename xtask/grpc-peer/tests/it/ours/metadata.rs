//! Headers of requests: version, extensions, deadline, compression; and TLS.

use a2a_server::ServerTls;
use a2a_server::demo::Reference;
use a2a_types::AgentExtension;
use grpc_peer::tonic::{Code, Request};
use grpc_peer::v1_0::{ListTasksRequest, SendMessageRequest, TaskState};
use grpc_peer::{v0_3, v1_0};
use rcgen::generate_simple_self_signed;

use super::{SEND, STREAM, builder, call_raw, connect, framed, serve, start};
use crate::v1_0::{check_error, state};

fn with_header<T>(message: T, name: &'static str, value: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert(name, value.parse().unwrap());
    request
}

#[tokio::test]
async fn version_that_contradicts_the_service_is_refused() {
    let connection = connect().await;
    let send = |version: &str| {
        let request = with_header(SendMessageRequest::text("echo"), "a2a-version", version);
        let mut client = connection.v1_0();
        async move { client.send_message(request).await }
    };
    for version in ["1.0", "1.0.1"] {
        send(version).await.unwrap();
    }
    for version in ["0.3", "9.9"] {
        let error = send(version).await.unwrap_err();
        check_error(&error, Code::FailedPrecondition, "VERSION_NOT_SUPPORTED");
    }
    let send = |version: &str| {
        let message = v0_3::SendMessageRequest::text("echo");
        let request = with_header(message, "a2a-version", version);
        let mut client = connection.v0_3();
        async move { client.send_message(request).await }
    };
    send("0.3").await.unwrap();
    let error = send("1.0").await.unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
}

#[tokio::test]
async fn extensions_that_the_card_offers_are_echoed() {
    let mut card = Reference::card();
    card.capabilities.extensions = vec![AgentExtension {
        uri: "https://example.com/ext".to_owned(),
        ..AgentExtension::default()
    }];
    let server = a2a_server::Server::builder(card, Reference)
        .build()
        .unwrap();
    let url = serve(server.http()).await;
    let connection = grpc_peer::plain(&url).await.unwrap();
    let asked = "https://example.com/ext, https://example.com/other";

    let request = || with_header(SendMessageRequest::text("echo"), "a2a-extensions", asked);
    let response = connection.v1_0().send_message(request()).await.unwrap();
    let echoed = response.metadata().get("a2a-extensions").unwrap();
    assert_eq!(echoed, "https://example.com/ext");
    let response = connection.v1_0().send_streaming_message(request()).await;
    let response = response.unwrap();
    let echoed = response.metadata().get("a2a-extensions").unwrap();
    assert_eq!(echoed, "https://example.com/ext");

    let message = v0_3::SendMessageRequest::text("echo");
    let request = with_header(message, "x-a2a-extensions", asked);
    let response = connection.v0_3().send_message(request).await.unwrap();
    let echoed = response.metadata().get("x-a2a-extensions").unwrap();
    assert_eq!(echoed, "https://example.com/ext");
}

#[tokio::test]
async fn deadline_ends_the_wait_and_not_the_task() {
    // The generated client would end the wait by itself.
    let url = start().await;
    for path in [SEND, STREAM] {
        let body = framed(&SendMessageRequest::text("wait"));
        let headers = [("grpc-timeout", "300m")];
        let answer = call_raw(&url, path, &headers, body).await;
        assert_eq!(answer.status_header("grpc-status"), "4", "{path}");
        assert_eq!(answer.status_header("grpc-status-details-bin"), "");
        assert_eq!(answer.body.is_empty(), path == SEND);
    }
    let mut client = grpc_peer::plain(&url).await.unwrap().v1_0();
    let list = client.list_tasks(ListTasksRequest::default()).await;
    let tasks = list.unwrap().into_inner().tasks;
    assert_eq!(tasks.len(), 2);
    assert!(tasks.iter().all(|task| state(task) == TaskState::Working));
}

#[tokio::test]
async fn request_and_response_may_be_compressed() {
    let connection = connect().await;
    let text = format!("echo {}", "a".repeat(10_000));
    let request = || SendMessageRequest::text(text.clone());
    for (connection, expected) in [
        (connection.clone(), None),
        (connection.gzip(), Some("gzip")),
    ] {
        let response = connection.v1_0().send_message(request()).await;
        let response = response.unwrap();
        let encoding = response.metadata().get("grpc-encoding");
        assert_eq!(encoding.map(|it| it.to_str().unwrap()), expected);
        let Some(v1_0::send_message_response::Payload::Task(task)) = response.into_inner().payload
        else {
            panic!("not a task");
        };
        assert_eq!(task.history[0].text(), text);
        let mut client = connection.v1_0();
        let stream = client.send_streaming_message(request()).await;
        let events = crate::v1_0::rest(stream.unwrap().into_inner()).await;
        assert_eq!(events.last().unwrap(), "status Completed");
    }
}

#[tokio::test]
async fn tls_is_spoken_on_the_same_port() {
    let certified = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (chain, key) = (
        folder.path().join("chain.pem"),
        folder.path().join("key.pem"),
    );
    std::fs::write(&chain, certified.cert.pem()).unwrap();
    std::fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    let tls = ServerTls::builder(&chain, &key).build().unwrap();
    let url = serve(builder().build().unwrap().http().tls(tls)).await;

    let url = url.replace("127.0.0.1", "localhost");
    let connection = grpc_peer::tls(&url, certified.cert.pem()).await.unwrap();
    let request = SendMessageRequest::text("echo");
    connection.v1_0().send_message(request).await.unwrap();
    let request = v0_3::SendMessageRequest::text("echo");
    connection.v0_3().send_message(request).await.unwrap();
}
