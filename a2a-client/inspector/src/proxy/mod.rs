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
mod routes;
mod secret_names;
mod upstream;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_client::{HttpClient, Tls};
use a2a_transport::http::{Hosts, ServeOptions, serve};
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};

use self::fault::{Fault, FaultKind};
use self::forward::{MAX_PENDING_KIB, forward};
pub(crate) use self::routes::routes;
pub(crate) use self::secret_names::SecretNames;
use self::upstream::Upstream;
use crate::Inspector;
use crate::changes::Changes;
use crate::problem::Problem;
use crate::wire::ExchangeLog;

/// The proxies that listen. Clones share them.
#[derive(Clone)]
pub(crate) struct Proxies(Arc<ProxyList>);

struct ProxyList {
    log: ExchangeLog,
    changes: Changes,
    running: Mutex<BTreeMap<String, Running>>,
    last_id: AtomicU64,
}

struct Running {
    proxy: Arc<Proxy>,
    /// Dropped to stop it.
    _stop: oneshot::Sender<()>,
}

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
    /// For cleartext HTTP/2.
    http2: HttpClient,
    /// Room for the bodies of requests, in KiB.
    pending: Semaphore,
    log: ExchangeLog,
    changes: Changes,
}

/// ProxySettings of a proxy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProxySettings {
    /// An address, or a port of loopback; a free port of loopback by default.
    #[serde(default = "any_port")]
    listen: String,
    /// URL of the agent, or of its card.
    upstream: String,
    /// Other origins to which requests are passed on, if a card names them.
    #[serde(default)]
    origins: Vec<String>,
    /// Certificate authorities to trust in addition to the system's, in PEM.
    authorities: Option<String>,
}

fn any_port() -> String {
    "0".to_owned()
}

/// A proxy as the page gets it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProxyView {
    id: String,
    /// URL for callers.
    url: String,
    address: SocketAddr,
    upstream: String,
    /// Other origins to which requests are passed on.
    origins: Vec<String>,
    /// Origins that cards have named, and to which no request is passed on.
    named_origins: Vec<String>,
    requests: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
}

/// Proxies that listen at once.
const MAX_PROXIES: usize = 16;
/// Connections of callers to one proxy.
const MAX_CONNECTIONS: usize = 256;
/// Time that open requests may go on when a proxy is stopped.
const GRACE: Duration = Duration::from_millis(200);

impl Inspector {
    /// Starts a recording proxy that listens on an address like `127.0.0.1:7421`, for an agent at a URL. Requests are
    /// passed on to the agent's origin, and to these other origins if the card names them. Returns the address.
    ///
    /// Errors: the address cannot be listened on, a URL is not of `http` or `https`, too many proxies run.
    pub async fn start_proxy(
        &self,
        listen: &str,
        upstream: &str,
        origins: &[String],
    ) -> io::Result<SocketAddr> {
        let settings = ProxySettings {
            listen: listen.to_owned(),
            upstream: upstream.to_owned(),
            origins: origins.to_vec(),
            authorities: None,
        };
        let started = self.proxies.start(settings).await;
        let started = started.map_err(|problem| io::Error::other(problem.to_string()))?;
        Ok(started.address)
    }
}

impl Proxies {
    pub(crate) fn new(log: ExchangeLog, changes: Changes) -> Self {
        Self(Arc::new(ProxyList {
            log,
            changes,
            running: Mutex::default(),
            last_id: AtomicU64::new(0),
        }))
    }

    /// Starts a proxy. Errors: a parameter is wrong, the address is taken, too many run.
    async fn start(&self, settings: ProxySettings) -> Result<ProxyView, Problem> {
        let upstream = Upstream::of(&settings.upstream)?;
        for origin in &settings.origins {
            upstream.confirm(origin)?;
        }
        let mut tls = Tls::default();
        if let Some(authorities) = &settings.authorities {
            tls = tls
                .trust(authorities.as_bytes())
                .map_err(|error| Problem::bad_request(format!("`authorities`: {error}")))?;
        }
        let listen = match settings.listen.parse::<u16>() {
            Ok(port) => format!("127.0.0.1:{port}"),
            Err(_) => settings.listen,
        };
        let listener = TcpListener::bind(&listen).await;
        let listener = listener.map_err(|error| {
            Problem::conflict(format!("cannot listen on {listen:?}: {error}"))
                .hint("Give an address like 127.0.0.1:7421; port 0 takes a free one.")
        })?;
        let address = listener.local_addr();
        let address = address.map_err(|error| Problem::conflict(error.to_string()))?;
        let number = self.0.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let proxy = Arc::new(Proxy {
            id: format!("p{number}"),
            address,
            hosts: Hosts::of(address),
            upstream,
            secret_names: Mutex::default(),
            requests: AtomicU64::new(0),
            fault: Mutex::default(),
            http: HttpClient::builder().tls(tls).build(),
            http2: HttpClient::builder().http2_only().build(),
            pending: Semaphore::new(MAX_PENDING_KIB),
            log: self.0.log.clone(),
            changes: self.0.changes.clone(),
        });
        let (stop, stopped) = oneshot::channel();
        {
            let mut running = self.running();
            if running.len() >= MAX_PROXIES {
                return Err(Problem::conflict(format!(
                    "{MAX_PROXIES} proxies run already"
                )));
            }
            let (id, proxy) = (proxy.id.clone(), Arc::clone(&proxy));
            running.insert(id, Running { proxy, _stop: stop });
        }
        let view = proxy.view();
        self.0.changes.send("proxy", &view);
        let service = service_fn(move |request: Request<Incoming>| {
            let proxy = Arc::clone(&proxy);
            async move { Ok::<_, Infallible>(forward(proxy, request).await) }
        });
        let mut options = ServeOptions::default();
        options.grace = GRACE;
        options.connections = MAX_CONNECTIONS;
        tokio::spawn(async move {
            // A dropped sender stops it, too.
            let stopped = async { drop(stopped.await) };
            serve(listener, service, options, stopped).await;
        });
        Ok(view)
    }

    fn find(&self, id: &str) -> Result<Arc<Proxy>, Problem> {
        let running = self.running();
        let found = running.get(id).map(|running| Arc::clone(&running.proxy));
        found.ok_or_else(|| Problem::not_found(format!("no proxy {id:?} runs")))
    }

    fn stop(&self, id: &str) -> Result<(), Problem> {
        let stopped = self.running().remove(id);
        let stopped = stopped.ok_or_else(|| Problem::not_found(format!("no proxy {id:?} runs")))?;
        let gone = serde_json::json!({"id": stopped.proxy.id, "gone": true});
        self.0.changes.send("proxy", &gone);
        Ok(())
    }

    fn views(&self) -> Vec<ProxyView> {
        let running = self.running();
        running
            .values()
            .map(|running| running.proxy.view())
            .collect()
    }

    /// Locks the proxies. No code under this lock panics half-way, so poisoning is ignored.
    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Running>> {
        self.0
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
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
