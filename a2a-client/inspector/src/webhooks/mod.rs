//! Receivers of push notifications.
//!
//! Each listens on an address of its own, on loopback unless the page asks for another: agents have no token of the
//! inspector. It keeps what it receives, judges it, and answers as a strict receiver does.

mod log;
mod receiver;
mod routes;
mod verdict;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a_client::Origin;
use a2a_transport::http::{ServeOptions, serve};
use a2a_transport::webhook::Secret;
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use self::log::NotificationLog;
use self::receiver::Receiver;
pub(crate) use self::routes::routes;
use crate::changes::Changes;
use crate::problem::Problem;

/// The receivers that listen, and what they have received. Clones share them.
#[derive(Clone)]
pub(crate) struct Receivers(Arc<ReceiverList>);

struct ReceiverList {
    notifications: NotificationLog,
    running: Mutex<BTreeMap<String, Running>>,
    last_id: AtomicU64,
}

struct Running {
    receiver: Arc<Receiver>,
    /// Dropped to stop it.
    _stop: oneshot::Sender<()>,
}

/// ReceiverSettings of a receiver.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct ReceiverSettings {
    /// Address to listen on; a free port of loopback by default.
    listen: Option<String>,
    /// URL at which agents reach it, if it is another than that of its address.
    url: Option<String>,
    /// Token of the configuration, which notifications must have.
    token: Option<String>,
    /// Key of Standard Webhooks, with which notifications must be signed.
    secret: Option<String>,
    /// URL of the agent's keys, by one of which notifications must have a JSON Web Token.
    jwks_url: Option<String>,
}

/// A receiver as the page gets it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReceiverView {
    id: String,
    url: String,
    address: std::net::SocketAddr,
    has_token: bool,
    has_secret: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    jwks_url: Option<String>,
}

/// Receivers that listen at once.
const MAX_RECEIVERS: usize = 16;
/// Connections of agents to one receiver.
const MAX_CONNECTIONS: usize = 64;
/// Time that open requests may go on when a receiver is stopped.
const GRACE: Duration = Duration::from_millis(200);

impl Receivers {
    pub(crate) fn new(changes: Changes) -> Self {
        Self(Arc::new(ReceiverList {
            notifications: NotificationLog::new(changes),
            running: Mutex::default(),
            last_id: AtomicU64::new(0),
        }))
    }

    /// Starts a receiver. Errors: a setting is wrong, the address is taken, too many run.
    async fn start(&self, settings: ReceiverSettings) -> Result<ReceiverView, Problem> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let secret = given(settings.secret).map(|secret| Secret::parse(&secret));
        let secret = secret.transpose().map_err(|error| {
            Problem::bad_request(format!("`secret`: {error}"))
                .hint("Give a key of Standard Webhooks, like whsec_… or whpk_….")
        })?;
        let (url, jwks_url) = (given(settings.url), given(settings.jwks_url));
        for url in [&url, &jwks_url].into_iter().flatten() {
            Origin::of(url)?;
        }
        let listen = given(settings.listen).unwrap_or_else(|| "127.0.0.1:0".to_owned());
        let listener = TcpListener::bind(&listen).await;
        let listener = listener
            .map_err(|error| Problem::conflict(format!("cannot listen on {listen:?}: {error}")))?;
        let address = listener.local_addr();
        let address = address.map_err(|error| Problem::conflict(error.to_string()))?;
        let number = self.0.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let receiver = Arc::new(Receiver::new(
            format!("r{number}"),
            address,
            url.unwrap_or_else(|| format!("http://{address}/")),
            (given(settings.token), secret, jwks_url),
            self.0.notifications.clone(),
        ));
        let (stop, stopped) = oneshot::channel();
        {
            let mut running = self.running();
            if running.len() >= MAX_RECEIVERS {
                return Err(Problem::conflict(format!(
                    "{MAX_RECEIVERS} receivers run already"
                )));
            }
            let (id, receiver) = (receiver.id.clone(), Arc::clone(&receiver));
            running.insert(
                id,
                Running {
                    receiver,
                    _stop: stop,
                },
            );
        }
        let view = receiver.view();
        let service = service_fn(move |request: Request<Incoming>| {
            let receiver = Arc::clone(&receiver);
            async move { Ok::<_, Infallible>(receiver.handle(request).await) }
        });
        let mut options = ServeOptions::default();
        options.connections = MAX_CONNECTIONS;
        options.grace = GRACE;
        tokio::spawn(async move {
            // A dropped sender stops it, too.
            let stopped = async { drop(stopped.await) };
            serve(listener, service, options, stopped).await;
        });
        Ok(view)
    }

    fn stop(&self, id: &str) -> Result<(), Problem> {
        let stopped = self.running().remove(id).map(drop);
        stopped.ok_or_else(|| Problem::not_found(format!("no receiver {id:?} runs")))
    }

    fn views(&self) -> Vec<ReceiverView> {
        let running = self.running();
        running
            .values()
            .map(|running| running.receiver.view())
            .collect()
    }

    /// Locks the receivers. No code under this lock panics half-way, so poisoning is ignored.
    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Running>> {
        self.0
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver {
    fn view(&self) -> ReceiverView {
        ReceiverView {
            id: self.id.clone(),
            url: self.url.clone(),
            address: self.address,
            has_token: self.token.is_some(),
            has_secret: self.secret.is_some(),
            jwks_url: self.jwks_url.clone(),
        }
    }
}
