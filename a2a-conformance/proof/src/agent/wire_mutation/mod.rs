//! Wire mutations: common mistakes of hand-written agents, applied to what passes over the wire. Each is small, and
//! has to be detected by some check wherever it changes anything.

mod error;
mod event;
pub(super) mod json_document;
mod list;
mod part;
mod status;
mod table;
mod task;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a_transport::Binding;
use a2a_types::ProtocolVersion;
use bytes::Bytes;
use http::Response;
use http::response::Parts;
use serde_json::Value;

pub use self::table::WIRE_MUTATIONS;
use super::interceptor::{InterceptedRequest, Interceptor};
use super::memory::lock;
use super::proof::{failed_checks, options};
use super::running_agent::{AgentSubject, RunningAgent};
use a2a_conformance::agent::{Options, RunError, run};
use a2a_conformance::interface_kind::InterfaceKind;

/// A common mistake of hand-written agents.
#[derive(Clone, Copy)]
pub struct WireMutation {
    /// A short name.
    pub name: &'static str,
    /// Description of what the agent does wrong.
    pub says: &'static str,
    kind: MutationKind,
    /// The first version in which it is wrong.
    since: ProtocolVersion,
    /// The first version in which it is right again.
    before: Option<ProtocolVersion>,
}

impl WireMutation {
    /// It is wrong from that version on.
    const fn since(self, since: ProtocolVersion) -> Self {
        Self { since, ..self }
    }

    /// It is right from that version on.
    const fn before(self, before: ProtocolVersion) -> Self {
        let before = Some(before);
        Self { before, ..self }
    }
}

impl fmt::Debug for WireMutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Point at which a mutation changes the exchange, with the change.
#[derive(Clone, Copy)]
enum MutationKind {
    /// Answers and events.
    Document(fn(&mut MutatorState, &InterceptedRequest, &mut Value)),
    /// Events.
    Event(fn(&mut MutatorState, &InterceptedRequest, &mut Value)),
    /// Answers that are not streams.
    Answer(fn(&mut MutatorState, &InterceptedRequest, &mut Value)),
    /// HTTP responses that are not streams.
    Head(fn(&InterceptedRequest, &mut Response<Bytes>)),
    /// The heads of streams.
    Stream(fn(&mut Parts)),
    /// The text of an event.
    Written(fn(&Value) -> String),
    /// Requests.
    Question(fn(&mut MutatorState, &mut InterceptedRequest)),
    /// The number and the order of events: the function returns the events to send in place of one.
    Block(fn(&mut MutatorState, &Value) -> Vec<Value>),
}

/// State of a mutation during a run.
#[derive(Debug, Default)]
struct MutatorState {
    documents: BTreeMap<String, Value>,
    count: usize,
}

/// Interceptor that applies a wire mutation.
#[derive(Debug)]
pub(super) struct WireMutator {
    mutation: WireMutation,
    interface: InterfaceKind,
    state: Mutex<MutatorState>,
    shown: AtomicBool,
}

impl WireMutator {
    /// Applies the mutation on one interface only; other interfaces are answered correctly.
    pub(super) fn new(mutation: WireMutation, interface: InterfaceKind) -> Self {
        Self {
            mutation,
            interface,
            state: Mutex::default(),
            shown: AtomicBool::new(false),
        }
    }

    /// Returns whether the mutation has changed anything.
    pub(super) fn has_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }

    fn is_elsewhere(&self, request: &InterceptedRequest) -> bool {
        let InterfaceKind {
            protocol_version,
            binding,
        } = self.interface;
        let is_right = self
            .mutation
            .before
            .is_some_and(|before| protocol_version >= before);
        is_right
            || protocol_version < self.mutation.since
            || binding == Binding::HttpJson && request.rpc_method().is_some()
            || request.grpc.is_some()
    }

    fn show(&self) {
        self.shown.store(true, Ordering::Relaxed);
    }
}

impl Interceptor for WireMutator {
    fn question(&self, request: &mut InterceptedRequest) {
        if self.is_elsewhere(request) {
            return;
        }
        if let MutationKind::Question(change) = self.mutation.kind {
            let before = request.json.clone();
            change(&mut lock(&self.state), request);
            if let Some(json) = request
                .json
                .as_ref()
                .filter(|json| Some(*json) != before.as_ref())
            {
                request.body = json.to_string().into();
                self.show();
            }
        }
    }

    fn answer(&self, request: &InterceptedRequest, answer: &mut Response<Bytes>) {
        if self.is_elsewhere(request) {
            return;
        }
        if let MutationKind::Head(change) = self.mutation.kind {
            let before = (answer.status(), answer.headers().clone());
            change(request, answer);
            if before != (answer.status(), answer.headers().clone()) {
                self.show();
            }
        }
        let (MutationKind::Document(change) | MutationKind::Answer(change)) = self.mutation.kind
        else {
            return;
        };
        let Ok(mut json) = serde_json::from_slice::<Value>(answer.body()) else {
            return;
        };
        let before = json.clone();
        change(&mut lock(&self.state), request, &mut json);
        if json != before {
            self.show();
            *answer.body_mut() = json.to_string().into();
        }
    }

    fn head(&self, request: &InterceptedRequest, head: &mut Parts) {
        if let MutationKind::Stream(change) = self.mutation.kind
            && !self.is_elsewhere(request)
        {
            change(head);
            self.show();
        }
    }

    fn event(&self, request: &InterceptedRequest, event: &mut Value) {
        if self.is_elsewhere(request) {
            return;
        }
        if let MutationKind::Document(change) | MutationKind::Event(change) = self.mutation.kind {
            let before = event.clone();
            change(&mut lock(&self.state), request, event);
            if before != *event {
                self.show();
            }
        }
    }

    fn block(&self, fields: &str, event: &Value) -> String {
        if let MutationKind::Written(write) = self.mutation.kind {
            self.show();
            return format!("{fields}data: {}\n\n", write(event));
        }
        let events = match self.mutation.kind {
            MutationKind::Block(change) => change(&mut lock(&self.state), event),
            _ => vec![event.clone()],
        };
        if events != [event.clone()] {
            self.show();
        }
        let events = events.iter();
        events
            .map(|event| format!("{fields}data: {event}\n\n"))
            .collect()
    }
}

const fn mutation(name: &'static str, says: &'static str, kind: MutationKind) -> WireMutation {
    WireMutation {
        name,
        says,
        kind,
        since: ProtocolVersion::V0_1,
        before: None,
    }
}

/// Runs the suite on one interface against an agent with a wire mutation, and returns the checks that failed; `None`
/// if the mutation changed nothing.
///
/// Errors: why there was no run.
pub async fn run_wire_mutation(
    mutation: WireMutation,
    interface: InterfaceKind,
) -> Result<Option<BTreeSet<String>>, String> {
    let mutator = Arc::new(WireMutator::new(mutation, interface));
    let stand = RunningAgent::behind(
        Arc::clone(&mutator) as Arc<dyn Interceptor>,
        &AgentSubject::Reference,
    )
    .await;
    let stand = stand.map_err(|error| error.to_string())?;
    let mut options = on_interface(&stand, interface);
    // They have nothing to do with it.
    let others = ["auth.*", "card.*", "version.*"];
    options.selection.skip = others.map(str::to_owned).to_vec();
    let red = match run(&options, |_, _| {}).await {
        Ok(made) => failed_checks(&made).map(|red| red.check).collect(),
        // Its card is so wrong that there is nothing to test.
        Err(RunError::Unreachable(_) | RunError::NoInterface(_)) => {
            BTreeSet::from(["the card".to_owned()])
        }
        Err(problem) => return Err(problem.to_string()),
    };
    Ok(mutator.has_shown().then_some(red))
}

fn on_interface(stand: &RunningAgent, interface: InterfaceKind) -> Options {
    Options {
        protocol_versions: vec![interface.protocol_version],
        bindings: vec![interface.binding],
        response_timeout: Duration::from_secs(2),
        delivery_timeout: Duration::from_secs(6),
        jobs: 16,
        ..options(stand, &AgentSubject::Reference)
    }
}
