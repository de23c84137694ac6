//! TCP load balancer before the replicas: round robin, without stickiness, and it can cut connections.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;
use tokio::task::AbortHandle;

/// A listener that passes each connection on to the next replica in service.
pub(crate) struct Balancer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

struct Shared {
    /// Replicas in service.
    targets: Mutex<Vec<SocketAddr>>,
    next: AtomicUsize,
    /// Cuts a share of the connections: each one whose number is a multiple of the value.
    cut: broadcast::Sender<usize>,
    cuts: AtomicUsize,
}

impl Balancer {
    /// Starts a balancer without replicas.
    pub(crate) async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            targets: Mutex::default(),
            next: AtomicUsize::new(0),
            cut: broadcast::Sender::new(16),
            cuts: AtomicUsize::new(0),
        });
        let accepted = Arc::clone(&shared);
        let accepting = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&accepted).carry(near));
            }
        });
        Ok(Self {
            address,
            shared,
            accepting: accepting.abort_handle(),
        })
    }

    /// Returns the URL of the balancer.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Takes a replica into service.
    pub(crate) fn add(&self, target: SocketAddr) {
        self.shared.targets().push(target);
    }

    /// Passes no more connections on to a replica; its open connections stay.
    pub(crate) fn remove(&self, target: SocketAddr) {
        self.shared.targets().retain(|it| *it != target);
    }

    /// Cuts every n-th connection.
    pub(crate) fn cut(&self, every: usize) {
        drop(self.shared.cut.send(every.max(1)));
    }

    /// Returns the number of connections that were cut.
    pub(crate) fn cuts(&self) -> usize {
        self.shared.cuts.load(Ordering::Relaxed)
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    fn targets(&self) -> MutexGuard<'_, Vec<SocketAddr>> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes one connection on. A replica that cannot be reached is passed over, as a health check would have it.
    async fn carry(self: Arc<Self>, mut near: TcpStream) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut cut = self.cut.subscribe();
        let mut targets = self.targets().clone();
        let count = targets.len();
        targets.rotate_left(number % count.max(1));
        for target in targets {
            let Ok(mut far) = TcpStream::connect(target).await else {
                continue;
            };
            drop((near.set_nodelay(true), far.set_nodelay(true)));
            let is_cut = async {
                while let Ok(every) = cut.recv().await {
                    if number.is_multiple_of(every) {
                        return;
                    }
                }
            };
            tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                () = is_cut => {
                    self.cuts.fetch_add(1, Ordering::Relaxed);
                }
            }
            return;
        }
    }
}
