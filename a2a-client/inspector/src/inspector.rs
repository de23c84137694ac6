//! The inspector: its state, and the server of its page and API.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use a2a_transport::http::{ServeOptions, serve};
use axum::body::Body;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::any;
use axum::{Extension, Router};
use hyper::body::Incoming;
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::TcpListener;

use crate::agents::{Agents, Settings};
use crate::changes::Changes;
#[cfg(feature = "conformance")]
use crate::conformance::Runs;
use crate::guard::{self, Guard};
use crate::info::{LaunchFailure, ListenAddress};
use crate::input::MAX_REQUEST_BYTES;
use crate::launch_token::LaunchToken;
use crate::problem::Problem;
use crate::proxy::{Proxies, ProxySettings};
use crate::webhooks::Receivers;
use crate::wire::ExchangeLog;
use crate::{agents, card, changes, chat, info, page, proxy, tasks, webhooks, wire};

/// The inspector. Clones share their state.
#[derive(Clone)]
pub struct Inspector {
    token: Arc<LaunchToken>,
    launch_failure: LaunchFailure,
    changes: Changes,
    agents: Agents,
    exchanges: ExchangeLog,
    proxies: Proxies,
    receivers: Receivers,
    #[cfg(feature = "conformance")]
    runs: Runs,
}

impl Inspector {
    /// Returns a builder with the defaults: nothing is saved.
    pub fn builder() -> InspectorBuilder {
        InspectorBuilder::default()
    }

    /// Returns the URL of the page, with the token of this launch. Everyone who has it can call the agents as
    /// the inspector does.
    pub fn url(&self, address: SocketAddr) -> String {
        format!("http://{address}/#token={}", self.token.reveal())
    }

    /// Connects to an agent, as the page does. The page shows the failure, too.
    ///
    /// Errors: the settings cannot be used, or the agent cannot be reached or understood.
    pub async fn connect(&self, settings: Settings) -> Result<(), ConnectError> {
        let url = settings.url.clone();
        let Err(problem) = self.agents.connect(settings).await else {
            return Ok(());
        };
        let error = ConnectError(problem.to_string());
        self.launch_failure.set(&url, &problem);
        self.changes.send("agents", &json!({}));
        Err(error)
    }

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

    /// Serves the page until `shutdown` resolves, and then drops what is open.
    ///
    /// Errors: the listener is not on loopback.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let address = listener.local_addr()?;
        let guard = Guard::new(address, Arc::clone(&self.token))?;
        let router = self.router(guard).layer(Extension(ListenAddress(address)));
        let service = TowerToHyperService::new(router);
        let service = hyper::service::service_fn(move |request: http::Request<Incoming>| {
            hyper::service::Service::call(&service, request.map(Body::new))
        });
        let mut options = ServeOptions::default();
        options.connections = MAX_CONNECTIONS;
        // Streams to pages never end by themselves.
        options.grace = GRACE;
        serve(listener, service, options, shutdown).await;
        Ok(())
    }

    fn router(self, guard: Guard) -> Router {
        let (agents, exchanges) = (self.agents, self.exchanges);
        #[cfg(feature = "conformance")]
        let runs = crate::conformance::routes(self.runs, agents.clone(), exchanges.clone());
        let api = Router::new()
            .merge(info::routes(self.launch_failure))
            .merge(changes::routes(self.changes))
            .merge(card::routes(agents.clone()))
            .merge(chat::routes(agents.clone()))
            .merge(tasks::routes(agents.clone()))
            .merge(wire::routes(exchanges, agents.clone()))
            .merge(agents::routes(agents))
            .merge(proxy::routes(self.proxies))
            .merge(webhooks::routes(self.receivers));
        #[cfg(feature = "conformance")]
        let api = api.merge(runs);
        let api = api
            .route(
                "/api/{*rest}",
                any(async || Problem::not_found("no such path in the API")),
            )
            .method_not_allowed_fallback(async || Problem::method_not_allowed())
            .layer(DefaultBodyLimit::max(MAX_REQUEST_BYTES));
        Router::new()
            .merge(api)
            .fallback(page::file)
            .layer(from_fn_with_state(Arc::new(guard), guard::admit))
            .layer(from_fn(guard::protect))
    }
}

/// Reason for which an agent is not connected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConnectError(String);

/// Builder of an [`Inspector`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct InspectorBuilder {
    state_file: Option<PathBuf>,
}

impl InspectorBuilder {
    /// Keeps the settings of agents in this file, without their secrets.
    pub fn state_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.state_file = Some(file.into());
        self
    }

    /// Builds the inspector, with a new token.
    ///
    /// Errors: the system has no random numbers.
    pub fn build(self) -> io::Result<Inspector> {
        let changes = Changes::default();
        let exchanges = ExchangeLog::new(changes.clone());
        Ok(Inspector {
            token: Arc::new(LaunchToken::generate()?),
            launch_failure: LaunchFailure::default(),
            agents: Agents::new(self.state_file, exchanges.clone(), changes.clone()),
            proxies: Proxies::new(exchanges.clone(), changes.clone()),
            receivers: Receivers::new(changes.clone()),
            #[cfg(feature = "conformance")]
            runs: Runs::new(changes.clone()),
            exchanges,
            changes,
        })
    }
}

/// Maximum number of open connections of pages.
const MAX_CONNECTIONS: usize = 256;
/// Time that open requests may go on after shutdown.
const GRACE: Duration = Duration::from_millis(200);
