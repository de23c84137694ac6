//! A server that runs out of file descriptors: the test runs itself again, with few of them.

use std::net::SocketAddr;
use std::process::Stdio;

use a2a_transport::http::ServeOptions;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::edge::{PATIENCE, SHORT, is_served, talker};

/// Set in the process that serves.
const SERVES: &str = "A2A_EDGE_SERVES";

#[tokio::test]
async fn more_connections_than_descriptors_are_survived() {
    if std::env::var_os(SERVES).is_some() {
        return serve_until_closed().await;
    }
    let this = std::env::current_exe().unwrap();
    let mut server = Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$0\" --exact --nocapture \"$1\""])
        .arg(this)
        .arg("edge::descriptors::more_connections_than_descriptors_are_survived")
        .env(SERVES, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let address = loop {
        let line = lines.next_line().await.unwrap().expect("an address");
        if let Some((_, address)) = line.split_once("serves at ") {
            break address.parse::<SocketAddr>().unwrap();
        }
    };
    is_served(address).await;
    let mut connections = Vec::new();
    for _ in 0..300 {
        connections.push(TcpStream::connect(address).await.unwrap());
    }
    // The connections beyond the 64 wait; the first of them is let in when the silent ones before it are gone.
    let last = connections.last_mut().unwrap();
    let mut none = [0];
    let ended = tokio::time::timeout(PATIENCE, last.read(&mut none)).await;
    assert!(matches!(ended.unwrap(), Ok(0) | Err(_)));
    for _ in 0..3 {
        is_served(address).await;
    }
    drop(connections);
    is_served(address).await;
    drop(server.stdin.take());
    let ended = tokio::time::timeout(PATIENCE, server.wait()).await;
    assert!(ended.unwrap().unwrap().success());
}

/// Serves in the other process until its standard input ends.
async fn serve_until_closed() {
    let mut options = ServeOptions::default();
    options.header_timeout = SHORT;
    let (address, _) = talker(options).await;
    let mut stdout = tokio::io::stdout();
    let line = format!("\nserves at {address}\n");
    stdout.write_all(line.as_bytes()).await.unwrap();
    stdout.flush().await.unwrap();
    let mut input = Vec::new();
    tokio::io::stdin().read_to_end(&mut input).await.unwrap();
}
