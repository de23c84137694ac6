//! Peers of the server: well-behaved, and slow ones.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::TrialError;

/// Sends a good request on its own connection; returns the time until the answer is complete.
pub(crate) async fn ask(address: SocketAddr) -> Result<Duration, TrialError> {
    let begun = Instant::now();
    exchange(TcpStream::connect(address).await?).await?;
    Ok(begun.elapsed())
}

/// The same from another address than that of the attackers, 127.0.0.2.
pub(crate) async fn ask_beside(address: SocketAddr) -> Result<Duration, TrialError> {
    let begun = Instant::now();
    exchange(connect_from([127, 0, 0, 2], address).await?).await?;
    Ok(begun.elapsed())
}

/// Connects from this loopback address.
pub(crate) async fn connect_from(
    source: [u8; 4],
    address: SocketAddr,
) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((source, 0).into())?;
    socket.connect(address).await
}

/// Sends a good request, and reads the answer.
pub(crate) async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
) -> Result<(), TrialError> {
    let head = "GET /rest/tasks/unknown HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    match answer.starts_with(b"HTTP/1.1 404") {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&answer).into_owned().into()),
    }
}

/// Valid requests, one after the other with a short pause between them, until `p99` is called.
pub(crate) struct GoodRequests {
    is_enough: Arc<AtomicBool>,
    asking: JoinHandle<Result<Vec<Duration>, TrialError>>,
}

impl GoodRequests {
    pub(crate) fn requests(address: SocketAddr) -> Self {
        Self::asking(move || ask(address))
    }

    /// Requests that are made by this function; it returns the time that one took. They have a thread of their own:
    /// that the attackers are busy is not the server's fault.
    pub(crate) fn asking<F>(ask: impl Fn() -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<Duration, TrialError>>,
    {
        let is_enough = Arc::new(AtomicBool::new(false));
        let enough = Arc::clone(&is_enough);
        let asking = async move || {
            let mut pause = tokio::time::interval(Duration::from_millis(5));
            let mut took = Vec::new();
            while !enough.load(Ordering::Relaxed) {
                pause.tick().await;
                took.push(ask().await?);
            }
            Ok(took)
        };
        let asking = tokio::task::spawn_blocking(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            runtime.enable_all().build()?.block_on(asking())
        });
        Self { is_enough, asking }
    }

    /// The longest, in ms.
    pub(crate) async fn slowest(self) -> Result<f64, TrialError> {
        let took = self.took().await?;
        let slowest = took.last().ok_or("nothing was asked")?;
        Ok(slowest.as_secs_f64() * 1000.0)
    }

    /// The 99th percentile, in ms.
    pub(crate) async fn p99(self) -> Result<f64, TrialError> {
        let took = self.took().await?;
        let slow = took.get(took.len() * 99 / 100).ok_or("nothing was asked")?;
        Ok(slow.as_secs_f64() * 1000.0)
    }

    /// Ends them, and returns the times that they took, the shortest first.
    async fn took(self) -> Result<Vec<Duration>, TrialError> {
        self.is_enough.store(true, Ordering::Relaxed);
        let mut took = self.asking.await??;
        took.sort_unstable();
        Ok(took)
    }
}

/// Opens `count` connections that each send `begin`, then a byte a second, until the server closes
/// them. Returns the time that the longest was open.
pub(crate) async fn drip(
    address: SocketAddr,
    count: usize,
    begin: &'static [u8],
    byte: u8,
) -> Result<Duration, TrialError> {
    let mut peers = JoinSet::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(begin).await?;
        let begun = Instant::now();
        peers.spawn(async move {
            let (mut read, mut write) = stream.into_split();
            let mut second = tokio::time::interval(Duration::from_secs(1));
            let mut some = [0; 1000];
            loop {
                tokio::select! {
                    // A connection that is closed is noticed by reading.
                    _ = second.tick() => { let _ = write.write_all(&[byte]).await; }
                    read = read.read(&mut some) => if !matches!(read, Ok(1..)) {
                        return begun.elapsed();
                    },
                }
            }
        });
    }
    let all = async {
        let mut longest = Duration::ZERO;
        while let Some(open) = peers.join_next().await {
            longest = longest.max(open?);
        }
        Ok(longest)
    };
    tokio::time::timeout(Duration::from_secs(120), all).await?
}

/// A connection on which a task is followed, with the first bytes of the answer read.
pub(crate) async fn follow(socket: TcpSocket, address: SocketAddr, id: &str) -> FollowResult {
    let mut stream = socket.connect(address).await?;
    let head = "host: localhost\r\nconnection: close";
    let head = format!("GET /rest/tasks/{id}:subscribe HTTP/1.1\r\n{head}\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let mut first = [0; 12];
    stream.read_exact(&mut first).await?;
    match &first == b"HTTP/1.1 200" {
        true => Ok(stream),
        false => Err("the task could not be followed".into()),
    }
}

pub(crate) type FollowResult = Result<TcpStream, TrialError>;

/// The same with a small receive buffer, so that unread bytes wait at the server.
pub(crate) async fn follow_with_small_buffer(address: SocketAddr, id: &str) -> FollowResult {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4096)?;
    follow(socket, address, id).await
}

/// Reads to the end of the stream; returns the number of events.
pub(crate) async fn listen(mut stream: TcpStream) -> Result<usize, TrialError> {
    let (mut events, mut buffer) = (0, Vec::with_capacity(1 << 16));
    while stream.read_buf(&mut buffer).await? > 0 {
        events += buffer.windows(6).filter(|part| part == b"data: ").count();
        // The last bytes read may be the beginning of the next event.
        buffer.drain(..buffer.len().saturating_sub(5));
    }
    Ok(events)
}
