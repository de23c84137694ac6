//! A receiver of push notifications on a socket.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// A request that a receiver got.
#[derive(Debug)]
pub(crate) struct WebhookRequest {
    /// Path and query.
    pub(crate) target: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl WebhookRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn body(&self) -> &[u8] {
        self.body.as_bytes()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(self.body()).unwrap()
    }
}

/// A receiver: takes everything, and repeats what it is challenged with if it is to.
pub(crate) async fn receiver(repeats: bool) -> (String, mpsc::UnboundedReceiver<WebhookRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let sender = sender.clone();
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                let got = read(&mut stream).await;
                let token = got
                    .target
                    .split_once("validationToken=")
                    .filter(|_| repeats);
                let body = token.map_or("", |(_, token)| token).to_owned();
                // This fails once the test has dropped its receiver.
                let _ = sender.send(got);
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n";
                let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
                stream.write_all(answer.as_bytes()).await.unwrap();
            });
        }
    });
    (url, requests)
}

async fn read(stream: &mut BufReader<tokio::net::TcpStream>) -> WebhookRequest {
    let mut line = String::new();
    stream.read_line(&mut line).await.unwrap();
    let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, length)| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    WebhookRequest {
        target,
        headers,
        body: String::from_utf8(body).unwrap(),
    }
}

/// Waits for the next request.
pub(crate) async fn next(requests: &mut mpsc::UnboundedReceiver<WebhookRequest>) -> WebhookRequest {
    let patience = Duration::from_secs(20);
    let got = tokio::time::timeout(patience, requests.recv()).await;
    got.expect("the webhook receives a request").unwrap()
}
