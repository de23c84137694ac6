//! Fault-injecting proxy in front of a server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use fastrand::Rng;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

/// A proxy on an address of its own, which cuts connections; it ends when it is dropped.
pub(crate) struct Proxy {
    address: SocketAddr,
    cuts: Arc<AtomicUsize>,
    spared: Arc<AtomicBool>,
    listening: AbortHandle,
}

/// Treatment of the ids of Server-Sent Events.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ids {
    /// They go through.
    StoredTask,
    /// Their fields get another name.
    Hidden,
}

/// Fault of a connection.
#[derive(Clone, Copy)]
enum ConnectionFault {
    /// It is closed as soon as it is accepted.
    Refused,
    /// It is closed after this number of bytes of answers.
    Cut(u64),
    /// It is closed after this number of lines of answers, and this number of bytes of the next line.
    CutLine(u64, u64),
    /// After this number of bytes of answers nothing comes for a while; then it is closed.
    Silent(u64, Duration),
}

impl Proxy {
    /// Begins one before that address.
    pub(crate) async fn begin(target: SocketAddr, ids: Ids, mut rng: Rng) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let cuts = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&cuts);
        let spared = Arc::new(AtomicBool::new(false));
        let is_spared = Arc::clone(&spared);
        let listening = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                let fault = match is_spared.load(Ordering::Relaxed) {
                    true => ConnectionFault::Cut(MIN_EVENT_BYTES),
                    false => ConnectionFault::of(&mut rng, ids),
                };
                let counter = Arc::clone(&counter);
                connections.spawn(async move {
                    if let Ok(true) = forward(near, target, fault, ids).await {
                        counter.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        Ok(Self {
            address,
            cuts,
            spared,
            listening: listening.abort_handle(),
        })
    }

    /// Returns the URL of the proxy.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Lets the next connections live until their answers have begun, or no longer.
    pub(crate) fn spare(&self, spare: bool) {
        self.spared.store(spare, Ordering::Relaxed);
    }

    /// Returns the number of connections that it has cut.
    pub(crate) fn cuts(&self) -> usize {
        self.cuts.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Number of bytes of an answer that contain at least one event.
const MIN_EVENT_BYTES: u64 = 2000;

impl ConnectionFault {
    fn of(rng: &mut Rng, ids: Ids) -> Self {
        // The head of an answer has about 200 bytes, an event about 400.
        let bytes = rng.u64(..4000);
        match rng.u8(..16) {
            0 | 1 => Self::Refused,
            2 => Self::Cut(0),
            3 => Self::Cut(rng.u64(..300)),
            4 => Self::Silent(bytes, Duration::from_millis(rng.u64(..20))),
            5 => Self::Cut(16 * bytes),
            // Without ids, the whole task comes through at some time, which is one line.
            _ if ids == Ids::Hidden => Self::CutLine(rng.u64(..50), rng.u64(..400)),
            _ => Self::Cut(bytes),
        }
    }
}

/// Forwards bytes in both directions until the fault of the connection occurs; returns whether the fault
/// cut it.
async fn forward(
    mut near: TcpStream,
    target: SocketAddr,
    fault: ConnectionFault,
    ids: Ids,
) -> io::Result<bool> {
    let all = (u64::MAX, 0);
    let (most, lines, silence) = match fault {
        ConnectionFault::Refused => return Ok(true),
        ConnectionFault::Cut(most) => (most, all, Duration::ZERO),
        ConnectionFault::CutLine(lines, bytes) => (u64::MAX, (lines, bytes), Duration::ZERO),
        ConnectionFault::Silent(most, silence) => (most, all, silence),
    };
    let mut far = TcpStream::connect(target).await?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    let (mut asks, mut replies) = near.split();
    let (answers, mut asked) = far.split();
    let mut answers = answers.take(most);
    let down = async {
        if most == 0 {
            // The request goes through, and nothing of the answer does.
            answers.get_mut().readable().await?;
        }
        match ids {
            Ids::StoredTask => copy(&mut answers, &mut replies).await.map(|_| false),
            Ids::Hidden => copy_without_ids(&mut answers, &mut replies, lines).await,
        }
    };
    let up = copy(&mut asks, &mut asked);
    let in_line = tokio::select! {
        forwarded = down => forwarded?,
        forwarded = up => return forwarded.map(|_| false),
    };
    let is_cut = in_line || answers.limit() == 0;
    // Half open: the caller cannot know that nothing will come.
    pause(silence).await;
    Ok(is_cut)
}

/// Copies `lines` lines, and `bytes` bytes of the next, and renames the field of every id; the length stays the same.
async fn copy_without_ids(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    (mut lines, mut bytes): (u64, u64),
) -> io::Result<bool> {
    // The number of bytes of `id:` with which the line begins. Chunks begin like lines, with any text.
    let (mut buffer, mut matched) = ([0; 4096], Some(0));
    loop {
        let read = from.read(&mut buffer).await?;
        let mut passed = 0;
        for byte in &mut buffer[..read] {
            match lines {
                0 if bytes == 0 => break,
                0 => bytes -= 1,
                _ => lines -= u64::from(*byte == b'\n'),
            }
            matched = match matched {
                _ if *byte == b'\n' => Some(0),
                Some(at) if *byte == b"id:"[at] => Some(at + 1),
                _ => None,
            };
            if matched == Some(3) {
                (*byte, matched) = (b'_', None);
            }
            passed += 1;
        }
        to.write_all(&buffer[..passed]).await?;
        let is_cut = (lines, bytes) == (0, 0);
        if is_cut || read == 0 {
            return Ok(is_cut);
        }
    }
}

async fn pause(period: Duration) {
    drop(tokio::time::timeout(period, std::future::pending::<()>()).await);
}
