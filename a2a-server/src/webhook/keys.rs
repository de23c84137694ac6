//! The keys that notifications are signed with, and their succession.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use a2a_transport::webhook::{Claims, Jwks, MAX_CLOCK_DIFFERENCE, Secret, SigningKey};

/// The keys that notifications are signed with. Cheap to clone, every clone is the same set.
///
/// Each notification bears a JSON Web Token, by a key whose public half the agent publishes at
/// `/.well-known/jwks.json`, unless its webhook was registered with credentials of its own, which
/// then stand in `Authorization`; and a signature of Standard Webhooks by each secret.
///
/// ```
/// use a2a_server::{Algorithm, SigningKey, WebhookKeys};
///
/// let keys = WebhookKeys::new(SigningKey::generate(Algorithm::Es256)?);
/// // From time to time, as a task of the operator:
/// keys.rotate(SigningKey::generate(Algorithm::Es256)?);
/// # Ok::<_, a2a_server::InvalidKey>(())
/// ```
#[derive(Clone)]
pub struct WebhookKeys {
    tokens: Arc<Mutex<Vec<ScheduledKey>>>,
    secrets: Vec<Secret>,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

/// A key, and from when on it signs, in seconds since the Unix epoch.
struct ScheduledKey {
    key: SigningKey,
    signs_from: u64,
}

impl WebhookKeys {
    /// Signs with this key.
    pub fn new(key: SigningKey) -> Self {
        let key = ScheduledKey { key, signs_from: 0 };
        Self {
            tokens: Arc::new(Mutex::new(vec![key])),
            secrets: Vec::new(),
            clock: Arc::new(SystemTime::now),
        }
    }

    /// Reads another clock than the system's, for tests.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Signs with this secret of Standard Webhooks, too. With several, as during a rotation, each
    /// makes a signature of its own.
    pub fn secret(mut self, secret: Secret) -> Self {
        self.secrets.push(secret);
        self
    }

    /// Publishes another key at once, and signs with it once every receiver has had the time to see
    /// it: after five minutes. The key before it is published until its last token has expired.
    pub fn rotate(&self, key: SigningKey) {
        self.rotate_at(key, self.now());
    }

    fn rotate_at(&self, key: SigningKey, now: u64) {
        let mut keys = self.lock();
        forget_expired(&mut keys, now);
        let signs_from = now + NOTICE;
        keys.push(ScheduledKey { key, signs_from });
    }

    /// Returns the public halves, as a gateway publishes them.
    pub fn published(&self) -> Jwks {
        self.published_at(self.now())
    }

    fn published_at(&self, now: u64) -> Jwks {
        let mut keys = self.lock();
        forget_expired(&mut keys, now);
        Jwks::of(keys.iter().map(|key| &key.key))
    }

    /// A token for a notification: what follows `Bearer`.
    pub(super) fn token(&self, body: &[u8], id: &str, url: &str, now: u64) -> Option<String> {
        let key = self.signing_at(now)?;
        let signed = key.sign(&Claims::of(body, id, url, now));
        signed
            .inspect_err(|error| tracing::error!(%error, "could not sign a notification"))
            .ok()
    }

    fn signing_at(&self, now: u64) -> Option<SigningKey> {
        let keys = self.lock();
        let mut present = keys.iter().rev().filter(|key| key.signs_from <= now);
        present.next().map(|key| key.key.clone())
    }

    /// The signatures of Standard Webhooks; none without a secret.
    pub(super) fn signatures(&self, body: &[u8], id: &str, now: u64) -> Option<String> {
        let signatures = self
            .secrets
            .iter()
            .filter_map(|secret| secret.sign(id, now, body));
        let signatures: Vec<_> = signatures.collect();
        (!signatures.is_empty()).then(|| signatures.join(" "))
    }

    /// Seconds since the Unix epoch.
    pub(super) fn now(&self) -> u64 {
        seconds((self.clock)())
    }

    /// No code under this lock panics half-way, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, Vec<ScheduledKey>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for WebhookKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookKeys")
    }
}

/// Number of seconds for which a key is published before it signs: as long as receivers keep a set of keys.
const NOTICE: u64 = 300;

/// Forgets keys whose last token has expired.
fn forget_expired(keys: &mut Vec<ScheduledKey>, now: u64) {
    let successors = keys.iter().skip(1).map(|next| next.signs_from);
    // A token that was signed in the last moment, by a clock that is a little behind.
    let expired = successors
        .filter(|from| from + 2 * MAX_CLOCK_DIFFERENCE <= now)
        .count();
    keys.drain(..expired);
}

/// Seconds since the Unix epoch.
pub(super) fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a_transport::webhook::{Algorithm, key_id};

    fn key() -> SigningKey {
        SigningKey::generate(Algorithm::Es256).unwrap()
    }

    /// At any time the signing key is published, was published five minutes before, and stays
    /// published until its tokens have expired.
    #[test]
    fn no_receiver_meets_a_key_that_it_cannot_know() {
        let begun = 1_000_000;
        let keys = WebhookKeys::new(key());
        let mut published = Vec::new();
        let mut signed = Vec::new();
        for now in (begun..begun + 4000).step_by(50) {
            if (now - begun) % 1000 == 500 {
                keys.rotate_at(key(), now);
            }
            let ids = keys
                .published_at(now)
                .keys
                .into_iter()
                .map(|key| key.kid.unwrap());
            published.push((now, ids.collect::<Vec<_>>()));
            let token = keys
                .token(b"{}", "msg_1", "https://example.com/", now)
                .unwrap();
            signed.push((now, key_id(&token).unwrap().unwrap()));
        }
        for (time, id) in &signed {
            for (now, ids) in &published {
                let matters = *now + NOTICE >= *time && *now <= time + MAX_CLOCK_DIFFERENCE;
                // The first key had no predecessor to announce it.
                assert!(!matters || ids.contains(id), "{time} {now}");
            }
        }
        let several: Vec<_> = published.iter().map(|(_, ids)| ids.len()).collect();
        assert_eq!(several.iter().max(), Some(&2));
        assert_eq!(several.last(), Some(&2));
        let mut different: Vec<_> = signed.into_iter().map(|(_, id)| id).collect();
        different.dedup();
        assert_eq!(different.len(), 5);
    }

    #[test]
    fn each_secret_signs() {
        let secrets = [Secret::shared().unwrap(), Secret::private().unwrap()];
        let [one, two] = secrets.clone();
        let keys = WebhookKeys::new(key()).secret(one).secret(two);
        let signatures = keys.signatures(b"{}", "msg_1", 1_000_000).unwrap();
        for secret in secrets {
            let public = secret.public().unwrap();
            assert!(public.verify("msg_1", 1_000_000, b"{}", &signatures, 1_000_100));
            assert!(!public.verify("msg_1", 1_000_000, b"{ }", &signatures, 1_000_100));
        }
    }
}
