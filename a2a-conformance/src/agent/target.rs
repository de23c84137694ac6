//! The agent under test: what its card offers.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use a2a_client::Cards;
use a2a_transport::Binding;
use a2a_transport::webhook::Jwks;
use a2a_types::{AgentCard, ProtocolVersion};
use http::{HeaderMap, HeaderValue};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::callers::Callers;
use super::connection_hints::{no_answer, no_card};
use super::forged_tokens::TokenTemplate;
use super::interface::Interface;
use super::options::Options;
use super::patience::Patience;
use super::webhook::Webhooks;
use crate::judge::{Judge, OwnTasks};

/// The agent under test.
pub(crate) struct Target {
    pub(crate) card: Arc<AgentCard>,
    /// The card as it came.
    pub(crate) document: Value,
    /// URL of the card.
    pub(crate) place: String,
    /// Keys whose signatures of the card are trusted.
    pub(crate) card_keys: Option<Jwks>,
    /// Value of the agent's `Server` header.
    pub(crate) server: Option<String>,
    /// Interfaces that are tested.
    pub(crate) interfaces: Vec<Interface>,
    /// Other interfaces that the card offers.
    pub(crate) other_interfaces: Vec<Interface>,
    /// Header and claims of forged tokens, if the card declares bearer tokens.
    pub(crate) forged: Option<TokenTemplate>,
    /// Forged tokens that are signed by the issuer's public key; made when they are first needed.
    pub(crate) key_signed: OnceCell<Vec<String>>,
    /// `true` if callers without a certificate get past the handshake; tried when it is first needed.
    pub(crate) admits_handshake: OnceCell<bool>,
    /// Webhooks that the agent can reach.
    pub(crate) webhooks: Option<Webhooks>,
    /// `true` if the agent runs on this machine.
    pub(crate) is_here: bool,
}

impl Target {
    /// Finds the card, and every interface on it that can be tested.
    pub(crate) async fn find(options: &Options, callers: &Arc<Callers>) -> Result<Self, String> {
        let headers = match options.anonymous_card {
            true => HeaderMap::new(),
            false => callers.first.clone(),
        };
        let cards = Cards::new(options.http.clone()).headers(headers);
        let waits = options
            .response_timeout
            .mul_f64(options.scale.clamp(0.01, 1000.0));
        let late = |_| no_answer(&options.url, waits);
        let began = Instant::now();
        let found = timeout(waits, cards.find_document(&options.url)).await;
        let found = found.map_err(late)?;
        let found = found.map_err(|error| no_card(&options.url, &error))?;
        let (place, card) = (found.url, found.card);
        // The reader has read it.
        let text = found.text.trim_start_matches('\u{feff}');
        let document: Value = serde_json::from_str(text).unwrap_or_default();
        let server = found.headers.get("server");
        let server = server.and_then(|value| Some(value.to_str().ok()?.to_owned()));
        let response_timeout = response_timeout_of(options, began.elapsed());
        let (mut interfaces, mut other_interfaces): (Vec<Interface>, Vec<Interface>) =
            Default::default();
        let own = Arc::new(OwnTasks::default());
        let patience = Arc::new(Patience::default());
        for declared in &card.supported_interfaces {
            let (Some(protocol_version), Some(binding)) =
                (declared.protocol_version(), Binding::of(declared))
            else {
                continue;
            };
            // `card.valid` reports a URL that cannot be called.
            let url = declared.http_url(Some(&place));
            if !is_callable(&url) {
                continue;
            }
            let mut known = interfaces.iter().chain(&other_interfaces);
            if known.any(|interface| {
                (interface.protocol_version, interface.binding) == (protocol_version, binding)
            }) {
                continue;
            }
            let interface = Interface {
                protocol_version,
                binding,
                url,
                tenant: declared.tenant.clone().filter(|tenant| !tenant.is_empty()),
                extensions: required(&card),
                http: options.http.clone(),
                anonymous_http: options.anonymous_http.clone(),
                callers: Arc::clone(callers),
                response_timeout,
                patience: Arc::clone(&patience),
                delivery_timeout: options
                    .delivery_timeout
                    .mul_f64(options.scale.clamp(0.01, 1000.0)),
                judge: Judge::new(protocol_version, binding, Arc::clone(&own)),
                next_id: AtomicU64::new(1),
                webhooks: OnceCell::new(),
            };
            let protocol_version_wanted = options.protocol_versions.is_empty()
                || options.protocol_versions.contains(&protocol_version);
            let binding_wanted = options.bindings.is_empty() || options.bindings.contains(&binding);
            match protocol_version_wanted && binding_wanted {
                true => interfaces.push(interface),
                false => other_interfaces.push(interface),
            }
        }
        interfaces
            .sort_by_key(|interface| (interface.protocol_version, interface.binding.to_string()));
        let is_here = is_here(&place);
        let host = match (&options.webhook_host, is_here) {
            (Some(host), _) => Some(host.as_str()),
            (None, true) => Some("127.0.0.1"),
            (None, false) => None,
        };
        let webhooks = match host {
            Some(host) => {
                let listening = Webhooks::listen(host).await;
                Some(listening.map_err(|error| format!("no webhook can be opened: {error}"))?)
            }
            None => None,
        };
        let mut target = Self {
            forged: None,
            key_signed: OnceCell::new(),
            admits_handshake: OnceCell::new(),
            card,
            document,
            place,
            card_keys: options.card_keys.clone(),
            server,
            interfaces,
            other_interfaces,
            webhooks,
            is_here,
        };
        target.forged = TokenTemplate::of(&target.card, &callers.first, target.base());
        Ok(target)
    }

    /// Returns all interfaces that the card offers, whether they are tested or not.
    pub(crate) fn all_interfaces(&self) -> impl Iterator<Item = &Interface> {
        self.interfaces.iter().chain(&self.other_interfaces)
    }

    pub(crate) fn serves(&self, protocol_version: ProtocolVersion, binding: Binding) -> bool {
        self.all_interfaces().any(|interface| {
            (interface.protocol_version, interface.binding) == (protocol_version, binding)
        })
    }

    /// Returns the URL to which the path of the card is appended.
    pub(crate) fn base(&self) -> &str {
        let paths = ProtocolVersion::ALL
            .iter()
            .map(|protocol_version| protocol_version.card_path());
        let mut bases = paths.filter_map(|path| self.place.strip_suffix(path));
        bases.next().unwrap_or(&self.place)
    }
}

/// Returns the time within which the agent must answer, which grows with its distance.
fn response_timeout_of(options: &Options, round_trip: Duration) -> Duration {
    let whole = options.response_timeout + round_trip * 20;
    whole.mul_f64(options.scale.clamp(0.01, 1000.0))
}

/// Returns the extensions that the card requires, as the value of a header.
fn required(card: &AgentCard) -> Option<HeaderValue> {
    let all = card.capabilities.extensions.iter();
    let required = all.filter(|extension| extension.required);
    let uris: Vec<_> = required.map(|extension| extension.uri.as_str()).collect();
    let list = HeaderValue::from_str(&uris.join(", ")).ok();
    list.filter(|_| !uris.is_empty())
}

/// Returns whether a URL can be called over HTTP.
fn is_callable(url: &str) -> bool {
    let Ok(uri) = url.parse::<http::Uri>() else {
        return false;
    };
    matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
}

/// Returns whether a URL leads to this machine.
fn is_here(url: &str) -> bool {
    let Ok(uri) = url.parse::<http::Uri>() else {
        return false;
    };
    let host = uri.host().unwrap_or_default();
    let host = host.trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
