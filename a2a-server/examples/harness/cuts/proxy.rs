//! A proxy that treats connections badly.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fastrand::Rng;
use tokio::io::{AsyncReadExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

/// A proxy on an address of its own, which cuts most connections; it ends when it is dropped.
pub(crate) struct Proxy {
    address: SocketAddr,
    cuts: Arc<AtomicUsize>,
    listening: AbortHandle,
}

/// What becomes of a connection.
#[derive(Clone, Copy)]
enum Fate {
    /// It is closed as soon as it is there.
    Refused,
    /// It is closed after so many bytes of answers.
    Cut(u64),
    /// After so many bytes of answers nothing comes for a while; then it is closed.
    Silent(u64, Duration),
    /// It is left alone.
    Spared,
}

impl Proxy {
    /// Begins one before that address.
    pub(crate) async fn begin(target: SocketAddr, mut dice: Rng) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let cuts = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&cuts);
        let listening = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                let fate = Fate::of(&mut dice);
                let counter = Arc::clone(&counter);
                connections.spawn(async move {
                    if let Ok(true) = carry(near, target, fate).await {
                        counter.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        Ok(Self {
            address,
            cuts,
            listening: listening.abort_handle(),
        })
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// How many connections it has cut.
    pub(crate) fn cuts(&self) -> usize {
        self.cuts.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Fate {
    fn of(dice: &mut Rng) -> Self {
        // The head of an answer has about 200 bytes, an event about 400.
        let bytes = dice.u64(..4000);
        match dice.u8(..16) {
            0 | 1 => Self::Refused,
            2 => Self::Cut(0),
            3 => Self::Cut(dice.u64(..300)),
            4 => Self::Silent(bytes, Duration::from_millis(dice.u64(..20))),
            5 => Self::Spared,
            _ => Self::Cut(bytes),
        }
    }
}

/// Carries bytes back and forth for as long as the fate of the connection allows; tells whether that
/// was the end of it.
async fn carry(mut near: TcpStream, target: SocketAddr, fate: Fate) -> io::Result<bool> {
    let (most, silence) = match fate {
        Fate::Refused => return Ok(true),
        Fate::Cut(most) => (most, Duration::ZERO),
        Fate::Silent(most, silence) => (most, silence),
        Fate::Spared => (u64::MAX, Duration::ZERO),
    };
    let mut far = TcpStream::connect(target).await?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    let (mut asks, mut hears) = near.split();
    let (answers, mut asked) = far.split();
    let mut answers = answers.take(most);
    let down = async {
        if most == 0 {
            // The question goes through: there is nothing to hear of it.
            answers.get_mut().readable().await?;
        }
        copy(&mut answers, &mut hears).await
    };
    let up = copy(&mut asks, &mut asked);
    tokio::select! {
        carried = down => carried?,
        carried = up => return carried.map(|_| false),
    };
    let is_cut = answers.limit() == 0;
    // Half open: whoever waits cannot tell that nothing will come.
    pause(silence).await;
    Ok(is_cut)
}

async fn pause(period: Duration) {
    drop(tokio::time::timeout(period, std::future::pending::<()>()).await);
}
