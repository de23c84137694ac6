//! The agent that a command calls, and its card.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use a2a_client::credentials::is_open;
use a2a_client::{
    Binding, CardDocument, Cards, Catalog, Client, ClientBuilder, Credentials, Error, HttpClient,
    HttpClientBuilder, HttpTransport, ListedCard, Origin, ProtocolVersion, Recorder, Timeouts,
    read_card_in,
};
use a2a_inspector::Settings;
use a2a_transport::http::DeviationObserver;
use a2a_types::reading::Mode;
use a2a_types::{AgentCard, AgentInterface, ErrorKind, SecurityScheme};
use clap::{Args, FromArgMatches};
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use serde::de::IgnoredAny;

use crate::connected;
use crate::connection::{ConnectionOptions, VersionChoice, read_limit};
use crate::deviations;
use crate::failure::Failure;
use crate::files::expand;
use crate::login;
use crate::show::note;
use crate::sources::Sources;
use crate::wire::Wire;

/// Agent to call, and options of the connection.
#[derive(Args, Clone)]
#[command(next_help_heading = "Connection and credentials")]
pub(crate) struct AgentArgs {
    /// Agent card of the agent: a host, an origin, the URL of a card, a file, or an AI Catalog that lists it (`REF#IDENTIFIER`). A
    /// URL may also be the first argument.
    #[arg(long, short = 'a', value_name = "REF")]
    agent_card: Option<String>,
    #[command(flatten)]
    connection: ConnectionOptions,
    /// Give up after this time, like 30s or 5m.
    #[arg(long, value_name = "DURATION", value_parser = read_limit)]
    timeout: Option<Duration>,
    /// Read settings from this file in place of the `.env` file of the working directory.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print requests and responses to standard error, without secrets.
    #[arg(long)]
    debug: bool,
    /// Write every request and response to a file in this directory, without secrets.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
}

/// A reference to a card.
enum Reference {
    Url(String),
    File(PathBuf),
}

/// A card, and the document that it was read from.
pub(crate) struct FoundCard {
    pub(crate) card: Arc<AgentCard>,
    pub(crate) text: String,
}

/// An agent, as the conformance suite takes it.
#[cfg(feature = "conformance")]
pub(crate) struct SuiteTarget {
    pub(crate) url: String,
    pub(crate) http: HttpClient,
    /// Service parameters.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
    /// The card is fetched without them.
    pub(crate) anonymous_card: bool,
    /// Protocol versions and bindings to check; all that the card offers if empty.
    pub(crate) versions: Vec<ProtocolVersion>,
    pub(crate) bindings: Vec<Binding>,
}

/// An agent behind a gateway.
pub(crate) struct Upstream {
    pub(crate) transport: HttpTransport,
    pub(crate) endpoint: String,
    /// The card that the agent has, or might have.
    pub(crate) card: AgentCard,
    pub(crate) has_card: bool,
    /// The credentials of callers are sent to the agent.
    pub(crate) passes_credentials: bool,
    pub(crate) access: Access,
}

/// Credentials by which an agent lets a gateway in.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Access {
    /// It needs none.
    Anyone,
    /// Credentials of each caller.
    OfCallers,
    /// Credentials of the gateway.
    OfGateway,
}

impl AgentArgs {
    /// Takes the URL that may stand before the other arguments.
    pub(crate) fn take_from(&mut self, words: &mut Vec<String>) {
        if self.agent_card.is_none() && words.first().is_some_and(|word| word.contains("://")) {
            self.agent_card = Some(words.remove(0));
        }
    }

    /// Names the agent, unless it is named by its option.
    pub(crate) fn or(mut self, name: Option<String>) -> Self {
        self.agent_card = name.or(self.agent_card);
        self
    }

    /// Speaks the first protocol version on the card that is spoken here, unless one is chosen.
    pub(crate) fn any_version(mut self) -> Self {
        let version = &mut self.connection.a2a_version;
        version.get_or_insert(VersionChoice::Auto);
        self
    }

    /// Reads the agent of a file of settings.
    pub(crate) fn of_file(path: &Path) -> Result<Self, Failure> {
        let sources = Sources::of_file(path)?;
        let command = sources.apply(Self::augment_args(clap::Command::new("a2a")));
        let read = command.try_get_matches_from(["a2a"]);
        let read = read.and_then(|matches| Self::from_arg_matches(&matches));
        read.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
    }

    /// Returns the agent as the options of another command name it.
    pub(crate) fn as_option(&self) -> String {
        let name = self.agent_card.as_deref().unwrap_or("REF");
        let version = match self.connection.a2a_version {
            Some(VersionChoice::Only(version)) => format!(" --a2a-version {version}"),
            Some(VersionChoice::Auto) => " --a2a-version auto".to_owned(),
            None => String::new(),
        };
        format!("--agent-card {}{version}", quoted(name))
    }

    /// Returns the limit on the time of the whole command.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Returns whether credentials are given.
    pub(crate) fn has_credentials(&self) -> bool {
        self.connection.has_credentials()
    }

    /// Forgets the credentials.
    pub(crate) fn without_credentials(mut self) -> Self {
        self.connection = self.connection.without_credentials();
        self
    }

    /// Returns the settings for the inspector, or `None` if no agent is named.
    pub(crate) fn settings(&self) -> Result<Option<Settings>, Failure> {
        if self.agent_card.is_none() {
            return Ok(None);
        }
        let url = match self.reference()? {
            (Reference::Url(url), None) => url,
            (Reference::Url(url), Some(identifier)) => format!("{url}#{identifier}"),
            (Reference::File(_), _) => {
                return Err(Failure::usage("expected the URL of an agent, not a file"));
            }
        };
        let mut settings = self.connection.settings(url)?;
        settings.binding = self.connection.transports.first().copied();
        if let Some(VersionChoice::Only(version)) = self.connection.a2a_version {
            settings.version = Some(version);
        }
        Ok(Some(settings))
    }

    /// Returns the agent as the conformance suite takes it.
    #[cfg(feature = "conformance")]
    pub(crate) async fn suite_target(&self) -> Result<SuiteTarget, Failure> {
        let (Reference::Url(url), None) = self.reference()? else {
            return Err(Failure::usage(
                "expected the URL of an agent, not a file or a catalog",
            ));
        };
        let card = match self.find_card().await {
            Ok(found) => found.card,
            // The suite reports a card that cannot be found.
            Err(Failure::Card(_) | Failure::InvalidCard(_)) => Arc::default(),
            Err(failure) => return Err(failure),
        };
        let mut settings = self.connection.settings(url.clone())?;
        let headers = self.connection.headers()?;
        let trusted = self.trusted(&url)?;
        let leads_to = card.supported_interfaces.iter().filter_map(|interface| {
            Binding::of(interface)?;
            Origin::of(&interface.url).ok()
        });
        match leads_to
            .into_iter()
            .find(|origin| !trusted.contains(origin))
        {
            Some(other) if self.has_credentials() || !headers.is_empty() => {
                return Err(leads_elsewhere(&url, &other));
            }
            Some(_) => {}
            None => self.add_stored_token(&mut settings, &card).await?,
        }
        Ok(SuiteTarget {
            http: self
                .apply(self.connection.anonymous_settings(url.clone())?.http()?)?
                .build(),
            headers,
            credentials: self.credentials(&settings, &card)?,
            anonymous_card: !self.connection.card_credentials,
            versions: match self.connection.a2a_version {
                Some(VersionChoice::Only(version)) => vec![version],
                _ => Vec::new(),
            },
            bindings: self.connection.transports.clone(),
            url,
        })
    }

    /// Finds the agent behind a gateway. A stored token is not sent: all callers of the gateway would use it.
    pub(crate) async fn upstream(mut self, max_answer_bytes: usize) -> Result<Upstream, Failure> {
        if self.connection.has_extensions() {
            return Err(Failure::usage(
                "--extension: callers of a gateway request extensions themselves",
            ));
        }
        let has_card = !self.connection.no_card;
        let (card, transport, endpoint) = if has_card {
            let found = self.find_card().await?;
            self = self.any_version();
            let card = self.with_chosen_interfaces(&found.card)?;
            let first = card.supported_interfaces.first();
            let Some((transport, first)) = first.and_then(|it| Some((HttpTransport::to(it)?, it)))
            else {
                let problem = "the card names no interface that this program speaks: JSONRPC, HTTP+JSON or GRPC, 0.1 to 1.0";
                return Err(Failure::InvalidCard(problem.to_owned()));
            };
            let endpoint = first.url.clone();
            (card, transport?, endpoint)
        } else {
            self.connection.warn();
            let (url, version) = self.endpoint_without_card()?;
            let binding = self.connection.transports.first().copied();
            let transport = HttpTransport::new(&url, version)?;
            let transport = transport.binding(binding.unwrap_or(Binding::JsonRpc));
            let card = AgentCard::new(&*url, "An agent behind a gateway");
            (card, transport, url)
        };
        let url = self.url(&card)?;
        warn_of_downgrade(&url, &card);
        connected::remember(&Arc::new(card.clone()));
        // It is for the card: callers limit their calls themselves.
        self.timeout = None;
        let settings = self.connection.settings(url.clone())?;
        let headers = self.connection.headers()?;
        let origin = Origin::of(&endpoint)?;
        let is_trusted = self.trusted(&url)?.contains(&origin);
        let authenticates = self.connection.has_secret() || self.has_key_for(&card);
        if !is_trusted
            && (self.has_credentials() || !headers.is_empty() || !allows_anonymous(&card))
        {
            return Err(leads_elsewhere(&url, &origin));
        }
        let mut http = self.apply(settings.http()?)?;
        if !is_trusted {
            http = http.without_identity();
        }
        let http = http.receive_budget(max_answer_bytes).build();
        let mut transport = transport.http(http);
        if self.connection.is_strict() {
            transport = transport.mode(Mode::Strict);
        }
        if let Some(tenant) = settings.tenant.clone() {
            transport = transport.tenant(tenant);
        }
        if is_trusted {
            transport = transport.call_credentials(!authenticates);
            if let Some(own) = self.credentials(&settings, &card)? {
                transport = transport.credentials(own);
            }
            for (name, value) in headers {
                transport = transport.header(name, value);
            }
        }
        Ok(Upstream {
            transport,
            endpoint,
            access: match (
                authenticates || self.connection.has_certificate(),
                allows_anonymous(&card),
            ) {
                (true, _) => Access::OfGateway,
                (false, true) => Access::Anyone,
                (false, false) => Access::OfCallers,
            },
            passes_credentials: is_trusted && !authenticates,
            card,
            has_card,
        })
    }

    /// Returns whether a service parameter is an API key of the card.
    fn has_key_for(&self, card: &AgentCard) -> bool {
        self.connection.has_parameter(|name| {
            card.security_schemes.values().any(|scheme| match scheme {
                SecurityScheme::ApiKeySecurityScheme(key) => key.name.eq_ignore_ascii_case(name),
                _ => false,
            })
        })
    }

    /// Returns the origins that may have credentials and service parameters.
    fn trusted(&self, url: &str) -> Result<Vec<Origin>, Failure> {
        let trusted = self.connection.trust.iter().map(String::as_str);
        let trusted = std::iter::once(url).chain(trusted).map(Origin::of);
        Ok(trusted.collect::<Result<_, _>>()?)
    }

    /// Returns the credentials that the card asks for.
    fn credentials(
        &self,
        settings: &Settings,
        card: &AgentCard,
    ) -> Result<Option<Arc<dyn Credentials>>, Failure> {
        // A certificate is shown by TLS.
        if settings.bearer.is_none() && settings.basic.is_none() && settings.api_key.is_none() {
            return Ok(None);
        }
        let keyring = settings.keyring(|_| {})?;
        let origin = Origin::of(&settings.url)?;
        Ok(keyring.for_card(card, &origin, &self.login_http()?)?)
    }

    /// Adds the token that `a2a auth login` has stored for the agent, unless other credentials are given.
    async fn add_stored_token(
        &self,
        settings: &mut Settings,
        card: &AgentCard,
    ) -> Result<(), Failure> {
        if self.connection.has_secret() {
            return Ok(());
        }
        let origin = Origin::of(&settings.url)?;
        if let Some(token) = login::token_for(card, &origin, &self.login_http()?).await {
            connected::sends_stored_token();
            settings.bearer = Some(token.into());
        }
        Ok(())
    }

    /// Returns the place of the card, and the identifier behind a `#` if the place is a catalog.
    fn reference(&self) -> Result<(Reference, Option<String>), Failure> {
        let Some(name) = self.agent_card.as_deref().filter(|name| !name.is_empty()) else {
            return Err(Failure::usage(
                "no agent: expected --agent-card REF, a URL as the first argument, or A2ACLI_AGENT_CARD",
            ));
        };
        let (name, identifier) = match name.split_once('#') {
            Some((name, identifier)) => (name, Some(identifier.to_owned())),
            None => (name, None),
        };
        let path = expand(name);
        let is_path = name.starts_with(['/', '.', '~']) || name.ends_with(".json");
        let reference = match name.strip_prefix("file://") {
            Some(path) => Reference::File(path.into()),
            None if name.contains("://") => {
                // Without a host, the path of the card would be read as one.
                Origin::of(name)?;
                Reference::Url(name.to_owned())
            }
            None if path.is_file() || is_path => Reference::File(path),
            None => Reference::Url(with_scheme(name)),
        };
        Ok((reference, identifier))
    }

    /// Finds the agent's card. Nothing that identifies the caller is sent for it, but a TLS certificate and what
    /// --card-credentials allows.
    pub(crate) async fn find_card(&self) -> Result<FoundCard, Failure> {
        if self.connection.no_card {
            return Err(Failure::usage("--no-card: there is no card to show"));
        }
        self.connection.warn();
        let found = match self.reference()? {
            (Reference::Url(url), identifier) => {
                let cards = match self.connection.card_credentials {
                    true => self.cards_with_credentials(&url)?,
                    false => self.cards()?,
                };
                let place = match identifier {
                    Some(identifier) => format!("{url}#{identifier}"),
                    None => url,
                };
                find_at(&place, &cards).await?
            }
            (Reference::File(path), identifier) => {
                self.find_in_file(&path, identifier.as_deref()).await?
            }
        };
        let interfaces = &found.card.supported_interfaces;
        if found.card.name.is_empty() && interfaces.iter().all(|it| it.url.is_empty()) {
            let problem =
                "the document is not an agent card: it has neither a name nor an interface";
            return Err(Failure::InvalidCard(problem.to_owned()));
        }
        Ok(found)
    }

    fn cards(&self) -> Result<Cards, Failure> {
        let mode = match self.connection.is_strict() {
            true => Mode::Strict,
            false => Mode::Tolerant,
        };
        let observer = DeviationObserver::new(deviations::found);
        let cards = Cards::new(self.card_http()?).mode(mode);
        Ok(cards.deviations(Some(observer)))
    }

    fn cards_with_credentials(&self, url: &str) -> Result<Cards, Failure> {
        let settings = self.connection.settings(url.to_owned())?;
        let credentials = self.credentials(&settings, &AgentCard::default())?;
        let headers: HeaderMap = self.connection.headers()?.into_iter().collect();
        if credentials.is_none() && headers.is_empty() {
            return Err(Failure::usage(
                "--card-credentials: expected --bearer, --basic or a service parameter: an API key has no place before the card is read",
            ));
        }
        connected::sends_card_credentials();
        Ok(self.cards()?.headers(headers).credentials(credentials))
    }

    /// Reads a file: a card, or a catalog of cards.
    async fn find_in_file(
        &self,
        path: &Path,
        identifier: Option<&str>,
    ) -> Result<FoundCard, Failure> {
        let (name, text) = text_of_file(path)?;
        let catalog = match (Catalog::read(&text), identifier) {
            (Some(catalog), _) => catalog,
            (None, None) => return read_found(text, &name),
            (None, Some(identifier)) => {
                return Err(Failure::NoCard(format!(
                    "{name} is not an AI Catalog, which could list an agent `{identifier}`"
                )));
            }
        };
        match catalog.find(identifier).map_err(Failure::Card)? {
            ListedCard::Url(url) => find_at(url, &self.cards()?).await,
            ListedCard::Document(card) => read_found(card.clone(), "the catalog's entry"),
            _ => Err(Failure::NoCard(format!(
                "{name}: an entry of an unknown kind"
            ))),
        }
    }

    /// Finds the agent and connects.
    pub(crate) async fn connect(&self) -> Result<Client, Failure> {
        if self.connection.no_card {
            return self.connect_without_card();
        }
        let found = self.find_card().await?;
        self.connect_to(&found.card).await
    }

    /// Connects to the agent of a card.
    pub(crate) async fn connect_to(&self, card: &AgentCard) -> Result<Client, Failure> {
        let card = Arc::new(self.with_chosen_interfaces(card)?);
        let url = self.url(&card)?;
        connected::remember(&card);
        warn_of_downgrade(&url, &card);
        let mut settings = self.connection.settings(url.clone())?;
        self.add_stored_token(&mut settings, &card).await?;
        match self.builder(&settings)?.card(card).connect().await {
            Err(Error::Malformed(violation)) => Err(Failure::InvalidCard(violation.to_string())),
            connected => Ok(connected?),
        }
    }

    /// Returns the origin of the agent, which is the only one that gets credentials unasked.
    pub(crate) fn origin(&self, card: &AgentCard) -> Result<Origin, Failure> {
        Ok(Origin::of(&self.url(&self.with_chosen_interfaces(card)?)?)?)
    }

    /// Returns the origin of the agent if it can be told without the card.
    pub(crate) fn named_origin(&self) -> Result<Option<Origin>, Failure> {
        match self.reference()? {
            (Reference::Url(url), _) => Ok(Some(Origin::of(&url)?)),
            (Reference::File(_), _) => Ok(None),
        }
    }

    fn url(&self, card: &AgentCard) -> Result<String, Failure> {
        Ok(match self.reference()? {
            (Reference::Url(url), _) => url,
            (Reference::File(_), _) => card
                .supported_interfaces
                .first()
                .map(|interface| interface.url.clone())
                .unwrap_or_default(),
        })
    }

    fn connect_without_card(&self) -> Result<Client, Failure> {
        let (url, version) = self.endpoint_without_card()?;
        self.connection.warn();
        let mut builder = self.builder(&self.connection.settings(url)?)?;
        if let Some(binding) = self.connection.transports.first() {
            builder = builder.binding(*binding);
        }
        Ok(builder.connect_at(version)?)
    }

    /// Returns the endpoint of an agent without a card, and its protocol version.
    fn endpoint_without_card(&self) -> Result<(String, ProtocolVersion), Failure> {
        let (Reference::Url(url), _) = self.reference()? else {
            return Err(Failure::usage("--no-card: expected a URL, not a file"));
        };
        match self.connection.a2a_version {
            Some(VersionChoice::Only(version)) => Ok((url, version)),
            _ => Err(Failure::usage(
                "--no-card: expected --a2a-version 1.0, 0.3, 0.2 or 0.1",
            )),
        }
    }

    /// Returns the card with the interfaces that may be called, the preferred first.
    fn with_chosen_interfaces(&self, card: &AgentCard) -> Result<AgentCard, Failure> {
        let wanted = self.connection.a2a_version;
        let is_spoken = |interface: &&AgentInterface| {
            Binding::of(interface).is_some() && !interface.url.is_empty()
        };
        let is_wanted = |interface: &&AgentInterface| match (wanted, interface.protocol_version()) {
            (Some(VersionChoice::Auto), Some(_)) => true,
            (Some(VersionChoice::Only(wanted)), Some(version)) => version == wanted,
            (None, Some(version)) => version == ProtocolVersion::V1_0,
            (_, None) => false,
        };
        let spoken: Vec<_> = card.supported_interfaces.iter().filter(is_spoken).collect();
        let mut chosen: Vec<_> = spoken.iter().copied().filter(is_wanted).cloned().collect();
        if chosen.is_empty() && !spoken.is_empty() {
            return Err(no_version(&spoken, wanted));
        }
        let preferred = &self.connection.transports;
        let place = |interface: &AgentInterface| {
            let binding = Binding::of(interface);
            let place = preferred.iter().position(|wanted| Some(*wanted) == binding);
            place.unwrap_or(preferred.len())
        };
        // Stable: among equals, the card's order counts.
        chosen.sort_by_key(place);
        let card_url = match self.reference()? {
            (Reference::Url(url), _) => Some(url),
            _ => None,
        };
        for interface in &mut chosen {
            interface.url = interface.http_url(card_url.as_deref());
        }
        let mut card = card.clone();
        if !chosen.is_empty() {
            card.supported_interfaces = chosen;
        }
        Ok(card)
    }

    /// Returns an HTTP client like that for the agent, without what identifies the caller.
    #[cfg(feature = "conformance")]
    pub(crate) fn anonymous_http(&self) -> Result<HttpClient, Failure> {
        let settings = self.connection.anonymous_settings(String::new())?;
        let http = self.apply(settings.http()?)?;
        Ok(http.without_identity().build())
    }

    /// Returns an HTTP client for an authorization server: its exchanges are secret as a whole, and so not shown.
    pub(crate) fn login_http(&self) -> Result<HttpClient, Failure> {
        let settings = self.connection.anonymous_settings(String::new())?;
        Ok(settings.http()?.without_identity().build())
    }

    /// Returns the HTTP client for the card, whose server must answer soon.
    fn card_http(&self) -> Result<HttpClient, Failure> {
        let settings = self.connection.anonymous_settings(String::new())?;
        let limit = self.timeout.unwrap_or(CARD_TIMEOUT).min(CARD_TIMEOUT);
        let http = self.apply(settings.http()?)?.timeouts(timeouts(limit));
        Ok(http.build())
    }

    fn builder(&self, settings: &Settings) -> Result<ClientBuilder, Failure> {
        let http = self.apply(settings.http()?)?;
        // No setting of the command line prompts a user.
        let prompt = |_| {};
        Ok(settings
            .client(http, prompt)?
            .on_deviation(deviations::found))
    }

    fn apply(&self, mut http: HttpClientBuilder) -> Result<HttpClientBuilder, Failure> {
        if let Some(limit) = self.timeout {
            http = http.timeouts(timeouts(limit));
        }
        if let Some(directory) = &self.record {
            let failed = Failure::machine(directory.display().to_string());
            http = http.wire_observer(Arc::new(Recorder::into(directory).map_err(failed)?));
        }
        if self.debug {
            http = http.wire_observer(Arc::new(Wire));
        }
        Ok(http)
    }
}

async fn find_at(url: &str, cards: &Cards) -> Result<FoundCard, Failure> {
    let found = cards.find_document(url).await.map_err(Failure::Card)?;
    let CardDocument { card, text, .. } = found;
    Ok(FoundCard { card, text })
}

/// Returns whether an agent admits callers without credentials, as its card says it.
fn allows_anonymous(card: &AgentCard) -> bool {
    let mut requirements = card.security_requirements.iter();
    card.security_requirements.is_empty() || requirements.any(|one| is_open(card, one))
}

fn leads_elsewhere(url: &str, origin: &Origin) -> Failure {
    Failure::usage(format!(
        "the card of {url} leads to {origin}: expected --trust {origin}, to send it credentials and service parameters"
    ))
}

/// Warns if the card of an agent that was named by `https` leads to an address where everything can be read on the way.
fn warn_of_downgrade(url: &str, card: &AgentCard) {
    let Some(interface) = card.supported_interfaces.first() else {
        return;
    };
    let is_protected = |url| Origin::of(url).is_ok_and(|origin| origin.is_protected());
    if url.starts_with("https://") && !is_protected(&interface.url) {
        note(&format!(
            "warning: the card leads to {}, by which everything can be read and changed on the way",
            interface.url
        ));
    }
}

/// Time within which the server of a card must answer.
const CARD_TIMEOUT: Duration = Duration::from_secs(30);

fn timeouts(limit: Duration) -> Timeouts {
    let mut timeouts = Timeouts::default();
    timeouts.connect = limit.min(timeouts.connect);
    timeouts.first_byte = limit;
    timeouts.idle = limit;
    timeouts.body = limit;
    timeouts
}

/// Describes that a card offers other protocol versions than the wanted one.
fn no_version(spoken: &[&AgentInterface], wanted: Option<VersionChoice>) -> Failure {
    let mut offered: Vec<_> = spoken.iter().map(|one| &*one.protocol_version).collect();
    offered.dedup();
    let offered = offered.join(", ");
    let known = spoken.iter().find_map(|one| one.protocol_version());
    let wanted = match wanted {
        Some(VersionChoice::Only(version)) => version.version(),
        _ => "1.0",
    };
    Failure::Refused {
        kind: ErrorKind::VersionNotSupported,
        problem: format!("the agent does not offer A2A {wanted}: it offers {offered}"),
        hint: match known {
            Some(version) => format!("add --a2a-version {version} to speak that version"),
            None => "this program speaks 0.1, 0.2, 0.3 and 1.0".to_owned(),
        },
    }
}

/// Returns the name and the content of a file.
fn text_of_file(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => {
            Failure::InvalidCard(format!("{name}: the file is not text"))
        }
        _ => Failure::NoCard(format!("{name}: {error}")),
    })?;
    Ok((name, text))
}

fn read_found(text: String, name: &str) -> Result<FoundCard, Failure> {
    let read = read_card_in(&text, Mode::Tolerant).map_err(|error| {
        Failure::InvalidCard(match serde_json::from_str::<IgnoredAny>(&text) {
            // It names the line.
            Err(error) => format!("{name} is not JSON: {error}"),
            Ok(_) => format!("{name} is not an agent card: {error}"),
        })
    })?;
    read.repairs.iter().for_each(deviations::found);
    Ok(FoundCard {
        card: Arc::new(read.value),
        text,
    })
}

/// Returns a word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@%+=,".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Returns the URL of a host: by `http` on this machine, by `https` elsewhere.
fn with_scheme(name: &str) -> String {
    let authority = name.split(['/', '?']).next().unwrap_or_default();
    let authority: Option<http::uri::Authority> = authority.parse().ok();
    let host = authority.as_ref().map_or("", |authority| authority.host());
    let address = host.trim_start_matches('[').trim_end_matches(']').parse();
    let is_local = match address {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_unspecified(),
        Ok(IpAddr::V6(address)) => address.is_loopback() || address.is_unspecified(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    };
    let scheme = if is_local { "http" } else { "https" };
    format!("{scheme}://{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_called_by_https_unless_it_is_this_machine() {
        for (name, expected) in [
            ("localhost:8080", "http://localhost:8080"),
            ("127.0.0.1:80/base", "http://127.0.0.1:80/base"),
            ("[::1]:8080", "http://[::1]:8080"),
            ("agent.example:443", "https://agent.example:443"),
            ("10.0.0.1:8080/a?b=c", "https://10.0.0.1:8080/a?b=c"),
            ("agent.example", "https://agent.example"),
        ] {
            assert_eq!(with_scheme(name), expected);
        }
    }

    #[test]
    fn a_word_is_quoted_if_a_shell_would_change_it() {
        for (word, expected) in [
            ("a-1", "a-1"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
