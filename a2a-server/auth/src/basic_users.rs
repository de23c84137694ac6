//! HTTP Basic: names and passwords.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use a2a_transport::http::AuthChallenge;
use a2a_transport::{BoxFuture, Principal};
use a2a_types::{HttpAuthSecurityScheme, SecurityScheme};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::request::Parts;
use tokio::sync::Semaphore;

use crate::digest_cache::{Digest, DigestCache, sha256};
use crate::error::ConfigError;
use crate::htpasswd::Htpasswd;
use crate::password_hash::PasswordHash;
use crate::scheme::{AuthOutcome, Scheme, credentials};
use crate::watched_file::WatchedFile;

/// Scheme of names and passwords, RFC 7617. Passwords are known by their hashes: Argon2 or bcrypt.
///
/// Hashing is slow on purpose. It happens on threads of its own, two at a time; while more than 64 requests
/// wait for it, further ones get 503. A correct password is not hashed again for five minutes.
pub struct BasicUsers {
    source: Source,
    scopes: Vec<Box<str>>,
    scopes_of: HashMap<String, Vec<Box<str>>>,
    /// Names with their hashes that were verified, under a key that only this process knows.
    verified: DigestCache<()>,
    key: [u8; 32],
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
}

enum Source {
    Code(Arc<Htpasswd>),
    File(WatchedFile<Htpasswd>),
}

impl BasicUsers {
    /// Knows the users of a file as `htpasswd -B` writes it: a name, a colon and a hash in each line.
    ///
    /// The file is read again within a second after it has changed. A broken file leaves the users as they
    /// were, and is logged. Errors: it cannot be read, or is broken.
    pub fn file(path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        let file = WatchedFile::open(path, Htpasswd::parse)?;
        Self::from_source(Source::File(file))
    }

    /// Knows these users: names with the hashes of their passwords. Errors: a hash is of another algorithm.
    pub fn of<'a>(
        users: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ConfigError> {
        let mut known = Htpasswd::default();
        for (name, hash) in users {
            let added = known.insert(name, hash);
            added.map_err(|problem| ConfigError::value(format!("user `{name}`"), problem))?;
        }
        Self::from_source(Source::Code(Arc::new(known)))
    }

    fn from_source(source: Source) -> Result<Self, ConfigError> {
        let mut key = [0; 32];
        aws_lc_rs::rand::fill(&mut key)
            .map_err(|_| ConfigError::value("users", "the system has no random numbers"))?;
        Ok(Self {
            source,
            scopes: Vec::new(),
            scopes_of: HashMap::new(),
            verified: DigestCache::new(MAX_VERIFIED),
            key,
            slots: Arc::new(Semaphore::new(MAX_HASHES)),
            waiting: AtomicUsize::new(0),
        })
    }

    /// Sets the scopes of users that have none of their own; none by default.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the scopes of one user.
    pub fn scopes_of(
        mut self,
        user: impl Into<String>,
        scopes: impl IntoIterator<Item = impl Into<Box<str>>>,
    ) -> Self {
        let scopes = scopes.into_iter().map(Into::into).collect();
        self.scopes_of.insert(user.into(), scopes);
        self
    }

    async fn verdict(&self, head: &Parts) -> AuthOutcome {
        let credentials = match credentials(&head.headers, "Basic") {
            Ok(credentials) => credentials,
            Err(verdict) => return verdict,
        };
        let decoded = STANDARD.decode(credentials).ok();
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let Some((name, password)) = decoded.as_ref().and_then(|text| text.split_once(':')) else {
            return AuthOutcome::Invalid;
        };
        let users = match &self.source {
            Source::Code(users) => Arc::clone(users),
            Source::File(file) => file.content().await,
        };
        let hash = users.hash(name);
        // For an unknown name, the hash of another user, so that it takes as long as a wrong password.
        let Some(compared) = hash.or_else(|| users.any_hash()) else {
            return AuthOutcome::Invalid;
        };
        let digest = self.digest(compared, name, password);
        let is_known = hash.is_some();
        if !(is_known && self.verified.get(&digest).is_some()) {
            match self.verify(compared.clone(), password).await {
                None => return AuthOutcome::Unavailable,
                Some(is_right) if !is_right || !is_known => return AuthOutcome::Invalid,
                Some(_) => self.verified.insert(digest, (), VERIFIED_PERIOD),
            }
        }
        let scopes = self.scopes_of.get(name).unwrap_or(&self.scopes);
        AuthOutcome::Valid(Principal::named(name).with_scopes(scopes.iter().cloned()))
    }

    /// Verifies a password on a thread of its own; `None` if too many wait for that.
    async fn verify(&self, hash: PasswordHash, password: &str) -> Option<bool> {
        let _waiting = Waiting::enter(&self.waiting)?;
        let slot = Arc::clone(&self.slots).acquire_owned().await.ok()?;
        let password = password.as_bytes().to_vec();
        // The slot is held until the thread is done, even if the caller goes away.
        let verified = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            hash.verify(&password)
        });
        verified.await.ok()
    }

    /// Returns the digest of a name, its hash and a password: another hash makes another digest.
    fn digest(&self, hash: &PasswordHash, name: &str, password: &str) -> Digest {
        let (PasswordHash::Argon2(hash) | PasswordHash::Bcrypt(hash)) = hash;
        let mut bytes = self.key.to_vec();
        for part in [name, hash, password] {
            bytes.extend_from_slice(&part.len().to_le_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        sha256(&bytes)
    }
}

/// A request that waits for a hash, counted as long as this lives.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    /// Increments the count, or returns `None` if it is at its limit.
    fn enter(count: &'a AtomicUsize) -> Option<Self> {
        let others = count.fetch_add(1, Ordering::Relaxed);
        let entered = Self(count);
        (others < MAX_WAITING).then_some(entered)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Scheme for BasicUsers {
    fn check<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, AuthOutcome> {
        Box::pin(self.verdict(head))
    }

    fn describe(&self) -> SecurityScheme {
        SecurityScheme::HttpAuthSecurityScheme(HttpAuthSecurityScheme {
            description: None,
            scheme: "Basic".to_owned(),
            bearer_format: None,
        })
    }

    fn challenge(&self) -> Option<AuthChallenge> {
        let challenge = AuthChallenge::new("Basic").with("realm", "agent");
        Some(challenge.with("charset", "UTF-8"))
    }
}

/// Maximum number of passwords that are remembered as right.
const MAX_VERIFIED: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// Time for which a password is remembered as right.
const VERIFIED_PERIOD: Duration = Duration::from_secs(300);

/// Maximum number of hashes that are computed at once.
const MAX_HASHES: usize = 2;

/// Maximum number of requests that wait for a hash, or have it computed.
const MAX_WAITING: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_wait_are_limited() {
        let count = AtomicUsize::new(0);
        let waiting: Vec<_> = (0..MAX_WAITING)
            .map(|_| Waiting::enter(&count).unwrap())
            .collect();
        assert!(Waiting::enter(&count).is_none());
        assert_eq!(count.load(Ordering::Relaxed), MAX_WAITING);
        drop(waiting);
        assert!(Waiting::enter(&count).is_some());
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }
}
