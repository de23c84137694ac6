//! Both ends of a socket, byte for byte.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// An address where no server listens: a port that no other test is ever given.
pub(crate) const CLOSED: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

/// A request as its bytes will be.
#[derive(Clone)]
pub(crate) struct RawRequest {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// All that came back, and its status.
pub(crate) struct RawAnswer {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl RawRequest {
    pub(crate) fn get(target: &str) -> Self {
        Self {
            line: format!("GET {target}"),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub(crate) fn post(target: &str, body: impl Into<Vec<u8>>) -> Self {
        let ask = Self {
            line: format!("POST {target}"),
            headers: Vec::new(),
            body: body.into(),
        };
        ask.with("content-type", "application/json")
    }

    pub(crate) fn method(mut self, method: &str) -> Self {
        let (_, target) = self.line.split_once(' ').unwrap();
        self.line = format!("{method} {target}");
        self
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) async fn to(&self, address: SocketAddr) -> RawAnswer {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let length = self.body.len();
        let mut text = format!(
            "{} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n",
            self.line
        );
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        // The peer may refuse what is on its way, and reset the connection.
        let _ = stream.write_all(text.as_bytes()).await;
        let _ = stream.write_all(&self.body).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let text = String::from_utf8(answer).unwrap();
        let status = text
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        RawAnswer {
            status: status.unwrap_or(0),
            text,
        }
    }
}

impl RawAnswer {
    /// The JSON behind the head.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        let (_, body) = self.text.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}

/// A webhook that answers everything with the same bytes, in which `#` stands for the token that it
/// is challenged with: its address, and the requests that it gets.
pub(crate) async fn hook(
    answer: impl Into<String>,
) -> (SocketAddr, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, requests) = mpsc::unbounded_channel();
    let answer: Arc<str> = answer.into().into();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (sender, answer) = (sender.clone(), Arc::clone(&answer));
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                let request = read(&mut stream).await;
                let (_, token) = request.split_once("validationToken=").unwrap_or_default();
                let token = token.split(' ').next().unwrap_or_default();
                let answer = answer.replace('#', token);
                // This fails once the test has dropped its receiver.
                let _ = sender.send(request);
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    (address, requests)
}

async fn read(stream: &mut BufReader<TcpStream>) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        // A client that speaks TLS to us sends nothing that is text.
        match stream.read_line(&mut head).await {
            Ok(0) | Err(_) => return head,
            Ok(_) => {}
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    let _ = stream.read_exact(&mut body).await;
    head + &String::from_utf8(body).unwrap()
}

/// An answer of nothing but a head.
pub(crate) const TAKEN: &str = "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
