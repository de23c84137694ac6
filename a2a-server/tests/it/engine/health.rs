//! Liveness and readiness of a server.

use std::net::SocketAddr;
use std::time::Duration;

use a2a_client::Client;
use a2a_server::{AuthError, MemoryStore, Principal, Probes, Server, SqliteStore};
use a2a_transport::http::{Authenticator, Body, Hosts, HttpService};
use http::header::{ALLOW, CACHE_CONTROL};
use http::request::Parts;
use http::{Request, Response};
use http_body_util::Empty;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::engine::metrics_recorder::whole;
use crate::engine::{Worker, card};
use crate::waiting::eventually;

fn server() -> Server {
    let builder = Server::builder(card(), Worker::default());
    builder.store(MemoryStore::default()).build().unwrap()
}

/// A service as `BoundServer` makes it for this machine, with an authenticator that rejects every
/// caller.
fn closed(server: &Server) -> HttpService<Server> {
    HttpService::new(server.clone())
        .readiness(server.clone())
        .hosts(Hosts::loopback())
        .authenticator(DenyAll)
}

/// Authenticator that rejects every caller.
struct DenyAll;

impl Authenticator for DenyAll {
    async fn authenticate(&self, _: &Parts) -> Result<Principal, AuthError> {
        Err(AuthError::forbidden())
    }
}

/// Asks without credentials, by the address alone.
async fn ask(service: &HttpService<Server>, method: &str, path: &str) -> Response<Body> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("host", "10.1.2.3:8080");
    let body = Empty::<bytes::Bytes>::new();
    service.handle(request.body(body).unwrap()).await
}

/// Returns the answer, which no cache may keep.
async fn said(service: &HttpService<Server>, path: &str) -> (u16, String) {
    let answer = ask(service, "GET", path).await;
    assert_eq!(answer.headers()[CACHE_CONTROL], "no-store", "{path}");
    (answer.status().as_u16(), whole(answer).await)
}

#[track_caller]
fn check(said: (u16, String), status: u16, text: &str) {
    assert_eq!(said, (status, text.to_owned()));
}

#[tokio::test]
async fn probes_answer_without_authentication_and_reveal_only_the_state() {
    let service = closed(&server());
    check(said(&service, "/healthz").await, 200, "alive");
    check(said(&service, "/readyz").await, 200, "ready");
    assert_eq!(ask(&service, "HEAD", "/readyz").await.status(), 200);
    for path in ["/healthz", "/readyz"] {
        let answer = ask(&service, "POST", path).await;
        assert_eq!(answer.status(), 405);
        assert_eq!(answer.headers()[ALLOW], "GET, HEAD");
        assert_eq!(answer.headers()[CACHE_CONTROL], "no-store");
    }
    // Everything else still needs authentication.
    for path in [
        "/",
        "/healthz/",
        "/healthz/x",
        "/.well-known/agent-card.json",
    ] {
        assert_eq!(ask(&service, "GET", path).await.status(), 403, "{path}");
    }
}

#[tokio::test]
async fn probe_paths_can_be_moved_or_disabled() {
    let service = closed(&server()).hosts(Hosts::any());
    let mut deep = Probes::none();
    deep.alive = Some("/deep/live".to_owned());
    let moved = service.clone().probes(deep);
    check(said(&moved, "/deep/live").await, 200, "alive");
    let nowhere = service.clone().probes(Probes::none());
    for (service, path) in [
        (&moved, "/healthz"),
        (&moved, "/readyz"),
        (&nowhere, "/healthz"),
        (&nowhere, "/readyz"),
    ] {
        assert_eq!(ask(service, "GET", path).await.status(), 404, "{path}");
    }
    let endpoint = service.path("/readyz");
    assert_eq!(ask(&endpoint, "GET", "/readyz").await.status(), 405);
}

#[tokio::test]
async fn a_server_whose_store_does_not_answer_is_not_ready_until_it_does() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tasks.db");
    let builder = Server::builder(card(), Worker::default());
    let builder = builder.store(SqliteStore::open(&path).unwrap());
    let service = closed(&builder.build().unwrap());
    check(until(&service, 200).await, 200, "ready");
    // Another writer keeps the store from writing.
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("begin immediate").unwrap();
    check(until(&service, 503).await, 503, "store unavailable");
    check(said(&service, "/healthz").await, 200, "alive");
    other.execute_batch("rollback").unwrap();
    check(until(&service, 200).await, 200, "ready");
}

/// Asks until the answer is this.
async fn until(service: &HttpService<Server>, status: u16) -> (u16, String) {
    eventually(async || {
        let said = said(service, "/readyz").await;
        (said.0 == status).then_some(said)
    })
    .await
}

#[tokio::test]
async fn a_draining_server_is_not_ready_and_still_serves() {
    let server = server();
    let (service, client) = (closed(&server), Client::new(server.clone()));
    server.drain();
    check(said(&service, "/readyz").await, 503, "shutting down");
    check(said(&service, "/healthz").await, 200, "alive");
    client.send("echo still there").await.unwrap();
    server.shutdown(Duration::ZERO).await;
    check(said(&service, "/readyz").await, 503, "shutting down");
    client.send("echo not any more").await.unwrap_err();
}

#[tokio::test]
async fn a_draining_server_accepts_connections() {
    let bound = server().bind("127.0.0.1:0").await.unwrap();
    let (address, url) = (bound.local_addr(), bound.url());
    let bound = bound.drain(Duration::from_secs(3600));
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(bound.run(async { drop(stopped.await) }));
    assert!(get(address, "/readyz").await.starts_with("HTTP/1.1 200 "));
    stop.send(()).unwrap();
    let noticed = async {
        while get(address, "/readyz").await.starts_with("HTTP/1.1 200 ") {}
        get(address, "/readyz").await
    };
    let noticed = tokio::time::timeout(Duration::from_secs(20), noticed).await;
    let noticed = noticed.unwrap();
    assert!(noticed.starts_with("HTTP/1.1 503 "), "{noticed}");
    assert!(noticed.ends_with("shutting down"), "{noticed}");
    let client = Client::at(&url, a2a_types::ProtocolVersion::V1_0).unwrap();
    client.send("echo still there").await.unwrap();
    serving.abort();
}

/// Returns the whole answer, on a separate connection.
async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
