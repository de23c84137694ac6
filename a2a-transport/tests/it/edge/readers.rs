//! Peers that send requests and do not read the answers.

use a2a_transport::http::ServeOptions;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::edge::{PATIENCE, SHORT, is_served, talker};

fn options() -> ServeOptions {
    let mut options = ServeOptions::default();
    options.write_timeout = SHORT;
    options
}

const FOLLOW: &str = "GET /rest/tasks/t:subscribe HTTP/1.1\r\nhost: h\r\n\r\n";

#[tokio::test]
async fn readers_that_stop_are_cut_off_and_their_streams_dropped() {
    let (address, mut leaving) = talker(options()).await;
    let mut stalled = Vec::new();
    for _ in 0..8 {
        // A small receive buffer, so that the server is blocked sooner.
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut stream = socket.connect(address).await.unwrap();
        stream.write_all(FOLLOW.as_bytes()).await.unwrap();
        let mut first = [0; 100];
        stream.read_exact(&mut first).await.unwrap();
        assert!(first.starts_with(b"HTTP/1.1 200"));
        stalled.push(stream);
    }
    let mut left = 0;
    while left < stalled.len() {
        is_served(address).await;
        tokio::time::timeout(PATIENCE, leaving.recv())
            .await
            .unwrap()
            .unwrap();
        left += 1;
    }
    // Bytes that were on their way are still there, and then the connection is over.
    for stream in &mut stalled {
        let mut rest = vec![0; 1 << 20];
        let reading = async { while let Ok(1..) = stream.read(&mut rest).await {} };
        tokio::time::timeout(PATIENCE, reading).await.unwrap();
    }
}

#[tokio::test]
async fn a_stream_of_http_2_whose_reader_stops_is_reset() {
    let (address, mut leaving) = talker(options()).await;
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(65_535)
        .handshake(TokioIo::new(stream))
        .await
        .unwrap();
    let moving = tokio::spawn(connection);
    let mut get = |path: &str| {
        let request = Request::get(format!("http://{address}{path}"));
        sender.send_request(request.body(Empty::<Bytes>::new()).unwrap())
    };
    let stalled = get("/rest/tasks/t:subscribe").await.unwrap();
    assert_eq!(stalled.status(), 200);
    // Its body is never polled.
    tokio::time::timeout(PATIENCE, leaving.recv())
        .await
        .unwrap()
        .unwrap();
    let mut body = stalled.into_body();
    let error = loop {
        match body.frame().await.unwrap() {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(format!("{error:?}").contains("CANCEL"), "{error:?}");
    // The connection is none the worse.
    assert_eq!(get("/rest/tasks/t").await.unwrap().status(), 404);
    assert!(!moving.is_finished());
}

/// A reader that leaves is noticed at once, whatever the deadlines.
#[tokio::test]
async fn the_stream_of_a_reader_that_leaves_is_dropped() {
    let (address, mut leaving) = talker(ServeOptions::default()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(FOLLOW.as_bytes()).await.unwrap();
    let mut first = [0; 100];
    stream.read_exact(&mut first).await.unwrap();
    drop(stream);
    tokio::time::timeout(PATIENCE, leaving.recv())
        .await
        .unwrap()
        .unwrap();
}
