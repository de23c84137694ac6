//! A raw connection to an echoing agent, for tests of what goes over the wire.

use std::net::SocketAddr;

use a2a_server::{Failure, Server, Turn};
use a2a_types::{AgentCard, ProtocolVersion};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A connection that is written to and read from byte by byte.
pub(crate) struct Connection {
    pub(crate) stream: BufReader<TcpStream>,
}

pub(crate) struct RawAnswer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) async fn to(address: SocketAddr) -> Self {
        Self {
            stream: BufReader::new(TcpStream::connect(address).await.unwrap()),
        }
    }

    pub(crate) async fn post(&mut self, body: &[u8]) -> RawAnswer {
        let head = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.stream
            .get_mut()
            .write_all(head.as_bytes())
            .await
            .unwrap();
        self.stream.get_mut().write_all(body).await.unwrap();
        self.answer().await
    }

    pub(crate) async fn answer(&mut self) -> RawAnswer {
        let mut line = String::new();
        self.stream.read_line(&mut line).await.unwrap();
        let status = line
            .split(' ')
            .nth(1)
            .unwrap_or_default()
            .parse()
            .unwrap_or_default();
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line).await.unwrap();
            match line.trim().to_ascii_lowercase().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.unwrap();
        RawAnswer { status, body }
    }
}

/// A server whose agent says everything back.
pub(crate) async fn agent() -> SocketAddr {
    let echo = |turn: Turn| async move {
        turn.artifact("echo").text(turn.text()).finish().await?;
        Ok::<(), Failure>(())
    };
    let server = Server::builder(AgentCard::new("Echo", "Says it back"), echo)
        .build()
        .unwrap();
    let bound = server
        .bind("127.0.0.1:0")
        .await
        .unwrap()
        .default_version(ProtocolVersion::V0_2);
    let address = bound.local_addr();
    tokio::spawn(bound.run(std::future::pending()));
    address
}
