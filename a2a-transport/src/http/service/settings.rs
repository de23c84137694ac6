//! Settings of a service, and the resources at its paths.

use std::sync::Arc;
use std::time::Duration;

use a2a_edge::budget::Budget;
use a2a_edge::{Probe, Probes};
use a2a_types::{AgentCard, AgentInterface, ProtocolVersion};
use http::header::{CACHE_CONTROL, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode};
use serde_json::Value;

use super::auth::{AllowAnonymous, DynAuthenticator, DynAuthorizer};
use super::cors::AllowedOrigins;
use super::extension_methods::ExtensionMethods;
use super::hosts::Hosts;
use super::passed_credentials::CredentialPlaces;
use super::peer_slots::{DEFAULT_LARGE_BODIES, DEFAULT_READS, PeerSlots};
use super::tenants::Tenants;
use crate::Binding;
#[cfg(feature = "grpc")]
use crate::binding::grpc;
use crate::binding::{ReadOptions, SupportedVersions};
use crate::http::documents::public_card::PublicCard;
use crate::http::documents::readiness::{AlwaysReady, Readiness};
use crate::http::documents::security::{ProtectedResource, Security};
use crate::http::message::answer::{plain, typed};
use crate::http::message::body::Body;
use crate::http::message::receive::MinimumRate;
use crate::http::message::response_budget::ResponseBudget;
#[cfg(feature = "webhooks")]
use crate::webhook::NotificationReceiver;

/// Settings of a service.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) card: Option<PublicCard>,
    pub(super) keys: Option<PublishedKeys>,
    /// URIs of the extensions on the card.
    pub(super) extensions: Vec<String>,
    pub(super) extension_methods: ExtensionMethods,
    pub(super) path: String,
    /// The interfaces that the card names, unless all are answered.
    pub(super) offer: SupportedVersions,
    pub(super) ignore_card_interfaces: bool,
    pub(super) tenants: Tenants,
    pub(super) hosts: Hosts,
    pub(super) origins: AllowedOrigins,
    pub(super) probes: Probes,
    pub(super) readiness: Arc<dyn Readiness>,
    pub(super) reading: ReadOptions,
    pub(super) authenticator: DynAuthenticator,
    /// Schemes and requirements that the authenticator checks, as far as it names them.
    pub(super) security: Option<Security>,
    pub(super) authorizer: Option<DynAuthorizer>,
    /// Places of the credentials that calls bring for the agent.
    pub(super) passed_credentials: Option<CredentialPlaces>,
    /// Receiver of the notifications that an agent sends to a gateway, and their path below `path`.
    #[cfg(feature = "webhooks")]
    pub(super) notifications: Option<(&'static str, Arc<dyn NotificationReceiver>)>,
    /// Budget of the bodies of notifications, which are held until the webhooks have answered.
    #[cfg(feature = "webhooks")]
    pub(super) notified: Budget,
    pub(super) keep_alive: Duration,
    pub(super) rate: MinimumRate,
    /// Reads of each peer.
    pub(super) reads: PeerSlots,
    pub(super) large_bodies: PeerSlots,
    /// Budget of all request bodies.
    pub(super) receiving: Budget,
    pub(super) answers: ResponseBudget,
}

/// Resource at a path.
pub(super) enum Resource<'a> {
    Endpoint,
    Card,
    ExtendedCard,
    /// The keys of push notifications.
    Keys,
    /// The metadata that names the authorization servers.
    AuthorizationServers,
    /// The AI Catalog.
    Catalog,
    /// A service of A2A by gRPC.
    #[cfg(feature = "grpc")]
    Grpc,
    /// The health service of gRPC.
    #[cfg(feature = "grpc")]
    Health,
    /// Below the endpoint: what follows its path.
    Below(&'a str),
    Elsewhere,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            card: None,
            keys: None,
            extensions: Vec::new(),
            extension_methods: ExtensionMethods::default(),
            path: "/".to_owned(),
            offer: SupportedVersions::default(),
            ignore_card_interfaces: false,
            tenants: Tenants::default(),
            hosts: Hosts::any(),
            origins: AllowedOrigins::default(),
            probes: Probes::default(),
            readiness: Arc::new(AlwaysReady),
            reading: ReadOptions::default(),
            authenticator: AllowAnonymous.into(),
            security: None,
            authorizer: None,
            passed_credentials: None,
            #[cfg(feature = "webhooks")]
            notifications: None,
            #[cfg(feature = "webhooks")]
            notified: Budget::new(NOTIFIED_BUDGET),
            keep_alive: Duration::from_secs(15),
            rate: MinimumRate {
                bytes: 1024,
                within: Duration::from_secs(10),
            },
            reads: PeerSlots::new(DEFAULT_READS),
            large_bodies: PeerSlots::new(DEFAULT_LARGE_BODIES),
            receiving: Budget::new(RECEIVE_BUDGET),
            answers: ResponseBudget::new(ANSWER_BUDGET),
        }
    }
}

impl Settings {
    /// Returns the options for reading requests, with the versions that are offered.
    pub(super) fn reading(&self) -> ReadOptions {
        ReadOptions {
            offer: self.offer(),
            ..self.reading
        }
    }

    fn offer(&self) -> SupportedVersions {
        match self.ignore_card_interfaces {
            true => self.reading.offer,
            false => self.reading.offer.and(self.offer),
        }
    }

    /// Returns the receiver of notifications, and the secret of the path at which it gets one.
    #[cfg(feature = "webhooks")]
    pub(super) fn notification<'a>(
        &self,
        path: &'a str,
    ) -> Option<(&Arc<dyn NotificationReceiver>, &'a str)> {
        let (place, receiver) = self.notifications.as_ref()?;
        let below = path.strip_prefix(self.path.trim_end_matches('/'))?;
        Some((receiver, below.strip_prefix(place)?))
    }

    pub(super) fn probe(&self, path: &str) -> Option<Probe> {
        self.probes.at(path).filter(|_| path != self.path)
    }

    pub(super) fn place<'a>(&self, path: &'a str) -> Resource<'a> {
        let path = match path {
            "/" => path,
            _ => path.trim_end_matches('/'),
        };
        let offer = self.offer();
        let is_spoken = |binding| offer.has_any(binding);
        if path == self.path {
            return match is_spoken(Binding::JsonRpc) {
                true => Resource::Endpoint,
                false => Resource::Elsewhere,
            };
        }
        #[cfg(feature = "grpc")]
        if is_spoken(Binding::Grpc) {
            let services = [ProtocolVersion::V1_0, ProtocolVersion::V0_3].map(grpc::service);
            if services.iter().flatten().any(|it| path.starts_with(it)) {
                return Resource::Grpc;
            }
            if path.starts_with(HEALTH) {
                return Resource::Health;
            }
        }
        let base = self.path.trim_end_matches('/');
        let parent = base.rsplit_once('/').map_or("", |(parent, _)| parent);
        let at = |base: &str, place: &str| path.strip_prefix(base) == Some(place);
        // Cards are looked for below the origin, and below the endpoint.
        if CARD_PLACES
            .iter()
            .any(|place| at("", place) || at(base, place))
        {
            return Resource::Card;
        }
        if at("", KEYS) || at(base, KEYS) {
            return Resource::Keys;
        }
        if at("", CATALOG) {
            return Resource::Catalog;
        }
        let above = path.strip_prefix(ProtectedResource::PATH);
        if above.is_some_and(|path| path.is_empty() || path == base)
            || at(base, ProtectedResource::PATH)
        {
            return Resource::AuthorizationServers;
        }
        const EXTENDED: &str = ProtocolVersion::EXTENDED_CARD_PATH;
        let has_0_2 = offer.has(Binding::JsonRpc, ProtocolVersion::V0_2);
        if has_0_2 && (at(base, EXTENDED) || at(parent, EXTENDED)) {
            return Resource::ExtendedCard;
        }
        match path.strip_prefix(base) {
            Some(below) if below.starts_with('/') && is_spoken(Binding::HttpJson) => {
                let segment = AgentCard::HTTP_JSON_SEGMENT;
                let rest = below[1..].strip_prefix(segment);
                Resource::Below(rest.filter(|rest| rest.starts_with('/')).unwrap_or(below))
            }
            _ => Resource::Elsewhere,
        }
    }

    pub(super) fn public_keys(&self) -> Response<Body> {
        let Some(keys) = &self.keys else {
            return plain(StatusCode::NOT_FOUND, "this agent signs nothing");
        };
        let mut response = typed(
            StatusCode::OK,
            "application/jwk-set+json",
            Body::full(keys()),
        );
        // The same time for which a new key is published before it signs.
        let cached = HeaderValue::from_static("public, max-age=300");
        response.headers_mut().insert(CACHE_CONTROL, cached);
        response
    }

    /// Returns the interfaces of the public card.
    pub(super) fn interfaces(&self, head: &Parts) -> Vec<AgentInterface> {
        let card = self.card.as_ref();
        card.and_then(|card| card.interfaces(head, &self.path))
            .unwrap_or_default()
    }

    /// Returns whether a path is that of the service, or below it.
    pub(super) fn has(&self, path: &str) -> bool {
        let base = self.path.trim_end_matches('/');
        let below = path.strip_prefix(base);
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    /// Returns the public card for the catalog.
    pub(super) fn listed_card(&self, head: &Parts) -> Option<Value> {
        self.card.as_ref()?.listed(head, &self.path)
    }

    pub(super) fn public_card(&self, head: &Parts) -> Response<Body> {
        match &self.card {
            Some(card) => card.answer(head, &self.path),
            None => plain(StatusCode::NOT_FOUND, "this agent has no public card"),
        }
    }
}

/// Source of the public keys.
type PublishedKeys = Arc<dyn Fn() -> Vec<u8> + Send + Sync>;

/// 32 of the largest bodies that are read by default.
const RECEIVE_BUDGET: usize = 128 << 20;

/// Eight of the largest notifications. Slow webhooks hold it, so it is separate from the callers'
/// budget.
#[cfg(feature = "webhooks")]
const NOTIFIED_BUDGET: usize = 32 << 20;

/// Three of the largest tasks that are kept by default, and small answers.
const ANSWER_BUDGET: usize = 256 << 20;

/// Path of the keys that verify push notifications.
const KEYS: &str = "/.well-known/jwks.json";

/// Path of the health service of gRPC, before the name of a method.
#[cfg(feature = "grpc")]
pub(super) const HEALTH: &str = "/grpc.health.v1.Health/";

/// Path of the AI Catalog.
pub(super) const CATALOG: &str = "/.well-known/ai-catalog.json";

/// Paths of the public card; the last is for Google's JavaScript client of 0.1.
const CARD_PLACES: [&str; 3] = [
    "/.well-known/agent.json",
    "/.well-known/agent-card.json",
    "/agent-card",
];
