//! Bounded cache of results, by digest of their input.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use lru::LruCache;
use tokio::time::Instant;

/// SHA-256 of a secret.
pub(crate) type Digest = [u8; 32];

/// Returns the SHA-256 of a secret.
pub(crate) fn sha256(secret: &[u8]) -> Digest {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest(&SHA256, secret).as_ref());
    bytes
}

/// Results by digest, each for a while. The least recently used one is evicted for a new one.
pub(crate) struct DigestCache<V>(Mutex<LruCache<Digest, (V, Instant)>>);

impl<V: Clone> DigestCache<V> {
    pub(crate) fn new(capacity: NonZeroUsize) -> Self {
        Self(Mutex::new(LruCache::new(capacity)))
    }

    /// Returns the result, unless its time is over.
    pub(crate) fn get(&self, digest: &Digest) -> Option<V> {
        let mut entries = self.lock();
        let (value, until) = entries.get(digest)?;
        if *until > Instant::now() {
            return Some(value.clone());
        }
        entries.pop(digest);
        None
    }

    /// Keeps a result for a while.
    pub(crate) fn insert(&self, digest: Digest, value: V, period: Duration) {
        let until = Instant::now() + period;
        self.lock().put(digest, (value, until));
    }

    pub(crate) fn remove(&self, digest: &Digest) {
        self.lock().pop(digest);
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Digest, (V, Instant)>> {
        // No code under this lock panics half-way, so poisoning is ignored.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn results_are_kept_for_a_while_and_as_many_as_there_is_room_for() {
        let cache = DigestCache::new(const { NonZeroUsize::new(2).unwrap() });
        let second = Duration::from_secs(1);
        for (name, period) in [("a", second), ("b", 2 * second)] {
            cache.insert(sha256(name.as_bytes()), name, period);
        }
        assert_eq!(cache.get(&sha256(b"a")), Some("a"));
        tokio::time::advance(second).await;
        assert_eq!(cache.get(&sha256(b"a")), None);
        assert_eq!(cache.get(&sha256(b"b")), Some("b"));
        cache.insert(sha256(b"c"), "c", second);
        cache.insert(sha256(b"d"), "d", second);
        assert_eq!(cache.get(&sha256(b"b")), None);
        cache.remove(&sha256(b"d"));
        assert_eq!(cache.get(&sha256(b"d")), None);
        assert_eq!(cache.get(&sha256(b"c")), Some("c"));
    }
}
