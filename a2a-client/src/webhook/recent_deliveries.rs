//! Deduplication of deliveries.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a_transport::webhook::digest;

/// The latest deliveries; the oldest is evicted first.
#[derive(Clone, Debug)]
pub(super) struct RecentDeliveries {
    capacity: usize,
    deliveries: Arc<Mutex<Deliveries>>,
}

/// Keyed by the digest of their names, so that all take the same memory.
#[derive(Debug, Default)]
struct Deliveries {
    state: HashMap<Key, DeliveryState>,
    handled: VecDeque<Key>,
}

type Key = [u8; 32];

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum DeliveryState {
    InProgress,
    Handled,
}

/// Result of a lookup.
#[derive(Debug)]
pub(super) enum Lookup {
    /// New: the holder of this handles it.
    New(DeliveryGuard),
    /// Being handled already.
    InProgress,
    /// Handled.
    Handled,
}

/// A delivery in progress. Dropped without [`handled`](Self::handled), it counts as not handled.
#[derive(Debug)]
pub(super) struct DeliveryGuard {
    keys: Vec<Key>,
    recent: RecentDeliveries,
}

impl RecentDeliveries {
    /// Remembers up to `capacity` names of deliveries.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            deliveries: Arc::default(),
        }
    }

    /// Looks up a delivery by all its ids and claims it if it is new. Without an id it is always
    /// new.
    pub(super) fn claim(&self, names: &[String]) -> Lookup {
        let keys: Vec<_> = names.iter().map(|name| digest(name.as_bytes())).collect();
        let mut deliveries = self.lock();
        let states = || keys.iter().filter_map(|key| deliveries.state.get(key));
        if states().any(|state| *state == DeliveryState::Handled) {
            return Lookup::Handled;
        }
        if states().any(|state| *state == DeliveryState::InProgress) {
            return Lookup::InProgress;
        }
        for key in &keys {
            deliveries.state.insert(*key, DeliveryState::InProgress);
        }
        let recent = self.clone();
        Lookup::New(DeliveryGuard { keys, recent })
    }

    /// Locks the deliveries. No code under this lock panics half-way, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, Deliveries> {
        self.deliveries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl DeliveryGuard {
    /// Marks the delivery as handled.
    pub(super) fn handled(mut self) {
        let mut deliveries = self.recent.lock();
        for key in self.keys.drain(..) {
            deliveries.state.insert(key, DeliveryState::Handled);
            deliveries.handled.push_back(key);
        }
        while deliveries.handled.len() > self.recent.capacity {
            if let Some(oldest) = deliveries.handled.pop_front() {
                deliveries.state.remove(&oldest);
            }
        }
    }
}

impl Drop for DeliveryGuard {
    fn drop(&mut self) {
        let mut deliveries = self.recent.lock();
        for key in &self.keys {
            deliveries.state.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[track_caller]
    fn check(seen: &RecentDeliveries, delivery: &[&str], expected: &str) -> Option<DeliveryGuard> {
        match seen.claim(&names(delivery)) {
            Lookup::New(claim) => {
                assert_eq!("new", expected);
                Some(claim)
            }
            Lookup::InProgress => {
                assert_eq!("open", expected);
                None
            }
            Lookup::Handled => {
                assert_eq!("handled", expected);
                None
            }
        }
    }

    #[test]
    fn a_delivery_is_handled_once() {
        let seen = RecentDeliveries::new(10);
        let claim = check(&seen, &["a", "b"], "new");
        check(&seen, &["a"], "open");
        check(&seen, &["c", "b"], "open");
        drop(claim);
        check(&seen, &["b"], "new").unwrap().handled();
        check(&seen, &["b", "c"], "handled");
        check(&seen, &["c"], "new");
        check(&seen, &[], "new").unwrap().handled();
        check(&seen, &[], "new");
    }

    #[test]
    fn memory_is_bounded() {
        let seen = RecentDeliveries::new(100);
        for number in 0..1000 {
            check(&seen, &[&number.to_string()], "new")
                .unwrap()
                .handled();
        }
        let deliveries = seen.lock();
        assert_eq!(deliveries.state.len(), 100);
        assert_eq!(deliveries.handled.len(), 100);
        drop(deliveries);
        check(&seen, &["999"], "handled");
        check(&seen, &["0"], "new");
    }
}
