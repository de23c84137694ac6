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
use crate::launch_token::LaunchToken;
use crate::problem::Problem;
use crate::proxy::Proxies;
use crate::webhooks::Receivers;
use crate::wire::ExchangeLog;
use crate::{agents, card, changes, chat, info, page, proxy, tasks, webhooks, wire};

/// The inspector. Clones share their state.
#[derive(Clone)]
pub struct Inspector {
    token: Arc<LaunchToken>,
    pub(crate) launch_failure: LaunchFailure,
    pub(crate) changes: Changes,
    pub(crate) agents: Agents,
    pub(crate) exchanges: ExchangeLog,
    pub(crate) proxies: Proxies,
    pub(crate) receivers: Receivers,
    #[cfg(feature = "conformance")]
    pub(crate) runs: Runs,
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
        let api = Router::new()
            .merge(info::routes())
            .merge(changes::routes())
            .merge(agents::routes())
            .merge(card::routes())
            .merge(chat::routes())
            .merge(tasks::routes())
            .merge(wire::routes())
            .merge(proxy::routes())
            .merge(webhooks::routes());
        #[cfg(feature = "conformance")]
        let api = api.merge(crate::conformance::routes());
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
            .with_state(self)
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

/// Connections of pages at once.
const MAX_CONNECTIONS: usize = 256;
/// Bytes of a request to the API: a message with files.
pub(crate) const MAX_REQUEST_BYTES: usize = 32 << 20;
/// Time that open requests may go on after shutdown.
const GRACE: Duration = Duration::from_millis(200);
