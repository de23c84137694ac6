//! The client and the server of this workspace against the generated server and clients.

mod authentication;
mod client;
#[cfg(target_os = "linux")]
mod floods;
mod frames;
mod hostile;
mod metadata;
mod operator_services;
mod sizes;
mod v0_3;
mod v1_0;
mod web;

use a2a_server::demo::Reference;
use a2a_server::{HttpServer, Server, ServerBuilder, WebhookPolicy};
use bytes::Bytes;
use grpc_peer::Connection;
use grpc_peer::prost::Message;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

/// A server whose agent does what the first word of a message says: [`Reference::ORDERS`].
fn builder() -> ServerBuilder {
    let policy = WebhookPolicy::default().allow_hosts(["127.0.0.1"]);
    Server::builder(Reference::card(), Reference).webhooks(policy)
}

/// Serves at an address of its own, and returns the URL.
async fn serve(server: HttpServer) -> String {
    let bound = server.bind("127.0.0.1:0").await.unwrap();
    let url = bound.url();
    tokio::spawn(bound.run(std::future::pending()));
    url
}

/// Starts the server with its default settings.
async fn start() -> String {
    serve(builder().build().unwrap().http()).await
}

/// Starts the server, and connects the generated clients to it.
async fn connect() -> Connection {
    grpc_peer::plain(&start().await).await.unwrap()
}

/// Path of the method of 1.0 that sends a message.
const SEND: &str = "/lf.a2a.v1.A2AService/SendMessage";
/// Path of the method of 1.0 that streams.
const STREAM: &str = "/lf.a2a.v1.A2AService/SendStreamingMessage";

/// A connection of HTTP/2 without a client of gRPC.
type RawConnection = http2::SendRequest<Full<Bytes>>;

async fn connect_raw(url: &str) -> RawConnection {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let socket = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (sender, connection) = http2::handshake(TokioExecutor::new(), socket)
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

/// Returns a request with the headers of gRPC.
fn raw_request(
    url: &str,
    path: &str,
    headers: &[(&'static str, &str)],
    body: impl Into<Bytes>,
) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::from(body.into()));
    *request.method_mut() = Method::POST;
    let url = url.trim_end_matches('/');
    *request.uri_mut() = format!("{url}{path}").parse().unwrap();
    let basic = [("content-type", "application/grpc"), ("te", "trailers")];
    for (name, value) in basic.iter().chain(headers) {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    request
}

/// An answer to a raw request.
struct RawAnswer {
    head: http::response::Parts,
    body: Bytes,
    trailers: Option<HeaderMap>,
}

impl RawAnswer {
    /// Returns a header of the trailers, or of the headers if there are no trailers.
    fn status_header(&self, name: &str) -> &str {
        let headers = self.trailers.as_ref().unwrap_or(&self.head.headers);
        let value = headers.get(name).map(|it| it.to_str().unwrap());
        value.unwrap_or_default()
    }
}

/// Sends a request on a connection of its own.
async fn call_raw(
    url: &str,
    path: &str,
    headers: &[(&'static str, &str)],
    body: impl Into<Bytes>,
) -> RawAnswer {
    let mut connection = connect_raw(url).await;
    let request = raw_request(url, path, headers, body);
    let (head, body) = connection.send_request(request).await.unwrap().into_parts();
    let collected = body.collect().await.unwrap();
    RawAnswer {
        head,
        trailers: collected.trailers().cloned(),
        body: collected.to_bytes(),
    }
}

/// Returns a message in its frame.
fn framed(message: &impl Message) -> Vec<u8> {
    let mut frame = vec![0; 5];
    message.encode(&mut frame).unwrap();
    let length = (frame.len() - 5) as u32;
    frame[1..5].copy_from_slice(&length.to_be_bytes());
    frame
}
