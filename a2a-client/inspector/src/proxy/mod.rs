//! Recording reverse proxies, for callers that are not the inspector.
//!
//! ```text
//! caller ─► proxy ─► agent        requests collected, up to 16 MiB
//!        ◄─ fault ◄─ record ◄─    answers passed on as they come
//! ```
//!
//! A proxy passes requests and answers on as they are, but for what it must change: `Host`, headers of one
//! connection, compression, and the URLs of cards, so that callers stay with it. It speaks HTTP/1.1 and cleartext
//! HTTP/2 with its callers, and with the agent what the caller speaks; TLS with agents at `https`.
//!
//! On loopback it answers as this machine only, as a server does: a page whose name resolves here cannot call an
//! agent through it. It passes requests on to the agent's origin, and to others that the user has confirmed, with all
//! that the caller sends. An origin that only a card names is not reached through it.

mod body;
mod fault;
mod forward;
mod registry;
mod routes;
mod secret_names;
mod upstream;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use a2a_client::HttpClient;
use a2a_transport::http::Hosts;
use serde::Serialize;
use tokio::sync::Semaphore;

use self::fault::{Fault, FaultKind};
pub(crate) use self::registry::{Proxies, ProxySettings};
pub(crate) use self::routes::routes;
pub(crate) use self::secret_names::SecretNames;
use self::upstream::Upstream;
use crate::changes::Changes;
use crate::problem::Problem;
use crate::wire::ExchangeLog;

/// A proxy.
pub(crate) struct Proxy {
    id: String,
    address: SocketAddr,
    hosts: Hosts,
    upstream: Upstream,
    secret_names: Mutex<SecretNames>,
    requests: AtomicU64,
    fault: Mutex<Option<Fault>>,
    http: HttpClient,
    /// Client for cleartext HTTP/2.
    http2: HttpClient,
    /// Room for the bodies of requests, in KiB.
    pending: Semaphore,
    log: ExchangeLog,
    changes: Changes,
}

/// A proxy as the page gets it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProxyView {
    id: String,
    /// URL for callers.
    url: String,
    pub(crate) address: SocketAddr,
    upstream: String,
    /// Other origins to which requests are passed on.
    origins: Vec<String>,
    /// Origins that cards have named, and to which no request is passed on.
    named_origins: Vec<String>,
    requests: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
}

impl Proxy {
    fn view(&self) -> ProxyView {
        ProxyView {
            id: self.id.clone(),
            url: format!("http://{}", self.address),
            address: self.address,
            upstream: self.upstream.url().to_owned(),
            origins: self.upstream.confirmed(),
            named_origins: self.upstream.named(),
            requests: self.requests.load(Ordering::Relaxed),
            fault: *self.fault(),
        }
    }

    /// Passes requests on to this origin, too. Errors: it is not an origin, or there are too many origins.
    fn confirm(&self, origin: &str) -> Result<(), Problem> {
        self.upstream.confirm(origin)?;
        self.changes.send("proxy", &self.view());
        Ok(())
    }

    fn set_fault(&self, fault: Option<Fault>) {
        *self.fault() = fault;
        self.changes.send("proxy", &self.view());
    }

    fn has_fault(&self, kind: FaultKind) -> bool {
        self.fault().is_some_and(|fault| fault.kind == kind)
    }

    /// Returns the fault if it is due now; one that happens once is removed.
    fn take_fault(&self, is_due: impl FnOnce(FaultKind) -> bool) -> Option<FaultKind> {
        let mut set = self.fault();
        let fault = (*set)?;
        if !is_due(fault.kind) {
            return None;
        }
        if fault.once {
            *set = None;
            drop(set);
            self.changes.send("proxy", &self.view());
        }
        Some(fault.kind)
    }

    /// Locks the fault. No code under this lock panics half-way, so poisoning is ignored.
    fn fault(&self) -> MutexGuard<'_, Option<Fault>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
