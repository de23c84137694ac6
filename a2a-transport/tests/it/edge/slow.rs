//! Peers that send slowly.

use std::time::Duration;

use a2a_transport::http::ServeOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::edge::{PATIENCE, SHORT, is_served, read_to_end, talker, talker_with};

/// Says one byte after the other, until the connection ends.
async fn drip(stream: TcpStream, byte: u8) {
    let (mut read, mut write) = stream.into_split();
    let dripping = async {
        let mut pause = tokio::time::interval(Duration::from_millis(50));
        while write.write_all(&[byte]).await.is_ok() {
            pause.tick().await;
        }
        // It only ended for one of us.
        std::future::pending::<()>().await;
    };
    let ended = async {
        let mut some = [0; 100];
        while let Ok(1..) = read.read(&mut some).await {}
    };
    tokio::select! {
        () = dripping => {}
        ended = tokio::time::timeout(PATIENCE, ended) => ended.unwrap(),
    }
}

#[tokio::test]
async fn heads_that_drip_hold_no_place_while_good_requests_go_on() {
    let mut options = ServeOptions::default();
    options.connections = 350;
    options.header_timeout = SHORT;
    let (address, _) = talker(options).await;
    let mut slow = JoinSet::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"POST / HTTP/1.1\r\nx: ").await.unwrap();
        slow.spawn(drip(stream, b'x'));
    }
    let mut ended = 0;
    while ended < 300 {
        is_served(address).await;
        while let Some(one) = slow.try_join_next() {
            one.unwrap();
            ended += 1;
        }
    }
}

#[tokio::test]
async fn a_body_that_drips_is_refused() {
    let options = ServeOptions::default();
    let (address, _) = talker_with(options, |it| it.body_timeout(SHORT)).await;
    let head = "POST / HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n";
    for framing in [
        "content-length: 4000\r\n\r\n",
        "transfer-encoding: chunked\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(format!("{head}{framing}").as_bytes())
            .await
            .unwrap();
        let (mut read, mut write) = stream.into_split();
        let drip = match framing.starts_with("transfer") {
            true => "1\r\n \r\n",
            false => " ",
        };
        let mut pause = tokio::time::interval(Duration::from_millis(20));
        let mut answer = Vec::new();
        let answered = async {
            while !answer.ends_with(b"}") {
                tokio::select! {
                    // Bytes that come too late may meet a closed connection.
                    _ = pause.tick() => { let _ = write.write_all(drip.as_bytes()).await; }
                    length = read.read_buf(&mut answer) => assert_ne!(length.unwrap(), 0),
                }
            }
        };
        tokio::time::timeout(PATIENCE, answered).await.unwrap();
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 408"), "{framing} {answer}");
    }
}

/// The whole may take any time: every KiB comes in time.
#[tokio::test]
async fn a_body_that_comes_steadily_is_read() {
    let timeout = Duration::from_millis(1500);
    let options = ServeOptions::default();
    let (address, _) = talker_with(options, |it| it.body_timeout(timeout)).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}}"#;
    let body = format!("{}{body}", " ".repeat(20 * 1024));
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = "POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-type: application/json";
    let head = format!("{head}\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut pause = tokio::time::interval(timeout / 15);
    for part in body.as_bytes().chunks(1024) {
        pause.tick().await;
        stream.write_all(part).await.unwrap();
    }
    let answer = read_to_end(&mut stream).await;
    assert!(answer.contains("-32001"), "{answer}");
}
