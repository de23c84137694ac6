//! How many requests are under way, at all and to one host.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use url::Host;

/// Room for so many requests, and of these for so many to one host: who never answers holds up few.
pub(super) struct Slots {
    all: Semaphore,
    per_host: usize,
    hosts: Mutex<HashMap<Host, Arc<Semaphore>>>,
}

/// A place among the requests to a host, or in the line before them, as long as it is kept.
pub(super) struct Slot<'a> {
    slots: &'a Slots,
    host: Host,
    of_host: Arc<Semaphore>,
    permits: Option<(OwnedSemaphorePermit, SemaphorePermit<'a>)>,
}

impl Slots {
    pub(super) fn new(all: usize, per_host: usize) -> Self {
        Self {
            all: Semaphore::new(all),
            per_host,
            hosts: Mutex::default(),
        }
    }

    /// Waits until there is room. Who waits for a host takes no room from others.
    pub(super) async fn take(&self, host: &Host) -> Slot<'_> {
        let mut slot = self.queue(host);
        let of_host = Arc::clone(&slot.of_host).acquire_owned().await;
        let of_all = self.all.acquire().await;
        slot.permits = of_host.ok().zip(of_all.ok());
        slot
    }

    fn queue(&self, host: &Host) -> Slot<'_> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let of_host = hosts
            .entry(host.clone())
            .or_insert_with(|| Arc::new(Semaphore::new(self.per_host)));
        Slot {
            slots: self,
            host: host.clone(),
            of_host: Arc::clone(of_host),
            permits: None,
        }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let hosts = &self.slots.hosts;
        let mut hosts = hosts.lock().unwrap_or_else(PoisonError::into_inner);
        self.permits.take();
        // Nobody else is there or waits: the map's own, and this one.
        if let Entry::Occupied(entry) = hosts.entry(self.host.clone())
            && Arc::strong_count(entry.get()) == 2
        {
            entry.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_host_has_only_so_much_room_and_none_is_remembered() {
        let slots = Slots::new(3, 2);
        let host = |name: &str| Host::Domain(name.to_owned());
        let take = |name| slots.take(&host(name)).now_or_never();
        let one = take("one.example");
        let another = take("one.example");
        assert!(one.is_some() && another.is_some());
        assert!(take("one.example").is_none());
        let elsewhere = take("two.example");
        assert!(elsewhere.is_some());
        assert!(take("three.example").is_none());
        drop(one);
        assert!(take("three.example").is_some());
        let third = take("one.example");
        assert!(third.is_some());
        drop((another, elsewhere, third));
        assert_eq!(slots.hosts.lock().unwrap().len(), 0);
        assert_eq!(slots.all.available_permits(), 3);
    }
}
