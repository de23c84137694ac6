//! Generated mutants: one place of one kind of answer is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::Response;
use serde::Serialize;
use serde_json::Value;

use super::interceptor::{InterceptedRequest, Interceptor};
use super::memory::lock;
use super::proof::{failed_checks, interface_name, options};
use super::running_agent::{AgentSubject, RunningAgent};
use super::shape::{Change, Path, kind_of};
use super::wire_mutation::{WireMutation, WireMutator};
use crate::agent::{RunError, run};
use crate::interface_kind::InterfaceKind;

/// A change of one place in one kind of answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mutation {
    interface: InterfaceKind,
    kind: String,
    path: Path,
    change: Change,
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind, path, change, ..
        } = self;
        write!(
            f,
            "{} {kind}: {path} {change}",
            interface_name(self.interface)
        )
    }
}

/// Result of a generated mutant.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// Description of the mutation.
    pub mutation: String,
    /// `true` if it concerns the kind, the owner or the outcome of an answer.
    pub vital: bool,
    /// The checks that failed; none if it survived.
    pub red: BTreeSet<String>,
}

/// Returns every mutation of the answers of the reference agent in a run.
///
/// Errors: why there was no run.
pub async fn mutations(interface: InterfaceKind) -> Result<Vec<Mutation>, String> {
    let seen = Arc::new(Recorder::default());
    let stand = RunningAgent::behind(
        Arc::clone(&seen) as Arc<dyn Interceptor>,
        &AgentSubject::Reference,
    )
    .await;
    let stand = stand.map_err(|error| error.to_string())?;
    let made = run(&on_interface(&stand, interface), |_, _| {}).await;
    let made = made.map_err(|error| error.to_string())?;
    if let Some(red) = failed_checks(&made).next() {
        return Err(format!(
            "{} is red where nothing is wrong: {}",
            red.check, red.why
        ));
    }
    let kinds = std::mem::take(&mut *lock(&seen.0));
    let changes = kinds.into_iter().flat_map(|(kind, paths)| {
        paths.into_iter().flat_map(move |(path, changes)| {
            let kind = kind.clone();
            changes.into_iter().map(move |change| Mutation {
                interface,
                kind: kind.clone(),
                path: path.clone(),
                change,
            })
        })
    });
    Ok(changes.collect())
}

/// Runs the suite against a generated mutant.
///
/// Errors: why there was no run.
pub async fn try_out(mutation: &Mutation) -> Result<Trial, String> {
    let stand = RunningAgent::behind(
        Arc::new(MutationInterceptor(mutation.clone())),
        &AgentSubject::Reference,
    )
    .await;
    let stand = stand.map_err(|error| error.to_string())?;
    let red = match run(&on_interface(&stand, mutation.interface), |_, _| {}).await {
        Ok(made) => failed_checks(&made).map(|red| red.check).collect(),
        // Its card is so wrong that there is nothing to test.
        Err(RunError::Unreachable(_) | RunError::NoInterface(_)) => {
            BTreeSet::from(["the card".to_owned()])
        }
        Err(problem) => return Err(problem.to_string()),
    };
    Ok(Trial {
        mutation: mutation.to_string(),
        vital: mutation.path.is_vital(),
        red,
    })
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

fn on_interface(stand: &RunningAgent, interface: InterfaceKind) -> crate::agent::Options {
    crate::agent::Options {
        dialects: vec![interface.dialect],
        bindings: vec![interface.binding],
        response_timeout: std::time::Duration::from_secs(2),
        delivery_timeout: std::time::Duration::from_secs(6),
        jobs: 16,
        ..options(stand, &AgentSubject::Reference)
    }
}

/// Interceptor that records the shape of answers.
#[derive(Debug, Default)]
struct Recorder(Mutex<Kinds>);

/// Changes that make a difference, by the kind of the answer and the place in it.
type Kinds = BTreeMap<String, BTreeMap<Path, BTreeSet<Change>>>;

impl Recorder {
    fn note(&self, request: &InterceptedRequest, json: &Value) {
        let mut kinds = lock(&self.0);
        let paths = kinds.entry(kind(request, json)).or_default();
        for path in Path::all_of(json) {
            for change in Change::ALL {
                if path.change(&mut json.clone(), change) {
                    paths.entry(path.clone()).or_default().insert(change);
                }
            }
        }
    }
}

impl Interceptor for Recorder {
    fn answer(&self, request: &InterceptedRequest, answer: &mut Response<Bytes>) {
        if let Ok(json) = serde_json::from_slice(answer.body()) {
            self.note(request, &json);
        }
    }

    fn event(&self, request: &InterceptedRequest, event: &mut Value) {
        self.note(request, event);
    }
}

/// Returns the kind of an answer, with the ids made up for this run replaced by `*`.
fn kind(request: &InterceptedRequest, json: &Value) -> String {
    let kind = kind_of(request, json);
    let is_id = |word: &str| word.len() == 36 && word.matches('-').count() == 4;
    let segments = kind.split('/').map(|segment| {
        let end = segment.len().saturating_sub(36);
        match segment.get(end..) {
            Some(word) if is_id(word) => format!("{}*", &segment[..end]),
            _ => segment.to_owned(),
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Changes one place of one kind of answer.
#[derive(Debug)]
struct MutationInterceptor(Mutation);

impl MutationInterceptor {
    fn change(&self, request: &InterceptedRequest, json: &mut Value) -> bool {
        let Mutation {
            kind, path, change, ..
        } = &self.0;
        self::kind(request, json) == *kind && path.change(json, *change)
    }
}

impl Interceptor for MutationInterceptor {
    fn answer(&self, request: &InterceptedRequest, answer: &mut Response<Bytes>) {
        if let Ok(mut json) = serde_json::from_slice(answer.body())
            && self.change(request, &mut json)
        {
            *answer.body_mut() = json.to_string().into();
        }
    }

    fn event(&self, request: &InterceptedRequest, event: &mut Value) {
        self.change(request, event);
    }
}
