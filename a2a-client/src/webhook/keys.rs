//! Cache of the public keys of an agent.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_transport::BoxFuture;
use a2a_transport::http::HttpClient;
use a2a_transport::webhook::{Jwk, Jwks};
use http::{HeaderMap, StatusCode};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::{BoxError, ReceiverConfigError};
use crate::Origin;

/// Source of the public keys of an agent.
pub trait KeySource: Send + Sync + 'static {
    /// Fetches all keys.
    fn fetch(&self) -> BoxFuture<'_, Result<Jwks, BoxError>>;

    /// Returns whether the keys are safe from replacement in transit.
    fn is_protected(&self) -> bool {
        true
    }
}

/// Fixed keys.
impl KeySource for Jwks {
    fn fetch(&self) -> BoxFuture<'_, Result<Jwks, BoxError>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

/// Keys that an agent publishes at a URL: by `https`, or by `http` on this machine.
#[derive(Clone)]
pub struct JwksUrl {
    url: String,
    http: HttpClient,
    allow_http: bool,
}

impl JwksUrl {
    /// Fetches `url` with `http`.
    pub fn new(url: impl Into<String>, http: HttpClient) -> Self {
        Self {
            url: url.into(),
            http,
            allow_http: false,
        }
    }

    /// Accepts keys without TLS: they can then be replaced in transit, and notifications forged. The
    /// local machine needs no such permission.
    pub fn allow_http(mut self) -> Self {
        self.allow_http = true;
        self
    }
}

/// Omits the URL, which may contain a secret.
impl fmt::Debug for JwksUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwksUrl").finish_non_exhaustive()
    }
}

impl KeySource for JwksUrl {
    fn fetch(&self) -> BoxFuture<'_, Result<Jwks, BoxError>> {
        Box::pin(async {
            if !self.is_protected() {
                return Err(ReceiverConfigError::KeysInClear.into());
            }
            let fetched = self.http.get(&self.url, &HeaderMap::new()).await?;
            match fetched.status {
                StatusCode::OK => Ok(Jwks::read(&fetched.body)?),
                status => Err(format!("HTTP status {status}").into()),
            }
        })
    }

    fn is_protected(&self) -> bool {
        // An invalid URL is reported by the fetch.
        self.allow_http || Origin::of(&self.url).map_or(true, |origin| origin.is_protected())
    }
}

/// The public keys of an agent, cached for five minutes. They are fetched again when a token names an
/// unknown key, for that reason at most once a minute. While they cannot be fetched the last ones stay valid.
/// Clones share the cache.
#[derive(Clone)]
pub struct JwksSource(Arc<KeyCache>);

struct KeyCache {
    source: Box<dyn KeySource>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    set: Option<Jwks>,
    fetched: Option<Instant>,
    last_attempt: Option<Instant>,
    forced: Option<Instant>,
    /// Closes when the fetch in progress has ended.
    fetching: Option<watch::Receiver<()>>,
}

/// Failure to find a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum KeyError {
    /// The agent publishes no such key.
    Unknown,
    /// No keys could be fetched yet.
    Unavailable,
}

impl JwksSource {
    /// Uses the keys published at a URL: by `https`, or by `http` on this machine. Others need
    /// [`JwksUrl::allow_http`].
    pub fn at(url: impl Into<String>) -> Self {
        Self::from(JwksUrl::new(url, HttpClient::default()))
    }

    pub(super) fn is_protected(&self) -> bool {
        self.0.source.is_protected()
    }

    /// Returns the key that a token names, or the only key if it names none. Waits for a fetch that is
    /// due.
    pub(super) async fn find(&self, kid: Option<&str>) -> Result<Jwk, KeyError> {
        if let Some(mut fetching) = self.refresh_if_due(kid) {
            // No value is ever sent: the wait ends when the fetch drops its sender.
            let _ = fetching.changed().await;
        }
        let state = self.0.lock();
        let set = state.set.as_ref().ok_or(KeyError::Unavailable)?;
        set.find(kid).cloned().ok_or(KeyError::Unknown)
    }

    /// Returns the fetch to wait for before the lookup, if any. Starts it if it is due.
    fn refresh_if_due(&self, kid: Option<&str>) -> Option<watch::Receiver<()>> {
        let mut state = self.0.lock();
        let is_past = |since: Option<Instant>, term| since.is_none_or(|at| at.elapsed() >= term);
        let is_known = state
            .set
            .as_ref()
            .is_some_and(|set| set.find(kid).is_some());
        if is_known && !is_past(state.fetched, TERM) {
            return None;
        }
        let under_way = state.fetching.clone();
        // If its sender is gone, the fetch has ended, perhaps by a panic.
        if let Some(fetching) = under_way.filter(|fetching| fetching.has_changed().is_ok()) {
            return Some(fetching);
        }
        let forced = state.set.is_some() && !is_known;
        let due = match (forced, &state.set) {
            (true, _) => is_past(state.forced, MIN_PAUSE),
            (false, Some(_)) => is_past(state.last_attempt, MIN_PAUSE),
            (false, None) => is_past(state.last_attempt, RETRY),
        };
        if !due {
            return None;
        }
        state.last_attempt = Some(Instant::now());
        if forced {
            state.forced = state.last_attempt;
        }
        let (ended, fetching) = watch::channel(());
        state.fetching = Some(fetching.clone());
        let ring = Arc::clone(&self.0);
        // A task of its own: the caller may be dropped while others wait for the same fetch.
        tokio::spawn(async move {
            ring.fetch().await;
            drop(ended);
        });
        Some(fetching)
    }
}

impl<S: KeySource> From<S> for JwksSource {
    fn from(source: S) -> Self {
        Self(Arc::new(KeyCache {
            source: Box::new(source),
            state: Mutex::default(),
        }))
    }
}

impl KeyCache {
    async fn fetch(&self) {
        match timeout(PATIENCE, self.source.fetch()).await {
            Ok(Ok(set)) => {
                let mut state = self.lock();
                state.set = Some(set);
                state.fetched = Some(Instant::now());
            }
            Ok(Err(error)) => tracing::warn!(%error, "could not fetch the keys of an agent"),
            Err(_) => tracing::warn!("could not fetch the keys of an agent in time"),
        }
    }

    /// Locks the state. No code under this lock panics half-way, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time for which keys are cached.
const TERM: Duration = Duration::from_secs(300);
/// Shortest time between two fetches after one that was forced or failed.
const MIN_PAUSE: Duration = Duration::from_secs(60);
/// The same while there are no keys at all.
const RETRY: Duration = Duration::from_secs(5);
/// Deadline of a fetch.
const PATIENCE: Duration = Duration::from_secs(5);

impl fmt::Debug for JwksSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a_transport::webhook::{Algorithm, SigningKey};

    /// Publishes keys, or fails; counts the fetches.
    #[derive(Clone, Default)]
    struct TestKeys(Arc<Mutex<(Option<Jwks>, usize)>>);

    impl TestKeys {
        fn publish(&self, keys: &[&SigningKey]) {
            self.0.lock().unwrap().0 = Some(Jwks::of(keys.iter().copied()));
        }

        fn hide(&self) {
            self.0.lock().unwrap().0 = None;
        }

        #[track_caller]
        fn check(&self, fetches: usize) {
            assert_eq!(self.0.lock().unwrap().1, fetches);
        }
    }

    impl KeySource for TestKeys {
        fn fetch(&self) -> BoxFuture<'_, Result<Jwks, BoxError>> {
            let mut published = self.0.lock().unwrap();
            published.1 += 1;
            let set = published.0.clone().ok_or("away".into());
            Box::pin(std::future::ready(set))
        }
    }

    fn key() -> SigningKey {
        SigningKey::generate(Algorithm::EdDsa).unwrap()
    }

    async fn pass(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_key_id_fetches_keys_once_for_all_callers() {
        let (old, new) = (key(), key());
        let published = TestKeys::default();
        published.publish(&[&old]);
        let keys = JwksSource::from(published.clone());
        for _ in 0..10 {
            assert!(keys.find(Some(old.id())).await.is_ok());
        }
        published.check(1);
        published.publish(&[&old, &new]);
        // All callers that need the new key wait for the same fetch.
        let all = (0..100).map(|_| {
            let (keys, kid) = (keys.clone(), new.id().to_owned());
            tokio::spawn(async move { keys.find(Some(&kid)).await.is_ok() })
        });
        for found in all.collect::<Vec<_>>() {
            assert!(found.await.unwrap());
        }
        assert!(keys.find(Some(old.id())).await.is_ok());
        published.check(2);
        // A key that is no longer published stays valid for five minutes.
        published.publish(&[&new]);
        pass(299).await;
        assert!(keys.find(Some(old.id())).await.is_ok());
        pass(2).await;
        assert_eq!(keys.find(Some(old.id())).await, Err(KeyError::Unknown));
        assert!(keys.find(Some(new.id())).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_keys_are_asked_for_once_a_minute() {
        let known = key();
        let published = TestKeys::default();
        published.publish(&[&known]);
        let keys = JwksSource::from(published.clone());
        assert!(keys.find(Some(known.id())).await.is_ok());
        for _ in 0..10 {
            for number in 0..1000 {
                let kid = format!("made up {number}");
                assert_eq!(keys.find(Some(&kid)).await, Err(KeyError::Unknown));
            }
            pass(6).await;
        }
        published.check(2);
        assert_eq!(keys.find(Some("made up")).await, Err(KeyError::Unknown));
        published.check(3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_good_keys_stay() {
        let known = key();
        let published = TestKeys::default();
        let keys = JwksSource::from(published.clone());
        for _ in 0..100 {
            assert_eq!(
                keys.find(Some(known.id())).await,
                Err(KeyError::Unavailable)
            );
        }
        published.check(1);
        published.publish(&[&known]);
        pass(5).await;
        assert!(keys.find(Some(known.id())).await.is_ok());
        published.hide();
        for _ in 0..10 {
            pass(301).await;
            assert!(keys.find(Some(known.id())).await.is_ok());
            assert!(keys.find(Some(known.id())).await.is_ok());
        }
        published.check(12);
    }
}
