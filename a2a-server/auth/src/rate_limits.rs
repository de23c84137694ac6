//! Limits on the rate of requests, and of failed attempts.

use std::hash::Hash;
use std::net::IpAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use a2a_transport::Principal;
use a2a_transport::http::{AuthError, Authenticator, PeerAddress, Security};
use governor::clock::{Clock, MonotonicClock};
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use http::request::Parts;
use lru::LruCache;

/// A rate: `count` at once, and the same number again in the course of `period`.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    count: NonZeroU32,
    period: Duration,
}

impl Rate {
    /// Makes a rate of `count` per `period`. A count of 0 is 1; a period of 0 is a nanosecond.
    pub fn new(count: u32, period: Duration) -> Self {
        Self {
            count: NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN),
            period: period.max(Duration::from_nanos(1)),
        }
    }

    /// Makes a rate of `count` per second.
    pub fn per_second(count: u32) -> Self {
        Self::new(count, Duration::from_secs(1))
    }

    /// Makes a rate of `count` per minute.
    pub fn per_minute(count: u32) -> Self {
        Self::new(count, Duration::from_secs(60))
    }

    fn quota(self) -> Quota {
        let one = (self.period / self.count.get()).max(Duration::from_nanos(1));
        // Only a period of 0 is not a rate.
        let quota = Quota::with_period(one).unwrap_or(Quota::per_second(self.count));
        quota.allow_burst(self.count)
    }
}

/// Authenticator that limits what another one admits: requests of each principal and of each address, if their
/// rates are set, and failed attempts of each address, by default 10 a second.
///
/// A request beyond a limit gets 429 and `Retry-After`, before its credentials are looked at. An
/// address is that of the connection, of IPv6 its network of 64 bits; connections of this machine, where proxies are,
/// have no limits of their own. Behind a proxy on another machine all callers have its address, and one that guesses
/// locks out the others, unless [`behind_proxies`](Self::behind_proxies) says so. Each limit knows the 10,000 keys that were used
/// last; a further one takes the place of the one that was not used for longest.
pub struct RateLimits<A> {
    inner: A,
    principals: Option<KeyedLimit<u64>>,
    addresses: Option<KeyedLimit<IpAddr>>,
    failures: KeyedLimit<IpAddr>,
    hasher: ahash::RandomState,
    proxies: usize,
}

impl<A: Authenticator> RateLimits<A> {
    /// Limits what `inner` admits.
    pub fn new(inner: A) -> Self {
        Self {
            inner,
            principals: None,
            addresses: None,
            failures: KeyedLimit::new(Rate::per_second(10)),
            hasher: ahash::RandomState::new(),
            proxies: 0,
        }
    }

    /// Limits the requests of each principal.
    pub fn per_principal(mut self, rate: Rate) -> Self {
        self.principals = Some(KeyedLimit::new(rate));
        self
    }

    /// Limits the requests of each address.
    pub fn per_address(mut self, rate: Rate) -> Self {
        self.addresses = Some(KeyedLimit::new(rate));
        self
    }

    /// Limits the requests with wrong credentials of each address.
    pub fn failures(mut self, rate: Rate) -> Self {
        self.failures = KeyedLimit::new(rate);
        self
    }

    /// Sets the number of proxies between callers and this server, each of which adds the address of its peer
    /// to `X-Forwarded-For`; none by default. With too high a number callers choose their address.
    pub fn behind_proxies(mut self, count: usize) -> Self {
        self.proxies = count;
        self
    }

    async fn decide(&self, head: &Parts) -> Result<Principal, AuthError> {
        let address = self.address(head).map(network);
        if let Some(address) = address {
            self.failures.blocked(&address)?;
            if let Some(addresses) = &self.addresses {
                addresses.take(address)?;
            }
        }
        let admitted = self.inner.authenticate(head).await;
        if let (Err(AuthError::InvalidCredentials { .. }), Some(address)) = (&admitted, address) {
            self.failures.take(address)?;
        }
        let principal = admitted?;
        if let Some(principals) = &self.principals {
            principals.take(self.hasher.hash_one(&principal))?;
        }
        Ok(principal)
    }

    /// Returns the address of the caller, if it is known and not that of this machine.
    fn address(&self, head: &Parts) -> Option<IpAddr> {
        let peer = head.extensions.get::<PeerAddress>()?.0.ip();
        let address = self.forwarded(head).unwrap_or(peer);
        (!address.to_canonical().is_loopback()).then_some(address)
    }

    /// Returns the address that the proxies have seen, if there are any.
    fn forwarded(&self, head: &Parts) -> Option<IpAddr> {
        let hops = self.proxies.checked_sub(1)?;
        // The last entry is what the nearest proxy has seen.
        let headers = head.headers.get_all("x-forwarded-for").iter();
        let lists = headers.filter_map(|value| value.to_str().ok());
        let entries: Vec<_> = lists.flat_map(|list| list.split(',')).collect();
        entries.iter().rev().nth(hops)?.trim().parse().ok()
    }
}

/// Returns the network of an address: a caller that has one address of IPv6 has 2^64 of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(network.into())
        }
        address => address,
    }
}

impl<A: Authenticator> Authenticator for RateLimits<A> {
    async fn authenticate(&self, head: &Parts) -> Result<Principal, AuthError> {
        self.decide(head).await
    }

    fn security(&self) -> Option<Security> {
        self.inner.security()
    }
}

/// A limit for each key.
struct KeyedLimit<K: Hash + Eq> {
    quota: Quota,
    clock: MonotonicClock,
    limiters: Mutex<LruCache<K, Limiter>>,
}

/// Limiter of one key.
struct Limiter {
    limiter: RateLimiter<NotKeyed, InMemoryState, MonotonicClock>,
    /// Time until which the key is refused, once it was.
    blocked_until: Option<<MonotonicClock as Clock>::Instant>,
}

impl<K: Hash + Eq> KeyedLimit<K> {
    fn new(rate: Rate) -> Self {
        Self {
            quota: rate.quota(),
            clock: MonotonicClock,
            limiters: Mutex::new(LruCache::new(MAX_KEYS)),
        }
    }

    /// Takes one of a key's rate.
    fn take(&self, key: K) -> Result<(), AuthError> {
        let mut limiters = self.limiters.lock().unwrap_or_else(PoisonError::into_inner);
        let limiter = limiters.get_or_insert_mut(key, || Limiter {
            limiter: RateLimiter::direct_with_clock(self.quota, self.clock.clone()),
            blocked_until: None,
        });
        let Err(refused) = limiter.limiter.check() else {
            return Ok(());
        };
        limiter.blocked_until = Some(refused.earliest_possible());
        Err(AuthError::RateLimited {
            retry_after: refused.wait_time_from(self.clock.now()),
        })
    }

    /// Refuses a key whose rate is used up, and takes none of it.
    fn blocked(&self, key: &K) -> Result<(), AuthError> {
        let mut limiters = self.limiters.lock().unwrap_or_else(PoisonError::into_inner);
        let limiter = limiters.get_mut(key);
        let until = limiter.and_then(|limiter| limiter.blocked_until);
        let remaining = until.map(|until| until.saturating_duration_since(self.clock.now()));
        match remaining.filter(|remaining| !remaining.is_zero()) {
            Some(retry_after) => Err(AuthError::RateLimited { retry_after }),
            None => Ok(()),
        }
    }
}

/// Maximum number of keys of a limit.
const MAX_KEYS: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use http::Request;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_key_has_its_rate_and_others_have_theirs() {
        let limit = KeyedLimit::new(Rate::new(3, HOUR));
        for _ in 0..3 {
            assert_eq!(limit.blocked(&"a"), Ok(()));
            assert_eq!(limit.take("a"), Ok(()));
        }
        assert_eq!(limit.blocked(&"a"), Ok(()));
        let Err(AuthError::RateLimited { retry_after }) = limit.take("a") else {
            panic!("admitted");
        };
        assert!(
            retry_after > HOUR / 4 && retry_after <= HOUR / 3,
            "{retry_after:?}"
        );
        assert!(limit.blocked(&"a").is_err());
        assert_eq!(limit.take("b"), Ok(()));
    }

    #[test]
    fn number_of_keys_is_limited() {
        let limit = KeyedLimit::new(Rate::new(1, HOUR));
        for key in 0..2 * MAX_KEYS.get() {
            assert_eq!(limit.take(key), Ok(()));
        }
        assert_eq!(limit.limiters.lock().unwrap().len(), MAX_KEYS.get());
    }

    #[test]
    fn limits_apply_to_the_address_of_the_caller() {
        let limits = RateLimits::new(a2a_transport::http::AllowAnonymous);
        let check = |limits: &RateLimits<_>, peer: &str, forwarded: &[&str], expected| {
            let mut request = Request::get("/");
            for list in forwarded {
                request = request.header("x-forwarded-for", *list);
            }
            let (mut head, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(limits.address(&head), None);
            let peer = SocketAddr::new(peer.parse().unwrap(), 5);
            head.extensions.insert(PeerAddress(peer));
            let address = limits.address(&head).map(|address| address.to_string());
            assert_eq!(address.as_deref(), expected);
        };
        check(&limits, "10.0.0.1", &["1.1.1.1"], Some("10.0.0.1"));
        check(&limits, "127.0.0.1", &["1.1.1.1"], None);
        check(&limits, "::ffff:127.0.0.1", &[], None);
        let limits = limits.behind_proxies(2);
        let check = |forwarded: &[&str], expected| {
            check(&limits, "10.0.0.1", forwarded, expected);
        };
        check(&[], Some("10.0.0.1"));
        check(&["1.1.1.1"], Some("10.0.0.1"));
        check(&["9.9.9.9, 1.1.1.1", "2.2.2.2"], Some("1.1.1.1"));
        check(&["9.9.9.9, x, 2.2.2.2"], Some("10.0.0.1"));
        check(&["::1, 2.2.2.2"], None);
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        for (address, expected) in [
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("::ffff:1.2.3.4", "1.2.3.4"),
            ("1.2.3.4", "1.2.3.4"),
        ] {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(network(address), expected.parse::<IpAddr>().unwrap());
        }
    }
}
