//! Bad input costs little memory. One test alone in its process, so that nothing else is measured.

mod wire;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use wire::{Connection, agent};

#[tokio::test]
async fn bad_input_costs_little_memory() {
    an_endless_body_is_refused_early().await;
    a_heavy_body_costs_little_memory().await;
}

/// A chunked body that would be 1 GiB is refused after the first 4 MiB, and costs no memory.
async fn an_endless_body_is_refused_early() {
    let address = agent().await;
    // What one good request costs is not what the bad one is blamed for.
    Connection::to(address).await.post(b"{}").await;
    let before = resident();
    let (mut read, mut write) = TcpStream::connect(address).await.unwrap().into_split();
    let head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    write.write_all(head.as_bytes()).await.unwrap();
    let writing = tokio::spawn(async move {
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        let mut sent = 0_u64;
        // The server closes the connection long before the end.
        while sent < 1 << 30 && write.write_all(chunk.as_bytes()).await.is_ok() {
            sent += 0x10000;
        }
        sent
    });
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = read.read(&mut buffer).await {
        answer.extend_from_slice(&buffer[..length]);
    }
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("-32600"), "{answer}");
    let sent = writing.await.unwrap();
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    let growth = resident().saturating_sub(before);
    assert!(growth < 20 << 20, "{growth} bytes of memory");
    // The server goes on.
    assert_eq!(Connection::to(address).await.post(b"{}").await.status, 200);
}

/// A body of 4 MiB that would be hundreds of MiB as a tree of values is refused while it is read.
async fn a_heavy_body_costs_little_memory() {
    let address = agent().await;
    let mut connection = Connection::to(address).await;
    connection.post(b"{}").await;
    let before = resident();
    let objects = r#"{"":0},"#.repeat(500_000);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"message/send","params":{{"metadata":{{"a":[{objects}0]}}}}}}"#
    );
    let got = connection.post(body.as_bytes()).await;
    let answer: Value = serde_json::from_slice(&got.body).unwrap();
    assert_eq!(answer["error"]["code"], -32700, "{answer}");
    assert_eq!(answer["id"], 1);
    let growth = resident().saturating_sub(before);
    // Both copies of the body, ours and the server's, are in this process.
    assert!(growth < 20 << 20, "{growth} bytes of memory");
}

/// Bytes of memory that this process holds.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}
