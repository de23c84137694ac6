//! A server bound to an address.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use a2a_transport::Binding;
use a2a_transport::binding::{Offer, Reading};
use a2a_transport::http::{Anyone, Authenticator, Hosts, HttpService, Probes, ServeOptions, serve};
use a2a_types::reading::Mode;
use a2a_types::{AgentCard, Dialect};
use tokio::net::{TcpListener, TcpSocket, ToSocketAddrs, lookup_host};
use tokio_util::sync::CancellationToken;

use crate::server::Server;

/// A server at an address.
pub struct Bound {
    local: SocketAddr,
    listener: TcpListener,
    server: Server,
    path: String,
    public_url: Option<String>,
    reading: Reading,
    authenticator: Option<Arc<dyn Authenticator>>,
    /// Whether anyone may use it from anywhere.
    open: bool,
    hosts: AllowedHosts,
    probes: Probes,
    drain: Duration,
    /// Whether it is reached by bindings that its card does not name, too.
    every_binding: bool,
    keep_alive: Duration,
    body_timeout: Duration,
    receive_budget: Option<usize>,
    answer_budget: Option<usize>,
    options: ServeOptions,
}

/// The hosts that a server was told to answer as.
#[derive(Default)]
enum AllowedHosts {
    /// What suits its address.
    #[default]
    Suitable,
    These(Vec<String>),
    Any,
}

impl Server {
    /// Binds an address; the server answers from [`Bound::run`] on.
    pub async fn bind(&self, address: impl ToSocketAddrs) -> io::Result<Bound> {
        let listener = listen(address).await?;
        Ok(Bound {
            local: listener.local_addr()?,
            listener,
            server: self.clone(),
            path: "/".to_owned(),
            public_url: None,
            reading: Reading::default(),
            authenticator: None,
            open: false,
            hosts: AllowedHosts::default(),
            probes: Probes::default(),
            drain: Duration::ZERO,
            every_binding: false,
            keep_alive: Duration::from_secs(15),
            body_timeout: Duration::from_secs(10),
            receive_budget: None,
            answer_budget: None,
            options: ServeOptions::default(),
        })
    }

    /// Serves at an address until the process ends; to anyone, so that it must be a loopback
    /// address, which only this machine reaches. [`Server::bind`] leads to authenticators and more.
    pub async fn serve(&self, address: impl ToSocketAddrs) -> io::Result<()> {
        self.bind(address).await?.run(std::future::pending()).await
    }
}

impl Bound {
    /// The address; with port 0 the one that was found free.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// The URL that requests are POSTed to.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.local, self.path)
    }

    /// Where requests are POSTed to; `/` by default.
    pub fn path(mut self, path: &str) -> Self {
        self.path = format!("/{}", path.trim_matches('/'));
        self
    }

    /// The URL that requests are POSTed to, as the card tells it: needed when a proxy stands before
    /// this address or ends TLS. Without one the card has the host that its caller used, by `http`;
    /// interfaces that a card names itself stay as they are.
    pub fn public_url(mut self, url: impl Into<String>) -> Self {
        self.public_url = Some(url.into());
        self
    }

    /// Reads requests leniently or strictly.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.reading.mode = mode;
        self
    }

    /// The generation of callers who ask in a way that several generations share.
    pub fn prefer(mut self, dialect: Dialect) -> Self {
        self.reading.prefer = Some(dialect);
        self
    }

    /// Who is let in. Without one it is everyone who reaches the address, which must then be a
    /// loopback address, unless it is [open to anyone](Self::open_to_anyone).
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.authenticator = Some(Arc::new(authenticator));
        self
    }

    /// Lets anyone in who reaches the address, whatever address it is: to read, change and cancel
    /// one another's tasks, too.
    pub fn open_to_anyone(mut self) -> Self {
        self.open = true;
        self
    }

    /// Answers as these hosts and for pages of these hosts only: names, addresses,
    /// `*.example.com`, or URLs of which only the host counts; ports do not count.
    ///
    /// Always among them are the hosts of the public URL and of the card's interfaces, and at a
    /// loopback address those of this machine. Without a list a server at a loopback address
    /// answers as those alone, because web pages could reach it by a name of theirs; at any other
    /// address it answers as any host.
    pub fn allow_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut allowed = match self.hosts {
            AllowedHosts::These(allowed) => allowed,
            AllowedHosts::Suitable | AllowedHosts::Any => Vec::new(),
        };
        allowed.extend(hosts.into_iter().map(Into::into));
        self.hosts = AllowedHosts::These(allowed);
        self
    }

    /// Answers as any host, at a loopback address too: for tests, and where something else checks.
    pub fn any_host(mut self) -> Self {
        self.hosts = AllowedHosts::Any;
        self
    }

    /// Where it tells whether it lives, and whether it is ready: by default at `/healthz` and
    /// `/readyz`, to whoever asks. It is ready unless it is shutting down or its store does not answer.
    pub fn probes(mut self, probes: Probes) -> Self {
        self.probes = probes;
        self
    }

    /// For how long it goes on as before when it is to shut down, and only says that it is not ready
    /// any more: so long may load balancers take to notice. No time by default.
    pub fn drain(mut self, period: Duration) -> Self {
        self.drain = period;
        self
    }

    /// Answers by every binding and in every version, whatever the interfaces of the card say. By
    /// default those that a card names itself are the only ones; a card that names no interface gets
    /// all.
    pub fn every_binding(mut self) -> Self {
        self.every_binding = true;
        self
    }

    /// After how much silence a stream gets a comment; 15 s by default.
    pub fn keep_alive(mut self, period: Duration) -> Self {
        self.keep_alive = period;
        self
    }

    /// How long each KiB of a request's body may take; 10 s by default.
    pub fn body_timeout(mut self, limit: Duration) -> Self {
        self.body_timeout = limit;
        self
    }

    /// How many bytes the body of a request may have; 4 MiB by default.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.reading.limits.bytes = bytes;
        self
    }

    /// How many bytes all request bodies may have together that are being received; 128 MiB by default.
    /// Further ones get 503 and `Retry-After`.
    pub fn receive_budget(mut self, bytes: usize) -> Self {
        self.receive_budget = Some(bytes);
        self
    }

    /// How many bytes all answers may have together that their callers have not taken yet; 256 MiB by
    /// default. Further ones get 503 and `Retry-After`.
    pub fn answer_budget(mut self, bytes: usize) -> Self {
        self.answer_budget = Some(bytes);
        self
    }

    /// What connections are allowed.
    pub fn options(mut self, options: ServeOptions) -> Self {
        self.options = options;
        self
    }

    /// The service that answers here, to be mounted elsewhere or wrapped.
    pub fn service(&self) -> HttpService<Server> {
        let card = match (self.server.card(), &self.public_url) {
            (card, Some(url)) if card.supported_interfaces.is_empty() => card.clone().at(url),
            (card, _) => card.clone(),
        };
        let authenticator = self.authenticator.clone();
        let service = HttpService::new(self.server.clone());
        let service = match self.every_binding {
            true => service.every_binding(),
            false => service,
        };
        #[cfg(feature = "push")]
        let service = match self.server.webhook_keys() {
            Some(keys) => service.keys(move || keys.published()),
            None => service,
        };
        let service = match self.receive_budget {
            Some(bytes) => service.receive_budget(bytes),
            None => service,
        };
        let service = match self.answer_budget {
            Some(bytes) => service.answer_budget(bytes),
            None => service,
        };
        service
            .hosts(self.hosts(&card))
            .probes(self.probes.clone())
            .readiness(self.server.clone())
            .tenants(self.server.tenants().clone())
            .card(&card)
            .path(self.path.clone())
            .reading(self.reading)
            .shared_authenticator(authenticator.unwrap_or_else(|| Arc::new(Anyone)))
            .keep_alive(self.keep_alive)
            .body_timeout(self.body_timeout)
    }

    fn hosts(&self, card: &AgentCard) -> Hosts {
        let suitable = Hosts::of(self.local);
        let hosts = match &self.hosts {
            AllowedHosts::Any => Hosts::any(),
            AllowedHosts::Suitable => suitable,
            AllowedHosts::These(allowed) if self.is_local() => suitable.and(allowed),
            AllowedHosts::These(allowed) => Hosts::none().and(allowed),
        };
        let interfaces = card.supported_interfaces.iter();
        hosts
            .and([self.url()])
            .and(interfaces.map(|interface| &interface.url))
            .and(&self.public_url)
    }

    /// Logs what its callers may miss.
    fn warn(&self) {
        let names_interfaces = !self.server.card().supported_interfaces.is_empty();
        let names_host = self.public_url.is_some() || !matches!(self.hosts, AllowedHosts::Suitable);
        if self.local.ip().is_unspecified() && !names_interfaces && !names_host {
            tracing::warn!(
                local = %self.local,
                "the card has whatever host its caller used: set a `public_url`, or `allow_hosts`"
            );
        }
        let offer = Offer::of(self.server.card());
        let is_reached = offer.has_any(Binding::JsonRpc) || offer.has_any(Binding::HttpJson);
        if !is_reached && !self.every_binding {
            tracing::warn!(
                "no request is answered: none of the card's interfaces has a binding and a version \
                 that are served here"
            );
        }
        if self.authenticator.is_none() && self.server.inner.extended_card.is_some() {
            tracing::warn!(
                "nobody gets the extended card: set an `authenticator` that tells callers apart"
            );
        }
    }

    /// Whether only this machine reaches the address.
    fn is_local(&self) -> bool {
        self.local.ip().to_canonical().is_loopback()
    }

    /// Answers until `shutdown` resolves, and as long after that as it is [drained](Self::drain); then
    /// lets turns and requests come to their end, for as long as [`ServeOptions::grace`].
    ///
    /// Fails at once when everyone could reach it and anyone were let in.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let Self { local, .. } = self;
        if self.authenticator.is_none() && !self.is_local() {
            if !self.open {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    format!(
                        "{local} can be reached from elsewhere, and nothing tells callers apart: \
                         set an `authenticator`, bind a loopback address like 127.0.0.1, \
                         or let everyone in with `open_to_anyone`"
                    ),
                ));
            }
            tracing::warn!(%local, "anyone who reaches this address is let in");
        }
        self.warn();
        let service = self.service();
        let (server, stopping) = (self.server.clone(), CancellationToken::new());
        server.inner.begin_maintenance();
        let grace = self.options.grace;
        let options = ServeOptions {
            // For what is still to be said when the last turn was stopped.
            grace: grace + Duration::from_secs(2),
            ..self.options
        };
        let stop = async {
            shutdown.await;
            server.drain();
            tokio::time::sleep(self.drain).await;
            stopping.cancel();
        };
        let end_work = async {
            stopping.cancelled().await;
            server.shutdown(grace).await;
        };
        tokio::join!(serve(self.listener, service, options, stop), end_work);
        Ok(())
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
        // Else the address would be taken for a while after a restart.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        match socket.bind(address).and_then(|()| socket.listen(1024)) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}
