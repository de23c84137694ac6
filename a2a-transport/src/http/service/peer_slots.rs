//! Limit on expensive work that one peer has under way.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use a2a_edge::PeerAddress;
use http::request::Parts;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;

/// Slots of each peer for work whose cost grows with the data that the peer sends or has stored: reads of tasks,
/// and large bodies. Without a limit, a peer that asks 6,000 times for a task of 4 MiB keeps all others waiting for
/// most of a minute.
#[derive(Clone, Debug)]
pub(super) struct PeerSlots {
    of_each: usize,
    peers: Arc<Mutex<HashMap<IpAddr, Arc<Semaphore>>>>,
}

impl PeerSlots {
    /// Creates `of_each` slots for each peer.
    pub(super) fn new(of_each: usize) -> Self {
        Self {
            of_each,
            peers: Arc::default(),
        }
    }

    /// Waits for a slot of the request's peer; `None` if the peer is not known. Dropping it frees it.
    pub(super) async fn enter(&self, head: &Parts) -> Option<OwnedSemaphorePermit> {
        let address = head.extensions.get::<PeerAddress>()?;
        let slots = self.of(address.0.ip());
        if let Ok(slot) = Arc::clone(&slots).try_acquire_owned() {
            return Some(slot);
        }
        // It is never closed.
        let slot = slots.acquire_owned().await.ok();
        // Lets other peers go first: without the yield, waiting requests would be woken one after the
        // other before the runtime polls other connections.
        yield_now().await;
        slot
    }

    fn of(&self, address: IpAddr) -> Arc<Semaphore> {
        // No code under this lock panics half-way.
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= MAX_IDLE_PEERS && !peers.contains_key(&address) {
            // The others have work under way, or waiting.
            peers.retain(|_, slots| Arc::strong_count(slots) > 1);
        }
        let slots = peers.entry(address);
        Arc::clone(slots.or_insert_with(|| Arc::new(Semaphore::new(self.of_each))))
    }
}

/// Number of reads of one peer that are worked on at once, by default. Further ones wait.
pub(super) const DEFAULT_READS: usize = 16;
/// Number of large bodies of one peer that are parsed at once. A processor is busy with each until it is parsed.
pub(super) const DEFAULT_LARGE_BODIES: usize = 2;
/// Size above which a body is large.
pub(super) const LARGE_BODY_BYTES: usize = 256 << 10;
/// Number of peers above which peers without work are forgotten.
const MAX_IDLE_PEERS: usize = 1024;

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use http::Request;

    use super::*;

    fn head(last: u8) -> Parts {
        let address = PeerAddress(([192, 0, 2, last], 1).into());
        let request = Request::builder().extension(address).body(()).unwrap();
        request.into_parts().0
    }

    #[test]
    fn a_peer_waits_for_its_own_work_alone() {
        let slots = PeerSlots::new(DEFAULT_READS);
        let enter = |peer| slots.enter(&head(peer)).now_or_never();
        let mut held: Vec<_> = (0..DEFAULT_READS)
            .map(|_| enter(1).expect("there are slots"))
            .collect();
        assert!(enter(1).is_none());
        assert!(enter(2).is_some());
        held.pop();
        assert!(enter(1).is_some());
    }

    #[test]
    fn peers_without_work_are_forgotten() {
        let slots = PeerSlots::new(DEFAULT_READS);
        let held = slots.of([10, 0, 0, 1].into()).try_acquire_owned();
        for peer in 0..u32::try_from(2 * MAX_IDLE_PEERS).unwrap() {
            slots.of(std::net::Ipv4Addr::from_bits(peer).into());
        }
        let peers = slots.peers.lock().unwrap();
        assert!(peers.len() <= MAX_IDLE_PEERS);
        assert!(peers.contains_key(&IpAddr::from([10, 0, 0, 1])));
        drop(held);
    }
}
