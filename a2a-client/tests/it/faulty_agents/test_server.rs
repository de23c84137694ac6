//! Hostile server that counts its open connections.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Behaviour of a server on one connection.
pub(crate) type Behaviour =
    Arc<dyn Fn(Connection) -> Pin<Box<dyn Future<Output = ConnectionResult> + Send>> + Send + Sync>;

/// Result of a connection.
pub(crate) type ConnectionResult = io::Result<()>;

/// Creates a behaviour from a function.
pub(crate) fn behaviour<F>(does: impl Fn(Connection) -> F + Send + Sync + 'static) -> Behaviour
where
    F: Future<Output = ConnectionResult> + Send + 'static,
{
    Arc::new(move |connection| Box::pin(does(connection)))
}

/// A server on a port of its own.
pub(crate) struct TestServer {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    open: watch::Receiver<usize>,
    accepting: JoinHandle<()>,
}

impl TestServer {
    pub(crate) async fn of(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let (open_count, open) = watch::channel(0);
        let (counted, open_count) = (Arc::clone(&connections), Arc::new(open_count));
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                open_count.send_modify(|open| *open += 1);
                let connection = Connection { stream, address };
                let (ended, exit) = (behaviour(connection), Arc::clone(&open_count));
                tokio::spawn(async move {
                    // Any end of the connection is fine.
                    drop(ended.await);
                    exit.send_modify(|open| *open -= 1);
                });
            }
        });
        Self {
            address,
            connections,
            open,
            accepting,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Waits until all connections are closed.
    pub(crate) async fn wait_until_empty(&mut self) {
        let left = self.open.wait_for(|open| *open == 0).await;
        drop(left.expect("the accept loop runs as long as the server"));
    }

    /// Returns the number of open connections.
    pub(crate) fn open(&self) -> usize {
        *self.open.borrow()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// One connection to a server.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    /// Address of the server.
    pub(crate) address: SocketAddr,
}

/// An HTTP/1.1 request as received.
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl ReceivedRequest {
    /// Returns the JSON-RPC method.
    pub(crate) fn method(&self) -> String {
        let body: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        body["method"].as_str().unwrap_or_default().to_owned()
    }
}

impl Connection {
    /// Reads the next request. Errors: there is none.
    pub(crate) async fn read_request(&mut self) -> io::Result<ReceivedRequest> {
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            self.more(&mut bytes).await?;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
        while bytes.len() < end + length {
            self.more(&mut bytes).await?;
        }
        let body = bytes.split_off(end);
        Ok(ReceivedRequest { head, body })
    }

    async fn more(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        match self.stream.read_buf(bytes).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref()).await
    }

    /// Sends the same bytes until the connection ends.
    pub(crate) async fn send_forever(mut self, bytes: impl AsRef<[u8]>) -> ConnectionResult {
        let bytes = bytes.as_ref();
        let many = bytes.repeat((64 << 10) / bytes.len() + 1);
        loop {
            self.send(&many).await?;
        }
    }

    /// Sends nothing more, and waits until the client closes the connection.
    pub(crate) async fn wait_for_close(mut self) -> ConnectionResult {
        let mut bytes = [0; 4096];
        while self.stream.read(&mut bytes).await? > 0 {}
        Ok(())
    }

    /// Breaks the connection, instead of closing it.
    pub(crate) fn reset(self) -> ConnectionResult {
        SockRef::from(&self.stream).set_linger(Some(std::time::Duration::ZERO))
    }
}
