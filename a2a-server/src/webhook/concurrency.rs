//! Limits on concurrent requests, in total and to one host.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use url::Host;

/// Maximum numbers of requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotLimits {
    /// Limit on all requests.
    pub(super) all: usize,
    /// Limit on the requests to all hosts whose last request timed out.
    pub(super) doubtful: usize,
    /// Limit on the requests to one host.
    pub(super) per_host: usize,
    /// Waiting for one host.
    pub(super) line: usize,
}

/// Slots for requests, as many as the limits allow. A host that never answers holds up few: if the last request
/// to it timed out, only one is under way at a time, and all such hosts share a part of the slots.
pub(super) struct RequestSlots {
    limits: SlotLimits,
    all: Semaphore,
    doubtful: Semaphore,
    hosts: Mutex<Hosts>,
}

#[derive(Default)]
struct Hosts {
    /// Hosts that are called at present.
    called: HashMap<Host, Arc<HostQueue>>,
    /// Hosts whose last request timed out.
    silent: HashSet<Host>,
}

/// The queue before one host.
struct HostQueue {
    any: Arc<Semaphore>,
    /// Allows one request at a time, while the host is in doubt.
    one: Arc<Semaphore>,
}

/// A place among the requests to a host, or in the line before them, as long as it is kept.
pub(super) struct Slot<'a> {
    slots: &'a RequestSlots,
    host: Host,
    of_host: Arc<HostQueue>,
    permits: Vec<Permit<'a>>,
}

#[expect(dead_code, reason = "kept until they are dropped")]
enum Permit<'a> {
    HostQueue(OwnedSemaphorePermit),
    OfAll(SemaphorePermit<'a>),
}

impl RequestSlots {
    pub(super) fn new(limits: SlotLimits) -> Self {
        Self {
            limits,
            all: Semaphore::new(limits.all),
            doubtful: Semaphore::new(limits.doubtful),
            hosts: Mutex::default(),
        }
    }

    /// Waits for a slot; returns `None` if too many requests wait for this host already. A request that
    /// waits for a host takes no slot from others.
    pub(super) async fn take(&self, host: &Host) -> Option<Slot<'_>> {
        let mut slot = self.queue(host)?;
        let any = Arc::clone(&slot.of_host.any).acquire_owned().await.ok()?;
        slot.permits.push(Permit::HostQueue(any));
        // Checked only now, because an earlier request may have found that the host times out.
        if self.hosts().silent.contains(host) {
            let one = Arc::clone(&slot.of_host.one).acquire_owned().await.ok()?;
            slot.permits.push(Permit::HostQueue(one));
        }
        if self.hosts().silent.contains(host) {
            let of_doubtful = self.doubtful.acquire().await.ok()?;
            slot.permits.push(Permit::OfAll(of_doubtful));
        }
        let of_all = self.all.acquire().await.ok()?;
        slot.permits.push(Permit::OfAll(of_all));
        Some(slot)
    }

    fn queue(&self, host: &Host) -> Option<Slot<'_>> {
        let mut hosts = self.hosts();
        let of_host = hosts.called.entry(host.clone()).or_insert_with(|| {
            Arc::new(HostQueue {
                any: Arc::new(Semaphore::new(self.limits.per_host)),
                one: Arc::new(Semaphore::new(1)),
            })
        });
        // The map has one, too.
        let there = Arc::strong_count(of_host) - 1;
        (there < self.limits.per_host + self.limits.line).then(|| Slot {
            slots: self,
            host: host.clone(),
            of_host: Arc::clone(of_host),
            permits: Vec::new(),
        })
    }

    fn hosts(&self) -> MutexGuard<'_, Hosts> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot<'_> {
    /// Records whether the host answered, whatever the answer.
    pub(super) fn answered(&self, answered: bool) {
        let silent = &mut self.slots.hosts().silent;
        match answered {
            true => drop(silent.remove(&self.host)),
            false if silent.len() < MAX_SILENT => drop(silent.insert(self.host.clone())),
            false => {}
        }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut hosts = self.slots.hosts();
        self.permits.clear();
        // No other request is there or waits: only the map's reference, and this one.
        if let Entry::Occupied(entry) = hosts.called.entry(self.host.clone())
            && Arc::strong_count(entry.get()) == 2
        {
            entry.remove();
        }
    }
}

/// Maximum number of hosts remembered that do not answer.
const MAX_SILENT: usize = 10_000;

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn host(name: &str) -> Host {
        Host::Domain(name.to_owned())
    }

    fn slots(line: usize) -> RequestSlots {
        RequestSlots::new(SlotLimits {
            all: 3,
            doubtful: 1,
            per_host: 2,
            line,
        })
    }

    #[test]
    fn slots_are_bounded_per_host_and_idle_hosts_are_forgotten() {
        let slots = slots(1);
        let take = |name| slots.take(&host(name)).now_or_never().flatten();
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
        assert_eq!(slots.hosts().called.len(), 0);
        assert_eq!(slots.all.available_permits(), 3);
    }

    #[tokio::test]
    async fn line_before_a_host_is_bounded() {
        let slots = slots(1);
        let busy = host("busy.example");
        let (one, two) = (slots.take(&busy).await, slots.take(&busy).await);
        let mut waits = Box::pin(slots.take(&busy));
        assert!(waits.as_mut().now_or_never().is_none());
        assert!(
            slots.take(&busy).await.is_none(),
            "the line is longer than it may be"
        );
        drop(one);
        assert!(waits.await.is_some());
        drop(two);
    }

    #[test]
    fn hosts_that_do_not_answer_share_a_part_of_the_room() {
        let slots = slots(1);
        let take = |name| slots.take(&host(name)).now_or_never().flatten();
        for name in ["hole.example", "pit.example"] {
            take(name).unwrap().answered(false);
        }
        let hole = take("hole.example");
        assert!(hole.is_some());
        assert!(take("hole.example").is_none(), "one at a time");
        assert!(take("pit.example").is_none(), "they share one place");
        let (one, two) = (take("well.example"), take("well.example"));
        assert!(one.is_some() && two.is_some());

        hole.unwrap().answered(true);
        drop(one);
        assert!(take("hole.example").is_some());
        assert_eq!(slots.hosts().silent.len(), 1);
        drop(two);
        let again = [take("hole.example"), take("hole.example")];
        assert!(again.iter().all(Option::is_some), "it answers again");
    }
}
