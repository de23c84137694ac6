//! Budgets that all requests and all answers in flight share.

use std::net::SocketAddr;

use a2a_transport::http::{HttpService, ServeOptions, serve};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, Transport};
use a2a_types::{Artifact, ErrorKind, Part, Request as A2aRequest, Response as A2aResponse, Task};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc;

use crate::edge::{PATIENCE, exchange, read_to_end};

/// An agent that knows every task: the id is the number of bytes of its text.
struct Sized;

impl Transport for Sized {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let reply = match call.request {
            A2aRequest::GetTask(params) => {
                let size = params.id.as_str().parse().unwrap_or_default();
                let mut task = Task::submitted(params.id, "c".into());
                let text = "x".repeat(size);
                task.artifacts.push(Artifact {
                    artifact_id: "a".into(),
                    parts: vec![Part::text(text)],
                    ..Artifact::default()
                });
                Ok(CallResponse::once(A2aResponse::GetTask(task)))
            }
            _ => Err(ErrorKind::TaskNotFound.into()),
        };
        Box::pin(std::future::ready(reply))
    }
}

async fn served(service: HttpService<Sized>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    address
}

/// Returns a request by JSON-RPC or HTTP+JSON whose body has `length` bytes.
fn request(path: &str, length: usize) -> (String, String) {
    let body = match path {
        "/" => r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"1"}}"#,
        _ => "{}",
    };
    let body = body.to_owned() + &" ".repeat(length.saturating_sub(body.len()));
    let head = format!("POST {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n");
    let head = format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n");
    (head, body)
}

/// Sends a whole request until it is refused because of the others. Returns the refusal.
async fn until_refused(address: SocketAddr, path: &str, length: usize) -> String {
    let (head, body) = request(path, length);
    let asking = async {
        loop {
            let answer = exchange(address, &(head.clone() + &body)).await;
            if answer.starts_with("HTTP/1.1 503") {
                return answer;
            }
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.unwrap()
}

#[tokio::test]
async fn bodies_beyond_the_budget_are_refused_with_retry_after() {
    let address = served(HttpService::new(Sized).receive_budget(800_000)).await;
    let (head, body) = request("/", 200_000);
    let (most, rest) = body.split_at(199_000);
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(most.as_bytes()).await.unwrap();
        held.push(stream);
    }
    for path in ["/", "/message:send"] {
        let refusal = until_refused(address, path, 100_000).await;
        assert!(refusal.contains("\r\nretry-after: 1\r\n"), "{refusal}");
        let error = match path {
            "/" => r#""code":-32000"#,
            _ => r#""status":"UNAVAILABLE""#,
        };
        assert!(refusal.contains(error), "{refusal}");
    }
    // Small ones still get through.
    let (small, body) = request("/", 1000);
    let answer = exchange(address, &(small + &body)).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // Bodies that were begun are completed, and make room.
    for stream in &mut held {
        stream.write_all(rest.as_bytes()).await.unwrap();
        let answer = read_to_end(stream).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let (large, body) = request("/", 500_000);
    let answer = exchange(address, &(large + &body)).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn the_bodies_of_one_connection_share_the_budget_too() {
    let address = served(HttpService::new(Sized).receive_budget(1 << 20)).await;
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let (mut bodies, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        let (send, mut sent) = mpsc::unbounded_channel::<Bytes>();
        let body = futures_util::stream::poll_fn(move |cx| sent.poll_recv(cx));
        let body = futures_util::StreamExt::map(body, |data| {
            Ok::<_, std::convert::Infallible>(Frame::data(data))
        });
        let request = Request::post(format!("http://{address}/"))
            .header("content-type", "application/json")
            .body(StreamBody::new(body))
            .unwrap();
        sender.ready().await.unwrap();
        answers.push(Box::pin(sender.send_request(request)));
        send.send(vec![b' '; 60_000].into()).unwrap();
        bodies.push(send);
    }
    // More bodies than fit have been sent, and none has ended.
    let refused = futures_util::future::select_all(answers);
    let (refused, ..) = tokio::time::timeout(PATIENCE, refused).await.unwrap();
    let refused = refused.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "1");
}

/// Sends a request and reads only the beginning of its answer. Returns the connection and that beginning.
async fn unread(address: SocketAddr, size: usize) -> (TcpStream, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let request = format!("GET /rest/tasks/{size} HTTP/1.1\r\nhost: h\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 100];
    stream.read_exact(&mut head).await.unwrap();
    (stream, String::from_utf8_lossy(&head).into_owned())
}

/// Bytes of a task of which no three fit into the budget of answers.
const LARGE: usize = 8 << 20;

#[tokio::test]
async fn answers_beyond_the_budget_are_refused_with_retry_after() {
    let address = served(HttpService::new(Sized).answer_budget(3 * LARGE)).await;
    let mut held = Vec::new();
    for expected in ["200", "200", "503", "503"] {
        let (stream, head) = unread(address, LARGE).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {expected}")), "{head}");
        held.push(stream);
    }
    let (head, body) = request("/", 100);
    let body = body.replace(r#""1""#, &format!(r#""{LARGE}""#));
    let refusal = exchange(address, &(head.clone() + &body[..100])).await;
    assert!(refusal.starts_with("HTTP/1.1 503"), "{refusal}");
    assert!(refusal.contains("\r\nretry-after: 1\r\n"), "{refusal}");
    assert!(refusal.contains(r#""code":-32000"#), "{refusal}");
    // Small ones still get through.
    let (small, body) = request("/", 1000);
    let answer = exchange(address, &(small + &body)).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // A caller that leaves or reads makes room.
    drop(held);
    let asking = async { while !unread(address, LARGE).await.1.starts_with("HTTP/1.1 200") {} };
    tokio::time::timeout(PATIENCE, asking).await.unwrap();
}
