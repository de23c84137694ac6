//! Keys of an issuer: fixed, from a file, or fetched.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use a2a_transport::http::{HttpClient, Timeouts};
use http::HeaderMap;
use serde::Deserialize;
use tokio::time::Instant;

use super::key_set::KeySet;
use crate::digest_cache::{Digest, sha256};
use crate::issuer_url::is_trustworthy;
use crate::watched_file::WatchedFile;

/// Keys of an issuer.
pub(super) enum IssuerKeys {
    Fixed(Arc<KeySet>),
    File(WatchedFile<KeySet>),
    Fetched(Arc<FetchedKeys>),
}

/// Result of looking for a key.
pub(super) enum KeyLookup {
    /// The set that has the key.
    Known(Arc<KeySet>),
    /// The issuer has no such key.
    Unknown,
    /// The issuer cannot be asked.
    Unavailable,
}

impl IssuerKeys {
    pub(super) fn discovered(issuer: String) -> Self {
        Self::fetched(Place::Discovery(issuer))
    }

    pub(super) fn at(url: String) -> Self {
        Self::fetched(Place::Url(url))
    }

    fn fetched(place: Place) -> Self {
        let mut timeouts = Timeouts::default();
        timeouts.connect = Duration::from_secs(5);
        timeouts.first_byte = Duration::from_secs(5);
        timeouts.body = Duration::from_secs(5);
        Self::Fetched(Arc::new(FetchedKeys {
            client: HttpClient::builder()
                .timeouts(timeouts)
                .limit(MAX_DOCUMENT)
                .build(),
            place,
            current: RwLock::default(),
            attempts: tokio::sync::Mutex::default(),
        }))
    }

    pub(super) fn set_client(&mut self, client: HttpClient) {
        if let Self::Fetched(keys) = self {
            *keys = Arc::new(FetchedKeys {
                client,
                place: keys.place.clone(),
                current: RwLock::default(),
                attempts: tokio::sync::Mutex::default(),
            });
        }
    }

    /// Returns the keys in force, if there are any yet.
    pub(super) async fn current(&self) -> Option<Arc<KeySet>> {
        match self {
            Self::Fixed(keys) => Some(Arc::clone(keys)),
            Self::File(file) => Some(file.content().await),
            Self::Fetched(keys) => keys.current(),
        }
    }

    /// Looks for a key, at the issuer if it is not known yet.
    pub(super) async fn with_key(&self, kid: Option<&str>) -> KeyLookup {
        if let Some(keys) = self.current().await
            && keys.find(kid).is_some()
        {
            return KeyLookup::Known(keys);
        }
        match self {
            Self::Fixed(_) | Self::File(_) => KeyLookup::Unknown,
            Self::Fetched(keys) => keys.look_for(kid).await,
        }
    }
}

/// Keys that are fetched, and again when they are old or a key is not among them.
pub(super) struct FetchedKeys {
    client: HttpClient,
    place: Place,
    current: RwLock<Option<FetchedSet>>,
    /// Held while the issuer is asked.
    attempts: tokio::sync::Mutex<Attempts>,
}

/// Place of the keys.
#[derive(Clone)]
enum Place {
    /// In the document that an issuer's metadata names.
    Discovery(String),
    Url(String),
}

#[derive(Clone)]
struct FetchedSet {
    keys: Arc<KeySet>,
    digest: Digest,
    /// Time from which on it is fetched again.
    stale: Instant,
}

/// Attempts to fetch the keys.
#[derive(Default)]
struct Attempts {
    last: Option<Instant>,
    failed: bool,
}

impl FetchedKeys {
    /// Returns the keys in force, and has them fetched again if they are old.
    fn current(self: &Arc<Self>) -> Option<Arc<KeySet>> {
        let now = Instant::now();
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let set = current.clone()?;
        drop(current);
        if set.stale <= now && self.postpone(now) {
            let keys = Arc::clone(self);
            tokio::spawn(async move {
                let mut attempts = keys.attempts.lock().await;
                keys.fetch(&mut attempts).await;
            });
        }
        Some(set.keys)
    }

    /// Sets the time of the next fetch, if the one that is due fails. Returns `false` if another request has.
    fn postpone(&self, now: Instant) -> bool {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        match current.as_mut().filter(|set| set.stale <= now) {
            Some(set) => {
                set.stale = now + MIN_PAUSE;
                true
            }
            None => false,
        }
    }

    /// Asks the issuer for a key that is not among the current keys, unless it was asked lately.
    async fn look_for(self: &Arc<Self>, kid: Option<&str>) -> KeyLookup {
        let mut attempts = self.attempts.lock().await;
        // Another request may have fetched it meanwhile.
        let mut keys = self.current();
        let known =
            |keys: &Option<Arc<KeySet>>| keys.clone().filter(|keys| keys.find(kid).is_some());
        if known(&keys).is_none() {
            let pause = match keys {
                Some(_) => MIN_PAUSE,
                None => FIRST_PAUSE,
            };
            let may_ask = attempts.last.is_none_or(|last| last.elapsed() >= pause);
            if may_ask {
                self.fetch(&mut attempts).await;
                keys = self.current();
            }
        }
        match known(&keys) {
            Some(keys) => KeyLookup::Known(keys),
            // After a rotation, this may be a key that the issuer would list if it could be
            // reached.
            None if attempts.failed => KeyLookup::Unavailable,
            None => KeyLookup::Unknown,
        }
    }

    /// Fetches the keys. The current keys stay if that fails, and if they are the same.
    async fn fetch(&self, attempts: &mut Attempts) {
        attempts.last = Some(Instant::now());
        let fetched = self.download().await;
        attempts.failed = fetched.is_err();
        let (json, keys) = match fetched {
            Ok(fetched) => fetched,
            Err(problem) => {
                let keys = match &self.place {
                    Place::Discovery(issuer) => issuer,
                    Place::Url(url) => url,
                };
                tracing::warn!(keys, problem, "the keys of an issuer cannot be fetched");
                return;
            }
        };
        let digest = sha256(&json);
        let stale = Instant::now() + MAX_AGE;
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        match current.as_mut().filter(|set| set.digest == digest) {
            Some(same) => same.stale = stale,
            None => {
                *current = Some(FetchedSet {
                    keys: Arc::new(keys),
                    digest,
                    stale,
                });
            }
        }
    }

    async fn download(&self) -> Result<(Vec<u8>, KeySet), String> {
        let url = match &self.place {
            Place::Url(url) => url.clone(),
            Place::Discovery(issuer) => self.discover(issuer).await?,
        };
        let json = self.get(&url).await?;
        let json = json.ok_or_else(|| format!("{url} is not there"))?;
        let keys = KeySet::parse(&json).map_err(|problem| format!("{url}: {problem}"))?;
        Ok((json, keys))
    }

    /// Returns the URL of the keys that an issuer's metadata names.
    async fn discover(&self, issuer: &str) -> Result<String, String> {
        #[derive(Deserialize)]
        struct Metadata {
            issuer: String,
            jwks_uri: String,
        }
        let urls = [discovery_url(issuer), metadata_url(issuer)];
        for url in urls {
            let Some(json) = self.get(&url).await? else {
                continue;
            };
            let metadata: Metadata = serde_json::from_slice(&json)
                .map_err(|_| format!("{url}: expected `issuer` and `jwks_uri`"))?;
            if metadata.issuer != issuer {
                return Err(format!("{url}: expected the metadata of {issuer}"));
            }
            if !is_trustworthy(&metadata.jwks_uri) {
                return Err(format!("{url}: expected a `jwks_uri` by https"));
            }
            return Ok(metadata.jwks_uri);
        }
        Err("the issuer has no metadata".to_owned())
    }

    /// Fetches a document; `None` if it is not there.
    async fn get(&self, url: &str) -> Result<Option<Vec<u8>>, String> {
        let response = self.client.get(url, &HeaderMap::new()).await;
        let response = response.map_err(|error| format!("{url}: {error}"))?;
        match response.status.as_u16() {
            200 => Ok(Some(response.body.to_vec())),
            404 => Ok(None),
            status => Err(format!("{url}: expected status 200, got {status}")),
        }
    }
}

/// Returns the URL of an issuer's discovery document (OpenID Connect Discovery §4.1).
pub(super) fn discovery_url(issuer: &str) -> String {
    format!(
        "{}/.well-known/openid-configuration",
        issuer.trim_end_matches('/')
    )
}

/// Returns the URL of an issuer's metadata: the well-known path goes between host and path (RFC 8414 §3.1).
fn metadata_url(issuer: &str) -> String {
    let (scheme, rest) = issuer.split_once("://").unwrap_or(("https", issuer));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = path.trim_end_matches('/');
    format!("{scheme}://{host}/.well-known/oauth-authorization-server{path}")
}

/// Least time between two fetches because of keys that are not known.
const MIN_PAUSE: Duration = Duration::from_secs(60);

/// The same while there are no keys at all: an issuer that begins after the agent is found soon.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// Age at which keys are fetched again; a key that was withdrawn is refused after that.
const MAX_AGE: Duration = Duration::from_secs(600);

/// Maximum size of a document in bytes.
const MAX_DOCUMENT: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_of_an_issuer_with_a_path() {
        for (issuer, discovery, metadata) in [
            (
                "https://a.example",
                "https://a.example/.well-known/openid-configuration",
                "https://a.example/.well-known/oauth-authorization-server",
            ),
            (
                "https://a.example/t/1/",
                "https://a.example/t/1/.well-known/openid-configuration",
                "https://a.example/.well-known/oauth-authorization-server/t/1",
            ),
        ] {
            assert_eq!(discovery_url(issuer), discovery);
            assert_eq!(metadata_url(issuer), metadata);
        }
    }
}
