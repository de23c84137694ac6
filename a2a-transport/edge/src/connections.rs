//! The open connections of a server: how many there may be, and which makes room for another.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::connection_timer::ConnectionTimer;
use super::serve_options::ServeOptions;

/// The open connections of a server.
pub(super) struct Connections {
    slots: Arc<Semaphore>,
    /// Slots of connections that are too many, each for one refusal or one probe.
    surplus: Arc<Semaphore>,
    per_address: usize,
    proxies: Arc<[IpAddr]>,
    open: Arc<Mutex<ConnectionTable>>,
}

#[derive(Default)]
struct ConnectionTable {
    connections: HashMap<u64, Connection>,
    /// Number of connections of each limited peer.
    peers: HashMap<Peer, usize>,
    next: u64,
}

struct Connection {
    /// `None` if the number of its connections has no limit.
    peer: Option<Peer>,
    timer: Arc<ConnectionTimer>,
}

/// The place of an open connection. Dropping it makes room for another one.
pub(super) struct ConnectionSlot {
    id: u64,
    open: Arc<Mutex<ConnectionTable>>,
    _slot: OwnedSemaphorePermit,
}

/// Peer with a limit: an address of IPv4, or a network of IPv6 with 64 bits, in which a host may choose its
/// addresses.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Peer(u64, bool);

impl Connections {
    pub(super) fn new(options: &ServeOptions) -> Self {
        let all = match max_descriptors().map(|descriptors| descriptors - descriptors / 8) {
            Some(possible) if possible < options.connections => {
                tracing::info!(
                    "the process has file descriptors for {possible} connections instead of {}: raise their \
                     limit (`ulimit -n`)",
                    options.connections
                );
                possible.max(1)
            }
            _ => options.connections,
        };
        Self {
            slots: Arc::new(Semaphore::new(all)),
            surplus: Arc::new(Semaphore::new((all / 32).clamp(MIN_SURPLUS, MAX_SURPLUS))),
            per_address: options.connections_per_address,
            proxies: Arc::clone(&options.proxies),
            open: Arc::default(),
        }
    }

    /// Finds a place for a connection of this address. If the address, or the server, has none free, the
    /// connection that has had no request for the longest time is closed. If all of the server have a request,
    /// the new connection is marked as [surplus](ConnectionTimer::mark_surplus).
    ///
    /// Returns `None` if all connections of the address, or all surplus ones, have a request.
    pub(super) async fn enter(
        &self,
        address: IpAddr,
        timer: Arc<ConnectionTimer>,
    ) -> Option<ConnectionSlot> {
        let peer = self.peer(address);
        if let Some(peer) = peer {
            let open = lock(&self.open);
            let count = open.peers.get(&peer).copied().unwrap_or_default();
            if count >= self.per_address && !open.displace(|it| it.peer == Some(peer)) {
                return None;
            }
        }
        let slot = match self.slot(&self.slots, false).await {
            Some(slot) => slot,
            None => {
                timer.mark_surplus();
                self.slot(&self.surplus, true).await?
            }
        };
        let mut open = lock(&self.open);
        let id = open.next;
        open.next += 1;
        let connection = Connection { peer, timer };
        connection.timer.share_streams(open.connections.len());
        open.connections.insert(id, connection);
        if let Some(peer) = peer {
            *open.peers.entry(peer).or_default() += 1;
        }
        drop(open);
        Some(ConnectionSlot {
            id,
            open: Arc::clone(&self.open),
            _slot: slot,
        })
    }

    /// Takes one of these slots, if need be that of the connection that is idle for the longest time. Returns
    /// `None` if none of them is idle.
    async fn slot(&self, slots: &Arc<Semaphore>, is_surplus: bool) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(slot) = Arc::clone(slots).try_acquire_owned() {
                return Some(slot);
            }
            if !lock(&self.open).displace(|it| it.timer.is_surplus() == is_surplus) {
                return None;
            }
            // It may have got a request just now: then another one makes room.
            let slot = Arc::clone(slots).acquire_owned();
            if let Ok(Ok(slot)) = timeout(AGAIN, slot).await {
                return Some(slot);
            }
        }
    }

    /// Closes the connection that is idle for the longest time: the process has no file descriptor for another.
    pub(super) fn make_room(&self) {
        lock(&self.open).displace(|_| true);
    }

    fn peer(&self, address: IpAddr) -> Option<Peer> {
        let address = address.to_canonical();
        let known = |proxy: &IpAddr| proxy.to_canonical() == address;
        if address.is_loopback() || self.proxies.iter().any(known) {
            return None;
        }
        Some(match address {
            IpAddr::V4(address) => Peer(address.to_bits().into(), false),
            IpAddr::V6(address) => Peer((address.to_bits() >> 64) as u64, true),
        })
    }
}

impl ConnectionTable {
    /// Closes the counted connection that has had no request for the longest time.
    fn displace(&self, counts: impl Fn(&Connection) -> bool) -> bool {
        let idle = self.connections.values().filter(|it| counts(it));
        let idle = idle.filter_map(|it| Some((it.timer.idle_since()?, &it.timer)));
        let longest = idle.min_by_key(|(since, _): &(Instant, _)| *since);
        longest.is_some_and(|(_, timer)| timer.displace())
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        let peer = open.connections.remove(&self.id).and_then(|it| it.peer);
        let Some(peer) = peer else { return };
        if let Some(count) = open.peers.get_mut(&peer) {
            *count -= 1;
            if *count == 0 {
                open.peers.remove(&peer);
            }
        }
    }
}

/// Returns the number of files that the process may have open, where that is known: on Linux.
fn max_descriptors() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let mut lines = limits.lines();
    let limit = lines.find_map(|line| line.strip_prefix("Max open files"))?;
    limit.split_whitespace().next()?.parse().ok()
}

/// Limits on the number of surplus connections.
const MIN_SURPLUS: usize = 8;
const MAX_SURPLUS: usize = 256;

/// Interval between attempts to find an idle connection.
const AGAIN: Duration = Duration::from_millis(50);

/// Locks the table. No code under this lock panics half-way, so poisoning is ignored.
fn lock(open: &Mutex<ConnectionTable>) -> MutexGuard<'_, ConnectionTable> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::net::Ipv4Addr;

    use futures_util::FutureExt;
    use http::Version;

    use super::*;
    use crate::request_budget::RequestBudget;

    fn connections(all: usize, per_address: usize) -> Connections {
        Connections::new(&ServeOptions {
            connections: all,
            connections_per_address: per_address,
            proxies: [IpAddr::from([192, 0, 2, 9])].into(),
            ..ServeOptions::default()
        })
    }

    fn timer() -> Arc<ConnectionTimer> {
        let (options, requests) = (ServeOptions::default(), RequestBudget::new(1 << 20));
        Arc::new(ConnectionTimer::new(&options, requests))
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_its_limit() {
        let all = connections(100, 2);
        let enter = |address: &str, timer| {
            let entered = all.enter(address.parse().unwrap(), timer).now_or_never();
            entered.expect("a place at once")
        };
        for (address, other) in [
            ("192.0.2.1", "192.0.2.2"),
            ("::ffff:192.0.2.1", "::ffff:192.0.2.2"),
            ("2001:db8::1", "2001:db8:0:1::1"),
        ] {
            let timers = [timer(), timer()];
            let open = timers
                .each_ref()
                .map(|it| it.begin_request(Version::HTTP_11));
            let places = timers.map(|timer| enter(address, timer));
            assert!(enter(address, timer()).is_none(), "{address}");
            assert!(enter(other, timer()).is_some());
            drop(places);
            assert!(enter(address, timer()).is_some());
            drop(open);
        }
        for unlimited in ["127.0.0.1", "::1", "192.0.2.9"] {
            let places = [(); 5].map(|()| enter(unlimited, timer()));
            assert!(places.iter().all(Option::is_some), "{unlimited}");
        }
        assert!(lock(&all.open).peers.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_connection_that_is_idle_for_the_longest_time_makes_room() {
        let all = connections(3, 100);
        let here = IpAddr::from([127, 0, 0, 1]);
        let (busy, first, second) = (timer(), timer(), timer());
        let request = busy.begin_request(Version::HTTP_11);
        let (mut places, mut active) = (Vec::new(), Vec::new());
        for timer in [&busy, &second, &first] {
            let place = all.enter(here, Arc::clone(timer)).now_or_never();
            places.push(place.flatten().unwrap());
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        drop(second.begin_request(Version::HTTP_11));
        for (timer, place) in [(first, places.pop()), (second, places.pop())] {
            let mut entering = std::pin::pin!(all.enter(here, self::timer()));
            assert!((&mut entering).now_or_never().is_none());
            assert!(is_displaced(&timer).await);
            drop(place);
            // The new connection has a request immediately.
            let place = entering.await.unwrap();
            let newest = Arc::clone(&lock(&all.open).connections[&place.id].timer);
            active.push((newest.begin_request(Version::HTTP_11), place));
        }
        // If no connection is idle, further connections are surplus, and make room for each other.
        let mut surplus = Vec::new();
        for _ in 0..MIN_SURPLUS {
            tokio::time::advance(Duration::from_millis(1)).await;
            let timer = timer();
            let place = all.enter(here, Arc::clone(&timer)).now_or_never();
            places.push(place.flatten().expect("a place at once"));
            assert!(timer.is_surplus());
            surplus.push(timer);
        }
        let further = timer();
        assert!(
            all.enter(here, Arc::clone(&further))
                .now_or_never()
                .is_none()
        );
        assert!(further.is_surplus() && is_displaced(&surplus[0]).await);
        let requests: Vec<_> = surplus
            .iter()
            .map(|it| it.begin_request(Version::HTTP_11))
            .collect();
        let refused = all.enter(here, timer()).now_or_never();
        assert!(refused.expect("an answer at once").is_none());
        drop(requests);
        drop(request);
        let last = timer();
        assert!(all.enter(here, Arc::clone(&last)).now_or_never().is_none());
        assert!(!last.is_surplus() && is_displaced(&busy).await);
    }

    /// The maximum number of connections, a few of each address, so that no address has too many.
    #[tokio::test(start_paused = true)]
    async fn idle_connections_of_many_addresses_make_room_for_new_ones() {
        const COUNT: u32 = 10_000;
        const NEW: u8 = 100;
        let all = connections(COUNT as usize, 3);
        let mut crowd = VecDeque::new();
        for number in 0..COUNT {
            let (address, timer) = (Ipv4Addr::from(0xc633_6400 + number / 3), timer());
            let place = all.enter(address.into(), Arc::clone(&timer)).now_or_never();
            crowd.push_back((timer, place.flatten().expect("a place at once")));
            tokio::time::advance(Duration::from_micros(1)).await;
        }
        let is_displaced = |timer: &ConnectionTimer| timer.idle_since().is_none();
        let mut newest = Vec::new();
        for last in 0..NEW {
            let (address, timer) = (IpAddr::from([203, 0, 113, last]), timer());
            let mut entering = std::pin::pin!(all.enter(address, Arc::clone(&timer)));
            assert!((&mut entering).now_or_never().is_none());
            let (longest, place) = crowd.pop_front().unwrap();
            assert!(is_displaced(&longest));
            drop(place);
            let place = entering.await.expect("its address has no other");
            assert!(!is_displaced(&timer));
            newest.push((timer, place));
        }
        let all_open = crowd.iter().chain(&newest);
        assert!(!all_open.into_iter().any(|(timer, _)| is_displaced(timer)));
        drop((crowd, newest));
        assert!(lock(&all.open).peers.is_empty());
    }

    /// Returns whether the connection is closed before any of its own limits.
    async fn is_displaced(timer: &ConnectionTimer) -> bool {
        timeout(Duration::from_secs(1), timer.is_late())
            .await
            .is_ok()
    }
}
