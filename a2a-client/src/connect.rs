//! Builder of a client: discovery, choice of an interface, and credentials for trusted origins only.

use std::sync::Arc;

#[cfg(feature = "card-signature")]
use a2a_transport::card_signature::CardVerifier;
use a2a_transport::http::{DeviationObserver, HttpClient, HttpClientBuilder, HttpTransport};
use a2a_transport::sse::Bounds;
use a2a_transport::{Binding, Credentials, Error, Transport};
use a2a_types::reading::{Deviation, Mode};
use a2a_types::{AgentCard, AgentInterface, ProtocolVersion};
use http::header::{HeaderName, HeaderValue};

use crate::cards::CardSettings;
use crate::client::FoundCard;
use crate::credentials::Keyring;
use crate::{Cards, Client, Interfaces, Origin, Retries};

/// Builder of a client: [`Client::builder`].
///
/// ```no_run
/// # use a2a_client::{Client, credentials::Keyring};
/// # use http::HeaderValue;
/// # async fn connected() -> Result<(), a2a_client::Error> {
/// let client = Client::builder("https://agent.example")
///     .keyring(Keyring::default().bearer("secret"))
///     .header(http::header::ACCEPT_LANGUAGE, HeaderValue::from_static("nl"))
///     .connect()
///     .await?;
/// println!("{}", client.card().map_or_else(String::new, |card| card.name.clone()));
/// # Ok(()) }
/// ```
///
/// Headers, credentials and the TLS client certificate go to the origin of the agent's URL, and to
/// origins that [`trust_origin`](Self::trust_origin) adds. An interface on the card at any other origin
/// is called without them.
#[must_use]
pub struct ClientBuilder {
    url: String,
    /// Card to use in place of the one at the URL.
    card: Option<Arc<AgentCard>>,
    http: HttpClientBuilder,
    keyring: Keyring,
    /// Settings of requests for the card, which calls have, too.
    settings: CardSettings,
    trusted: Vec<String>,
    protocol_version: Option<ProtocolVersion>,
    binding: Option<Binding>,
    tenant: Option<String>,
    bounds: Bounds,
    retries: Retries,
    wraps: Vec<Wrap>,
}

type Wrap = Box<dyn FnOnce(Arc<dyn Transport>) -> Arc<dyn Transport> + Send>;

impl Client {
    /// Fetches the card of the agent at `url` (its origin, base or card) and connects to its first
    /// supported interface.
    pub async fn connect(url: &str) -> Result<Self, Error> {
        Self::builder(url).connect().await
    }

    /// Creates a client of the JSON-RPC endpoint at `url`, which speaks `protocol_version`, without a card.
    /// Sends nothing yet.
    pub fn at(url: &str, protocol_version: ProtocolVersion) -> Result<Self, Error> {
        Self::builder(url).connect_at(protocol_version)
    }

    /// Returns a builder for the agent at `url`: its origin, base or card.
    pub fn builder(url: &str) -> ClientBuilder {
        ClientBuilder::new(url)
    }
}

impl ClientBuilder {
    fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            card: None,
            http: HttpClient::builder(),
            keyring: Keyring::default(),
            settings: CardSettings::default(),
            trusted: Vec::new(),
            protocol_version: None,
            binding: None,
            tenant: None,
            bounds: Bounds::default(),
            retries: Retries::default(),
            wraps: Vec::new(),
        }
    }

    /// Uses this card in place of the one at the URL: one of a file or a catalog, or one that was found before.
    pub fn card(mut self, card: impl Into<Arc<AgentCard>>) -> Self {
        self.card = Some(card.into());
        self
    }

    /// Sets timeouts, TLS, proxy and bounds of connections.
    pub fn http(mut self, http: HttpClientBuilder) -> Self {
        self.http = http;
        self
    }

    /// Sends a header with every request to the agent. Its value is treated as a secret.
    pub fn header(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.settings.headers.insert(name, value);
        self
    }

    /// Sends the credentials of this keyring that the agent's card asks for.
    pub fn keyring(mut self, keyring: Keyring) -> Self {
        self.keyring = keyring;
        self
    }

    /// Sends these credentials whatever the agent's card asks for.
    pub fn credentials(mut self, credentials: Arc<dyn Credentials>) -> Self {
        self.settings.credentials = Some(credentials);
        self
    }

    /// Treats this origin as the same agent: it gets the same headers and credentials.
    pub fn trust_origin(mut self, url: &str) -> Self {
        self.trusted.push(url.to_owned());
        self
    }

    /// Requires a card that one of these keys has signed. With any other, [`connect`](Self::connect)
    /// fails as [`Error::Unverified`], before anything is sent to the interfaces of the card. Only what
    /// the signature covers is read: [`Client::card_verification`] returns its form, and
    /// [`CardVerifier::refuse`] refuses a form. By default signatures are not verified.
    #[cfg(feature = "card-signature")]
    pub fn verify_card(mut self, verifier: impl Into<CardVerifier>) -> Self {
        self.settings.verifier = Some(Arc::new(verifier.into()));
        self
    }

    /// Speaks only this protocol version, if the card offers it.
    pub fn protocol_version(mut self, protocol_version: ProtocolVersion) -> Self {
        self.protocol_version = Some(protocol_version);
        self
    }

    /// Uses only this binding, if the card offers it.
    pub fn binding(mut self, binding: Binding) -> Self {
        self.binding = Some(binding);
        self
    }

    /// Sets the tenant of every request that names none, in place of the card's.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Reads answers and the card in a mode; by default [`Mode::Tolerant`]: everything that can be read is kept.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.settings.mode = mode;
        self
    }

    /// Calls a function for everything that the card or an answer has against the specification: where it is, what was
    /// found there, and what was read instead.
    pub fn on_deviation(mut self, observe: impl Fn(&Deviation) + Send + Sync + 'static) -> Self {
        self.settings.deviations = Some(DeviationObserver::new(observe));
        self
    }

    /// Sets the bounds of a stream's lines and events.
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Sets the policy of retries and of resumed streams.
    pub fn retries(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }

    /// Wraps every call: the first wrapper is the innermost, next to the wire.
    pub fn wrap<T: Transport>(
        mut self,
        wrap: impl FnOnce(Arc<dyn Transport>) -> T + Send + 'static,
    ) -> Self {
        self.wraps
            .push(Box::new(move |transport| Arc::new(wrap(transport))));
        self
    }

    /// Finds the card and connects to its first supported interface, or the next one if that is
    /// unreachable.
    pub async fn connect(self) -> Result<Client, Error> {
        let mut access = self.access()?;
        let found = match &self.card {
            Some(card) => Arc::clone(card).into(),
            None => {
                let credentials = self.shown(&AgentCard::default());
                access.discover(&self.url, credentials).await?
            }
        };
        if self.settings.credentials.is_none() {
            access.settings.credentials = self.shown(&found.card)?;
        }
        let wanted = self.wanted(&found.card)?;
        let interfaces = Interfaces::of(&wanted, |interface, transport| {
            access.give(&interface.url, transport)
        })?;
        let retries = self.retries.clone();
        Ok(Client::with_found(self.wrapped(interfaces), found).retries(retries))
    }

    /// Finds the card, whether or not it names an interface that can be called.
    pub async fn find_card(self) -> Result<Arc<AgentCard>, Error> {
        let mut access = self.access()?;
        let found = access.discover(&self.url, self.shown(&AgentCard::default()));
        Ok(found.await?.card)
    }

    /// Creates a client of exactly this URL, without a card; by JSON-RPC unless a binding is set. Sends
    /// nothing yet.
    pub fn connect_at(self, protocol_version: ProtocolVersion) -> Result<Client, Error> {
        let mut access = self.access()?;
        if self.settings.credentials.is_none() {
            access.settings.credentials = self.shown(&AgentCard::default())?;
        }
        let binding = self.binding.unwrap_or(Binding::JsonRpc);
        let transport = HttpTransport::new(&self.url, protocol_version)?.binding(binding);
        let transport = access.give(&self.url, transport);
        let retries = self.retries.clone();
        Ok(Client::new(self.wrapped(transport)).retries(retries))
    }

    /// Returns the credentials of the keyring for this card.
    fn shown(&self, card: &AgentCard) -> Result<Option<Arc<dyn Credentials>>, Error> {
        if self.keyring.is_empty() {
            return Ok(None);
        }
        // Token requests are hidden from the observers of the agent's traffic.
        let http = self.http.clone().without_observers().limit(MAX_OF_TOKENS);
        self.keyring
            .for_card(card, &Origin::of(&self.url)?, &http.build())
    }

    fn access(&self) -> Result<Access, Error> {
        let trusted = std::iter::once(&self.url).chain(&self.trusted);
        let trusted: Result<_, _> = trusted.map(|url| Origin::of(url)).collect();
        #[cfg(feature = "tls")]
        let untrusted = self.http.clone().without_identity().build();
        #[cfg(not(feature = "tls"))]
        let untrusted = self.http.clone().build();
        Ok(Access {
            trusted: trusted?,
            http: self.http.clone().build(),
            untrusted,
            settings: self.settings.clone(),
            tenant: self.tenant.clone(),
            bounds: self.bounds,
        })
    }

    /// Returns the card with only those interfaces that may be called.
    fn wanted(&self, card: &AgentCard) -> Result<AgentCard, Error> {
        let is_wanted = |interface: &AgentInterface| {
            let protocol_version = self.protocol_version.is_none()
                || self.protocol_version == interface.protocol_version();
            let binding = self.binding.is_none() || self.binding == Binding::of(interface);
            protocol_version && binding
        };
        let mut wanted = card.clone();
        wanted.supported_interfaces.retain(is_wanted);
        for interface in &mut wanted.supported_interfaces {
            interface.url = interface.http_url(Some(&self.url));
        }
        match wanted.supported_interfaces.is_empty() {
            true => Err(crate::interfaces::none_spoken(card)),
            false => Ok(wanted),
        }
    }

    fn wrapped(self, transport: impl Transport) -> Arc<dyn Transport> {
        let transport: Arc<dyn Transport> = Arc::new(transport);
        let wrap = |inner, wrap: Wrap| wrap(inner);
        self.wraps.into_iter().fold(transport, wrap)
    }
}

/// Settings for trusted origins, and the client for all others.
struct Access {
    trusted: Vec<Origin>,
    http: HttpClient,
    /// Client for untrusted origins.
    untrusted: HttpClient,
    settings: CardSettings,
    tenant: Option<String>,
    bounds: Bounds,
}

/// Bytes of an answer of an authorization server.
const MAX_OF_TOKENS: usize = 256 << 10;

impl Access {
    /// Finds the card, with these credentials if it is not given without.
    async fn discover(
        &mut self,
        url: &str,
        credentials: Result<Option<Arc<dyn Credentials>>, Error>,
    ) -> Result<FoundCard, Error> {
        match self.find(url).await {
            // Some servers give the card to authenticated callers only.
            Err(Error::Refused { .. }) if self.settings.credentials.is_none() => {
                self.settings.credentials = credentials?;
                self.find(url).await
            }
            found => found,
        }
    }

    async fn find(&self, url: &str) -> Result<FoundCard, Error> {
        let cards = Cards::with(self.http.clone(), self.settings.clone());
        cards.discover(url).await
    }

    fn give(&self, url: &str, transport: HttpTransport) -> HttpTransport {
        let mut transport = transport.mode(self.settings.mode).bounds(self.bounds);
        if let Some(observer) = &self.settings.deviations {
            transport = transport.deviations(observer.clone());
        }
        if let Some(tenant) = &self.tenant {
            transport = transport.tenant(tenant);
        }
        let origin = Origin::of(url);
        if !origin
            .as_ref()
            .is_ok_and(|origin| self.trusted.contains(origin))
        {
            if self.has_secrets() {
                tracing::warn!(
                    url,
                    "the card names another origin: headers and credentials are not sent there"
                );
            }
            return transport.http(self.untrusted.clone());
        }
        transport = transport.http(self.http.clone()).call_credentials(true);
        for (name, value) in &self.settings.headers {
            transport = transport.header(name.clone(), value.clone());
        }
        match &self.settings.credentials {
            Some(credentials) => transport.credentials(Arc::clone(credentials)),
            None => transport,
        }
    }

    fn has_secrets(&self) -> bool {
        self.settings.credentials.is_some() || !self.settings.headers.is_empty()
    }
}
