//! A test agent that listens on this machine.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use a2a_server::demo::Reference;
use a2a_server::{AllowAnonymous, DynAuthenticator, Server, WebhookKeys, WebhookPolicy};
use a2a_transport::binding::ReadOptions;
use a2a_transport::http::{HttpClient, HttpService, ServeOptions, serve};
use a2a_transport::webhook::{Algorithm, Jwks, SigningKey};
use a2a_types::{AgentCard, AgentSkill};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinHandle};

use super::bug::Bug;
use super::card_signing::signed;
use super::control::{Control, card};
use super::control_wire::ControlWire;
use super::faulty_server::FaultyServer;
use super::faulty_wire::FaultyWire;
use super::intercepted_service::InterceptedService;
use super::interceptor::{Interceptor, PassThrough};
use super::issuer::{IssuedToken, Issuer};
use super::named_callers::{self, FIRST, FORBIDDEN, NamedCallerAuthenticator, SECOND};
use super::relay::Relay;
use super::tls_front::TlsFront;
use super::token_authenticator::{TokenAuthenticator, authorizer};
use a2a_conformance::agent::Options;

/// A test agent that listens on this machine until this is dropped.
#[derive(Debug)]
pub struct RunningAgent {
    /// URL of the agent.
    pub url: String,
    /// Keys by which its card is signed.
    pub keys: Jwks,
    /// The issuer of its callers' tokens, if they need any.
    issuer: Option<Arc<Issuer>>,
    /// Client that trusts the certificate of the agent, if it is behind TLS.
    http: HttpClient,
    running: Vec<AbortHandle>,
}

/// Test agent: the reference agent, a mutant or a control.
#[derive(Clone, Debug)]
pub enum AgentSubject {
    /// The reference agent: correct.
    Reference,
    /// A mutant: it has a bug.
    Mutant(Bug),
    /// A control: unusual, but correct.
    Control(Control),
}

impl AgentSubject {
    /// Returns all test agents.
    pub fn all() -> Vec<Self> {
        let controls = Control::ALL.iter().copied().map(Self::Control);
        let mutants = Bug::ALL.iter().copied().map(Self::Mutant);
        std::iter::once(Self::Reference)
            .chain(controls)
            .chain(mutants)
            .collect()
    }

    /// Returns its name, like `S07` or `crlf`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Mutant(bug) => bug.name(),
            Self::Control(control) => control.name(),
        }
    }

    /// Returns a description of its peculiarity.
    pub fn says(&self) -> &'static str {
        match self {
            Self::Reference => "nothing is special",
            Self::Mutant(bug) => &bug.mutant().says,
            Self::Control(control) => control.says(),
        }
    }
}

impl RunningAgent {
    /// Starts a test agent. Must be called within a Tokio runtime.
    pub async fn open(subject: &AgentSubject) -> io::Result<Self> {
        let wire: Arc<dyn Interceptor> = match subject {
            AgentSubject::Reference => Arc::new(PassThrough),
            AgentSubject::Mutant(bug) => Arc::new(FaultyWire::new(*bug)),
            AgentSubject::Control(control) => Arc::new(ControlWire::new(*control)),
        };
        Self::behind(wire, subject).await
    }

    /// Starts a test agent behind an [`Interceptor`].
    pub(super) async fn behind(
        wire: Arc<dyn Interceptor>,
        subject: &AgentSubject,
    ) -> io::Result<Self> {
        let (bug, control) = match subject {
            AgentSubject::Reference => (None, None),
            AgentSubject::Mutant(bug) => (Some(*bug), None),
            AgentSubject::Control(control) => (None, Some(*control)),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut url = format!("http://{}/", listener.local_addr()?);
        let (mut http, mut running) = (HttpClient::default(), Vec::new());
        if bug.is_some_and(Bug::is_about_tls) || control == Some(Control::Tls) {
            let front = TlsFront::open(listener.local_addr()?, bug).await?;
            url = front.url;
            http = front.http;
            running.push(front.serving);
        }
        let mut card = control.map_or_else(card, Control::card).at(&url);
        if running.is_empty() {
            // The listener in front of an agent behind TLS has HTTP/1.1.
            card = card.with_grpc();
        }
        let has_tokens = bug.is_some_and(Bug::is_about_tokens) || control == Some(Control::Tokens);
        let issuer = match has_tokens {
            true => Some(Arc::new(Issuer::open(&url).await?)),
            false => None,
        };
        let authenticator: DynAuthenticator = match &issuer {
            Some(issuer) => {
                let tokens = TokenAuthenticator::new(issuer, bug);
                tokens.map_err(io::Error::other)?.into()
            }
            None => NamedCallerAuthenticator {
                admits_everybody: bug == Some(Bug::WebhooksWithoutAuthentication),
            }
            .into(),
        };
        if let Some(security) = authenticator.security() {
            card.security_schemes = security.schemes;
            card.security_requirements = security.requirements;
        }
        let key = SigningKey::generate(Algorithm::Es256).map_err(io::Error::other)?;
        let signs_webhooks =
            bug == Some(Bug::UnpublishedSigningKey) || control == Some(Control::Tokens);
        let webhook_key = match bug {
            Some(Bug::UnpublishedSigningKey) => {
                Some(SigningKey::generate(Algorithm::Es256).map_err(io::Error::other)?)
            }
            _ => signs_webhooks.then(|| key.clone()),
        };
        let server = server(&card, control, webhook_key).map_err(io::Error::other)?;
        let card = signed(card, &key, bug).map_err(io::Error::other)?;
        let relay = match bug {
            Some(bug) if bug.is_about_webhooks() => {
                let (relay, serving) = Relay::open(bug).await?;
                running.push(serving.abort_handle());
                Some(relay)
            }
            _ => None,
        };
        let mut reading = ReadOptions::default();
        if bug == Some(Bug::AcceptsAnySize) {
            reading.limits.bytes = 256 << 20;
        }
        let service = HttpService::new(FaultyServer::new(server, bug, relay))
            .card(&card)
            .reading(reading)
            .authenticator(authenticator);
        let published = Jwks::of([&key]);
        let service = match signs_webhooks {
            true => service.keys(move || serde_json::to_vec(&published).unwrap_or_default()),
            false => service,
        };
        let service = match bug {
            _ if has_tokens => service.authorizer(authorizer(bug)),
            Some(Bug::WebhooksWithoutAuthentication) => {
                service.authorizer(named_callers::authorize)
            }
            _ => service,
        };
        let wired = InterceptedService::new(service, wire);
        let serving: JoinHandle<()> = tokio::spawn(serve(
            listener,
            wired,
            ServeOptions::default(),
            std::future::pending(),
        ));
        running.push(serving.abort_handle());
        Ok(Self {
            url,
            keys: Jwks::of([&key]),
            issuer,
            http,
            running,
        })
    }

    /// Returns options that test it with the credentials of its callers.
    pub fn options(&self) -> Options {
        let options = Options {
            http: self.http.clone(),
            ..Options::of(&self.url)
        };
        let Some(issuer) = &self.issuer else {
            return Options {
                headers: named_callers::headers(FIRST),
                second_headers: named_callers::headers(SECOND),
                forbidden_headers: named_callers::headers(FORBIDDEN),
                ..options
            };
        };
        Options {
            headers: issuer.headers(IssuedToken::First),
            second_headers: issuer.headers(IssuedToken::Second),
            forbidden_headers: issuer.headers(IssuedToken::WrongScope),
            expired_headers: issuer.headers(IssuedToken::Expired),
            wrong_audience_headers: issuer.headers(IssuedToken::WrongAudience),
            wrong_scope_headers: issuer.headers(IssuedToken::WrongScope),
            ..options
        }
    }
}

impl Drop for RunningAgent {
    fn drop(&mut self) {
        self.running.iter().for_each(AbortHandle::abort);
    }
}

fn server(
    card: &AgentCard,
    control: Option<Control>,
    webhook_key: Option<SigningKey>,
) -> Result<Server, a2a_server::BuildError> {
    let builder = match control {
        Some(control) => control.server(card.clone()),
        None => Server::builder(card.clone(), Reference),
    };
    // The service in front of it authenticates.
    let builder = builder.authenticator(AllowAnonymous);
    let builder = match card.capabilities.extended_agent_card {
        Some(true) => {
            let mut extended = card.clone();
            if control == Some(Control::OtherName) {
                extended.name += " for known callers";
            }
            extended.skills.push(AgentSkill {
                id: "more".to_owned(),
                name: "more".to_owned(),
                description: "What only known callers see".to_owned(),
                tags: vec!["demo".to_owned()],
                ..AgentSkill::default()
            });
            builder.extended_card(extended)
        }
        _ => builder,
    };
    if card.capabilities.push_notifications != Some(true) {
        return builder.build();
    }
    let builder = match webhook_key {
        Some(key) => builder.sign_webhooks(WebhookKeys::new(key)),
        None => builder,
    };
    builder
        .webhooks(WebhookPolicy::default().allow_hosts(["127.0.0.1"]))
        .retry_webhooks([100, 200, 400].map(Duration::from_millis))
        .build()
}
