//! The proxies that listen.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_client::{HttpClient, Tls};
use a2a_transport::http::{Hosts, ServeOptions, serve};
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};

use super::forward::{MAX_PENDING_KIB, forward};
use super::upstream::Upstream;
use super::{Proxy, ProxyView};
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

/// Settings of a proxy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProxySettings {
    /// An address, or a port of loopback; a free port of loopback by default.
    #[serde(default = "any_port")]
    pub(crate) listen: String,
    /// URL of the agent, or of its card.
    pub(crate) upstream: String,
    /// Other origins to which requests are passed on, if a card names them.
    #[serde(default)]
    pub(crate) origins: Vec<String>,
    /// Certificate authorities to trust in addition to the system's, in PEM.
    pub(crate) authorities: Option<String>,
}

fn any_port() -> String {
    "0".to_owned()
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
    pub(crate) async fn start(&self, settings: ProxySettings) -> Result<ProxyView, Problem> {
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

    pub(super) fn find(&self, id: &str) -> Result<Arc<Proxy>, Problem> {
        let running = self.running();
        let found = running.get(id).map(|running| Arc::clone(&running.proxy));
        found.ok_or_else(|| Problem::not_found(format!("no proxy {id:?} runs")))
    }

    pub(super) fn stop(&self, id: &str) -> Result<(), Problem> {
        let stopped = self.running().remove(id);
        let stopped = stopped.ok_or_else(|| Problem::not_found(format!("no proxy {id:?} runs")))?;
        let gone = serde_json::json!({"id": stopped.proxy.id, "gone": true});
        self.0.changes.send("proxy", &gone);
        Ok(())
    }

    pub(super) fn views(&self) -> Vec<ProxyView> {
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

/// Proxies that listen at once.
const MAX_PROXIES: usize = 16;
/// Connections of callers to one proxy.
const MAX_CONNECTIONS: usize = 256;
/// Time that open requests may go on when a proxy is stopped.
const GRACE: Duration = Duration::from_millis(200);
