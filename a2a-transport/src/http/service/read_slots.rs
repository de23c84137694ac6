//! Reads that one peer may have at work at once.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use a2a_edge::PeerAddress;
use a2a_types::Operation;
use http::request::Parts;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;

/// Slots of each peer for reads of tasks. The time that a processor needs to read and write a task grows with the
/// task: without a limit, a peer that asks 6,000 times for one of 4 MiB keeps all others waiting for most of a minute.
#[derive(Clone, Debug)]
pub(super) struct ReadSlots {
    of_each: usize,
    peers: Arc<Mutex<HashMap<IpAddr, Arc<Semaphore>>>>,
}

impl ReadSlots {
    /// Creates `of_each` slots for each peer.
    pub(super) fn new(of_each: usize) -> Self {
        Self {
            of_each,
            peers: Arc::default(),
        }
    }

    /// Waits for a slot of the request's peer, if the operation reads tasks. Dropping it frees it.
    pub(super) async fn enter(
        &self,
        head: &Parts,
        operation: Operation,
    ) -> Option<OwnedSemaphorePermit> {
        let reads = matches!(
            operation,
            Operation::GetTask | Operation::ListTasks | Operation::SubscribeToTask
        );
        let address = head.extensions.get::<PeerAddress>().filter(|_| reads)?;
        let slots = self.of(address.0.ip());
        if let Ok(slot) = Arc::clone(&slots).try_acquire_owned() {
            return Some(slot);
        }
        // It is never closed.
        let slot = slots.acquire_owned().await.ok();
        // Other peers come first: without it, one read after the other would be woken before the runtime looks
        // whether there is anything to read on other connections.
        yield_now().await;
        slot
    }

    fn of(&self, address: IpAddr) -> Arc<Semaphore> {
        // No code under this lock panics half-way.
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= MAX_IDLE_PEERS && !peers.contains_key(&address) {
            // The others have a read that works or waits.
            peers.retain(|_, slots| Arc::strong_count(slots) > 1);
        }
        let slots = peers.entry(address);
        Arc::clone(slots.or_insert_with(|| Arc::new(Semaphore::new(self.of_each))))
    }
}

/// Number of reads of one peer that are worked on at once, by default. Further ones wait.
pub(super) const DEFAULT_READS: usize = 16;
/// Number of peers above which peers without reads are forgotten.
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
    fn a_peer_waits_for_its_own_reads_alone() {
        let slots = ReadSlots::new(DEFAULT_READS);
        let enter = |peer, operation| slots.enter(&head(peer), operation).now_or_never();
        let mut held: Vec<_> = (0..DEFAULT_READS)
            .map(|_| enter(1, Operation::GetTask).expect("there are slots"))
            .collect();
        assert!(enter(1, Operation::ListTasks).is_none());
        assert!(enter(1, Operation::SendMessage).is_some_and(|slot| slot.is_none()));
        assert!(enter(2, Operation::GetTask).is_some());
        held.pop();
        assert!(enter(1, Operation::SubscribeToTask).is_some());
    }

    #[test]
    fn peers_without_reads_are_forgotten() {
        let slots = ReadSlots::new(DEFAULT_READS);
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
