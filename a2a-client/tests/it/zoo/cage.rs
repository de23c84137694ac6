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
pub(crate) type Act =
    Arc<dyn Fn(Visit) -> Pin<Box<dyn Future<Output = Ended> + Send>> + Send + Sync>;

/// Result of a connection.
pub(crate) type Ended = io::Result<()>;

/// Makes an act of a function.
pub(crate) fn act<F>(does: impl Fn(Visit) -> F + Send + Sync + 'static) -> Act
where
    F: Future<Output = Ended> + Send + 'static,
{
    Arc::new(move |visit| Box::pin(does(visit)))
}

/// A server on a port of its own.
pub(crate) struct Cage {
    address: SocketAddr,
    visits: Arc<AtomicUsize>,
    inside: watch::Receiver<usize>,
    accepting: JoinHandle<()>,
}

impl Cage {
    pub(crate) async fn of(act: Act) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let visits = Arc::new(AtomicUsize::new(0));
        let (entrance, inside) = watch::channel(0);
        let (counted, entrance) = (Arc::clone(&visits), Arc::new(entrance));
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                entrance.send_modify(|inside| *inside += 1);
                let visit = Visit { stream, address };
                let (ended, exit) = (act(visit), Arc::clone(&entrance));
                tokio::spawn(async move {
                    // Any end of the connection is fine.
                    drop(ended.await);
                    exit.send_modify(|inside| *inside -= 1);
                });
            }
        });
        Self {
            address,
            visits,
            inside,
            accepting,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of connections so far.
    pub(crate) fn visits(&self) -> usize {
        self.visits.load(Ordering::Relaxed)
    }

    /// Waits until all connections are closed.
    pub(crate) async fn emptied(&mut self) {
        let left = self.inside.wait_for(|inside| *inside == 0).await;
        drop(left.expect("the server lives as long as its cage"));
    }

    /// Returns the number of open connections.
    pub(crate) fn inside(&self) -> usize {
        *self.inside.borrow()
    }
}

impl Drop for Cage {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// One connection to a server.
pub(crate) struct Visit {
    pub(crate) stream: TcpStream,
    /// Address of the server.
    pub(crate) address: SocketAddr,
}

/// An HTTP/1.1 request as received.
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    /// The JSON-RPC method.
    pub(crate) fn method(&self) -> String {
        let body: serde_json::Value = serde_json::from_slice(&self.body).unwrap_or_default();
        body["method"].as_str().unwrap_or_default().to_owned()
    }
}

impl Visit {
    /// The next request; an error once there is none.
    pub(crate) async fn asked(&mut self) -> io::Result<Asked> {
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
        Ok(Asked { head, body })
    }

    async fn more(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        match self.stream.read_buf(bytes).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref()).await
    }

    /// Sends the same bytes until the connection ends.
    pub(crate) async fn say_for_ever(mut self, bytes: impl AsRef<[u8]>) -> Ended {
        let bytes = bytes.as_ref();
        let many = bytes.repeat((64 << 10) / bytes.len() + 1);
        loop {
            self.say(&many).await?;
        }
    }

    /// Sends nothing more, until the client leaves.
    pub(crate) async fn hush(mut self) -> Ended {
        let mut bytes = [0; 4096];
        while self.stream.read(&mut bytes).await? > 0 {}
        Ok(())
    }

    /// Breaks the connection, instead of closing it.
    pub(crate) fn reset(self) -> Ended {
        SockRef::from(&self.stream).set_linger(Some(std::time::Duration::ZERO))
    }
}
