//! The edge of a server: what peers may do to it before and after the protocol is spoken.

mod budgets;
mod busy;
mod connection_limits;
mod descriptors;
mod heads;
mod readers;
mod refused_bodies;
mod slow;

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use a2a_transport::http::{HttpService, ServeOptions, serve};
use a2a_transport::{BoxFuture, CallRequest, CallResponse, Error, Transport, Update};
use a2a_types::{ErrorKind, Event, Message, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_stream::Stream;

/// An agent that knows no task, and whose streams never end.
struct EndlessAgent {
    /// Receives `()` when a stream is dropped.
    left: UnboundedSender<()>,
}

impl Transport for EndlessAgent {
    fn call(&self, call: CallRequest) -> BoxFuture<'_, Result<CallResponse, Error>> {
        let reply = match call.request {
            Request::SubscribeToTask(_) => {
                Ok(CallResponse::stream(EndlessUpdates(self.left.clone())))
            }
            _ => Err(ErrorKind::TaskNotFound.into()),
        };
        Box::pin(std::future::ready(reply))
    }
}

/// A stream of updates that is always ready and never ends.
struct EndlessUpdates(UnboundedSender<()>);

impl Stream for EndlessUpdates {
    type Item = Result<Update, Error>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(Some(Ok(Update::new(
            Event::Message(Message::agent("again")),
            Some(1),
        ))))
    }
}

impl Drop for EndlessUpdates {
    fn drop(&mut self) {
        // The test may have ended.
        let _ = self.0.send(());
    }
}

/// Starts a server of an [`EndlessAgent`]. The receiver gets `()` when one of its streams is dropped.
async fn talker(options: ServeOptions) -> (SocketAddr, UnboundedReceiver<()>) {
    talker_with(options, |service| service).await
}

/// The same, with other settings of the service.
async fn talker_with(
    options: ServeOptions,
    set: impl FnOnce(HttpService<EndlessAgent>) -> HttpService<EndlessAgent>,
) -> (SocketAddr, UnboundedReceiver<()>) {
    let (left, leaving) = unbounded_channel();
    let service = set(HttpService::new(EndlessAgent { left }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, service, options, std::future::pending()));
    (address, leaving)
}

/// Timeout for a slow peer in these tests.
const SHORT: Duration = Duration::from_millis(300);

/// Time for which a test waits for what must happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends a request on a connection of its own, and reads what comes until the connection ends.
async fn exchange(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may have refused it before its end.
    let _ = stream.write_all(request.as_bytes()).await;
    read_to_end(&mut stream).await
}

/// Reads everything until the connection ends, in whatever way.
async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let reading = async { while let Ok(1..) = stream.read_buf(&mut bytes).await {} };
    tokio::time::timeout(PATIENCE, reading).await.unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Checks that a request is answered.
async fn is_served(address: SocketAddr) {
    let request = "GET /rest/tasks/t HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";
    let answer = exchange(address, request).await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert!(answer.contains("TASK_NOT_FOUND"), "{answer}");
}
