//! Builder of a server.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[cfg(feature = "card-signature")]
use a2a_transport::card_signature::SignError;
use a2a_transport::http::{
    AuthError, Authenticator, Authorizer, DynAuthenticator, DynAuthorizer, Tenants,
};
use a2a_transport::{CallRequest, Principal};
use a2a_types::AgentCard;
#[cfg(feature = "card-signature")]
use a2a_types::ProtocolVersion;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::build_error::BuildError;
#[cfg(feature = "card-signature")]
use crate::card_keys::CardKeys;
use crate::card_security::CardSecurity;
use crate::engine::Engine;
use crate::engine::active_tasks::ActiveTasks;
use crate::engine::agent_call::ErasedAgent;
use crate::engine::idempotency::InFlightSends;
use crate::engine::limiter::{Limiter, TurnLimits};
use crate::engine::maintenance::{Maintenance, Recovery};
use crate::engine::renewals::Renewals;
use crate::engine::store_handle::StoreHandle;
use crate::extended_card::ExtendedCard;
#[cfg(feature = "card-signature")]
use crate::extended_card::name_skill_modes;
use crate::health::Health;
use crate::operations::ServerState;
use crate::profile::reply_format;
use crate::server::Server;
#[cfg(feature = "webhooks")]
use crate::store::{EncryptedStore, EncryptionKeys};
use crate::store::{MemoryStore, Retention, Store, TaskBudget, TimedStore};
#[cfg(feature = "webhooks")]
use crate::webhook::{Challenge, PAUSES, WebhookKeys, WebhookPolicy, Webhooks};

/// Settings and parts of a server.
pub struct ServerBuilder {
    card: AgentCard,
    extended_card: Option<ExtendedCard>,
    authenticator: Option<DynAuthenticator>,
    authorizer: Option<DynAuthorizer>,
    agent: Arc<dyn ErasedAgent>,
    store: Option<Arc<dyn Store>>,
    blocking_timeout: Duration,
    first_event_timeout: Duration,
    cancel_grace: Duration,
    lease: Duration,
    max_outage: Duration,
    merges_chunks: bool,
    hides_steps: bool,
    remember: Duration,
    turns: TurnLimits,
    recovery: Recovery,
    retention: Retention,
    any_tenant: bool,
    #[cfg(feature = "card-signature")]
    card_keys: Option<CardKeys>,
    #[cfg(feature = "webhooks")]
    webhooks: Option<WebhookPolicy>,
    #[cfg(feature = "webhooks")]
    challenge: Option<Challenge>,
    #[cfg(feature = "webhooks")]
    keys: Option<WebhookKeys>,
    #[cfg(feature = "webhooks")]
    pauses: Option<Arc<[Duration]>>,
    #[cfg(feature = "webhooks")]
    sealing: Option<EncryptionKeys>,
}

impl Server {
    /// A server for this agent, introduced by this card, with its tasks in memory.
    pub fn builder(card: AgentCard, agent: impl Agent) -> ServerBuilder {
        ServerBuilder {
            card,
            extended_card: None,
            authenticator: None,
            authorizer: None,
            agent: Arc::new(agent),
            store: None,
            blocking_timeout: Duration::from_secs(240),
            first_event_timeout: Duration::from_secs(1),
            cancel_grace: Duration::from_secs(5),
            lease: Duration::from_secs(15),
            max_outage: Duration::from_secs(600),
            merges_chunks: true,
            hides_steps: false,
            remember: Duration::from_secs(24 * 3600),
            turns: TurnLimits::default(),
            recovery: Recovery::default(),
            retention: Retention::default(),
            any_tenant: false,
            #[cfg(feature = "card-signature")]
            card_keys: None,
            #[cfg(feature = "webhooks")]
            webhooks: None,
            #[cfg(feature = "webhooks")]
            challenge: None,
            #[cfg(feature = "webhooks")]
            keys: None,
            #[cfg(feature = "webhooks")]
            pauses: None,
            #[cfg(feature = "webhooks")]
            sealing: None,
        }
    }
}

impl ServerBuilder {
    /// Keeps tasks in this store; in memory by default. The durations of this store's methods are recorded
    /// as a metric.
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Sets the card for callers that authenticate, which the public card promises from then on.
    pub fn extended_card(mut self, card: AgentCard) -> Self {
        self.extended_card = Some(ExtendedCard::Same(card));
        self
    }

    /// Sets the function that makes the card for each caller that authenticates. Schemes, requirements and,
    /// if it names none, interfaces are added to what it returns.
    pub fn extended_card_for(
        mut self,
        card: impl Fn(&Principal) -> AgentCard + Send + Sync + 'static,
    ) -> Self {
        self.extended_card = Some(ExtendedCard::Each(Arc::new(card), None));
        self
    }

    /// Sets the authenticator of callers by HTTP, and with it the security of the card: the schemes and requirements
    /// that the authenticator [checks](Authenticator::security) are written into the cards, in the form of every
    /// version. If the card states others, [`build`](Self::build) fails; it also fails if the card requires credentials
    /// and there is no authenticator. Use [`AllowAnonymous`](crate::AllowAnonymous) if the program around the server
    /// authenticates callers.
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.authenticator = Some(authenticator.into());
        self
    }

    /// Sets the authorizer of calls by HTTP; every call of an admitted principal is permitted by default.
    pub fn authorizer(mut self, authorizer: impl Authorizer) -> Self {
        self.authorizer = Some(authorizer.into());
        self
    }

    /// Sets the function that permits calls by HTTP, or returns the reason to refuse them. It is called before
    /// any task is looked up. Whatever it returns, tasks of other callers are not found.
    pub fn authorize(
        self,
        authorize: impl Fn(&Principal, &CallRequest) -> Result<(), AuthError> + Send + Sync + 'static,
    ) -> Self {
        self.authorizer(authorize)
    }

    /// Limits how long a caller waits for a task to end before it gets the task as it stands; 4 minutes by
    /// default.
    pub fn blocking_timeout(mut self, limit: Duration) -> Self {
        self.blocking_timeout = limit.min(MAX_DURATION);
        self
    }

    /// Limits how long a stream, or a caller that wants an immediate answer, waits for the agent's first
    /// update before it gets the submitted task; 1 s by default.
    pub fn first_event_timeout(mut self, limit: Duration) -> Self {
        self.first_event_timeout = limit.min(MAX_DURATION);
        self
    }

    /// Limits how long a canceled turn may go on before it is dropped; 5 s by default.
    pub fn cancel_grace(mut self, limit: Duration) -> Self {
        self.cancel_grace = limit;
        self
    }

    /// Sets the time after which another process that shares the store takes over the tasks of one that
    /// died; 15 s by default.
    pub fn lease(mut self, term: Duration) -> Self {
        self.lease = term.min(MAX_DURATION);
        self
    }

    /// Limits how long a turn waits for a shared store that is not available, like a database during a restart; 10
    /// minutes by default. After that the turn is interrupted: once the store is back, its task is recovered like the
    /// tasks of a server that died, by [`recovery`](Self::recovery).
    pub fn max_outage(mut self, limit: Duration) -> Self {
        self.max_outage = limit.min(MAX_DURATION);
        self
    }

    /// Sets whether text that is added to an artifact while an earlier append is being written becomes one
    /// event with what follows it, up to 4 KiB; true by default. Text is never delayed to wait for more.
    pub fn merge_chunks(mut self, merge: bool) -> Self {
        self.merges_chunks = merge;
        self
    }

    /// Hides the steps on the way to an answer: tool calls, code, reasoning. They are not even written to
    /// the log. By default callers that ask for [steps](a2a_types::steps) see them, if the card declares a
    /// profile that has them.
    pub fn hide_steps(mut self) -> Self {
        self.hides_steps = true;
        self
    }

    /// Sets for how long a message is recognised when it is sent again: its sender shares the outcome of
    /// the first, and is refused if the same id has other content. 24 hours by default, and for as long as
    /// it is being answered; zero treats every message as new, for callers that reuse ids.
    pub fn idempotency_window(mut self, period: Duration) -> Self {
        self.remember = period.min(MAX_DURATION);
        self
    }

    /// Limits the turns that run at once, and the turns that wait.
    pub fn turns(mut self, limits: TurnLimits) -> Self {
        self.turns = limits;
        self
    }

    /// Sets the treatment of tasks whose process ended before they did: by default they fail.
    pub fn recovery(mut self, recovery: Recovery) -> Self {
        self.recovery = recovery;
        self
    }

    /// Sets how long idle tasks are kept; by default ended tasks for a week, 100,000 at most, and
    /// tasks that wait for their caller for 30 days. None of these may be 0: [`BuildError::NoRetention`].
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Serves any tenant that a request names. By default only the tenants that the interfaces of
    /// the card name are served, and a card that names none is for requests without a tenant (specification
    /// 1.0 §8.3.2): others are refused.
    pub fn any_tenant(mut self) -> Self {
        self.any_tenant = true;
        self
    }

    /// Signs the card and the extended card. A signature covers the URLs of the interfaces, so that the card has to
    /// name them, perhaps by [`AgentCard::at`]; an extended card without interfaces gets the card's.
    /// A proxy that rewrites URLs on the card breaks its signatures.
    ///
    /// The extended card has signatures for callers of 1.0 alone: in earlier versions it has no form that
    /// a signature covers.
    #[cfg(feature = "card-signature")]
    pub fn sign_card(mut self, keys: CardKeys) -> Self {
        self.card_keys = Some(keys);
        self
    }

    /// Sets the policy of webhooks that may be called; by default public ones by `https`. The card then offers
    /// push notifications.
    #[cfg(feature = "webhooks")]
    pub fn webhooks(mut self, policy: WebhookPolicy) -> Self {
        self.webhooks = Some(policy);
        self
    }

    /// Sets whether a webhook has to repeat a random text before it is registered; never by default.
    #[cfg(feature = "webhooks")]
    pub fn challenge_webhooks(mut self, challenge: Challenge) -> Self {
        self.challenge = Some(challenge);
        self
    }

    /// Signs notifications, and publishes the keys by which they are verified.
    #[cfg(feature = "webhooks")]
    pub fn sign_webhooks(mut self, keys: WebhookKeys) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Sets the delays after which a notification that a webhook did not take is sent again; by default 5 s, 5
    /// min, 30 min, 2 h, 5 h, 10 h and 10 h. Each is varied by up to a fifth, and longer if the webhook's
    /// `Retry-After` says so. After the last attempt the notification is a dead letter, and the next one of the
    /// webhook is sent.
    #[cfg(feature = "webhooks")]
    pub fn retry_webhooks(mut self, pauses: impl IntoIterator<Item = Duration>) -> Self {
        self.pauses = Some(pauses.into_iter().collect());
        self
    }

    /// Seals the URLs, tokens and credentials of webhooks in the store by these keys. By default they are
    /// kept in the clear, and webhooks that were sealed before cannot be read.
    #[cfg(feature = "webhooks")]
    pub fn encrypt_secrets(mut self, keys: EncryptionKeys) -> Self {
        self.sealing = Some(keys);
        self
    }

    /// Builds the server, unless its parts contradict each other.
    ///
    /// Its background work begins at once, before it is served: abandoned tasks are recovered, webhooks
    /// delivered, old tasks removed. That needs a tokio runtime; built outside of one, the server begins the
    /// work with its first call, or with [`BoundServer::run`](crate::BoundServer::run).
    pub fn build(mut self) -> Result<Server, BuildError> {
        if self.card.name.is_empty() {
            return Err(BuildError::NamelessCard);
        }
        let is_signed = !self.card.signatures.is_empty();
        if self.extended_card.is_some() {
            let promised = &mut self.card.capabilities.extended_agent_card;
            promise(promised, is_signed, BuildError::DeniedExtendedCard)?;
        }
        #[cfg(feature = "webhooks")]
        if self.sets_webhooks() {
            let promised = &mut self.card.capabilities.push_notifications;
            promise(promised, is_signed, BuildError::DeniedWebhooks)?;
        }
        #[cfg(not(feature = "webhooks"))]
        if self.card.capabilities.push_notifications == Some(true) {
            return Err(BuildError::WebhooksNotBuilt);
        }
        if is_signed && self.card.supported_interfaces.is_empty() {
            return Err(BuildError::SignedWithoutInterfaces);
        }
        let retained = [
            ("age", !self.retention.age.is_zero()),
            ("count", self.retention.count > 0),
            ("patience", !self.retention.patience.is_zero()),
        ];
        if let Some((zero, _)) = retained.iter().find(|(_, is_retained)| !is_retained) {
            return Err(BuildError::NoRetention(zero));
        }
        self.state_security()?;
        #[cfg(feature = "card-signature")]
        self.sign_cards()?;
        let tenants = match self.any_tenant {
            true => Tenants::any(),
            false => Tenants::of(&self.card),
        };
        #[cfg(feature = "webhooks")]
        let webhooks = match self.card.capabilities.push_notifications {
            Some(true) => {
                let webhooks = Webhooks::new(
                    self.webhooks.unwrap_or_default(),
                    self.challenge.unwrap_or_default(),
                    self.keys,
                    self.pauses.unwrap_or_else(|| Arc::new(PAUSES)),
                );
                Some(webhooks.map_err(|_| BuildError::NoAuthorities)?)
            }
            _ => None,
        };
        #[cfg(feature = "webhooks")]
        let notify = webhooks.is_some();
        #[cfg(not(feature = "webhooks"))]
        let notify = false;
        let keeps_steps = reply_format::is_declared(&self.card) && !self.hides_steps;
        let is_timed = self.store.is_some();
        let store = self.store.unwrap_or_else(|| {
            tracing::info!(
                "tasks are kept in memory and lost with the process: a store, like a SQLite file, keeps them"
            );
            Arc::new(MemoryStore::default())
        });
        // The wrapper is used without keys, too, because it refuses webhooks that were sealed
        // before.
        #[cfg(feature = "webhooks")]
        let store: Arc<dyn Store> = Arc::new(EncryptedStore::new(store, self.sealing));
        let store = match is_timed {
            true => TimedStore::new(store),
            false => TimedStore::untimed(store),
        };
        let mut store_handle =
            StoreHandle::new(store, self.lease, self.merges_chunks, keeps_steps, notify);
        store_handle.max_outage = self.max_outage;
        let store_handle = Arc::new(store_handle);
        let active = Arc::new(ActiveTasks::new(self.agent, self.cancel_grace));
        let limiter = Arc::new(Limiter::new(self.turns));
        let (closing, closed) = (CancellationToken::new(), CancellationToken::new());
        let maintenance = Maintenance {
            store_handle: Arc::clone(&store_handle),
            active: Arc::clone(&active),
            limiter: Arc::clone(&limiter),
            recovery: self.recovery,
            retention: self.retention,
            renewals: Renewals::default(),
            closing: closing.clone(),
            closed: closed.clone(),
            begun: AtomicBool::new(false),
        };
        let engine = Engine {
            store_handle,
            copies: TaskBudget::default(),
            active,
            limiter,
            in_flight_sends: InFlightSends::new(self.remember),
            maintenance: Arc::new(maintenance),
            closing,
            closed,
            blocking_timeout: self.blocking_timeout,
            first_event_timeout: self.first_event_timeout,
        };
        let server = Server {
            inner: Arc::new(ServerState {
                card: self.card,
                extended_card: self.extended_card,
                authenticator: self.authenticator,
                authorizer: self.authorizer,
                tenants,
                engine: Arc::new(engine),
                health: Health::default(),
                #[cfg(feature = "card-signature")]
                card_keys: self.card_keys,
                #[cfg(feature = "webhooks")]
                webhooks,
            }),
        };
        if Handle::try_current().is_ok() {
            server.inner.begin_maintenance();
        }
        Ok(server)
    }
}

impl ServerBuilder {
    /// Writes the security that is checked into the cards.
    fn state_security(&mut self) -> Result<(), BuildError> {
        let authenticator = self.authenticator.as_ref();
        if authenticator.is_none() && !self.card.security_requirements.is_empty() {
            return Err(BuildError::UncheckedSecurity);
        }
        let Some(security) = authenticator.and_then(|authenticator| authenticator.security())
        else {
            return Ok(());
        };
        let authorizer = self.authorizer.as_ref();
        let skill_scopes = authorizer.map(|authorizer| authorizer.skill_scopes());
        let security = CardSecurity::new(security, skill_scopes.unwrap_or_default());
        security.state(&mut self.card)?;
        match &mut self.extended_card {
            Some(ExtendedCard::Same(card)) => security.state(card),
            Some(ExtendedCard::Each(_, stated)) => {
                *stated = Some(security);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

#[cfg(feature = "card-signature")]
impl ServerBuilder {
    /// Signs the cards. Must come after every change to them.
    fn sign_cards(&mut self) -> Result<(), BuildError> {
        let Some(keys) = self.card_keys.clone() else {
            return Ok(());
        };
        if self.card.supported_interfaces.is_empty() {
            return Err(BuildError::SignedWithoutInterfaces);
        }
        let interfaces = self.card.supported_interfaces.clone();
        let sign = move |card: &mut AgentCard| {
            if card.supported_interfaces.is_empty() {
                card.supported_interfaces.clone_from(&interfaces);
            }
            // A signature does not cover members that are added after it.
            let interfaces = &card.supported_interfaces;
            if interfaces
                .iter()
                .any(|it| it.protocol_version() != Some(ProtocolVersion::LATEST))
            {
                name_skill_modes(card);
            }
            keys.sign(card)
        };
        let unsigned = |error: SignError| BuildError::Unsigned(error.to_string());
        sign(&mut self.card).map_err(unsigned)?;
        self.extended_card = match self.extended_card.take() {
            Some(ExtendedCard::Same(mut card)) => {
                sign(&mut card).map_err(unsigned)?;
                Some(ExtendedCard::Same(card))
            }
            Some(each) => {
                let signed = move |principal: &Principal| {
                    let mut card = each.of(principal);
                    if let Err(error) = sign(&mut card) {
                        tracing::error!(%error, "an extended card is not signed");
                    }
                    card
                };
                Some(ExtendedCard::Each(Arc::new(signed), None))
            }
            None => None,
        };
        Ok(())
    }
}

#[cfg(feature = "webhooks")]
impl ServerBuilder {
    fn sets_webhooks(&self) -> bool {
        self.webhooks.is_some()
            || self.challenge.is_some()
            || self.keys.is_some()
            || self.pauses.is_some()
    }
}

/// Has a card promise a capability that the server is set up for.
///
/// Errors: `denied`, if the card denies it, or is signed without it.
fn promise(
    capability: &mut Option<bool>,
    is_signed: bool,
    denied: BuildError,
) -> Result<(), BuildError> {
    match capability {
        Some(true) => Ok(()),
        None if !is_signed => {
            *capability = Some(true);
            Ok(())
        }
        Some(false) | None => Err(denied),
    }
}

/// Practically unlimited, and small enough to be added to the current time.
const MAX_DURATION: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
