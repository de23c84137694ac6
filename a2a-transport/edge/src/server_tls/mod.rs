//! TLS of a server: certificates from files, which are read again when they change.

mod error;
mod files;
mod loaded;
mod resolver;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::time::MissedTickBehavior;

pub use self::error::ServerTlsError;
pub use self::files::ClientAuth;
use self::files::{Digest, Files};
pub(super) use self::loaded::Loaded;
use crate::metric;

/// TLS of a server: its certificates, and which certificates it requests of clients. Clones share one state.
///
/// TLS 1.2 and 1.3; HTTP/2 if the client offers `h2` by ALPN, else HTTP/1.1. Sessions are resumed by tickets,
/// for up to 12 hours.
///
/// ```no_run
/// use a2a_edge::{ClientAuth, ServerTls};
///
/// # fn main() -> Result<(), a2a_edge::ServerTlsError> {
/// let tls = ServerTls::builder("tls/chain.pem", "tls/key.pem")
///     .certificate("tls/other-chain.pem", "tls/other-key.pem")
///     .client_authorities("tls/clients.pem", ClientAuth::Optional)
///     .build()?;
/// # Ok(()) }
/// ```
///
/// While it is served, its files are read every [few seconds](ServerTlsBuilder::reload_interval). When they
/// have changed, new connections get what they say now; open connections stay. Files that cannot be used,
/// because they are half-written or a key is not that of its certificate, change nothing: a warning is logged,
/// the metric `a2a_server_tls_reload_failing` is 1 until they can be used.
#[derive(Clone)]
pub struct ServerTls(Arc<Shared>);

/// Settings of a [`ServerTls`]: paths of files. Nothing is read before [`build`](Self::build).
#[derive(Clone, Debug)]
#[must_use = "it does nothing until it is built"]
pub struct ServerTlsBuilder {
    files: Files,
    interval: Duration,
}

impl ServerTls {
    /// Begins with the certificate chain (PEM, the server's own certificate first) and its private key (PEM:
    /// PKCS #8, PKCS #1 or SEC 1, not encrypted).
    pub fn builder(chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> ServerTlsBuilder {
        ServerTlsBuilder {
            files: Files::new(chain.into(), key.into()),
            interval: DEFAULT_INTERVAL,
        }
    }

    /// Reads the files now, whether they have changed or not. Blocks for as long as the file system takes.
    ///
    /// Errors: the files cannot be used; then the previous certificates stay.
    pub fn reload(&self) -> Result<(), ServerTlsError> {
        self.0.reload(true)
    }

    /// Returns when the first of the certificates that are served expires; `None` if none says it.
    pub fn not_after(&self) -> Option<SystemTime> {
        self.current().not_after
    }

    /// Returns what new connections get.
    pub(super) fn current(&self) -> Arc<Loaded> {
        Arc::clone(&lock(&self.0.current))
    }

    /// Reads the files again and again, for as long as it is polled.
    pub(super) async fn watch(&self) {
        let mut period = tokio::time::interval(self.0.interval);
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            period.tick().await;
            let shared = Arc::clone(&self.0);
            // A file system may keep its reader waiting. `reload` logs failures.
            let reading = tokio::task::spawn_blocking(move || drop(shared.reload(false)));
            if let Err(error) = reading.await {
                tracing::error!(%error, "the files of TLS were not read to the end");
            }
        }
    }
}

impl ServerTlsBuilder {
    /// Adds a certificate chain and its key. A client gets the first chain whose names include the name that
    /// it calls (SNI), or, if there is none, the first chain.
    pub fn certificate(mut self, chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.files.certificates.push((chain.into(), key.into()));
        self
    }

    /// Requests certificates of clients (mutual TLS), of the authorities in this file (PEM, one or more). The
    /// certificate of a client cannot be among them: its holder could issue others.
    /// [`ClientCertificates`](crate::ClientCertificates) of a request are the certificates that were shown.
    pub fn client_authorities(mut self, file: impl Into<PathBuf>, auth: ClientAuth) -> Self {
        self.files.client_authorities = Some((file.into(), auth));
        self
    }

    /// Sets the time between looks at the files; 5 s by default.
    pub fn reload_interval(mut self, interval: Duration) -> Self {
        self.interval = interval.max(MIN_INTERVAL);
        self
    }

    /// Reads the files. Blocks for as long as the file system takes.
    ///
    /// Errors: a file that cannot be read or used.
    pub fn build(self) -> Result<ServerTls, ServerTlsError> {
        let contents = self.files.read()?;
        let seen = Seen {
            outcome: Ok(contents.digest()),
            failing: false,
        };
        let loaded = Arc::new(Loaded::new(contents)?);
        Ok(ServerTls(Arc::new(Shared {
            files: self.files,
            interval: self.interval,
            current: Mutex::new(loaded),
            seen: Mutex::new(seen),
        })))
    }
}

struct Shared {
    files: Files,
    interval: Duration,
    current: Mutex<Arc<Loaded>>,
    /// Held while the files are read, so that the result of the last read stays in force.
    seen: Mutex<Seen>,
}

/// State of the files when they were read last.
struct Seen {
    /// Their digest, or why they could not be read.
    outcome: Result<Digest, String>,
    /// `true` if they cannot be used.
    failing: bool,
}

impl Shared {
    /// Reads the files, and loads them if they have changed or `forced` is set.
    fn reload(&self, forced: bool) -> Result<(), ServerTlsError> {
        let mut seen = lock(&self.seen);
        let read = self.files.read();
        let outcome = match &read {
            Ok(contents) => Ok(contents.digest()),
            Err(error) => Err(error.to_string()),
        };
        let is_new = forced || seen.outcome != outcome;
        seen.outcome = outcome;
        let reloaded = match is_new {
            true => self.load(read.and_then(Loaded::new), &mut seen),
            false => Ok(()),
        };
        metric::set(metric::RELOAD_FAILING, f64::from(seen.failing));
        if let Some(seconds) = lock(&self.current).expiry() {
            // Exact: far below 2^53.
            metric::set(metric::CERTIFICATE_EXPIRY, seconds as f64);
        }
        reloaded
    }

    fn load(
        &self,
        loaded: Result<Loaded, ServerTlsError>,
        seen: &mut Seen,
    ) -> Result<(), ServerTlsError> {
        seen.failing = loaded.is_err();
        match loaded {
            Ok(loaded) => {
                *lock(&self.current) = Arc::new(loaded);
                metric::count(metric::RELOADS, "loaded");
                tracing::info!(files = %self.files, "new connections get the certificates of TLS as they are now");
                Ok(())
            }
            Err(error) => {
                metric::count(metric::RELOADS, "failed");
                let reason = &error as &dyn std::error::Error;
                tracing::warn!(
                    error = reason,
                    "the files of TLS cannot be used, and the previous certificates stay"
                );
                Err(error)
            }
        }
    }
}

/// Locks. No code under these locks panics half-way, so poisoning is ignored.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Time between looks at the files.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(5);
const MIN_INTERVAL: Duration = Duration::from_millis(10);

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerTls")
            .field("files", &self.0.files)
            .finish_non_exhaustive()
    }
}
