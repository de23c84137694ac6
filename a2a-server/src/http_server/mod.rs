//! HTTP server: mounted in another program, or at an address of its own.

mod options;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use a2a_transport::binding::SupportedVersions;
#[cfg(feature = "axum")]
use a2a_transport::http::Probes;
#[cfg(feature = "tls")]
use a2a_transport::http::serve_tls;
use a2a_transport::http::{Agents, AllowAnonymous, Hosts, HttpService, Readiness, serve};
use a2a_transport::{Binding, BoxFuture};
use a2a_types::AgentCard;
use futures_util::future::join_all;
use tokio::net::{TcpListener, TcpSocket, ToSocketAddrs, lookup_host};
use tokio_util::sync::CancellationToken;

pub use self::options::HttpServer;
use self::options::{AllowedHosts, Settings};
use crate::server::Server;

/// A server with a listener of its own, which answers from [`run`](Self::run) on.
pub type BoundServer = HttpServer<Listener>;

/// A listener of TCP, and its address.
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Returns this server as an HTTP server: to be configured, and then mounted or bound.
    pub fn http(&self) -> HttpServer {
        HttpServer {
            listener: (),
            server: self.clone(),
            settings: Settings::default(),
            others: Vec::new(),
        }
    }

    /// Binds an address; the server answers from [`BoundServer::run`] on.
    ///
    /// Errors: the system's error for the last of the addresses.
    pub async fn bind(&self, address: impl ToSocketAddrs) -> io::Result<BoundServer> {
        self.http().bind(address).await
    }

    /// Serves at an address until the process ends. Without an authenticator it must be a loopback address, which only
    /// this machine reaches. For the URL, and for a signal to stop that lets turns end, use [`bind`](Self::bind) and
    /// [`BoundServer::run`].
    ///
    /// Errors: the errors of [`bind`](Self::bind) and [`BoundServer::run`].
    pub async fn serve(&self, address: impl ToSocketAddrs) -> io::Result<()> {
        let bound = self.bind(address).await?;
        tracing::info!(url = bound.url(), "serving");
        bound.run(std::future::pending()).await
    }
}

impl HttpServer {
    /// Also serves another agent, at its own [path](Self::path), and lists all agents in the AI Catalog at
    /// `/.well-known/ai-catalog.json`.
    /// Options of the other one's listener do not count: its TLS, limits of connections, probes and drain.
    ///
    /// ```
    /// # use a2a_server::{Failure, Server, Turn};
    /// # use a2a_types::AgentCard;
    /// # async fn joker(turn: Turn) -> Result<(), Failure> { Ok(turn.reply("Moo").await?) }
    /// # async fn parrot(turn: Turn) -> Result<(), Failure> { Ok(turn.reply(turn.text()).await?) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let joker = Server::builder(AgentCard::new("Joker", "Tells a joke"), joker).build()?;
    /// let parrot = Server::builder(AgentCard::new("Parrot", "Says it back"), parrot).build()?;
    /// let both = joker.http().path("/joker").and(parrot.http().path("/parrot"));
    /// let bound = both.bind("127.0.0.1:0").await?;
    /// # bound.run(std::future::ready(())).await?;
    /// # Ok(()) }
    /// ```
    pub fn and(mut self, other: HttpServer) -> Self {
        self.others.push(other);
        self
    }

    /// Binds an address. Options may be set before and after.
    ///
    /// Errors: the system's error for the last of the addresses.
    pub async fn bind(self, address: impl ToSocketAddrs) -> io::Result<BoundServer> {
        self.listen(listen(address).await?)
    }

    /// Takes a listener that is bound already. Options may be set before and after.
    ///
    /// Errors: the system's error, if the listener has no address.
    pub fn listen(self, listener: TcpListener) -> io::Result<BoundServer> {
        let address = listener.local_addr()?;
        Ok(HttpServer {
            listener: Listener { listener, address },
            server: self.server,
            settings: self.settings,
            others: self.others,
        })
    }

    /// Returns the service, to be mounted in another program: at the [path](Self::path), and at all paths below
    /// it.
    ///
    /// Any caller that reaches it is let in, unless the server has an
    /// [authenticator](crate::ServerBuilder::authenticator); it answers as any host, unless it has a [list](Self::allow_hosts) of them. The program that listens
    /// says when the server [shuts down](Server::shutdown).
    pub fn service(&self) -> HttpService<Server> {
        self.service_at(None)
    }
}

#[cfg(feature = "axum")]
impl HttpServer {
    /// Returns a router of axum with the agent at its [path](Self::path) and below it, the probes included: at
    /// `{path}/healthz` and `{path}/readyz`. An agent at `/` takes every path that the program has no route for.
    ///
    /// ```
    /// # use a2a_server::{Failure, Server, Turn};
    /// # use a2a_types::AgentCard;
    /// # async fn parrot(turn: Turn) -> Result<(), Failure> { Ok(turn.reply(turn.text()).await?) }
    /// # let parrot = Server::builder(AgentCard::new("Parrot", "Says it back"), parrot).build()?;
    /// use axum::{Router, routing::get};
    ///
    /// let app: Router = Router::new()
    ///     .route("/", get(async || "an agent at /parrot"))
    ///     .merge(parrot.http().path("/parrot").router());
    /// # Ok::<_, a2a_server::BuildError>(())
    /// ```
    pub fn router(&self) -> axum::Router {
        let path = self.settings.path.trim_end_matches('/').to_owned();
        let mut probes = Probes::none();
        probes.alive = Some(format!("{path}/healthz"));
        probes.ready = Some(format!("{path}/readyz"));
        let service = self.service().probes(probes);
        let router = axum::Router::new();
        match path.is_empty() {
            true => router.fallback_service(service),
            false => router
                .route_service(&path, service.clone())
                .route_service(&format!("{path}/{{*rest}}"), service),
        }
    }
}

impl<L> HttpServer<L> {
    fn service_at(&self, address: Option<SocketAddr>) -> HttpService<Server> {
        let settings = self.settings.clone();
        let card = match (self.server.card(), &settings.public_url) {
            (card, Some(url)) if card.supported_interfaces.is_empty() => {
                let card = card.clone().at(url);
                match cfg!(feature = "grpc") {
                    true => card.with_grpc(),
                    false => card,
                }
            }
            (card, _) => card.clone(),
        };
        let service = HttpService::new(self.server.clone());
        let service = match &self.server.inner.authorizer {
            Some(authorizer) => service.authorizer(authorizer.clone()),
            None => service,
        };
        let service = match settings.ignore_card_interfaces {
            true => service.ignore_card_interfaces(),
            false => service,
        };
        #[cfg(any(feature = "webhooks", feature = "card-signature"))]
        let service = match self.server.published_keys() {
            Some(keys) => service.keys(keys),
            None => service,
        };
        let service = match settings.receive_budget {
            Some(bytes) => service.receive_budget(bytes),
            None => service,
        };
        let service = match settings.answer_budget {
            Some(bytes) => service.answer_budget(bytes),
            None => service,
        };
        let authenticator = self.server.inner.authenticator.clone();
        service
            .hosts(self.hosts(&card, address))
            .allow_origins(settings.origins)
            .extension_methods(settings.extension_methods)
            .probes(settings.probes)
            .readiness(AllReady(
                self.agents().map(|(server, _)| server.clone()).collect(),
            ))
            .tenants(self.server.tenants().clone())
            .card(&card)
            .path(settings.path)
            .reading(settings.reading)
            .authenticator(authenticator.unwrap_or_else(|| AllowAnonymous.into()))
            .keep_alive(settings.keep_alive)
            .body_timeout(settings.body_timeout)
    }

    /// Returns the agents that are served, with their settings: this one, and the others.
    fn agents(&self) -> impl Iterator<Item = (&Server, &Settings)> {
        let others = self.others.iter().map(|it| (&it.server, &it.settings));
        std::iter::once((&self.server, &self.settings)).chain(others)
    }

    fn hosts(&self, card: &AgentCard, address: Option<SocketAddr>) -> Hosts {
        let suitable = address.map_or_else(Hosts::any, Hosts::of);
        let hosts = match &self.settings.hosts {
            AllowedHosts::Any => Hosts::any(),
            AllowedHosts::Suitable => suitable,
            AllowedHosts::These(allowed) if address.is_some_and(is_local) => suitable.and(allowed),
            AllowedHosts::These(allowed) => Hosts::none().and(allowed),
        };
        let interfaces = card.supported_interfaces.iter();
        hosts
            .and(address.map(|address| address.to_string()))
            .and(interfaces.map(|interface| &interface.url))
            .and(&self.settings.public_url)
    }
}

/// Readiness of several servers: that of the first one that is not ready.
struct AllReady(Vec<Server>);

impl Readiness for AllReady {
    fn ready(&self) -> BoxFuture<'_, Result<(), &'static str>> {
        Box::pin(async {
            for server in &self.0 {
                server.ready().await?;
            }
            Ok(())
        })
    }
}

/// Returns whether only this machine reaches an address.
fn is_local(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

impl BoundServer {
    /// Returns the address; with port 0 the one that was found free.
    pub fn local_addr(&self) -> SocketAddr {
        self.listener.address
    }

    /// Returns the URL that requests are POSTed to.
    pub fn url(&self) -> String {
        let scheme = match self.settings.has_tls() {
            true => "https",
            false => "http",
        };
        let Listener { address, .. } = self.listener;
        format!("{scheme}://{address}{}", self.settings.path)
    }

    /// Returns the service that answers here, to be wrapped and served by [`serve`], or called.
    pub fn service(&self) -> HttpService<Server> {
        self.service_at(Some(self.listener.address))
    }

    /// Serves until `shutdown` resolves and the time to [drain](Self::drain) is over; then waits for
    /// running turns and requests, at most for
    /// [`ServeOptions::grace`](a2a_transport::http::ServeOptions::grace).
    ///
    /// Errors: `PermissionDenied` at once, if other machines can reach it and it would admit every
    /// caller.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let local = self.local_addr();
        for (server, settings) in self.agents() {
            check_access(server, settings, local)?;
            warn(server, settings, local);
        }
        let service = self.service();
        let others = self
            .others
            .iter()
            .map(|other| other.service_at(Some(local)));
        let others: Vec<_> = others.collect();
        let servers: Vec<_> = self.agents().map(|(server, _)| server.clone()).collect();
        for server in &servers {
            server.inner.begin_maintenance();
        }
        let stopping = CancellationToken::new();
        let grace = self.settings.options.grace;
        let mut options = self.settings.options;
        options.probes = self.settings.probes;
        // Time for the last responses after the last turn was stopped.
        options.grace = grace + Duration::from_secs(2);
        let stop = async {
            shutdown.await;
            servers.iter().for_each(Server::drain);
            tokio::time::sleep(self.settings.drain).await;
            stopping.cancel();
        };
        let end_work = async {
            stopping.cancelled().await;
            join_all(servers.iter().map(|server| server.shutdown(grace))).await;
        };
        let Listener { listener, .. } = self.listener;
        #[cfg(feature = "tls")]
        if let Some(tls) = self.settings.tls {
            match others.is_empty() {
                true => tokio::join!(serve_tls(listener, tls, service, options, stop), end_work),
                false => {
                    let agents = Agents::new(service, others);
                    tokio::join!(serve_tls(listener, tls, agents, options, stop), end_work)
                }
            };
            return Ok(());
        }
        match others.is_empty() {
            true => tokio::join!(serve(listener, service, options, stop), end_work),
            false => {
                let agents = Agents::new(service, others);
                tokio::join!(serve(listener, agents, options, stop), end_work)
            }
        };
        Ok(())
    }
}

/// Returns an error if other machines can reach an agent that would admit every caller.
fn check_access(server: &Server, settings: &Settings, local: SocketAddr) -> io::Result<()> {
    if server.inner.authenticator.is_some() || is_local(local) {
        return Ok(());
    }
    if !settings.open {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "{local} can be reached from elsewhere, and nothing tells callers apart: \
                 set an `authenticator`, bind a loopback address like 127.0.0.1, \
                 or let everyone in with `allow_unauthenticated`"
            ),
        ));
    }
    tracing::warn!(%local, "no authentication: every caller of this address is admitted");
    Ok(())
}

/// Logs warnings about settings that callers may miss.
fn warn(server: &Server, settings: &Settings, local: SocketAddr) {
    let names_interfaces = !server.card().supported_interfaces.is_empty();
    let names_host =
        settings.public_url.is_some() || !matches!(settings.hosts, AllowedHosts::Suitable);
    if local.ip().is_unspecified() && !names_interfaces && !names_host {
        tracing::warn!(
            %local,
            "the card names the host that each caller used: set a `public_url`, or `allow_hosts`"
        );
    }
    let offer = SupportedVersions::of(server.card());
    let is_reached = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc]
        .into_iter()
        .any(|binding| offer.has_any(binding));
    if !is_reached && !settings.ignore_card_interfaces {
        tracing::warn!(
            "no request can be answered: none of the card's interfaces has a binding and a version \
             that are served here"
        );
    }
    if server.inner.authenticator.is_none() && server.inner.extended_card.is_some() {
        tracing::warn!(
            "no caller gets the extended card: set an `authenticator` that identifies callers"
        );
    }
}

/// Listens at the first of the addresses that is free. tokio would let 128 connections wait to be
/// accepted, and more than that come at once when a server has just been restarted.
async fn listen(address: impl ToSocketAddrs) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "no address to listen at");
    for address in lookup_host(address).await? {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        // Otherwise the address would stay in use for a while after a restart.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        match socket.bind(address).and_then(|()| socket.listen(1024)) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}
