//! How a server is put together, and how it is reached.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use a2a_transport::binding::Reading;
use a2a_transport::http::{Anyone, Authenticator, Hosts, HttpService, ServeOptions, serve};
use a2a_types::reading::Mode;
use a2a_types::{AgentCard, Dialect};
use tokio::net::{TcpListener, TcpSocket, ToSocketAddrs, lookup_host};
use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, ErasedAgent};
use crate::gate::{Gate, TurnLimits};
use crate::ledger::Ledger;
use crate::letters::Letters;
use crate::server::{Inner, Server};
use crate::store::{MemoryStore, Retention, Store};
use crate::turns::Turns;
use crate::upkeep::{Recovery, Upkeep};

/// What a server is made of.
pub struct ServerBuilder {
    card: AgentCard,
    extended_card: Option<AgentCard>,
    agent: Arc<dyn ErasedAgent>,
    store: Arc<dyn Store>,
    max_wait: Duration,
    first_event: Duration,
    cancel_grace: Duration,
    lease: Duration,
    merge: Duration,
    remember: Duration,
    turns: TurnLimits,
    recovery: Recovery,
    retention: Retention,
}

/// The parts of a server contradict each other.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is an extended card that nobody would look for.
    #[error(
        "there is an extended card, but the card does not promise one: set `capabilities.extended_agent_card`"
    )]
    UnpromisedExtendedCard,
    /// Nobody would find the agent's name.
    #[error("the card has no name")]
    NamelessCard,
}

impl Server {
    /// A server for this agent, introduced by this card, with its tasks in memory.
    pub fn builder(card: AgentCard, agent: impl Agent) -> ServerBuilder {
        ServerBuilder {
            card,
            extended_card: None,
            agent: Arc::new(agent),
            store: Arc::new(MemoryStore::default()),
            max_wait: Duration::from_secs(240),
            first_event: Duration::from_secs(1),
            cancel_grace: Duration::from_secs(5),
            lease: Duration::from_secs(15),
            merge: Duration::from_millis(50),
            remember: Duration::from_secs(24 * 3600),
            turns: TurnLimits::default(),
            recovery: Recovery::default(),
            retention: Retention::default(),
        }
    }

    /// The card.
    pub fn card(&self) -> &AgentCard {
        &self.inner.card
    }

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
            keep_alive: Duration::from_secs(15),
            body_timeout: Duration::from_secs(10),
            options: ServeOptions::default(),
        })
    }

    /// Ends the server's work: takes no more messages, lets turns come to their end for as long as
    /// `grace`, gives back the tasks of those that did not, and ends streams. Whoever followed goes on
    /// where it stopped, here after a restart or at another process of the same store.
    pub async fn shutdown(&self, grace: Duration) {
        let inner = &self.inner;
        inner.closing.cancel();
        if tokio::time::timeout(grace, inner.turns.idle())
            .await
            .is_err()
        {
            inner.turns.stop();
            inner.turns.idle().await;
        }
        inner.closed.cancel();
    }

    /// Serves at an address until the process ends; to anyone, so that it must be a loopback
    /// address, which only this machine reaches. [`Server::bind`] leads to authenticators and more.
    pub async fn serve(&self, address: impl ToSocketAddrs) -> io::Result<()> {
        self.bind(address).await?.run(std::future::pending()).await
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

impl ServerBuilder {
    /// Where tasks are kept.
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// The card for callers who authenticate.
    pub fn extended_card(mut self, card: AgentCard) -> Self {
        self.extended_card = Some(card);
        self
    }

    /// How long a caller waits for a task to end before it gets the task as it stands; 4 minutes by
    /// default.
    pub fn max_wait(mut self, limit: Duration) -> Self {
        self.max_wait = limit;
        self
    }

    /// How long a stream, or a caller who wants to be answered at once, waits for the agent's first
    /// word before it gets the submitted task; 1 s by default.
    pub fn first_event(mut self, limit: Duration) -> Self {
        self.first_event = limit;
        self
    }

    /// How long a canceled turn may go on before it is dropped; 5 s by default.
    pub fn cancel_grace(mut self, limit: Duration) -> Self {
        self.cancel_grace = limit;
        self
    }

    /// How long another process that shares the store waits before it takes over the tasks of one that
    /// died; 15 s by default.
    pub fn lease(mut self, term: Duration) -> Self {
        self.lease = term;
        self
    }

    /// How long text that is added to an artifact is collected before it is told, unless it comes
    /// to 4 KiB sooner; 50 ms by default, and no time tells each chunk by itself.
    pub fn merge_chunks(mut self, period: Duration) -> Self {
        self.merge = period;
        self
    }

    /// For how long a message is recognised when it is sent again: its sender shares what came of the
    /// first, and is refused if it says something else under the same id. 24 hours by default; no time
    /// takes every message for a new one, for callers who use ids twice.
    pub fn remember_messages(mut self, period: Duration) -> Self {
        self.remember = period;
        self
    }

    /// How many turns run at once, and how many wait for that.
    pub fn turns(mut self, limits: TurnLimits) -> Self {
        self.turns = limits;
        self
    }

    /// What becomes of tasks whose process ended before they did: by default they have failed.
    pub fn recovery(mut self, recovery: Recovery) -> Self {
        self.recovery = recovery;
        self
    }

    /// Which tasks are kept of those that nobody works on; by default ended ones for a week, 100,000 at
    /// most, and those that wait for their caller for 30 days.
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// The server, unless its parts contradict each other.
    pub fn build(self) -> Result<Server, BuildError> {
        if self.card.name.is_empty() {
            return Err(BuildError::NamelessCard);
        }
        if self.extended_card.is_some() && self.card.capabilities.extended_agent_card != Some(true)
        {
            return Err(BuildError::UnpromisedExtendedCard);
        }
        Ok(Server {
            inner: Arc::new(Inner {
                card: self.card,
                extended_card: self.extended_card,
                ledger: Arc::new(Ledger::new(self.store, self.lease, self.merge)),
                turns: Arc::new(Turns::new(self.agent, self.cancel_grace)),
                gate: Gate::new(self.turns),
                letters: Letters::new(self.remember),
                upkeep: Upkeep::new(self.recovery, self.retention),
                closing: CancellationToken::new(),
                closed: CancellationToken::new(),
                max_wait: self.max_wait,
                first_event: self.first_event,
            }),
        })
    }
}

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
    keep_alive: Duration,
    body_timeout: Duration,
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

    /// The URL that the card gives callers, when a proxy stands before this address.
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

    /// What connections are allowed.
    pub fn options(mut self, options: ServeOptions) -> Self {
        self.options = options;
        self
    }

    /// The service that answers here, to be mounted elsewhere or wrapped.
    pub fn service(&self) -> HttpService<Server> {
        let card = match self.server.card() {
            card if card.supported_interfaces.is_empty() => card
                .clone()
                .at(self.public_url.clone().unwrap_or_else(|| self.url())),
            card => card.clone(),
        };
        let authenticator = self.authenticator.clone();
        HttpService::new(self.server.clone())
            .hosts(self.hosts(&card))
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
            .and(interfaces.map(|interface| &interface.url))
            .and(&self.public_url)
    }

    /// Whether only this machine reaches the address.
    fn is_local(&self) -> bool {
        self.local.ip().to_canonical().is_loopback()
    }

    /// Answers until `shutdown` resolves; then lets turns and requests come to their end, for as long as
    /// [`ServeOptions::grace`].
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
        let service = self.service();
        let (server, stopping) = (self.server.clone(), CancellationToken::new());
        server.inner.begin_upkeep();
        let grace = self.options.grace;
        let options = ServeOptions {
            // For what is still to be said when the last turn was stopped.
            grace: grace + Duration::from_secs(2),
            ..self.options
        };
        let stop = async {
            shutdown.await;
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
