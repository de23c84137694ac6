//! Options of an HTTP server.

use std::time::Duration;

use a2a_transport::binding::ReadOptions;
#[cfg(feature = "tls")]
use a2a_transport::http::ServerTls;
use a2a_transport::http::{AllowedOrigins, ExtensionCall, ExtensionMethods, Probes, ServeOptions};
use a2a_types::reading::Mode;
use a2a_types::{Error as A2aError, ProtocolVersion};
use serde_json::Value;

use crate::server::Server;

/// An HTTP server and its options.
///
/// [`Server::http`] makes one: [`service`](Self::service) mounts it in a program that listens itself (hyper,
/// tower, axum), [`bind`](Self::bind) gives it a listener of its own.
///
/// ```
/// # use a2a_server::{Failure, Server, Turn};
/// # async fn parrot(turn: Turn) -> Result<(), Failure> { Ok(turn.artifact("echo").text(turn.text()).finish().await?) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let card = a2a_types::AgentCard::new("Parrot", "Says it back");
/// let server = Server::builder(card, parrot).build()?;
/// // The agent is at https://agents.example/parrot, in a program that has other routes.
/// let parrot = server.http().path("/parrot").public_url("https://agents.example/parrot").service();
/// # let request = http::Request::get("/parrot/.well-known/agent-card.json").body(http_body_util::Full::<bytes::Bytes>::default())?;
/// assert_eq!(parrot.handle(request).await.status(), 200);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct HttpServer<L = ()> {
    pub(super) listener: L,
    pub(super) server: Server,
    pub(super) settings: Settings,
    /// Other agents at the same address.
    pub(super) others: Vec<HttpServer>,
}

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) path: String,
    pub(super) public_url: Option<String>,
    pub(super) reading: ReadOptions,
    /// `true` if anyone may use it from anywhere.
    pub(super) open: bool,
    pub(super) hosts: AllowedHosts,
    pub(super) origins: AllowedOrigins,
    pub(super) extension_methods: ExtensionMethods,
    pub(super) probes: Probes,
    pub(super) drain: Duration,
    /// `true` if it also answers by bindings that its card does not name.
    pub(super) ignore_card_interfaces: bool,
    pub(super) keep_alive: Duration,
    pub(super) body_timeout: Duration,
    pub(super) receive_budget: Option<usize>,
    pub(super) answer_budget: Option<usize>,
    pub(super) options: ServeOptions,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<ServerTls>,
}

/// The hosts that a server answers as.
#[derive(Clone, Default)]
pub(super) enum AllowedHosts {
    /// The hosts that suit the server's address.
    #[default]
    Suitable,
    These(Vec<String>),
    Any,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            path: "/".to_owned(),
            public_url: None,
            reading: ReadOptions::default(),
            open: false,
            hosts: AllowedHosts::default(),
            origins: AllowedOrigins::default(),
            extension_methods: ExtensionMethods::default(),
            probes: Probes::default(),
            drain: Duration::ZERO,
            ignore_card_interfaces: false,
            keep_alive: Duration::from_secs(15),
            body_timeout: Duration::from_secs(10),
            receive_budget: None,
            answer_budget: None,
            options: ServeOptions::default(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

impl Settings {
    /// Returns whether its own listener speaks TLS.
    pub(super) fn has_tls(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        false
    }
}

impl<L> HttpServer<L> {
    /// Sets the path that requests are POSTed to; `/` by default.
    pub fn path(mut self, path: &str) -> Self {
        self.settings.path = format!("/{}", path.trim_matches('/'));
        self
    }

    /// Sets the URL that requests are POSTed to, as the card names it: needed when a proxy stands before
    /// this address or ends TLS. Without one the card has the host that its caller used, by `http`, or
    /// `https` with [`tls`](Self::tls); interfaces that a card names itself stay as they are.
    pub fn public_url(mut self, url: impl Into<String>) -> Self {
        self.settings.public_url = Some(url.into());
        self
    }

    /// Reads requests leniently or strictly.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.settings.reading.mode = mode;
        self
    }

    /// Sets the protocol version of requests that several versions share.
    pub fn default_version(mut self, protocol_version: ProtocolVersion) -> Self {
        self.settings.reading.prefer = Some(protocol_version);
        self
    }

    /// Admits every caller that reaches the address, even if it is not a loopback address; callers can read, change
    /// and cancel one another's tasks. Without this and without an
    /// [authenticator](crate::ServerBuilder::authenticator) only loopback addresses are served.
    pub fn allow_unauthenticated(mut self) -> Self {
        self.settings.open = true;
        self
    }

    /// Answers as these hosts and for pages of these hosts only: names, addresses,
    /// `*.example.com`, or URLs of which only the host counts; ports do not count.
    ///
    /// Always among them are the hosts of the public URL and of the card's interfaces, and at a
    /// loopback address the hosts of this machine. Without a list a server at a loopback address
    /// answers as these hosts alone, because web pages could reach it by a name of theirs; at any other
    /// address it answers as any host.
    pub fn allow_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut allowed = match self.settings.hosts {
            AllowedHosts::These(allowed) => allowed,
            AllowedHosts::Suitable | AllowedHosts::Any => Vec::new(),
        };
        allowed.extend(hosts.into_iter().map(Into::into));
        self.settings.hosts = AllowedHosts::These(allowed);
        self
    }

    /// Answers as any host, at a loopback address too: for tests, and where something else checks.
    pub fn any_host(mut self) -> Self {
        self.settings.hosts = AllowedHosts::Any;
        self
    }

    /// Lets the pages of these origins call it from a browser (CORS): `https://app.example`, or `*` for all; none by
    /// default. They need no entry in [`allow_hosts`](Self::allow_hosts).
    pub fn allow_origins(mut self, origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.settings.origins = AllowedOrigins::new(origins);
        self
    }

    /// Answers a method of an extension by JSON-RPC, for callers that the authenticator lets in; an authorizer is not
    /// called, since it decides only about operations of the protocol. Specification 1.0 §4.6.
    ///
    /// The extension should be on the card: [`AgentCard::extension`](a2a_types::AgentCard::extension).
    ///
    /// ```
    /// # use a2a_server::{Failure, Server, Turn};
    /// # use a2a_types::AgentCard;
    /// # async fn parrot(turn: Turn) -> Result<(), Failure> { Ok(turn.reply(turn.text()).await?) }
    /// # let server = Server::builder(AgentCard::new("Parrot", "Says it back"), parrot).build()?;
    /// use a2a_server::ExtensionCall;
    /// use serde_json::json;
    ///
    /// let http = server.http().extension_method("parrot/words", async |call: ExtensionCall| {
    ///     Ok(json!({"known": ["hello"], "for": call.context.principal.name()}))
    /// });
    /// # Ok::<_, a2a_server::BuildError>(())
    /// ```
    pub fn extension_method<F>(
        mut self,
        name: impl Into<String>,
        handler: impl Fn(ExtensionCall) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Value, A2aError>> + Send + 'static,
    {
        self.settings.extension_methods = self.settings.extension_methods.with(name, handler);
        self
    }

    /// Sets the paths of the liveness and readiness probes: by default `/healthz` and `/readyz`, for any
    /// caller. The server is ready unless it is shutting down or its store does not answer.
    pub fn probes(mut self, probes: Probes) -> Self {
        self.settings.probes = probes;
        self
    }

    /// Sets for how long it goes on as before when it is to shut down, and only reports that it is not
    /// ready any more: load balancers may take that long to notice. Zero by default.
    pub fn drain(mut self, period: Duration) -> Self {
        self.settings.drain = period;
        self
    }

    /// Answers by every binding and in every version, whatever the interfaces of the card say. By
    /// default only the bindings and versions that a card names itself are answered; a card that names no
    /// interface gets all.
    pub fn ignore_card_interfaces(mut self) -> Self {
        self.settings.ignore_card_interfaces = true;
        self
    }

    /// Sets the silence after which a stream gets a comment; 15 s by default.
    pub fn keep_alive(mut self, period: Duration) -> Self {
        self.settings.keep_alive = period;
        self
    }

    /// Sets the time that each KiB of a request's body may take; 10 s by default.
    pub fn body_timeout(mut self, limit: Duration) -> Self {
        self.settings.body_timeout = limit;
        self
    }

    /// Sets the maximum bytes of a request's body; 4 MiB by default.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.settings.reading.limits.bytes = bytes;
        self
    }

    /// Sets the maximum bytes of all request bodies together that are being received; 128 MiB by default.
    /// Further ones get 503 and `Retry-After`.
    pub fn receive_budget(mut self, bytes: usize) -> Self {
        self.settings.receive_budget = Some(bytes);
        self
    }

    /// Sets the maximum bytes of all answers together that their callers have not taken yet; 256 MiB by
    /// default. Further ones get 503 and `Retry-After`.
    pub fn answer_budget(mut self, bytes: usize) -> Self {
        self.settings.answer_budget = Some(bytes);
        self
    }

    /// Speaks TLS, and nothing else, at an address of its own. It changes nothing where another program
    /// listens.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: ServerTls) -> Self {
        self.settings.tls = Some(tls);
        self
    }

    /// Sets the limits of connections.
    pub fn options(mut self, options: ServeOptions) -> Self {
        self.settings.options = options;
        self
    }
}
