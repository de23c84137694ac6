//! Generated mutants: one place of one kind of answer is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::Response;
use serde::Serialize;
use serde_json::Value;

use super::bug::Place;
use super::memory::lock;
use super::proof::{options, reds, told};
use super::shape::{Change, Path, kind_of};
use super::slip::{Slip, Slipping};
use super::stand::{Stand, Subject};
use super::wire::{Asked, Wire};
use crate::agent::{NoRun, run};

/// One place of one kind of answer, and what becomes of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mutation {
    place: Place,
    kind: String,
    path: Path,
    change: Change,
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind, path, change, ..
        } = self;
        write!(f, "{} {kind}: {path} {change}", told(&self.place))
    }
}

/// Result of a generated mutant.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// Description of the mutation.
    pub mutation: String,
    /// `true` if it concerns what an answer is, whose it is, or how it went.
    pub vital: bool,
    /// The checks that were red; none if it survived.
    pub red: BTreeSet<String>,
}

/// Every mutation of what the reference agent answers in a run.
///
/// Errors: why there was no run.
pub async fn mutations(place: Place) -> Result<Vec<Mutation>, String> {
    let seen = Arc::new(Recorder::default());
    let stand = Stand::behind(Arc::clone(&seen) as Arc<dyn Wire>, &Subject::Reference).await;
    let stand = stand.map_err(|error| error.to_string())?;
    let made = run(&in_place(&stand, place), |_, _| {}).await;
    let made = made.map_err(|error| error.to_string())?;
    if let Some(red) = reds(&made).next() {
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
                place,
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
    let stand = Stand::behind(Arc::new(Mutated(mutation.clone())), &Subject::Reference).await;
    let stand = stand.map_err(|error| error.to_string())?;
    let red = match run(&in_place(&stand, mutation.place), |_, _| {}).await {
        Ok(made) => reds(&made).map(|red| red.check).collect(),
        // Its card is so wrong that there is nothing to test.
        Err(NoRun::Unreachable(_) | NoRun::NoLane(_)) => BTreeSet::from(["the card".to_owned()]),
        Err(problem) => return Err(problem.to_string()),
    };
    Ok(Trial {
        mutation: mutation.to_string(),
        vital: mutation.path.is_vital(),
        red,
    })
}

/// Runs the suite in one place against an agent that makes a slip; nothing, if it does not show there.
///
/// Errors: why there was no run.
pub async fn slipped(slip: Slip, place: Place) -> Result<Option<BTreeSet<String>>, String> {
    let slipping = Arc::new(Slipping::new(slip, place));
    let stand = Stand::behind(Arc::clone(&slipping) as Arc<dyn Wire>, &Subject::Reference).await;
    let stand = stand.map_err(|error| error.to_string())?;
    let mut options = in_place(&stand, place);
    // They have nothing to do with it.
    let others = ["auth.*", "card.*", "version.*"];
    options.selection.skip = others.map(str::to_owned).to_vec();
    let red = match run(&options, |_, _| {}).await {
        Ok(made) => reds(&made).map(|red| red.check).collect(),
        // Its card is so wrong that there is nothing to test.
        Err(NoRun::Unreachable(_) | NoRun::NoLane(_)) => BTreeSet::from(["the card".to_owned()]),
        Err(problem) => return Err(problem.to_string()),
    };
    Ok(slipping.has_shown().then_some(red))
}

fn in_place(stand: &Stand, (dialect, binding): Place) -> crate::agent::Options {
    crate::agent::Options {
        dialects: vec![dialect],
        bindings: vec![binding],
        patience: std::time::Duration::from_secs(2),
        delivery_patience: std::time::Duration::from_secs(6),
        jobs: 16,
        ..options(stand, &Subject::Reference)
    }
}

/// Remembers what answers are made of.
#[derive(Debug, Default)]
struct Recorder(Mutex<Kinds>);

/// Changes that make a difference, by the kind of the answer and the place in it.
type Kinds = BTreeMap<String, BTreeMap<Path, BTreeSet<Change>>>;

impl Recorder {
    fn note(&self, asked: &Asked, json: &Value) {
        let mut kinds = lock(&self.0);
        let paths = kinds.entry(kind(asked, json)).or_default();
        for path in Path::all_of(json) {
            for change in Change::ALL {
                if path.change(&mut json.clone(), change) {
                    paths.entry(path.clone()).or_default().insert(change);
                }
            }
        }
    }
}

impl Wire for Recorder {
    fn answer(&self, asked: &Asked, answer: &mut Response<Bytes>) {
        if let Ok(json) = serde_json::from_slice(answer.body()) {
            self.note(asked, &json);
        }
    }

    fn event(&self, asked: &Asked, event: &mut Value) {
        self.note(asked, event);
    }
}

/// Returns the kind of an answer, with the ids made up for this run replaced by `*`.
fn kind(asked: &Asked, json: &Value) -> String {
    let kind = kind_of(asked, json);
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
struct Mutated(Mutation);

impl Mutated {
    fn change(&self, asked: &Asked, json: &mut Value) -> bool {
        let Mutation {
            kind, path, change, ..
        } = &self.0;
        self::kind(asked, json) == *kind && path.change(json, *change)
    }
}

impl Wire for Mutated {
    fn answer(&self, asked: &Asked, answer: &mut Response<Bytes>) {
        if let Ok(mut json) = serde_json::from_slice(answer.body())
            && self.change(asked, &mut json)
        {
            *answer.body_mut() = json.to_string().into();
        }
    }

    fn event(&self, asked: &Asked, event: &mut Value) {
        self.change(asked, event);
    }
}
