//! A proxy that treats connections badly.

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
    spares: Arc<AtomicBool>,
    listening: AbortHandle,
}

/// Treatment of the ids of Server-Sent Events.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ids {
    /// They go through.
    Kept,
    /// Their lines become comments.
    Hidden,
}

/// Fate of a connection.
#[derive(Clone, Copy)]
enum Fate {
    /// It is closed as soon as it is there.
    Refused,
    /// It is closed after so many bytes of answers.
    Cut(u64),
    /// It is closed after so many lines of answers, and so many bytes of the next.
    CutLine(u64, u64),
    /// After so many bytes of answers nothing comes for a while; then it is closed.
    Silent(u64, Duration),
}

impl Proxy {
    /// Begins one before that address.
    pub(crate) async fn begin(target: SocketAddr, ids: Ids, mut dice: Rng) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let cuts = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&cuts);
        let spares = Arc::new(AtomicBool::new(false));
        let spared = Arc::clone(&spares);
        let listening = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                let fate = match spared.load(Ordering::Relaxed) {
                    true => Fate::Cut(DECISIVE),
                    false => Fate::of(&mut dice, ids),
                };
                let counter = Arc::clone(&counter);
                connections.spawn(async move {
                    if let Ok(true) = carry(near, target, fate, ids).await {
                        counter.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        Ok(Self {
            address,
            cuts,
            spares,
            listening: listening.abort_handle(),
        })
    }

    /// Returns the URL of the proxy.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Lets the next connections live until their answers have begun, or no longer.
    pub(crate) fn spare(&self, spare: bool) {
        self.spares.store(spare, Ordering::Relaxed);
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

/// In so many bytes of an answer there are events.
const DECISIVE: u64 = 2000;

impl Fate {
    fn of(dice: &mut Rng, ids: Ids) -> Self {
        // The head of an answer has about 200 bytes, an event about 400.
        let bytes = dice.u64(..4000);
        match dice.u8(..16) {
            0 | 1 => Self::Refused,
            2 => Self::Cut(0),
            3 => Self::Cut(dice.u64(..300)),
            4 => Self::Silent(bytes, Duration::from_millis(dice.u64(..20))),
            5 => Self::Cut(16 * bytes),
            // Without ids, the whole task comes through at some time, which is one line.
            _ if ids == Ids::Hidden => Self::CutLine(dice.u64(..50), dice.u64(..400)),
            _ => Self::Cut(bytes),
        }
    }
}

/// Carries bytes both ways for as long as the fate of the connection allows; returns whether that
/// cut it.
async fn carry(mut near: TcpStream, target: SocketAddr, fate: Fate, ids: Ids) -> io::Result<bool> {
    let all = (u64::MAX, 0);
    let (most, lines, silence) = match fate {
        Fate::Refused => return Ok(true),
        Fate::Cut(most) => (most, all, Duration::ZERO),
        Fate::CutLine(lines, bytes) => (u64::MAX, (lines, bytes), Duration::ZERO),
        Fate::Silent(most, silence) => (most, all, silence),
    };
    let mut far = TcpStream::connect(target).await?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    let (mut asks, mut hears) = near.split();
    let (answers, mut asked) = far.split();
    let mut answers = answers.take(most);
    let down = async {
        if most == 0 {
            // The request goes through, and nothing of the answer does.
            answers.get_mut().readable().await?;
        }
        match ids {
            Ids::Kept => copy(&mut answers, &mut hears).await.map(|_| false),
            Ids::Hidden => copy_without_ids(&mut answers, &mut hears, lines).await,
        }
    };
    let up = copy(&mut asks, &mut asked);
    let in_line = tokio::select! {
        carried = down => carried?,
        carried = up => return carried.map(|_| false),
    };
    let is_cut = in_line || answers.limit() == 0;
    // Half open: the caller cannot know that nothing will come.
    pause(silence).await;
    Ok(is_cut)
}

/// Copies so many lines, and so many bytes of the next, and makes a comment of every line that
/// begins like that of an id; the length stays the same.
async fn copy_without_ids(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    (mut lines, mut bytes): (u64, u64),
) -> io::Result<bool> {
    let (mut buffer, mut begins) = ([0; 4096], true);
    loop {
        let read = from.read(&mut buffer).await?;
        let mut passed = 0;
        for byte in &mut buffer[..read] {
            match lines {
                0 if bytes == 0 => break,
                0 => bytes -= 1,
                _ => lines -= u64::from(*byte == b'\n'),
            }
            if begins && *byte == b'i' {
                *byte = b':';
            }
            begins = *byte == b'\n';
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
