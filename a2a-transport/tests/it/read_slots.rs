//! Limit on the concurrent reads of one peer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use a2a_transport::http::{HttpService, ServeOptions, serve};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, Transport};
use a2a_types::{Response, Task};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Notify, Semaphore};

/// An agent that answers as soon as the test permits it.
#[derive(Clone)]
struct SlowAgent {
    at_work: Arc<AtomicUsize>,
    begun: Arc<Notify>,
    permits: Arc<Semaphore>,
}

impl Transport for SlowAgent {
    fn call(&self, _: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        Box::pin(async {
            self.at_work.fetch_add(1, Ordering::SeqCst);
            self.begun.notify_one();
            self.permits.acquire().await.unwrap().forget();
            Ok(CallResponse::once(Response::GetTask(Task::submitted(
                "t".into(),
                "c".into(),
            ))))
        })
    }
}

async fn ask(source: [u8; 4], address: std::net::SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((source, 0).into()).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let request = "GET /rest/tasks/t HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_peer_with_many_reads_leaves_room_for_others() {
    let agent = SlowAgent {
        at_work: Arc::default(),
        begun: Arc::default(),
        permits: Arc::new(Semaphore::new(0)),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = HttpService::new(agent.clone());
    let options = ServeOptions::default();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    let mut asked = Vec::new();
    for _ in 0..40 {
        asked.push(ask([127, 0, 0, 1], address).await);
    }
    let other = ask([127, 0, 0, 2], address).await;
    // The other peer's read begins, whatever the first one waits for.
    let at_work = || agent.at_work.load(Ordering::SeqCst);
    while at_work() < SLOTS + 1 {
        agent.begun.notified().await;
    }
    // Each read that ends makes room for one.
    agent.permits.add_permits(1);
    while at_work() < SLOTS + 2 {
        agent.begun.notified().await;
    }
    assert_eq!(at_work(), SLOTS + 2);
    agent.permits.add_permits(40);
    for mut stream in asked.into_iter().chain([other]) {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

/// Number of reads of one peer that are worked on at once.
const SLOTS: usize = 16;
