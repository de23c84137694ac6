//! Fixture of a case: an agent that behaves as the case defines, and all requests to it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use a2a_transport::Binding;
use a2a_transport::webhook::{Algorithm, Jwks, SigningKey};
use a2a_types::ProtocolVersion;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::card::{self, Signers};
use super::case::Case;
use super::notification::Sender;
use super::parsed_request::ParsedRequest;
use super::socket::Request;
use crate::case::Variables;
use crate::interface_kind::InterfaceKind;

/// Fixture of a case: an agent that behaves as the case defines, and all requests to it.
pub(super) struct Fixture {
    pub(super) case: Arc<Case>,
    pub(super) interface: InterfaceKind,
    /// Names that every template may use: URLs, the card.
    pub(super) names: Variables,
    /// Path prefix in the agent's URL.
    pub(super) prefix: String,
    /// URL from which the client starts.
    pub(super) url: String,
    pub(super) card: Value,
    pub(super) keys: Jwks,
    pub(super) strange_keys: Jwks,
    pub(super) sender: Sender,
    began: Instant,
    received: Mutex<Vec<ReceivedRequest>>,
    /// Number of requests so far.
    count: watch::Sender<usize>,
}

/// A request of the client, and the answer to it.
#[derive(Clone, Debug)]
pub(super) struct ReceivedRequest {
    pub(super) listener: Listener,
    pub(super) request: Request,
    pub(super) parsed: ParsedRequest,
    /// Time since the case began.
    pub(super) at: Duration,
    /// Status and body of the answer.
    pub(super) answer: Option<(u16, String)>,
    /// Time at which the answer was begun, since the case began.
    pub(super) answered_at: Option<Duration>,
    /// `true` once all of the answer was written to the client.
    pub(super) delivered: bool,
    /// Part of the case that cannot be done.
    pub(super) harness: Option<String>,
}

/// Listener that a request came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Listener {
    /// The agent.
    Agent,
    /// A second listener, which answers like an agent.
    Elsewhere,
}

/// Returns a state that no version has, in the spelling of this one.
fn strange_state(interface: InterfaceKind) -> Value {
    match (interface.protocol_version, interface.binding) {
        (_, Binding::Grpc) => 99.into(),
        (ProtocolVersion::V1_0, _) | (_, Binding::HttpJson) => "TASK_STATE_PONDERING".into(),
        _ => "pondering".into(),
    }
}

/// Returns a security scheme that clients do not know, as far as the version allows one: the schemas before
/// 1.0 list all types, but any may have more members.
fn strange_scheme(interface: InterfaceKind) -> Value {
    match interface.protocol_version {
        ProtocolVersion::V1_0 => {
            json!({"type": "quantum", "quantumSecurityScheme": {"spin": "up"}})
        }
        _ => json!({"type": "http", "scheme": "bearer", "futureMember": {"spin": "up"}}),
    }
}

/// Returns the start of the media type of a body, as a regular expression.
fn media_type(interface: InterfaceKind) -> &'static str {
    match (interface.protocol_version, interface.binding) {
        (ProtocolVersion::V1_0, Binding::HttpJson) => r"(?i)^application/(a2a\+)?json\b",
        _ => r"(?i)^application/json\b",
    }
}

impl Fixture {
    pub(super) fn new(
        case: Arc<Case>,
        interface: InterfaceKind,
        own: SocketAddr,
        strange: SocketAddr,
        prefix: String,
    ) -> Result<Self, String> {
        let key = || SigningKey::generate(Algorithm::Es256).map_err(|error| error.to_string());
        let (key, stranger) = (key()?, key()?);
        let scheme = match case.agent.tls {
            Some(_) => "https",
            None => "http",
        };
        let url = format!("{scheme}://{own}{prefix}/");
        let elsewhere = format!("http://{strange}");
        let (elsewhere_endpoint, unreachable_endpoint, other_binding) = match interface.binding {
            Binding::Grpc => (strange.to_string(), "127.0.0.1:9", Binding::JsonRpc),
            _ => (
                format!("{elsewhere}/rest"),
                "http://127.0.0.1:9/",
                Binding::Grpc,
            ),
        };
        let other_binding = other_binding.as_str();
        let mut names = Variables::default();
        for (name, value) in [
            ("url", url.as_str()),
            ("origin", &format!("{scheme}://{own}")),
            ("host", &own.to_string()),
            ("elsewhere", &elsewhere),
            ("elsewhere_endpoint", &elsewhere_endpoint),
            ("unreachable_endpoint", unreachable_endpoint),
            ("other_binding", other_binding),
            ("endpoint", &card::endpoint(interface, &url)),
            ("binding", &interface.binding.to_string()),
            ("card_path", interface.protocol_version.card_path()),
            ("media_type", media_type(interface)),
            ("big", &"é".repeat(100_000)),
            ("protocol_version", interface.protocol_version.version()),
            ("task", "task-1"),
            ("context", "context-1"),
        ] {
            names.put(name, value.into());
        }
        names.put("strange_state", strange_state(interface));
        names.put("strange_scheme", strange_scheme(interface));
        let canonical = card::canonical(&case.agent, interface, &url, &names)?;
        names.put("card", json!(canonical));
        let signers = Signers {
            key: &key,
            stranger: &stranger,
            elsewhere: &elsewhere,
        };
        let card = card::written(&case.agent, interface, canonical, &names, &signers)?;
        Ok(Self {
            sender: Sender::new()?,
            keys: Jwks::of([&key]),
            strange_keys: Jwks::of([&stranger]),
            case,
            interface,
            names,
            prefix,
            url,
            card,
            began: Instant::now(),
            received: Mutex::default(),
            count: watch::Sender::new(0),
        })
    }

    /// Returns the path of the card.
    pub(super) fn card_path(&self) -> &'static str {
        self.interface.protocol_version.card_path()
    }

    /// Records a request; returns its index in the list, and its number among the requests of its operation.
    pub(super) fn record(
        &self,
        listener: Listener,
        request: Request,
        parsed: ParsedRequest,
    ) -> (usize, usize) {
        let mut received = self.lock();
        let same = |one: &&ReceivedRequest| {
            one.parsed.operation == parsed.operation && one.listener == listener
        };
        let number = received.iter().filter(same).count() + 1;
        received.push(ReceivedRequest {
            listener,
            request,
            parsed,
            at: self.began.elapsed(),
            answer: None,
            answered_at: None,
            delivered: false,
            harness: None,
        });
        self.count.send_replace(received.len());
        (received.len() - 1, number)
    }

    /// Records the outcome of a request.
    pub(super) fn note(&self, index: usize, change: impl FnOnce(&mut ReceivedRequest)) {
        if let Some(received) = self.lock().get_mut(index) {
            change(received);
        }
    }

    /// Records the answer to a request, before it is written: the client's pause begins later.
    pub(super) fn note_answer(&self, index: usize, answer: (u16, String)) {
        let now = self.began.elapsed();
        self.note(index, |received| {
            received.answer = Some(answer);
            received.answered_at = Some(now);
        });
    }

    /// Returns all requests so far.
    pub(super) fn received(&self) -> Vec<ReceivedRequest> {
        self.lock().clone()
    }

    /// Waits for the first request.
    pub(super) async fn wait_for_request(&self) {
        // The sender lives as long as this does.
        let _ = self.count.subscribe().wait_for(|count| *count > 0).await;
    }

    /// Waits until the agent was asked for this operation.
    pub(super) async fn wait_for_operation(&self, operation: &str) {
        let mut count = self.count.subscribe();
        let has = |received: &ReceivedRequest| received.parsed.operation == Some(operation);
        while !self.lock().iter().any(has) {
            // The sender lives as long as this does.
            if count.changed().await.is_err() {
                return;
            }
        }
    }

    /// Returns the keys that a listener publishes: the agent publishes the keys that sign push notifications,
    /// the second listener the key of a stranger. Clients know the keys that sign the card beforehand.
    pub(super) fn published_keys(&self, listener: Listener) -> Vec<u8> {
        match listener {
            Listener::Agent => self.sender.keys().to_json(),
            Listener::Elsewhere => self.strange_keys.to_json(),
        }
    }

    /// Returns the names that templates may use in an answer.
    pub(super) fn names_for(&self, parsed: &ParsedRequest) -> Variables {
        let mut names = self.names.clone();
        let text = |value: &Value| {
            value
                .as_str()
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let params = &parsed.params;
        // In 0.1 the caller names the task.
        let task = match self.interface.protocol_version {
            ProtocolVersion::V0_1 => parsed
                .envelope
                .as_ref()
                .and_then(|envelope| envelope.task.clone()),
            _ => None,
        };
        let task = task.map(|task| task.to_string());
        let task = task.or_else(|| text(&params["message"]["taskId"]));
        let task = task.or_else(|| text(&params["taskId"]));
        let is_config = parsed
            .operation
            .is_some_and(|name| name.contains("PushNotificationConfig"));
        let task = task.or_else(|| text(&params["id"]).filter(|_| !is_config));
        if let Some(task) = task {
            names.put("task", task.into());
        }
        if let Some(context) = text(&params["message"]["contextId"]) {
            names.put("context", context.into());
        }
        names.put("id", parsed.body["id"].to_string().into());
        names.put("params", params.clone());
        names
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ReceivedRequest>> {
        // Every change is one step, so a panic elsewhere leaves the list whole.
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
